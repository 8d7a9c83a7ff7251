"""Learned scales in the application: their form, their chart, and that exports repeat them."""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_server import TWO_FOLDS, Person, people, said, saved

import multikernel
from multikernel.app.toml import toml
from multikernel.app.web.exports import code, repeated
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.summary import scales_of

_VIEWS = {"lab": ["lab: x", "lab: z"], "form: b": ["form: b: city"]}


def _table(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"lab: x": rng.normal(size=n) * 100.0, "lab: z": rng.normal(size=n)})
    X["form: b: city"] = rng.choice(["Rome", "Padua"], n)
    return X.assign(y=np.sin(X["lab: x"] / 50.0) + 0.05 * rng.normal(size=n)).round(4)


@pytest.mark.study
def test_exports_repeat_scales_of_columns_of_all_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = _table()
    columns = {"lab: x": "number", "lab: z": "number", "form: b: city": "category"}
    given = {"method": "LearnedScalesRegressor", "parameters": {"penalty": 1.0}, "views": _VIEWS}
    recipe = Recipe("d", "y", "regression", columns, **given)  # type: ignore[arg-type]
    table.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    found = repeated(tmp_path / "run.toml", tmp_path / "table.csv", tmp_path / "model.mk", lambda line: None)
    assert found["scales"][0]["name"] == "lab: x"
    assert sum(row["part"] for row in found["scales"]) == pytest.approx(1.0)
    assert found["weights"]["views"] == []
    (tmp_path / "run.py").write_text(code(recipe, "float"))
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    told = [float(each) for each in re.findall(r"-?\d\.\d+", capsys.readouterr().out.splitlines()[0])]
    assert told == pytest.approx(found["scores"]["own"], abs=1e-5)
    again = multikernel.load("model.mk")
    predicted = pd.read_csv("run-output/predictions.csv")["prediction"]
    assert predicted.tolist() == pytest.approx(again.predict(table[list(columns)]).tolist(), rel=1e-5)


def test_parts_of_scales_do_not_depend_on_units() -> None:
    table = _table()
    X, y = table[["lab: x", "lab: z"]], table["y"]
    one = multikernel.LearnedScalesRegressor(penalty=1.0).fit(X, y)
    other = multikernel.LearnedScalesRegressor(penalty=1.0).fit(X * [1e6, 1e-3], y)
    rows = scales_of(one, [one, other], list(X))
    assert rows is not None
    assert rows[0]["name"] == "lab: x"
    assert rows[0]["part"] == pytest.approx(max(one.relative_scales_) / sum(one.relative_scales_))
    assert [row["spread"] for row in rows] == pytest.approx([0.0, 0.0], abs=1e-3)


def test_a_person_learns_scales_and_is_told_of_columns_without(person: Person) -> None:
    data = person.upload(("people.csv", people(40))).url.path
    form = person.get(f"{data}/method", params={"method": "LearnedScalesClassifier"})
    assert "each column has a scale of its own" in said(form)
    assert 'name="kernels-0"' not in form.text
    fields = {"method": "LearnedScalesClassifier", "p-penalty": "1"}
    refused = person.submit(f"{data}/method", **fields)
    assert "and joined holds dates or texts; untick what it cannot use" in said(refused)
    ticked = {f"kind-{k}": kind for k, kind in enumerate(("number", "category", "date", "number", "category"))}
    person.submit(
        f"{data}/choose", target="bought", **ticked, **TWO_FOLDS, **{"use-0": "on", "use-1": "on", "use-3": "on"}
    )
    run = person.learned(person.submit(f"{data}/method", **fields))
    assert "The answer changes fastest along" in said(run)
    assert "What was combined?" not in run.text
    assert person.get(f"{run.url.path}/charts/scales.svg").status_code == 200
    answers = person.submit(f"{run.url.path}/predict", files=[("files", ("new.csv", people(5, 1)))])
    assert len(pd.read_csv(io.StringIO(saved(answers)))) == 5
    assert person.get(f"{run.url.path}/files/report.html").text.count("Which columns does the kernel follow?") == 1
