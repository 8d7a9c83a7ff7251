"""Several files as views, of several formats: learned from, exported, and predicted by the command line."""

from __future__ import annotations

import gzip
import io
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from app_server import Person, people, said, serving
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from multikernel import AverageMKLClassifier
from multikernel.app.jobs.predict import predictions
from multikernel.app.tables.table import read_table
from multikernel.app.web.learning import comparison
from multikernel.app.web.learning.division import Division, layout_of
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.summary import weights_of
from multikernel.app.web.sentences import sentences
from multikernel.auto import PreparedColumns


@pytest.mark.study
def test_files_of_two_formats_are_views_of_one_model(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.read_csv(io.StringIO(people(30)))
    table.insert(0, "nr", [f"p{k}" for k in range(len(table))])
    table["joined"] = pd.to_datetime(table["joined"])
    excel, parquet = io.BytesIO(), io.BytesIO()
    table[["nr", "age", "city"]].to_excel(excel, index=False)
    table[["nr", "joined", "score", "bought"]].iloc[::-1].to_parquet(parquet)
    page = person.upload(("lab.xlsx", excel.getvalue()), ("form.parquet", parquet.getvalue()))
    text = said(page)
    assert "30 rows, 6 columns, 2 views" in text
    assert "By the column nr : 30 of 30 samples are in all 2 files" in text
    assert "Date: learned from as the day" in text
    result = person.learned(person.submit(f"{page.url.path}/learn", target="form: bought"))
    assert "How good is it?" in result.text, said(result)
    for name in ("run.py", "table.csv", "model.mk", "predictions.csv"):
        (tmp_path / name).write_bytes(person.get(f"{result.url.path}/files/{name}").content)
    told = pd.read_csv(tmp_path / "predictions.csv")["prediction"].tolist()
    assert predictions(tmp_path / "model.mk", read_table(tmp_path / "table.csv"), proba=False).labels == told
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    assert pd.read_csv(tmp_path / "run-output" / "predictions.csv")["prediction"].tolist() == told


def test_the_weights_of_a_view_are_told_as_a_part_of_all() -> None:
    columns = dict.fromkeys(("lab: x", "form: z"), "number")
    recipe = Recipe("d", "y", "regression", columns, {"lab": ["lab: x"], "form": ["form: z"]}, method="any")  # type: ignore[arg-type]
    names = ("lab: x", "lab: all", "form: z")
    models = [SimpleNamespace(weights_=np.array(w), kernel_names_=names) for w in ([1, 2, 1], [1, 1, 2], [2, 2, 4])]
    views = weights_of(models[0], models[1:], recipe)["views"]
    assert [(row["name"], row["part"], row["spread"]) for row in views] == [("lab", 0.75, 0.0), ("form", 0.25, 0.0)]


def test_a_comparison_of_methods_gives_each_view_kernels_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"{view}: {name}": rng.normal(size=40) for view in ("lab", "form") for name in ("x", "z")})
    y = np.where(X["lab: x"] + X["form: z"] > 0, "yes", "no")
    views = {view: [f"{view}: x", f"{view}: z"] for view in ("lab", "form")}
    recipe = Recipe("d", "y", "classification", dict.fromkeys(X, "number"), views, method="comparison")
    fitted: list[tuple[str, ...]] = []

    class Heard(AverageMKLClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            fitted.append(tuple(self.kernels))
            return super().fit(X, y, sample_weight)

    def few(*_: Any) -> dict[str, Any]:
        tree = make_pipeline(PreparedColumns(), DecisionTreeClassifier(random_state=0))
        return {"kernels": make_pipeline(PreparedColumns(), Heard()), "tree": tree}

    monkeypatch.setattr(comparison, "methods_to_compare", few)
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    division = Division.of(layout_of(recipe, read_table(tmp_path / "table.csv"), tmp_path))
    found = comparison.compare_methods(recipe, division, lambda stage, part, said="": None)
    assert found["by_view"] == ["kernels"]
    assert fitted == [("lab", "form")] * 5
    assert all(sum(row["scores"]) > 2.5 for row in found["comparison"][1:])
    assert "Each view has kernels of its own in kernels" in sentences(recipe.to_json(), found)["scores"]


def test_sets_of_the_directory_of_data_are_listed_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop.csv.gz").write_bytes(gzip.compress(b"colour,_row,target\nred,1,yes\nblue,2,no\n,3,no\n"))
    (tmp_path / "notes.jsonl.gz").write_bytes(
        gzip.compress(b'{"text": "good one", "target": "a"}\n{"text": "bad one", "target": "b"}\n')
    )
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path))
    with serving(tmp_path / "home") as address, Person(address) as person:
        assert "In your directory of data" in said(person.get("/"))
        shop = person.submit("/data/known", name="shop")
        assert "3 rows, 3 columns" in said(shop)
        assert "33.3%" in said(shop)  # the missing cell is kept
        assert "2 rows, 2 columns" in said(person.submit("/data/known", name="notes"))
        assert person.submit("/data/known", name="../shop").status_code == 400
        monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path / "none"))
        assert "not an existing directory" in said(person.get("/"))


def test_how_a_file_is_written_does_not_matter(person: Person) -> None:
    plain = person.upload(("a.csv", "a,b,y\n1.5,x,0\n,z,1\n1234.5,x,1\n"))
    for content in ("a;b;y\n1,5;x;0\nNA;z;1\n1234,5;x;1\n", "\ufeffa\tb\ty\n1.5\tx\t0\n?\tz\t1\n1,234.5\tx\t1\n"):
        other = person.upload(("a.csv", content))
        rows = [page.text.partition("The first rows")[2].partition("</table>")[0] for page in (plain, other)]
        assert rows[0] == rows[1]
