"""Verdicts: what "within" means, which way is better, and what is said of a variant."""

from __future__ import annotations

from typing import Any

import pytest

from multikernel.reproduce.catalogue import _judged
from multikernel.reproduce.experiment import Experiment
from multikernel.reproduce.pages.tables import Counts, line
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import Constant, Mark, Measured, NotComparable, Query, extent, mark_of


def row(value: str = "0.70", deviation: float | None = 0.03) -> PublishedNumber:
    return PublishedNumber("nkrr", "Table 1", "Sonar", "linear", "", "RMSE", value, deviation)


@pytest.mark.parametrize(("measured", "better", "mark"), [
    (0.73, "lower", Mark.WITHIN),
    (0.66, "lower", Mark.BETTER),
    (0.66, "higher", Mark.WORSE),
    (0.66, "neither", Mark.WORSE),
    (0.74, "lower", Mark.WORSE),
    (0.74, "higher", Mark.BETTER),
    (float("nan"), "lower", Mark.WORSE),
])  # fmt: skip
def test_marks(measured: float, better: Any, mark: Mark) -> None:
    assert mark_of(row(), Measured(measured), better)[0] is mark


def test_without_a_published_deviation_our_own_counts_and_then_the_print() -> None:
    assert mark_of(row(deviation=None), Measured(0.75, 0.05, 30), "lower")[0] is Mark.WITHIN
    assert mark_of(row(deviation=None), Measured(0.7049), "lower")[0] is Mark.WITHIN
    assert mark_of(row(deviation=None), Measured(0.7051), "lower")[0] is Mark.WORSE


def test_a_range_holds_both_ends() -> None:
    assert mark_of(row("1.40-1.70", None), extent([1.45, 1.6]), "lower")[0] is Mark.WITHIN
    assert mark_of(row("1.40-1.70", None), extent([1.45, 1.8]), "lower")[0] is Mark.WORSE
    assert mark_of(row("1.40-1.70", None), extent([1.1, 1.2]), "lower")[0] is Mark.BETTER


def experiment() -> Experiment:
    return Experiment("nkrr", "x", "", "", lambda quick: [], lambda *_: {}, variants={"raw": "Raw features."})


def results(**errors: float) -> Results:
    return Results(tuple(({"variant": name, "data": "sonar"}, {"error": e}) for name, e in errors.items()))


def test_a_variant_never_replaces_what_is_stated() -> None:
    query = Query({"data": "sonar"}, ("error",), "lower", cause="centring")
    verdict = _judged(row(), experiment(), query, results(stated=0.9, raw=0.71))
    assert (verdict.mark, verdict.agreeing, verdict.cause) == (Mark.WORSE, ("raw",), "centring")
    assert Counts.of([verdict]).agreeing == 1
    assert "raw" in line(verdict).variants

    alone = _judged(row(), experiment(), query, results(raw=0.71))
    assert alone.mark is Mark.NOT_RUN


def test_a_reading_summarises_the_cells_of_what_is_stated() -> None:
    query = Query({}, ("error",), "lower", cause="ties", readings={"raw": lambda errors: Measured(min(errors) - 0.2)})
    verdict = _judged(row(), experiment(), query, results(stated=0.9, raw=0.1))
    assert (verdict.measured["stated"].value, verdict.measured["raw"].value) == pytest.approx((0.9, 0.7))
    assert (verdict.mark, verdict.agreeing) == (Mark.WORSE, ("raw",))


def test_worse_without_a_cause_is_open() -> None:
    verdict = _judged(row(), experiment(), Query({}, ("error",), "lower"), results(stated=0.9))
    assert not verdict.explained
    assert Counts.of([verdict]).unexplained == 1
    assert line(verdict).remark == "Open"


def test_constants_and_what_is_not_comparable() -> None:
    assert _judged(row("0.8", None), experiment(), Constant(0.8), Results(())).mark is Mark.WITHIN
    assert _judged(row("0.8", None), experiment(), Constant(0.5), Results(())).mark is Mark.WORSE
    verdict = _judged(row(), experiment(), NotComparable("no data"), Results(()))
    assert (verdict.mark, verdict.cause) == (Mark.NOT_COMPARABLE, "no data")


def test_lists_are_repetitions_and_cells_without_the_quantity_are_left_out() -> None:
    query = Query({}, ("L1", "accuracy"))
    measured = query.measured([{"L1": {"accuracy": [1.0, 2.0]}}, {"L1": {"accuracy": 3.0}}, {"L2": {}}])
    assert measured is not None
    assert (measured.value, measured.deviation, measured.count) == (2.0, 1.0, 3)
    assert query.measured([{"L2": {}}]) is None
