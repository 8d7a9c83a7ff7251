"""Methods of one's own choice on tables with dates, texts, identifiers and missing cells: as by hand, in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from csv_tables import Invoke
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from cases import one_in
from multikernel import kernels
from multikernel.auto import PreparedColumns
from multikernel.persistence import load


def _frame(n: int = 48) -> pd.DataFrame:
    """Rows whose target depends on a number, a city and the day."""
    rng = np.random.default_rng(0)
    size, city = rng.normal(size=n).round(3), rng.choice(["Bonn", "Oslo", "Rome"], n)
    frame = pd.DataFrame(
        {
            "id": [f"P{k:04d}" for k in range(n)],
            "size": np.where(np.arange(n) % 11 == 3, np.nan, size),
            "city": np.where(np.arange(n) % 13 == 5, None, city),
            "day": pd.date_range("2020-01-01", periods=n, freq="9D").strftime("%Y-%m-%d"),
            "note": [" ".join(rng.choice(["red", "blue", "cat", "dog", "sun"], 5)) for _ in range(n)],
        }
    )
    frame["y"] = (size + (city == "Rome") + np.arange(n) / n).round(3)
    frame["c"] = np.where(frame["y"] > frame["y"].median(), "high", "low")
    return frame


def _fitted(invoke: Invoke, target: str, *words: str) -> tuple[dict[str, Any], pd.DataFrame]:
    frame = _frame()
    other = {"y": "c", "c": "y"}[target]
    frame.drop(columns=other).to_csv("t.csv", index=False)
    done = invoke("fit", "t.csv", "--target", target, "--json", *words)
    assert done.exit_code == 0, done.output
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["features"] == ["size", "city", "day", "note"]
    assert told["left_out"] == ["id"]  # it names the rows
    return told, frame


def _predicted(invoke: Invoke) -> list[Any]:
    done = invoke("predict", "model.mk", "t.csv", "--json")
    assert done.exit_code == 0, done.output
    found: list[Any] = json.loads(done.stdout)["predictions"]
    return found


@pytest.mark.study
def test_kernels_follow_the_types_of_the_columns(invoke: Invoke) -> None:
    told, frame = _fitted(invoke, "c", "--method", "l1mkl", "--C", "1")
    X = frame[["size", "city", "day", "note"]]
    own = mk.L1MKLClassifier(kernels.for_columns(X), C=1.0).fit(X, frame["c"])
    assert _predicted(invoke) == own.predict(X).tolist()
    assert [each["kernel"] for each in told["weights"]] == own.kernel_names_.tolist()
    assert len(told["score_folds"]) == 5
    # a row with nothing known but the city, and a city that training did not have
    Path("new.csv").write_text("note,day,city,size,more\n,,Rome,,1\n,2020-02-01,Paris,0.5,1\n")
    assert invoke("predict", "model.mk", "new.csv").exit_code == 0


def test_a_linear_method_meets_the_numbers_of_all_columns_standardised(invoke: Invoke) -> None:
    told, frame = _fitted(invoke, "y", "--method", "linearrls2", "--alpha", "0.01")
    X = frame[["size", "city", "day", "note"]]
    numbers = StandardScaler().fit_transform(PreparedColumns().fit(X).transform(X))
    own = mk.LinearRLS2Regressor(alpha=0.01).fit(numbers, frame["y"])
    assert _predicted(invoke) == pytest.approx(own.predict(numbers).tolist())
    assert [each["weight"] for each in told["weights"]] == pytest.approx(own.weights_.tolist())
    assert {"Linear().on('city=Rome')", "Linear().on('city=missing')"} < {each["kernel"] for each in told["weights"]}
    report = invoke("report", "model.mk", "t.csv", "--json")
    assert json.loads(report.stdout)["test"]["score"] == pytest.approx(told["score_training"])


@pytest.mark.parametrize(
    "words",
    one_in(
        3,
        [
            ["--method", "average", "--alpha", "0.1", "--kernels", "rls2"],
            ["--method", "gated", "--set", "max_iter=5"],
            ["--method", "scales", "--set", "max_iter=5"],
        ],
    ),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_named_kernels_and_methods_of_numbers_meet_numbers(invoke: Invoke, words: list[str]) -> None:
    _fitted(invoke, "y", *words)
    assert np.corrcoef(_predicted(invoke), _frame()["y"])[0, 1] > 0.6
    assert hasattr(load(Path("model.mk")), "steps")


def test_what_sources_are_worth_to_a_method_and_along_a_path(invoke: Invoke) -> None:
    _frame().drop(columns=["c", "note"]).to_csv("t.csv", index=False)
    words = ("t.csv", "--target", "y", "--method", "linearrls2", "--set", "alpha=0.01", "--json")
    worth = json.loads(invoke("values", *words, "--no-pairs", "--source", "a=size,id", "--source", "b=city,day").stdout)
    assert [each["source"] for each in worth["sources"]] == ["a", "b"]
    assert min(each["adds"] for each in worth["sources"]) > 0.1
    followed = invoke("path", "t.csv", "--target", "y", "--method", "average", "--values", "0.1,1", "--json")
    assert followed.exit_code == 0, followed.output
    assert "city" in json.loads(followed.stdout)["kernel_names"]
