"""Exported runs on the command line, and the options of the server."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from app_server import people
from csv_tables import Invoke
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from multikernel.app.toml import toml
from multikernel.app.web.learning import comparison
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.recipe import Recipe
from multikernel.auto import PreparedColumns


def test_an_exported_run_is_repeated(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(people(20))
    columns = {"age": "number", "city": "category"}
    recipe = Recipe(
        "p",
        "bought",
        "classification",
        columns,
        method="AverageMKLClassifier",
        parameters={"C": 1.0},
        measured=Measuring(folds=2),
    )  # type: ignore[arg-type]
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    found = invoke("repeat", "run.toml", "--json")
    assert found.exit_code == 0, found.output
    assert len(json.loads(found.stdout)["scores"]["own"]) == 2
    assert (tmp_path / "model.mk").exists()
    assert "it exists" in invoke("repeat", "run.toml").stderr


def _of(**changed: Any) -> str:
    plain = {"columns": {"a": "number"}, "method": "AverageMKLRegressor"}
    return toml(Recipe("p", "y", "regression", **plain | changed).to_json())


def test_a_run_of_views_tells_their_weights_and_its_path(invoke: Invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(24, 2)), columns=["lab: x", "form: z"])
    X.assign(y=X["lab: x"] + 0.1 * rng.normal(size=24)).to_csv(tmp_path / "table.csv", index=False)
    views = {"lab": ["lab: x"], "form": ["form: z"]}
    columns = dict.fromkeys(X, "number")
    text = _of(
        columns=columns,
        views=views,
        path="alpha",
        kernels={"lab": ["linear"], "form": ["types"]},
        measured=Measuring(folds=2),
    )
    (tmp_path / "run.toml").write_text(text.replace('"data" = "p"\n', ""))
    found = invoke("repeat", "run.toml")
    assert found.exit_code == 0, found.output
    for words in ("Weights of each view", "form", "The path", "degrees of freedom", "chosen", "Degrees of freedom"):
        assert words in found.stdout


def test_a_comparison_is_repeated_and_leaves_no_model(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.csv").write_text(people(30))
    recipe = Recipe("p", "bought", "classification", {"age": "number"}, method="comparison")
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    tree = {"tree": make_pipeline(PreparedColumns(), DecisionTreeClassifier(random_state=0))}
    monkeypatch.setattr(comparison, "methods_to_compare", lambda *_: tree)
    found = json.loads(invoke("repeat", "run.toml", "--json").stdout)
    assert [row["method"] for row in found["comparison"]] == ["no column at all", "tree"]
    assert found["model"] is None
    assert not (tmp_path / "model.mk").exists()
    assert "no column at all" in invoke("repeat", "run.toml").stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no toml", "is no run that the application has exported"),
        ('target = "y"', "is no run that the application has exported"),
        ('views = 1\ntarget = "y"\ntask = "regression"\n[columns]\na = "number"', "The setting views of the file is 1"),
        (f"x = {'[' * 50_000}", "The file is no TOML"),
        (toml(Recipe("p", "y", "ranking", {"a": "number"}).to_json()), "task must be one of"),  # type: ignore[arg-type]
        (toml(Recipe("p", "y", "regression", {"a": "word"}).to_json()), "columns: a must be one of"),  # type: ignore[dict-item]
        (_of(method="Method"), "method must be one of"),
        (_of(parameters={"tool": 1}), "has no parameter 'tool'"),
        (_of(path="tol"), "path must be one of 'alpha'"),
        (_of(other_targets=["z", "z"]), "The settings name the target 'z' twice."),
        (_of(other_targets=["a"]), "The settings learn from 'a', which is what they predict."),
        (_of(other_targets=["z"], method="HKLRegressor"), "method must be one of"),
        (_of(other_targets=["z"]).replace('["z"]', '"z"'), "file is 'z', and has to be a list of columns"),
        (_of(kernels={"": ["kernels"]}), "kernels: '' must be one of 'types'"),
        (_of(kernels={"lab": ["types"]}), "kernels: view must be one of ''"),
        (_of(kernels={"": ["linear"]}, kernel_parameters={"": {"linear": {"slope": 1}}}), "linear has no parameter"),
    ],
)
def test_what_is_no_run_is_refused(invoke: Invoke, tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "run.toml").write_text(text)
    found = invoke("repeat", "run.toml")
    assert found.exit_code == 1
    assert sentence in found.stderr
    assert not (tmp_path / "model.mk").exists()


def test_a_port_that_is_taken_is_told(invoke: Invoke, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = invoke("app", "--no-browser", "--home", tmp_path / "home", "--port", taken.getsockname()[1])
    assert found.exit_code == 1
    assert "give another one by --port" in found.stderr


def test_names_of_columns_survive_toml() -> None:
    import tomllib

    names = ['a"b', "a.b", "é\\n", "\x7f", "[x]", "="]
    values = {"columns": dict.fromkeys(names, "number"), "views": {"v w": names}, "parameters": {"C": 0.1, "p": True}}
    assert tomllib.loads(toml(values)) == values
