"""Verdicts: what "within" means, which way is better, and what is said of a variant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from multikernel.reproduce.catalogue import _verdict_by
from multikernel.reproduce.experiment import Experiment
from multikernel.reproduce.pages.tables import Counts, headline, printed, table_line, variant_counts
from multikernel.reproduce.published import Kind, PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import (
    Constant,
    Mark,
    Measured,
    NotComparable,
    Query,
    Verdict,
    agreement,
    mark_of,
    smallest_to_largest,
    standard_error,
)


def row(
    value: str = "0.70", deviation: float | None = 0.03, repetitions: int = 30, kind: Kind = Kind.RESULT
) -> PublishedNumber:
    return PublishedNumber("nkrr", "Table 1", "Sonar", "linear", "", "RMSE", value, deviation, repetitions, kind)


@pytest.mark.parametrize(("measured", "better", "mark"), [
    (0.73, "lower", Mark.WITHIN),
    (0.66, "lower", Mark.BETTER),
    (0.66, "higher", Mark.WORSE),
    (0.66, "neither", Mark.OTHER),
    (0.74, "lower", Mark.WORSE),
    (0.74, "higher", Mark.BETTER),
    (float("nan"), "lower", Mark.WORSE),
    (float("nan"), "higher", Mark.WORSE),
    (float("-inf"), "lower", Mark.WORSE),
    ("left", "higher", Mark.WORSE),
])  # fmt: skip
def test_marks(measured: float | str, better: Any, mark: Mark) -> None:
    assert mark_of(row(), Measured(measured), better) is mark


@pytest.mark.parametrize(("measured", "deviation", "errors"), [
    (Measured(0.70, 0.04, 25), True, True),  # 2 sqrt(.03^2 / 9 + .04^2 / 25) = 0.02561
    (Measured(0.7304, 0.04, 25), True, True),  # half a unit of print, 0.005, is allowed
    (Measured(0.7308, 0.04, 25), True, False),
    (Measured(0.7352, 0.04, 25), False, False),
    (Measured(0.7352, 0.12, 25), False, True),  # 2 sqrt(.03^2 / 9 + .12^2 / 25) = 0.052
    (Measured(0.6648, 0.12, 25), False, True),
])  # fmt: skip
def test_both_measures_of_agreement(measured: Measured, deviation: bool, errors: bool) -> None:
    found = agreement(row(repetitions=9), measured)
    assert (found.deviation, found.errors) == (deviation, errors)
    assert found.within is (deviation or errors)
    assert (mark_of(row(repetitions=9), measured, "lower") is Mark.WITHIN) is found.within


def test_a_deviation_that_is_not_published_is_taken_to_be_ours() -> None:
    published, measured = row(deviation=None, repetitions=4), Measured(0.75, 0.06, 9)
    found = agreement(published, measured)
    assert found.deviation is None
    assert standard_error(published, measured) == pytest.approx(np.sqrt(0.06**2 / 4 + 0.06**2 / 9))
    assert found.errors
    assert not agreement(row(deviation=None, repetitions=4), Measured(0.78, 0.06, 9)).within
    assert agreement(row(deviation=None), Measured(0.7049)).within
    assert not agreement(row(deviation=None), Measured(0.7051)).within


@pytest.mark.parametrize(("value", "inside", "outside"), [
    ("<25", (24.9, -3.0), (25.1,)),
    (">7", (7.1, 1e9), (6.9,)),
    ("~0.005", (0.0026, 0.0099), (0.0024, 0.011)),
])  # fmt: skip
def test_bounds_and_orders_of_magnitude(value: str, inside: tuple[float, ...], outside: tuple[float, ...]) -> None:
    for number, mark in [(n, Mark.WITHIN) for n in inside] + [(n, Mark.OTHER) for n in outside]:
        assert mark_of(row(value, None), Measured(number), "neither") is mark


def test_folds_of_the_same_samples_have_no_standard_error() -> None:
    """Their deviation is that between folds, which both means have."""
    measured = Measured(0.60, 0.2, 10)
    assert mark_of(row(repetitions=10), measured, "lower") is Mark.WITHIN
    assert agreement(row(repetitions=10), measured, same_samples=True).errors is None
    assert mark_of(row(repetitions=10), measured, "lower", same_samples=True) is Mark.BETTER
    assert mark_of(row(repetitions=10), Measured(0.68, 0.2, 10), "lower", same_samples=True) is Mark.WITHIN
    assert mark_of(row(deviation=None), Measured(0.704, 0.2, 10), "lower", same_samples=True) is Mark.WITHIN


def test_a_margin_of_more_than_half_the_number_decides_nothing() -> None:
    published = row("8", None, 1)
    assert mark_of(published, Measured(15.8, 10.0, 20), "neither") is Mark.NOT_COMPARABLE
    assert mark_of(published, Measured(30.0, 10.0, 20), "neither") is Mark.OTHER
    assert mark_of(published, Measured(8.3, 10.0, 20), "neither") is Mark.NOT_COMPARABLE  # by chance
    verdict = _verdict_by(published, experiment(), Query({}, ("error",)), results(stated=8.0))
    assert verdict.mark is Mark.WITHIN
    cells = Results(tuple(({"seed": seed}, {"error": error}) for seed, error in enumerate((5.0, 30.0, 9.0, 16.0))))
    verdict = _verdict_by(published, experiment(), Query({}, ("error",)), cells)
    assert verdict.mark is Mark.NOT_COMPARABLE
    assert "more than half of the published number" in verdict.cause


def test_a_deviation_of_squares_is_halved_by_the_number() -> None:
    """The deviation of x^2 is 2 x times that of x: 0.1 at 0.5 is 0.1."""
    published = row("0.50", 0.1)
    assert Query({}, of_squares=True).compared(published).deviation == pytest.approx(0.1)
    assert Query({}, of_squares=True).compared(row("2.00", 0.1)).deviation == pytest.approx(0.025)
    assert Query({}).compared(published) is published
    assert _verdict_by(row("2.00", 0.1), experiment(), Query({}, ("error",)), results(stated=2.09)).mark is Mark.WITHIN
    query = Query({}, ("error",), of_squares=True)
    assert _verdict_by(row("2.00", 0.1), experiment(), query, results(stated=2.09)).mark is Mark.OTHER


def test_a_cause_that_names_a_variant_is_given_only_where_it_agrees() -> None:
    query = Query({}, ("error",), "lower", cause="unknown to us", causes={"nearest": "fitted", "raw": "raw features"})
    assert _verdict_by(row(), experiment(), query, results(stated=0.9, raw=0.71)).cause == "raw features"
    assert _verdict_by(row(), experiment(), query, results(stated=0.9, raw=0.71, nearest=0.7)).cause == "fitted"
    assert _verdict_by(row(), experiment(), query, results(stated=0.9, raw=0.8)).cause == "unknown to us"
    assert _verdict_by(row(), experiment(), query, results(stated=0.7, raw=0.71)).cause == ""


def test_the_deviation_is_shown_also_where_the_mean_is_the_published_one() -> None:
    assert printed(Measured(0.70, 0.043, 30), "0.70") == "0.700 (0.043)"
    assert printed(Measured(0.70), "0.7") == "0.7"
    assert printed(Measured(0.0034, 0.0), "~0.005") == "0.0034"


def test_a_range_holds_both_ends() -> None:
    published = row("1.40-1.70", None)
    assert mark_of(published, smallest_to_largest([1.45, 1.6]), "lower") is Mark.WITHIN
    assert mark_of(published, smallest_to_largest([1.45, 1.8]), "lower") is Mark.WORSE
    assert mark_of(published, smallest_to_largest([1.1, 1.2]), "lower") is Mark.BETTER
    assert mark_of(published, smallest_to_largest([1.1, 1.8]), "lower") is Mark.WORSE


def experiment() -> Experiment:
    variants = {"raw": "Raw features.", "nearest": "What is nearest to the published number."}
    return Experiment(
        "nkrr", "x", "", "", lambda quick: [], lambda *_: {}, variants=variants, fitted=frozenset({"nearest"})
    )


def results(**errors: float) -> Results:
    return Results(tuple(({"variant": name, "data": "sonar"}, {"error": e}) for name, e in errors.items()))


def test_a_variant_never_replaces_what_is_stated() -> None:
    query = Query({"data": "sonar"}, ("error",), "lower", causes={"raw": "centring"})
    verdict = _verdict_by(row(), experiment(), query, results(stated=0.9, raw=0.71))
    assert (verdict.mark, verdict.agreeing, verdict.cause) == (Mark.WORSE, ("raw",), "centring")
    assert Counts.of([verdict]).variant == 1
    assert "raw" in table_line(verdict).variants

    alone = _verdict_by(row(), experiment(), query, results(raw=0.71))
    assert alone.mark is Mark.NOT_RUN


def test_a_reading_summarises_the_cells_of_what_is_stated() -> None:
    query = Query({}, ("error",), "lower", summaries={"raw": lambda errors: Measured(min(errors) - 0.2)})
    query = replace(query, causes={"raw": "ties"})
    verdict = _verdict_by(row(), experiment(), query, results(stated=0.9, raw=0.1))
    assert (verdict.measured["stated"].value, verdict.measured["raw"].value) == pytest.approx((0.9, 0.7))
    assert (verdict.mark, verdict.agreeing) == (Mark.WORSE, ("raw",))


@pytest.mark.parametrize(("error", "sign"), [(0.9, "▼ worse"), (0.5, "▲ better")])
def test_what_differs_without_a_cause_is_open_also_for_the_better(error: float, sign: str) -> None:
    verdict = _verdict_by(row(), experiment(), Query({}, ("error",), "lower"), results(stated=error))
    assert not verdict.explained
    assert Counts.of([verdict]).unexplained == 1
    assert (table_line(verdict).remark, table_line(verdict).sign) == ("The cause is not known.", sign)


def test_the_cells_of_one_variant_can_be_what_is_stated() -> None:
    query = Query({}, ("error",), "lower", stated="raw")
    verdict = _verdict_by(row(), experiment(), query, results(stated=0.9, raw=0.71))
    assert verdict.mark is Mark.WITHIN
    assert set(verdict.measured) == {"stated"}


def test_constants_and_what_is_not_comparable() -> None:
    assert _verdict_by(row("0.8", None), experiment(), Constant(0.8), Results(())).mark is Mark.WITHIN
    other = _verdict_by(row("0.8", None), experiment(), Constant(0.5, "a misprint"), Results(()))
    assert (other.mark, other.cause) == (Mark.OTHER, "a misprint")
    verdict = _verdict_by(row(), experiment(), NotComparable("no data"), Results(()))
    assert (verdict.mark, verdict.cause) == (Mark.NOT_COMPARABLE, "no data")


def test_what_is_known_of_an_open_difference_is_told_and_explains_nothing() -> None:
    verdict = _verdict_by(
        row(), experiment(), Query({}, ("error",), "lower", remark="folds matter"), results(stated=0.9)
    )
    assert (verdict.mark, verdict.explained) == (Mark.WORSE, False)
    assert table_line(verdict).remark == "The cause is not known. Folds matter"
    alike = _verdict_by(
        row(), experiment(), Query({}, ("error",), "lower", remark="folds matter"), results(stated=0.71)
    )
    assert table_line(alike).remark == ""


def test_what_was_measured_on_something_else_is_shown_and_not_compared() -> None:
    verdict = _verdict_by(
        row(), experiment(), Query({}, ("error",), "lower", instead="other rows"), results(stated=0.9)
    )
    assert (verdict.mark, verdict.cause) == (Mark.NOT_COMPARABLE, "other rows")
    assert (table_line(verdict).stated, table_line(verdict).by_errors) == ("0.900", "")
    assert (Counts.of([verdict]).not_comparable, Counts.of([verdict]).judged) == (1, 0)


def test_lists_are_repetitions_and_cells_without_the_quantity_are_left_out() -> None:
    query = Query({}, ("L1", "accuracy"))
    measured = query.measured([{"L1": {"accuracy": [1.0, 2.0]}}, {"L1": {"accuracy": 3.0}}, {"L2": {}}])
    assert measured is not None
    assert (measured.value, measured.deviation, measured.count) == (2.0, 1.0, 3)
    assert query.measured([{"L2": {}}]) is None


def judge(better: Any = "lower", kind: Kind = Kind.RESULT, cause: str = "", **errors: float) -> Verdict:
    query = Query({}, ("error",), better, cause=cause, causes={"raw": "raw features", "nearest": "the choice"})
    return _verdict_by(row(kind=kind), experiment(), query, results(**errors))


def test_counts_of_hand_made_rows() -> None:
    verdicts = [
        judge(stated=0.71),
        judge(stated=0.72, raw=0.9),  # a variant takes nothing from what is reproduced as stated
        judge(stated=0.9, raw=0.71),
        judge(stated=0.9, raw=0.71, nearest=0.70),
        judge(stated=0.9, raw=0.8, nearest=0.70),
        judge(stated=0.5, cause="a mistake"),
        judge(stated=0.5, raw=0.5),
        judge(stated=0.9, cause="other data"),
        judge("neither", stated=0.9),
        judge(raw=0.71),
        _verdict_by(row(), experiment(), NotComparable("no data"), Results(())),
        *(judge(kind=kind, stated=0.9) for kind in Kind if kind is not Kind.RESULT),
    ]
    counts = Counts.of(verdicts)
    assert (counts.within, counts.by_deviation, counts.by_errors) == (2, 2, 1)  # two errors: 0.011
    assert (counts.variant, counts.fitted) == (2, 1)
    assert (counts.better, counts.worse, counts.other, counts.unexplained) == (2, 1, 1, 2)
    assert counts.with_deviation == 9
    assert (counts.not_comparable, counts.not_run) == (1, 1)
    assert (counts.judged, counts.total) == (9, 11)
    assert (counts.stated_share, counts.variant_share) == ("22 %", "44 %")
    text = headline(verdicts)
    assert (
        headline(verdicts, quick=True)
        == f"This is a quick run: its verdicts are those of a few cells of each experiment. {text}"
    )
    assert "Of 9 published results, 2 (22 %) are reproduced as the papers state the experiments: 2 of the 9" in text
    assert "lie within this deviation, and 1 of the 9 to which a stricter measure applies, two standard" in text
    assert "agree by this one. 2 more are reproduced in another reading" in text
    assert "leaves open (44 % in all), 1 only where" in text
    assert "published numbers (56 % in all), and 4 in no variant that counts: 2 are better, 1 worse, 1 neither" in text
    assert "1 more results are not compared" in text
    assert "quoted" not in text
    query = Query({}, ("error",), "lower", quoted=True)
    quoted = [_verdict_by(row(), experiment(), query, results(stated=0.71)) for _ in range(3)]
    quoted.append(_verdict_by(row(), experiment(), query, results(stated=0.9)))
    assert Counts.of([*verdicts, *quoted]).judged == 9
    quoted.append(_verdict_by(row(), experiment(), NotComparable("not run", quoted=True), Results(())))
    assert [table_line(each).sign for each in quoted[2:]] == ["quoted, agrees", "quoted, differs", "quoted"]
    assert headline([*verdicts, *quoted]) == (
        f"{text} 5 numbers are quoted by a paper from others, and are not counted: 4 of them are measured here, "
        "and 3 are reproduced."
    )


def test_numbers_without_any_deviation_agree_in_their_digits() -> None:
    published = row("8", None, 1)
    counts = Counts.of([_verdict_by(published, experiment(), Query({}, ("error",)), results(stated=8.3))])
    assert (counts.within, counts.by_deviation, counts.by_errors, counts.by_digits) == (1, 0, 0, 1)


def test_quoted_numbers_are_not_counted_among_those_of_a_variant() -> None:
    query = Query({}, ("error",), "lower")
    measured = results(stated=0.71, raw=0.71)
    verdicts = [_verdict_by(row(), experiment(), each, measured) for each in (query, replace(query, quoted=True))]
    assert [count.judged for count in variant_counts(verdicts, ["stated", "raw"])] == [1, 1]


def test_no_rounding_is_allowed_of_a_count() -> None:
    """Five variables are not 3.2, with a standard error of 0.6, because 4.5 is."""
    published = row("5", None, 1)
    cells = Results(tuple(({"seed": seed}, {"error": n}) for seed, n in enumerate((3, 3, 3, 3, 3, 3, 3, 3, 3, 5))))
    assert _verdict_by(published, experiment(), Query({}, ("error",)), cells).mark is Mark.WITHIN
    assert _verdict_by(published, experiment(), Query({}, ("error",), exact=True), cells).mark is Mark.OTHER
    assert (
        _verdict_by(published, experiment(), Query({}, ("error",), exact=True), results(stated=5)).mark is Mark.WITHIN
    )


def test_only_the_variants_that_the_cause_names_are_credited() -> None:
    measured = results(stated=0.9, raw=0.71, nearest=0.70)
    assert _verdict_by(row(), experiment(), Query({}, ("error",)), measured).agreeing == ()
    verdict = _verdict_by(row(), experiment(), Query({}, ("error",), causes={"nearest": "so"}), measured)
    assert verdict.agreeing == ("nearest",)
    assert verdict.agreement["raw"].within
    assert "raw 0.710 (✓); nearest 0.700 ✓" in table_line(verdict).variants
    assert set(verdict.measured) == {"stated", "raw", "nearest"}


def test_a_reading_of_a_variant() -> None:
    query = Query({}, ("error",), summaries={"nearest": lambda values: Measured(2 * values[0])})
    measured = results(stated=0.9, raw=0.71)
    assert _verdict_by(row(), experiment(), query, measured).measured["nearest"].value == pytest.approx(1.8)
    query = replace(query, summaries_of={"nearest": "raw"})
    assert _verdict_by(row(), experiment(), query, measured).measured["nearest"].value == pytest.approx(1.42)


def test_each_variant_is_counted_for_itself() -> None:
    verdicts = [judge(stated=0.71, raw=0.9), judge(stated=0.9, raw=0.71), judge(stated=0.71)]
    found = {each.name: (each.judged, each.within) for each in variant_counts(verdicts, ["stated", "raw", "nearest"])}
    assert found == {"stated": (3, 2), "raw": (2, 1)}
