"""Every published number is measured, set by a protocol, or told to be not comparable, with a reason."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest

from multikernel.reproduce.catalogue import EXPERIMENTS, bindings, experiment, experiments_of
from multikernel.reproduce.published import PAPERS, Kind, PublishedNumber, published
from multikernel.reproduce.verdict import NotComparable, Query


def test_all_rows_are_there() -> None:
    assert len(published()) == 448
    assert {row.paper for row in published()} == set(PAPERS)


def test_each_row_is_bound_once() -> None:
    for row in published():
        found = list(bindings(row))
        assert len(found) == 1, (row, [each.key for each, _ in found])
        binding = found[0][1]
        assert not isinstance(binding, NotComparable) or binding.reason


def test_each_query_has_cells_that_answer_it() -> None:
    cells = {each.key: [dict(cell.fields) for cell in each.cells(False)] for each in EXPERIMENTS}
    for row in published():
        each, binding = next(bindings(row))
        if isinstance(binding, Query):
            of = [c for c in cells[each.key] if all(c.get(name) == v for name, v in binding.where.items())]
            assert of, row
            assert any(cell.get("variant", "stated") == binding.stated for cell in of), row


def test_what_counts_as_a_result() -> None:
    """Constants, sizes and times are none, nor are cells without a number; what is a mean says over how many."""
    kinds = Counter(row.kind for row in published())
    assert kinds == {Kind.RESULT: 270, Kind.SIZE: 94, Kind.TIME: 35, Kind.PROTOCOL: 33, Kind.BLANK: 16}
    for row in published():
        assert (row.kind is Kind.BLANK) <= (row.value == "")
        assert (row.metric.startswith(("training time", "running time", "seconds", "time s"))) == (
            row.kind is Kind.TIME
        )
        if row.deviation is not None and row.kind is Kind.RESULT:
            assert row.repetitions > 1, row
        if found := re.search(r"x(\d+)", row.setting):
            assert row.repetitions in (1, int(found[1]))


def test_variants_that_look_at_the_published_numbers_are_named() -> None:
    for each in EXPERIMENTS:
        assert each.fitted <= set(each.variants)
    assert {name for each in EXPERIMENTS for name in each.fitted} == {
        "20 values",
        "ERP",
        "labels centred",
        "conjugate gradients",
        "conjugate gradients, tied lambda",
        "conjugate gradients, labels centred",
        "conjugate gradients, labels centred, tied lambda",
        "ERP, conjugate gradients",
        "ERP, conjugate gradients, tied lambda",
        "lambda = 0.0886",
        "raw",
        "uncentred",
        "C = 100",
        "C = 2",
        "C = 4",
        "ERP, tied lambda",
        "Sonar's samples",
        "Sonar's samples, fitted",
        "lambda = 1",
        "examples centred",
        "lambda = 1, training half",
        "moved digits",
        "C per sample",
        "signed",
        "signed, C per sample",
        "tied lambda",
        "with a constant",
    }


def test_cells_are_told_apart_by_their_fields() -> None:
    for each in EXPERIMENTS:
        for quick in (True, False):
            fields = [cell.fields for cell in each.cells(quick)]
            assert len(fields) == len(set(fields)), each.key
        assert len(each.cells(True)) < 60, each.key


def test_variants_have_a_sentence_and_stated_has_none() -> None:
    for each in EXPERIMENTS:
        variants = {cell.get("variant", "stated") for cell in each.cells(False)} - {"stated"}
        asked = [binding for own, binding in map(next, map(bindings, published())) if own is each]
        summaries = {name for binding in asked if isinstance(binding, Query) for name in binding.summaries}
        assert not variants & summaries, each.key
        assert variants | summaries == set(each.variants), each.key


@pytest.mark.parametrize(("value", "limits"), [
    ("0.70", (0.695, 0.705)),
    ("-0.141", (-0.1415, -0.1405)),
    ("1.40-1.70", (1.395, 1.705)),
    ("855", (854.5, 855.5)),
    ("Yes", None),
    ("", None),
    ("<25", (-math.inf, 25.0)),
    (">7", (7.0, math.inf)),
    ("~0.005", (0.0025, 0.01)),
])  # fmt: skip
def test_what_prints_alike(value: str, limits: tuple[float, float] | None) -> None:
    assert PublishedNumber("nkrr", "", "", "", "", "", value, None).limits == pytest.approx(limits)


def test_experiments_are_found_by_table_and_figure() -> None:
    assert [each.key for each in experiments_of("nkrr", figure=3)] == ["nkrr/kin8nm"]
    assert {each.key for each in experiments_of("rls2", table=4)} == {"rls2/benchmark"}
    assert experiments_of("all") == EXPERIMENTS
    assert experiment("smkl/table2").tables == (2,)
    with pytest.raises(ValueError, match="nkrr has no such table or figure here"):
        experiments_of("nkrr", table=9)


def test_numbers_that_are_quoted_and_not_measured_are_called_so() -> None:
    quoted = {
        (row.data, row.method)
        for row in published()
        for _, binding in bindings(row)
        if isinstance(binding, NotComparable) and binding.quoted
    }
    assert {method for data, method in quoted if data == "MNIST"}
    assert all("LeCun" in method for data, method in quoted if data == "MNIST")
    assert len({method for data, method in quoted if data == "14 Cancers"}) == 5
    assert not any("RLS2" in method for _, method in quoted)
