"""A closer look at a run: held-out rows, what columns do, the map of samples, kernels as pictures."""

from __future__ import annotations

import html
import io
import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from app_server import TWO_FOLDS, Person, files_with_gaps, people, said
from sklearn.decomposition import KernelPCA

from cases import one_in
from multikernel.app.tables.table import read_table
from multikernel.app.web.learning.alike import picture, target_groups
from multikernel.app.web.learning.comparison import single_kernel
from multikernel.app.web.learning.division import KnownRows
from multikernel.app.web.learning.errors import HeldOutRows, RowNames
from multikernel.app.web.learning.explored import dependence_of, explored, map_of, pictures_of
from multikernel.app.web.learning.findings import execute_run
from multikernel.app.web.learning.held_out import held_out
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.predicting import LearnedModel, predictions
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import TrainingSamples, as_estimator_input

_COLUMNS = {"age": "number", "city": "category", "joined": "date", "score": "number"}
_FORM = {"method": "AverageMKLClassifier", "kernels-0": "types", "p-C": "1"}


def _named_people(n: int) -> str:
    """People with an identifier and a text."""
    head, *lines = people(n).splitlines()
    notes = [f"the fox {k % 7} jumps over {('a cat', 'the dog', 'my hat')[k % 3]} at noon" for k in range(n)]
    rows = [f"P{k:03},{note},{line}" for k, (note, line) in enumerate(zip(notes, lines, strict=True))]
    return "\n".join([f"patient_id,note,{head}", *rows])


