"""Tables of a few rows: a run learns with fewer folds, or says in a sentence why not."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from csv_tables import Invoke

from multikernel.app.web.learning.findings import execute_run
from multikernel.app.web.learning.recipe import Recipe


def _written(
    path: Path, n: int, target: Callable[[int], object], column: Callable[[int], object] | None = None
) -> Path:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=n).round(3)
    lines = [f"{column(i) if column else cells[i]},{target(i)}" for i in range(n)]
    path.write_text("x,y\n" + "\n".join(lines) + "\n")
    return path


def _found(table: Path, method: str, **more: Any) -> dict[str, Any]:
    task = "regression" if method.endswith(("Regressor", "CV")) or method == "numbers" else "classification"
    method = "automatic" if method in ("numbers", "classes") else method
    recipe = Recipe("a set", "y", task, {"x": "number"}, method=method, **more)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, where a fold has one row
        execute_run(recipe.to_json(), table, table.parent, lambda *_: None)
    result: dict[str, Any] = json.loads((table.parent / "result.json").read_text())
    return result


@pytest.mark.parametrize("method", ["classes", "L1MKLClassifier", "numbers", "MultipleKernelRidgeCV"])
def test_four_rows_are_learned_from_on_two_folds(tmp_path: Path, method: str) -> None:
    numbers = method in ("numbers", "MultipleKernelRidgeCV")
    table = _written(tmp_path / "t.csv", 4, (lambda i: i * i) if numbers else (lambda i: "ab"[i % 2]))
    result = _found(table, method)
    assert len(result["scores"]["own"]) == len(result["scores"]["single"]) == 2
    assert result["held_out"] == 4


def test_many_classes_of_three_rows_are_learned_from_on_three_folds(tmp_path: Path) -> None:
    result = _found(_written(tmp_path / "t.csv", 30, lambda i: f"c{i % 10}"), "AverageMKLClassifier")
    assert len(result["scores"]["single"]) == 3
    assert len(result["classes"]) == 10


@pytest.mark.parametrize(
    ("n", "target", "column", "method", "more", "said"),
    [
        (9, float, lambda i: 1, "numbers", {}, "In the rows of the table each column .* has one value only"),
        (9, float, lambda i: int(i == 4), "numbers", {}, r"In the rows that fold \d of \d learns from each column"),
        (4, lambda i: i * i, None, "RLS2Regressor", {"path": "alpha"}, "these are too few, of a class or of all"),
        (2, float, None, "numbers", {}, "2 rows are too few to hold some out; give 4 or more"),
        (9, lambda i: "ab"[i == 4], None, "classes", {}, "the class 'b' has one row only"),
    ],
)
def test_what_cannot_be_learned_is_said(
    tmp_path: Path, n: int, target: Any, column: Any, method: str, more: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        _found(_written(tmp_path / "t.csv", n, target, column), method, **more)


def test_commands_take_fewer_folds_or_say_why_not(invoke: Invoke, tmp_path: Path) -> None:
    table = _written(tmp_path / "t.csv", 18, lambda i: f"c{i % 6}")
    words = ("path", table, "--target", "y", "--method", "average", "--values", "1", "--json")
    done = invoke(*words)
    assert done.exit_code == 0, done.stderr
    assert len(json.loads(done.stdout)["steps"][0]["score_folds"]) == 3
    done = invoke(*words, "--folds", 5)
    assert "allows 3 folds, each of which holds out a row of each class; ask for --folds 3 or fewer" in done.stderr
    done = invoke("compare", table, "--target", "y")
    assert "a comparison chooses on 3 folds inside of others" in done.stderr
    _written(tmp_path / "t.csv", 7, lambda i: "ab"[i == 4])
    done = invoke("values", table, "--target", "y", "--method", "average")
    assert "allows no folds, each of which holds out a row of each class; give more rows, or leave" in done.stderr
    _written(tmp_path / "t.csv", 4, lambda i: i * i)
    done = invoke("fit", table, "--target", "y", "--method", "ridgecv", "--task", "regression")
    assert done.exit_code == 0, done.stderr
    _written(tmp_path / "t.csv", 9, float, lambda i: 1)
    done = invoke("fit", table, "--target", "y", "--task", "regression", "--out", "n.mk")
    assert "the answer is a constant" in done.stdout
    assert invoke("predict", "n.mk", table).stdout.splitlines() == ["prediction", *["4.0"] * 9]
