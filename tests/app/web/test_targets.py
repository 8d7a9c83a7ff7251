"""Several targets in one run: what is found of each, and that pages, files and predictions have all of them."""

from __future__ import annotations

import io
import json
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from app_server import TWO_FOLDS, Person, said, saved
from csv_tables import Invoke
from sklearn.metrics import r2_score

import multikernel
from multikernel.app.toml import toml
from multikernel.app.web.exports import code, repeated
from multikernel.app.web.forms import methods_for
from multikernel.app.web.learning.errors import HeldOutRows, held_out_file
from multikernel.app.web.learning.findings import execute_run
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.opener import answer
from multikernel.app.web.pages import models

_COLUMNS = {"x": "number", "z": "number"}


def _table(n: int = 36) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2)).round(4), columns=["x", "z"])
    far = (1000.0 * (X["z"] + 0.3 * rng.normal(size=n))).round(2)
    return X.assign(near=(X["x"] + 0.1 * rng.normal(size=n)).round(4), far=far.where(X.index != 4), who=X.index // 2)


def _recipe(**more: Any) -> Recipe:
    given = {"method": "MultipleKernelRidgeCV", "kernels": {"": ["slopes"]}, "other_targets": ["far"]}
    return Recipe("d", "near", "regression", _COLUMNS, **given | more)  # type: ignore[arg-type]


def test_each_target_has_the_scores_of_its_own_predictions(tmp_path: Path) -> None:
    _table().to_csv(tmp_path / "table.csv", index=False)
    recipe = _recipe(measured=Measuring(folds=2, repeats=2))
    summary = execute_run(recipe.to_json(), tmp_path / "table.csv", tmp_path, lambda *_: None)
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["n"], result["unknown"]) == (35, 1)
    means = np.mean([own["scores"]["own"] for own in result["targets"]], axis=0)
    assert means == pytest.approx(result["scores"]["own"])
    assert summary["score"] == pytest.approx(means.mean())
    assert len(means) == 4
    assert result["weights"]["problems"] == ["near", "far"]
    table = _table()
    for k, own in enumerate(result["targets"]):
        rows = HeldOutRows.read(tmp_path / held_out_file(k))
        assert sorted(rows.rows) == [row for row in range(1, 37) if row != 5]
        assert rows.truth == [table[own["name"]][row - 1] for row in rows.rows]
        together = r2_score(rows.truth, rows.predicted)
        assert own["measures"][0]["value"] == pytest.approx(together)
        assert own["measures"][0]["value"] > 0.5 > own["measures"][0]["constant"]


@pytest.mark.study
@pytest.mark.parametrize(
    "recipe",
    [
        _recipe(measured=Measuring("groups", "who", folds=3), method="RLS2Regressor", path="alpha", path_count=3),
        _recipe(
            measured=Measuring("file", file="test.csv", measure="mae"), method="LearnedScalesRegressor", kernels={}
        ),
    ],
    ids=lambda recipe: recipe.method,
)
def test_exports_repeat_all_targets(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], invoke: Invoke
) -> None:
    _table().to_csv(tmp_path / "table.csv", index=False)
    _table(44).iloc[36:].to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    result = repeated(tmp_path / "run.toml", tmp_path / "table.csv", tmp_path / "model.mk", lambda line: None)
    (tmp_path / "run.py").write_text(code(recipe, result["target_dtype"]))
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    told = [float(each) for each in re.findall(r"-?\d+\.\d+", capsys.readouterr().out.splitlines()[0])]
    assert told == pytest.approx(result["scores"]["own"], rel=1e-5)
    answers = pd.read_csv("run-output/predictions.csv")
    predicted = multikernel.load("model.mk").predict(_table()[["x", "z"]])
    assert answers.to_dict("list") == {
        "predicted near": pytest.approx(predicted[:, 0].tolist(), rel=1e-6),
        "predicted far": pytest.approx(predicted[:, 1].tolist(), rel=1e-6),
    }
    printed = pd.read_csv(io.StringIO(invoke("predict", "model.mk", "table.csv").stdout))
    assert printed["predicted far"].tolist() == pytest.approx(predicted[:, 1].tolist(), rel=1e-6)


def test_a_report_tests_each_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    table = _table().dropna()
    table.to_csv(tmp_path / "table.csv", index=False)
    execute_run(_recipe(method="AverageMKLRegressor").to_json(), tmp_path / "table.csv", tmp_path, lambda *_: None)
    monkeypatch.chdir(tmp_path)
    told = json.loads(invoke("report", "model.mk", "table.csv", "--json").stdout)
    predicted = multikernel.load("model.mk").predict(table[["x", "z"]])
    assert told["targets"] == ["near", "far"]
    assert told["test"] is None
    scores = r2_score(table[["near", "far"]], predicted, multioutput="raw_values")
    assert [test["score"] for test in told["tests"]] == pytest.approx(scores)
    assert [test["target"] for test in told["tests"]] == ["near", "far"]
    page = (tmp_path / "report.html").read_text()
    assert "learned about near, far" in page
    assert f"<td>far</td><td>{scores[1]:.3f}</td>" in page
    assert "Predicted against true: far" in page
    _table().to_csv(tmp_path / "gap.csv", index=False)
    assert "far" in invoke("report", "model.mk", "gap.csv", "--force").stderr