def _learned(folder: Path, columns: dict[str, str]) -> tuple[Path, Path]:
    (folder / "table.csv").write_text(_named_people(45))
    recipe = {"target": "bought", "task": "classification", "columns": columns, "method": "AverageMKLClassifier"}
    execute_run(
        recipe | {"parameters": {"C": 1.0}, "measured": {"folds": 2}}, folder / "table.csv", folder, lambda *_: None
    )
    return folder, folder / "table.csv"


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of a run and its table."""
    return _learned(tmp_path_factory.mktemp("run"), _COLUMNS)


@pytest.fixture(scope="module")
def run(person: Person) -> str:
    """The address of a run of classes."""
    data = person.upload(("people.csv", _named_people(45))).url.path
    person.submit(f"{data}/choose", target="bought", **TWO_FOLDS, **{"use-1": "on", "kind-1": "text"})
    page = person.learned(person.submit(f"{data}/method", **_FORM))
    assert "How good is it?" in page.text, said(page)
    return page.url.path


@pytest.mark.parametrize("column", one_in(2, _COLUMNS))
def test_partial_dependence_is_the_mean_of_predictions_for_exchanged_cells(
    learned: tuple[Path, Path], column: str
) -> None:
    folder, table = learned
    result = dependence_of(folder / "model.mk", table, column, 1)
    assert result is not None
    own = explored(folder / "model.mk", table).learned
    typical = json.loads((folder / "result.json").read_text())["typical"]
    model = LearnedModel(own.model, own.ranges, own.recipe, typical)
    cells = pd.read_csv(table, dtype=str, keep_default_na=False)
    for k in (0, len(result.names) - 1):
        value = repr(result.places[k]) if result.kind == "number" else result.names[k]
        exchanged = folder / "exchanged.csv"
        cells.assign(**{column: value}).to_csv(exchanged, index=False)
        answers = predictions(model, read_table(exchanged)).frame.iloc[:, -1]  # of the class "yes"
        assert answers.name.endswith(" yes")
        assert result.mean[k] == pytest.approx(answers.mean(), abs=1e-9)
        assert result.low[k] == pytest.approx(np.percentile(answers, 10), abs=1e-9)
        assert result.high[k] == pytest.approx(np.percentile(answers, 90), abs=1e-9)


def test_the_map_is_that_of_kernel_principal_components(learned: tuple[Path, Path]) -> None:
    folder, table = learned
    own = explored(folder / "model.mk", table)
    mapped = map_of(folder / "model.mk", table)
    K = own.learned.model.kernel_matrix(as_estimator_input(own.samples.X, own.learned.recipe))
    reference = KernelPCA(2, kernel="precomputed").fit(K)
    both = np.column_stack([mapped.x, mapped.y])
    signs = np.sign((both * reference.transform(K)).sum(axis=0))
    assert np.allclose(both, signs * reference.transform(K), atol=1e-8 * np.abs(both).max())
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    assert np.allclose(mapped.shares, reference.eigenvalues_ / np.trace(centred))


def _points(file: bytes) -> np.ndarray:
    """The shades of a PNG file of one palette."""
    assert file.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(file[start : start + 4]) for start in (16, 20))
    start = file.index(b"IDAT")
    data = zlib.decompress(file[start + 4 : start + 4 + int.from_bytes(file[start - 4 : start])])
    return np.frombuffer(data, np.uint8).reshape(height, width + 1)[:, 1:]


def test_pictures_are_of_the_single_kernels_class_by_class(tmp_path: Path) -> None:
    folder, table = _learned(tmp_path, {"age": "number", "city": "category"})
    shown = pictures_of(folder / "model.mk", table)
    samples = explored(folder / "model.mk", table).samples
    labels = samples.y[shown.places].tolist()
    assert labels == sorted(labels)
    assert shown.names[0] == "the learned kernel"
    assert len(shown.names) == len(shown.pictures)
    city = shown.names.index("city")  # whose kernel says which cities are the same
    cities = samples.X["city"].iloc[shown.places].astype(object).to_numpy()
    known = pd.notna(cities)
    same = cities[known][:, None] == cities[known]
    full = _points(shown.pictures[city])[np.ix_(known, known)] == 31
    assert (full == same).all()


def test_a_picture_has_the_order_of_the_values() -> None:
    K = np.linspace(0.0, 1.0, 400).reshape(20, 20)
    shades = _points(picture(K))
    assert (np.diff(shades.ravel().astype(int)) >= 0).all()
    assert shades[0, 0] == 0
    assert shades[-1, -1] == 31
    assert len(np.unique(_points(picture(np.ones((5, 5)))))) == 1


def test_groups_of_many_classes_and_of_numbers() -> None:
    group, names = target_groups(np.repeat(list("abcdefgh"), [9, 1, 8, 7, 6, 5, 1, 1]), "classification")
    assert names == ["a", "c", "d", "e", "f", "one of 3 others"]
    assert np.bincount(group).tolist() == [9, 8, 7, 6, 5, 3]
    group, names = target_groups(np.arange(100.0), "regression")
    assert np.bincount(group).tolist() == [20] * 5
    assert names[0] == "0 to 19.8"
    assert target_groups(np.ones(4), "regression")[1] == ["1"]


def test_a_part_of_many_samples_has_some_of_each_class(tmp_path: Path) -> None:
    rows = ["a,y", *(f"{k},{'rare' if k in (17, 901) else 'usual'}" for k in range(1000))]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    samples = TrainingSamples.of(read_table(tmp_path / "t.csv"), Recipe("t", "y", "classification", {"a": "number"}))
    some = samples.subsample(30)
    assert {17, 901} <= set(some.tolist())
    assert len(some) == 30
    assert (np.diff(some) > 0).all()


def test_rows_of_a_sorted_table_are_drawn_before_columns_are_shuffled_and_a_kernel_is_tuned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("multikernel.app.web.learning.held_out._ROWS", 20)
    monkeypatch.setattr("multikernel.app.web.learning.comparison._TUNED_ROWS", 20)
    y = np.repeat(["usual", "rare"], [97, 3])
    rows = KnownRows(pd.DataFrame({"x": np.arange(100.0)}), y, np.arange(1, 101))
    given = {"parameters": {"C": 1.0}, "kernels": {"": ["linear"]}, "measured": Measuring(measure="roc_auc")}
    recipe = Recipe("d", "y", "classification", {"x": "number"}, method="AverageMKLClassifier", **given)
    assert held_out(recipe, rows, rows, ["x"]).losses["x"] > 0.0  # no area without a rare row
    assert single_kernel(recipe, rows, rows).score == pytest.approx(1.0)


def test_errors_of_classes_stand_in_order_of_what_speaks_for_the_wrong_one() -> None:
    truth = np.array(["a", "b", "a", "b", "b"])
    predicted = np.array(["b", "b", "b", "a", "b"])
    values = np.array([[0.4, 0.6], [0.3, 0.7], [0.1, 0.9], [0.5, 0.5], [0.45, 0.55]])
    rows = np.arange(1, 6)
    names = RowNames("id", {k: f"n{k}" for k in rows.tolist()})
    found = HeldOutRows.of_classes(truth, predicted, np.array(["a", "b"]), values, True, rows, names)
    assert found.rows == [3, 1, 4, 5, 2]  # right answers behind, the least sure first
    assert found.errors == pytest.approx([0.8, 0.2, 0.0, 0.0, 0.0])
    assert found.names == ["n3", "n1", "n4", "n5", "n2"]
    assert [found.rows[i] for i in found.of_cell(0, 1)] == [3, 1]
    assert found.summary()["count"] == 3
    numbers = HeldOutRows.of_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.5, 0.0, 3.0]), rows[:3], RowNames())
    assert numbers.rows == [2, 1, 3]
    assert numbers.errors == [2.0, -0.5, 0.0]


def test_a_cell_of_the_matrix_of_mistakes_leads_to_its_rows(person: Person, run: str) -> None:
    page = person.get(run)
    table = pd.read_csv(io.StringIO(person.get(f"{run}/files/table.csv").text))
    links = re.findall(r'<a class="mark" href="([^"]*)" aria-label="(\d+) of \d+ rows? of class (\w+)', page.text)
    assert links
    total = 0
    for link, count, label in links:
        rows = person.get(html.unescape(link)).text
        found = re.findall(r'sample\?row=(\d+)">\d+</a></td><td class="cells">(\w+)</td><td>(\w+)</td>', rows)
        assert len(found) == int(count)
        for row, name, truth in found:
            assert (name, truth) == (table["patient_id"][int(row) - 1], label)
            assert table["bought"][int(row) - 1] == truth
        total += len(found)
    assert total == 45
    assert "href" not in person.get(f"{run}/charts/confusion.svg").text
    assert "45 of 45 held-out rows" in said(person.get(f"{run}/rows?show=all"))
    for query in ("true=2", "true=x", "predicted=-1", "page=9999999999", "true=%F0%9F%98%80"):
        assert person.get(f"{run}/rows?{query}").status_code == 400
    assert person.get(f"{run}/rows?show=all&page=99").status_code == 200


def test_pages_of_a_model_show_charts_that_can_be_saved(person: Person, run: str) -> None:
    columns = person.get(f"{run}/columns")
    assert columns.text.count("<svg") == 4 + 1
    assert "probability of yes" in said(columns) or "decision value of yes" in said(columns)
    assert "There is no chart of note: a text has no single values" in said(person.get(f"{run}/columns?column=0"))
    one = person.get(f"{run}/columns?column=1&class=0")
    assert "value of no" in said(one) or "probability of no" in said(one)
    mapped = person.get(f"{run}/map")
    assert mapped.text.count('<a class="mark"') == 45
    pictured = person.get(f"{run}/kernels")
    for page in (columns, one, mapped, pictured):
        assert len(page.content) < 300_000
        assert 'style="' not in page.text
        links = re.findall(r'href="([^"]*\.svg[^"]*)" download>SVG', page.text)
        assert links
        for link in links:
            chart = person.get(html.unescape(link))
            assert chart.headers["content-type"] == "image/svg+xml"
            assert ElementTree.fromstring(chart.text).tag.endswith("svg")
            assert "<a " not in chart.text
    images = re.findall(r"data:image/png;base64,([^\"]*)", pictured.text)
    assert all(_points(b64decode(each)).shape == (45, 45) for each in images)
    report = person.get(f"{run}/files/report.html")
    for words in ("What columns do", "Map of samples", "Kernels as pictures"):
        assert words in report.text
    assert "/runs/" not in report.text
    for query in ("column=5", "column=x", "class=2", "&".join(f"column={k}" for k in (0, 1, 2, 3)) + "&column=99"):
        assert person.get(f"{run}/columns?{query}").status_code == 400
    assert person.get(f"{run}/columns.svg?one=9").status_code == 400


@pytest.mark.study
def test_samples_that_lack_a_source_are_not_given_one_cell_of_it_and_a_deleted_table_is_said(person: Person) -> None:
    data = person.upload(*files_with_gaps()).url.path
    person.submit(f"{data}/choose", target="clinic: ill", missing="keep")
    run = person.learned(person.submit(f"{data}/method", method="AverageMKLClassifier", **{"p-C": "1"})).url.path
    ticks = re.findall(r'name="column" value="(\d)"[^>]*> <span>([^<]*)', person.get(f"{run}/columns").text)
    places = {name: place for place, name in ticks}
    lab = person.get(f"{run}/columns?column={places['lab: a']}")
    assert "mean over 34 samples" in said(lab)
    clinic = person.get(f"{run}/columns?column={places['clinic: age']}")
    assert "mean over 40 samples" in said(clinic)
    assert re.search(r">clinic</text>.*>lab</text>", person.get(f"{run}/kernels").text)
    assert person.get(f"{run}/map").status_code == 200
    person.submit(f"{data}/delete")
    for page in ("columns", "map", "kernels", "map.svg"):
        answer = person.get(f"{run}/{page}")
        assert answer.status_code == 404
        assert "The data set of this run has been deleted" in said(answer)
    assert person.get(f"{run}/rows").status_code == 200
    assert "What columns do" not in person.get(f"{run}/files/report.html").text
