"""Intervals by refits: of mean scores and of partial dependence, where folds are drawn anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from multikernel.app.model_charts import dependence_levels, dependence_line
from multikernel.app.row_charts import folds
from multikernel.app.web.learning.findings import execute_run
from multikernel.app.web.learning.intervals import interval_of
from multikernel.app.web.learning.measures import measure_of
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.sentences import sentences


def test_an_interval_allows_for_the_rows_that_folds_share() -> None:
    scores = [0.5, 0.7, 0.6, 0.8]  # two rounds of two folds: s^2 = 1 / 60, and as many rows held out as learned from
    error = ((1 / 4 + 1) / 60) ** 0.5
    low, high = 0.65 - 3.182446 * error, 0.65 + 3.182446 * error
    assert interval_of(scores, 2, measure_of("classification", "accuracy")) == pytest.approx([low, min(high, 1.0)])
    assert interval_of(scores, 2, measure_of("regression", "mae")) == pytest.approx([max(low, 0.0), high])
    # of independent scores it would hold the mean in 95% of cases; these are independent of each other, so in more
    rng = np.random.default_rng(0)
    ends = [interval_of(each, 5, measure_of("regression", "")) for each in 0.1 * rng.normal(size=(2000, 10))]
    assert 0.95 < np.mean([low < 0.0 < high for low, high in ends]) < 1.0


def test_repeats_give_intervals_of_scores_and_bars_of_refits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=40).round(3), "c": rng.choice(["a", "b"], 40)})
    table["y"] = (2.0 * table["x"] + (table["c"] == "a") + 0.1 * rng.normal(size=40)).round(4)
    table.to_csv(tmp_path / "table.csv", index=False)
    given: dict[str, Any] = {"method": "AverageMKLRegressor", "kernels": {"": ["linear"]}, "parameters": {"alpha": 0.1}}
    for repeats in (1, 2):
        recipe = Recipe("d", "y", "regression", {"x": "number", "c": "category"}, **given)
        recipe = Recipe(**(vars(recipe) | {"measured": Measuring(folds=3, repeats=repeats)}))
        execute_run(recipe.to_json(), tmp_path / "table.csv", tmp_path, lambda *_: None)
        result = json.loads((tmp_path / "result.json").read_text())
        assert ("intervals" in result) == ("refits" in result) == (repeats == 2)
    low, high = result["intervals"]["own"]
    assert low < np.mean(result["scores"]["own"]) < high
    assert "A line is the 95% interval of the mean" in sentences(recipe.to_json(), result)["scores"]
    chart = folds("t", [("this run", result["scores"]["own"])], "R²", {"this run": result["intervals"]["own"]})
    assert "95% interval" in chart
    refits = result["refits"]
    assert (refits["place"], refits["count"], set(refits["columns"])) == (-1, 6, {"x", "c"})
    for name, (lower, upper) in refits["columns"].items():
        assert len(lower) == len(upper) == (20 if name == "x" else 2)
        assert np.all(np.array(lower) <= np.array(upper))
    slopes = np.diff(refits["columns"]["x"][0]) / (np.ptp(np.quantile(table["x"], [0.05, 0.95])) / 19)
    assert slopes == pytest.approx(2.0, abs=0.2)


def test_bars_of_refits_are_drawn_with_their_meaning() -> None:
    bands = ([0.0, 1.0], [0.5, 1.5], [1.0, 2.0])
    refits = ([0.4, 1.4], [0.6, 1.6])
    line = dependence_line("x", [0.0, 1.0], bands, (0.0, 2.0), "y", refits=refits)
    levels = dependence_levels("c", ["a", "b"], bands, (0.0, 2.0), "y", refits=refits)
    for drawn in (line, levels):
        assert drawn.count("whisker") == 2
        assert "mean of refits 0.400 to 0.600" in drawn
    assert "whisker" not in dependence_line("x", [0.0, 1.0], bands, (0.0, 2.0), "y")
