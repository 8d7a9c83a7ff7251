"""Settings from a file, names, notes, and several runs deleted at once."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from app_server import Person, people, said, serving

from multikernel.app.toml import toml
from multikernel.app.web.choices import DataChoice
from multikernel.app.web.exports import check_recipe
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.run_settings import FormSettings
from multikernel.app.web.store import DataSet

_COLUMNS = {"age": "number", "city": "category"}
_RUN = {"target": "bought", "task": "classification", "columns": _COLUMNS}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """A data set without a server."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "table.csv").write_text(people(40))
    return DataSet("d", "people", 0.0, 40, 5, {}, folder)


def test_settings_come_back_as_the_form_that_they_are_from(data: DataSet) -> None:
    changed = {
        "method": "L1MKLClassifier",
        "parameters": {"C": 7.5, "fit_intercept": False},
        "kernels": {"": ["anova", "polynomials"]},
        "kernel_parameters": {"": {"polynomials": {"degrees": [2, 3]}, "anova": {"max_degree": 2}}},
        "path": "",
        "path_count": 7,
        "path_folds": 4,
        "chosen_by": "roc_auc",
        "measured": Measuring("groups", "city", 3, 2, measure="balanced_accuracy"),
        "seed": 9,
    }
    taken = FormSettings.of(toml(Recipe("other", **_RUN, **changed).to_json()), data)  # type: ignore[arg-type]
    assert taken.how == "method"
    assert taken.ignored == []
    assert taken.ticked == {0: ["anova", "polynomials"]}
    assert taken.typed["p-C"] == "7.5"
    assert "p-fit_intercept" not in taken.typed
    assert [taken.typed[name] for name in ("path_count", "path_folds", "chosen_by")] == ["7", "4", "roc_auc"]
    again = DataChoice.of(data, taken.choice).recipe(data, "classification")
    assert (again.measured, again.seed) == (changed["measured"], 9)
    assert taken.typed["k0-polynomials-degrees"] == "2, 3"
    assert {name for name, use in taken.choice["used"].items() if use} == set(_COLUMNS)
    from multikernel.app.web.forms import family_parameters, methods, parameters

    method = methods("classification")["L1MKLClassifier"]
    fields = {name.removeprefix("p-"): value for name, value in taken.typed.items() if name.startswith("p-")}
    assert parameters(method, fields) == changed["parameters"]
    for word, own in changed["kernel_parameters"][""].items():  # type: ignore[index]
        prefix = f"k0-{word}-"
        given = {name.removeprefix(prefix): value for name, value in taken.typed.items() if name.startswith(prefix)}
        assert family_parameters(word, given) == own


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = [", "is no TOML"),
        ("[" * 3000, "is no TOML"),
        ("", "no setting target"),
        ("unknown = 1", "none of this name"),
        ("target = 5", "has to be a word"),
        ('columns = ["age"]', "has to be a table"),
        ("seed = true", "has to be a whole number"),
        ({"target": "nothing"}, "has no column 'nothing'"),
        ({"target": "<script>" * 2000}, "has no column '<script>"),
        ({"columns": {"age": "number", "zip": "text"}}, "has no column 'zip'"),
        ({"columns": {"age": "colour"}}, "columns: age"),
        ({"columns": {"bought": "category"}}, "which is what they predict"),
        ({"columns": {"city": "number"}}, "No cell of 'city' can be read as a number"),
        ({"task": "ranking"}, "task"),
        ({"measured": 3}, "has to be a table"),
        ({"measured": {"how": "guess"}}, "How rows are held out must be one of"),
        ({"measured": {"fold": 3}}, "a setting measured.'fold'"),
        ({"measured": {"folds": "3"}}, "measured.folds of the file is '3', and has to be a whole number"),
        ({"measured": {"how": "groups", "column": "zip"}}, "hold out rows by the column 'zip'"),
        ({"seed": -1}, "The seed must be a whole number from 0"),
        ({"worth": True}, "what each file is worth, and this data set is a single file"),
        (f"seed = {'1' * 5000}", "is no TOML"),
        ({"method": "Perceptron"}, "method"),
        ({"method": "L1MKLClassifier", "parameters": {"C": -1.0}}, "C"),
        ({"method": "L1MKLClassifier", "parameters": {"depth": 3}}, "depth"),
        ({"method": "L1MKLClassifier", "kernels": {"": ["magic"]}}, "magic"),
        ({"method": "L1MKLClassifier", "kernels": {"": "types"}}, "has to be a list of names"),
        ({"method": "L1MKLClassifier", "kernel_parameters": {"": {"anova": 3}}}, "a table for each family"),
        (
            {"method": "L1MKLClassifier", "views": {"a": ["age"], "b": ["city"]}, "kernels": {"a": ["types"]}},
            "kernels for the file 'a', and this data set is a single file",
        ),
    ],
)
def test_settings_that_cannot_be_taken_are_refused_in_a_sentence(
    data: DataSet, text: str | dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        FormSettings.of(text if isinstance(text, str) else toml(_RUN | text), data)
    assert len(str(refused.value)) < 700


def test_settings_that_no_form_has_are_named(data: DataSet) -> None:
    measured = {"how": "file", "file": "test-0.csv"}
    taken = FormSettings.of(toml(_RUN | {"measured": measured, "parameters": {"time_budget": 5.0}}), data)
    assert taken.how == "automatic"
    assert taken.ignored == ["measured: the test file", "parameters: time_budget"]
    check_recipe(Recipe.from_json(_RUN))


def _run(person: Person, data: str, name: str) -> str:
    """A run that has ended, as it was stopped."""
    person.submit(f"{data}/choose", target="bought")
    run = person.submit(f"{data}/learn", target="bought").url.path
    person.submit(f"{run}/stop")
    person.submit(f"{run}/rename", name=name)
    return run


def test_runs_have_notes_and_are_deleted_together_from_two_windows(tmp_path: Path) -> None:
    with serving(tmp_path) as address, Person(address) as person, Person(address) as other:
        data = person.upload(("people.csv", people(30))).url.path
        names = ["first", '<script>alert("1")</script>', "😀 third"]
        runs = [_run(person, data, name) for name in names]
        marks = [("run", run.rpartition("/")[2]) for run in runs]
        person.submit(f"{runs[1]}/note", note="seen <b>by</b> me\nand you")
        assert "seen &lt;b&gt;by&lt;/b&gt; me" in person.get("/runs").text
        assert "first" not in said(person.get("/runs", params={"q": "seen"}))
        refused = person.submit(f"{runs[0]}/note", note="x" * 5000)
        assert refused.status_code == 400
        assert "5000 characters, and 4000 are the most" in said(refused)
        asked = other.get("/runs/delete", params=marks)
        for name in names:
            assert html.escape(name, quote=True).replace("&quot;", "&#34;") in asked.text
        assert "Delete these 3 runs?" in said(asked)
        person.submit("/runs/delete", run=[mark for _, mark in marks[:2]])
        assert person.get(runs[0]).status_code == 404
        assert not (tmp_path / runs[0].lstrip("/")).exists()
        late = other.submit("/runs/delete", run=[mark for _, mark in marks])
        assert "1 run was deleted. 2 others had been deleted before." in said(late)
        assert "There is nothing to delete" in said(other.get("/runs/delete", params=marks))
        assert other.submit("/runs/delete").status_code == 400
        assert other.post("/runs/delete", data={"run": "x"}).status_code == 403
        goes_on = person.submit(f"{data}/learn", target="bought").url.path
        mark = goes_on.rpartition("/")[2]
        assert "has not ended, and stays" in said(person.get("/runs/delete", params={"run": mark}))
        assert "Nothing was deleted" in said(person.submit("/runs/delete", run=mark))
        person.submit(f"{goes_on}/stop")


def test_data_sets_are_renamed_and_filled_in_from_settings(tmp_path: Path) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people(30))).url.path
        for name, shown in (
            ("<script>", "&lt;script&gt;"),
            ("n" * 10_000, "n" * 120),
            ("a \n 'b' \u200e😀", "a &#39;b&#39; 😀"),
        ):
            assert f"<h1>{shown}</h1>" in person.submit(f"{data}/rename", name=name).text
        assert person.submit(f"{data}/rename", name=" \u200e ").status_code == 400

        def given(content: bytes | str) -> str:
            page = person.submit(f"{data}/settings", files=[("files", ("run.toml", content))])
            return f"{page.status_code} {said(page)} {page.text}"

        form = {"method": "L1MKLClassifier", "parameters": {"C": 7.5}, "kernels": {"": ["anova"]}, "seed": 4}
        page = given(toml(_RUN | form | {"measured": {"how": "file", "file": "test-0.csv"}}))
        assert page.startswith("200 Choose a method")
        assert "were left out: measured: the test file" in page
        assert 'name="p-C" value="7.5"' in page
        assert re.search(r'value="anova" checked', page)
        assert not re.search(r'value="types" checked', page)
        automatic = given(toml(_RUN | {"columns": {"joined": "category"}}))
        assert "press “Learn”" in automatic
        assert re.search(r'name="use-2" checked', automatic)
        assert not re.search(r'name="use-0" checked', automatic)
        for content, words in ((b"\xff\xfe\x00", "no text in UTF-8"), (b"#" * (1 << 20) + b"#", "larger than 1 MB")):
            assert words in given(content)
        assert "Choose one file" in said(person.submit(f"{data}/settings"))
