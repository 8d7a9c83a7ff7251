"""What the pages say of scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from multikernel.app.tables.table import CsvTable
from multikernel.app.web.advice import advice, given_away
from multikernel.app.web.learning.recipe import Kind
from multikernel.app.web.profile import leaks, profile
from multikernel.app.web.sentences import _of_comparison, _of_scores
from multikernel.datasets import Column


@pytest.mark.parametrize(
    ("own", "single", "trivial", "said"),
    [
        ([0.9, 0.92], [0.8, 0.82], [0.5, 0.5], "ahead of one tuned Gaussian kernel in 2 of 2 folds, by more than"),
        ([0.9, 0.8], [0.8, 0.85], [0.5, 0.5], "in 1 of 2 folds; the two differ by less than the folds do"),
        ([0.8, 0.82], [0.9, 0.92], [0.5, 0.5], "One tuned Gaussian kernel is ahead of it in 2 of 2 folds, by more"),
        ([0.5, 0.5], [0.5, 0.5], [0.5, 0.6], "no better than an answer that looks at no column"),
    ],
)
def test_a_score_is_told_beside_others(own: list[float], single: list[float], trivial: list[float], said: str) -> None:
    scores = {"own": own, "single": single, "trivial": trivial}
    assert said in _of_scores({"measure": "accuracy", "scores": scores}, "y")


def test_a_score_and_its_spread_are_in_the_same_units() -> None:
    scores = {"own": [-2.0, -4.0], "single": [-1.0, -1.0], "trivial": [0.0, 0.0]}
    assert "The R² is −3.000, give or take 1.414 between" in _of_scores(
        {"measure": "R²", "scores": scores, "task": "r"}, "y"
    )


def test_a_comparison_begins_like_a_sentence() -> None:
    rows = [{"method": "random forest", "scores": [0.9, 0.9]}, {"method": "L1MKL", "scores": [0.8, 0.8]}]
    assert _of_comparison({"comparison": rows}).startswith("Random forest is highest and L1MKL next, by more")


def test_counts_and_times_until_an_event_are_met_with_advice() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"followup_days": rng.exponential(300.0, 80).round(1), "died": rng.integers(0, 2, 80)})
    frame["visits"] = rng.poisson(rng.exponential(8.0, 80))
    frame["age"] = rng.integers(20, 80, 80)
    columns = {name: Column("t.csv", name, [str(cell) for cell in frame[name]], range(2, 82)) for name in frame}
    about = profile(CsvTable("t.csv", columns))
    told = {name: list(advice(name, "regression", frame[name].to_numpy(float), about)) for name in frame}
    assert [len(each) for each in told.values()] == [1, 1, 1, 0]
    assert told["died"][0].startswith("'followup_days' and 'died' look like times until an event")
    assert "The application has no method for such data" in told["followup_days"][0]
    assert "'visits' looks like counts" in told["visits"][0]
    (told_of_classes,) = advice("visits", "classification", np.repeat([0, 1, 2, 3, 6], [30, 30, 10, 8, 2]), about)
    assert told_of_classes.startswith("'visits' holds whole numbers from 0 to 6, and is learned as classes")
    assert list(advice("age", "classification", frame["age"].to_numpy() % 10, about)) == []  # as many of each
    assert list(advice("age", "classification", frame["age"].to_numpy(str), about)) == []


def test_a_run_that_learned_an_event_from_its_time_says_so() -> None:
    rng = np.random.default_rng(0)
    taken = np.ceil(rng.exponential(60.0, 80))
    frame = pd.DataFrame({"week": np.minimum(taken, 52.0), "arrest": (taken <= 52).astype(int)})
    frame["weekday"] = rng.integers(1, 8, 80)
    columns = {name: Column("t.csv", name, [f"{cell:g}" for cell in frame[name]], range(2, 82)) for name in frame}
    table = CsvTable("t.csv", columns)
    assert "'arrest' was learned from 'week'" in given_away("arrest", table, ["week", "weekday"])
    assert "'week' was learned from 'arrest'" in given_away("week", table, ["arrest"])
    assert given_away("arrest", table, ["weekday"]) == given_away("weekday", table, ["week", "arrest"]) == ""


def test_leaks_are_found_in_numbers_beyond_single_precision() -> None:
    target = np.random.default_rng(0).permutation(60) % 7
    cells = {"far": 1e9 + target, "huge": 1e200 * (target**2 - 3.0), "low": -1e300 + target}
    table = CsvTable(
        "t", {key: Column("t", key, [repr(float(v)) for v in own], range(2, 62)) for key, own in cells.items()}
    )
    kinds: dict[str, Kind] = dict.fromkeys(cells, "number")
    assert leaks(table, kinds, target.astype(str), np.arange(60), "classification") == ["far", "huge"]
