"""``--json``: one document on stdout with keys that do not change, and nothing else there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from csv_tables import Invoke, write_table

from multikernel.app.cli.console import show_json
from multikernel.app.jobs import compare
from multikernel.persistence import load

_FIT = {
    *("command", "version", "method", "task", "target", "samples", "features", "left_out", "measure", "score_training"),
    *(
        "score_folds",
        "chosen",
        "certificate",
        "kernels",
        "weights",
        "weights_of_classes",
        "degrees_of_freedom",
        "inner_folds",
        "alpha",
        "criteria",
        "candidates",
        "sentences",
        "model",
    ),
}


def _document(invoke: Invoke, *words: object) -> Any:
    done = invoke(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_fit_and_predict_tell_what_the_model_file_holds(invoke: Invoke) -> None:
    train, new = write_table(Path("train.csv"), "word", 45), write_table(Path("new.csv"), None, 6, seed=1)
    found = _document(invoke, "fit", train, "--target", "target", "--lam", "0.2", "--proba")
    assert set(found) == _FIT
    model = load("model.mk")
    assert [each["kernel"] for each in found["weights"]] == list(model.kernel_names_)
    assert np.allclose([each["weight"] for each in found["weights"]], model.weights_.mean(axis=0))
    assert found["certificate"] == {"kind": "duality gap", "value": model.duality_gap_}
    assert len(found["score_folds"]) == 5

    told = _document(invoke, "predict", "model.mk", new)
    keys = {"command", "version", "rows", "names", "classes", "predictions", "decision", "probability", "out"}
    assert set(told) == keys
    assert told["classes"] == ["maybe", "no", "yes"]
    assert all(len(column) == 6 for column in told["decision"].values())
    sure = _document(invoke, "predict", "model.mk", new, "--proba")
    assert np.allclose(sum(np.array(column) for column in sure["probability"].values()), 1.0)
    tested = _document(invoke, "report", "model.mk", train)
    assert tested["test"]["score"] == pytest.approx(found["score_training"])
    assert np.sum(tested["test"]["confusion"]) == 45


def test_the_automatic_estimator_has_the_same_keys(invoke: Invoke) -> None:
    found = _document(invoke, "fit", write_table(Path("train.csv"), "real", 40), "--target", "target")
    assert set(found) == _FIT
    total = sum(each["weight"] for each in found["candidates"][:-1])  # the last is their blend
    assert total == pytest.approx(1.0, abs=1e-6)


def test_a_path_marks_its_best_value(invoke: Invoke) -> None:
    train = write_table(Path("train.csv"), "number", 40)
    options = ("--target", "target", "--method", "l1mkl", "--values", "0.01,1,100", "--kernels", "rbf:1,4")
    found = _document(invoke, "path", train, *options, "--folds", 3)
    means = [step["score_mean"] for step in found["steps"]]
    assert [step["value"] for step in found["steps"]] == [0.01, 1.0, 100.0]
    assert found["best"] == found["steps"][int(np.argmax(means))]["value"]
    assert found["simplest_within_one_standard_error"] <= found["best"]
    assert all(step["certificate"] < 1e-4 and len(step["weights"]) == 2 for step in found["steps"])


def test_tables_of_other_commands(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    train = write_table(Path("train.csv"), "real", 40)
    monkeypatch.setattr(compare, "_TREES", 5)
    found = _document(invoke, "compare", train, "--target", "target", "--folds", 2, "--only", "random forest")
    assert [each["method"] for each in found["methods"]] == ["random forest"]
    assert len(found["methods"][0]["score_folds"]) == 2
    assert {"name", "task", "from", "rows", "features"} == set(_document(invoke, "datasets")["datasets"][0])
    timed = _document(invoke, "bench", train, "--target", "target", "--method", "average", "--repeat", 1)
    assert timed["methods"][0]["seconds"] > 0
    told = _document(invoke, "methods", "lpmkl")["estimators"][0]["parameters"]
    assert {"name": "p", "default": 2.0, "kind": "finite float >= 1, default 2.0"}.items() <= told[0].items()


def test_numbers_that_json_has_not_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    show_json("x", {"a": [np.nan, np.inf, np.float64(1.5)], "b": np.array([[1, 2]]), "c": (None, True, "t")})
    found = json.loads(capsys.readouterr().out)
    assert (found["a"], found["b"], found["c"]) == ([None, None, 1.5], [[1, 2]], [None, True, "t"])


def test_a_failure_leaves_stdout_empty(invoke: Invoke) -> None:
    done = invoke("fit", "nothing.csv", "--target", "y", "--json")
    assert (done.exit_code, done.stdout) == (1, "")