def test_what_cannot_have_several_targets_is_told(tmp_path: Path) -> None:
    assert "L1MKLRegressor" not in methods_for("regression", several=True)
    assert {"MultipleKernelRidgeCV", "RLS2Regressor", "TwoLayerRegressor"} <= set(methods_for("regression", True))
    table = _table().assign(word="a", gap=[None] * 4 + [1.0] + [None] * 31, flat=[5] * 4 + [6] + [5] * 31)
    table.to_csv(tmp_path / "table.csv", index=False)
    for others, sentence in (
        (["word"], "word"),
        (["far", "gap"], "one value only"),
        (["far", "flat"], "In the 35 rows that have a value of all targets, 'flat' has one value only"),
        (["nothing"], "There is no column 'nothing'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            execute_run(_recipe(other_targets=others).to_json(), tmp_path / "table.csv", tmp_path, lambda *_: None)


def test_a_person_predicts_two_columns_with_one_model(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "answer_of_process", lambda command, order, *_: answer(order))
    data = person.upload(("t.csv", _table().drop(columns="who").to_csv(index=False))).url.path
    names = ["x", "z", "near", "far"]
    shown = TWO_FOLDS | {"others": "1", "shown": "near", **{f"kind-{k}": "number" for k in range(4)}}
    ticked = {f"use-{k}": "on" for k in range(4)}
    person.submit(f"{data}/choose", target="near", **shown, **ticked)
    page = person.submit(f"{data}/choose", target="near", **shown, **ticked, **{f"other-{names.index('far')}": "on"})
    assert "1 row without a value of every target is not learned from" in said(page)
    form = person.get(f"{data}/method")
    assert "To predict near and far , numbers" in said(form)
    assert "HKLRegressor" not in form.text
    fields = {"method": "AverageMKLRegressor", "kernels-0": "linear", "p-alpha": "0.1", "others": "1"}
    run = person.learned(person.submit(f"{data}/method", **fields))
    assert "R² on held-out rows, mean over 2 targets" in said(run)
    assert "How far off are predictions of far?" in said(run)
    address = run.url.path
    assert "How far off are predictions of far?" in said(person.get(f"{address}/files/report.html"))
    assert person.get(f"{address}/charts/residuals_1.svg").status_code == 200
    rows = person.get(f"{address}/rows", params={"target": 1})
    assert '<option value="1" selected>far' in rows.text
    columns = person.get(f"{address}/columns", params={"class": 1})
    assert "predicted far by z" in columns.text
    for path in ("/map", "/kernels"):
        assert "near" in said(person.get(address + path))
    sample = person.get(f"{address}/sample", params={"row": 5, "target": "far"})
    assert "What this cell adds to the prediction of far" in said(sample)
    new = _table(50).drop(columns="who").iloc[36:].to_csv(index=False)
    answers = person.submit(f"{address}/predict", files=[("files", ("new.csv", new))])
    assert "R² on the 14 rows whose far the file has" in said(answers)
    assert list(pd.read_csv(io.StringIO(saved(answers)))) == ["predicted near", "predicted far"]
    model = person.get(f"{address}/files/model.mk").content
    opened = person.submit("/models", files=[("files", ("two.mk", model))])
    assert "predicts near, far" in said(opened)
    again = person.submit(f"{opened.url.path}/predict", files=[("files", ("new.csv", new))])
    assert saved(again) == saved(answers)
    settings = person.get(f"{address}/files/run.toml").text
    filled = person.submit(f"{data}/settings", files=[("files", ("run.toml", settings))])
    assert "To predict near and far" in said(filled)
    listed = person.get("/runs", params={"q": "far"})
    assert "near and far" in said(listed)
    alone = person.submit(f"{data}/choose", target="near", **shown, **ticked)
    assert "To predict near and far" not in said(alone)
    one = person.learned(person.submit(f"{data}/method", **fields)).url.path
    both = person.get("/runs/compare", params={"run": [each.rpartition("/")[2] for each in (address, one)]})
    assert re.findall(r"<h2>(Scores on held-out rows[^<]*)", both.text) == [
        "Scores on held-out rows: far and near",
        "Scores on held-out rows",
    ]


def test_what_a_form_is_refused_for_names_no_file_of_the_server(person: Person) -> None:
    data = person.upload(("words.csv", _table(20).assign(word="u").to_csv(index=False))).url.path
    target = {"target": "word", "task": "regression", "shown": "word"}
    assert "&#39;u&#39; is not a number" in person.submit(f"{data}/choose", **target).text
    refused = person.submit(f"{data}/method", method="AverageMKLRegressor")
    assert "words: row 2, column" in said(refused)
    assert "/" not in said(refused).partition("words: row 2")[0].rpartition("multikernel")[2]
