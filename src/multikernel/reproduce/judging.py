"""Verdicts on the published numbers, from the finished cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from multikernel.reproduce.catalogue import bindings
from multikernel.reproduce.experiment import Experiment
from multikernel.reproduce.published import Row
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import Binding, Constant, Mark, Measured, NotComparable, Query, Verdict, mark_of

STATED = "stated"
_GOOD = (Mark.WITHIN, Mark.BETTER)


def judged(row: Row, results: Mapping[str, Results]) -> Verdict:
    """The verdict on one published number; ``results`` by the key of the experiment."""
    for experiment, binding in bindings(row):
        return _judged(row, experiment, binding, results.get(experiment.key, Results(())))
    raise LookupError(f"no experiment says anything of {row}")


def _judged(row: Row, experiment: Experiment, binding: Binding, results: Results) -> Verdict:
    if isinstance(binding, NotComparable):
        return Verdict(row, Mark.NOT_COMPARABLE, cause=binding.reason)
    if isinstance(binding, Constant):
        measured = Measured(binding.value)
        mark, _ = mark_of(row, measured, "neither")
        return Verdict(row, mark, {STATED: measured}, "what the protocol sets", directed=False)
    measured_by = _by_variant(binding, experiment, results)
    if STATED not in measured_by:
        return Verdict(row, Mark.NOT_RUN, measured_by)
    marks = {name: mark_of(row, measured, binding.better) for name, measured in measured_by.items()}
    mark, allowed = marks[STATED]
    agreeing = tuple(name for name, (other, _) in marks.items() if name != STATED and other in _GOOD)
    cause = binding.cause if mark is Mark.WORSE else ""
    return Verdict(row, mark, measured_by, allowed, cause, agreeing, binding.better != "neither")


def _by_variant(query: Query, experiment: Experiment, results: Results) -> dict[str, Measured]:
    """What each variant gave; cells without a variant are as stated."""
    found, cells = {}, results.where(**query.where)
    for name in (STATED, *experiment.variants):
        as_stated = name in query.readings
        of = Results(tuple(e for e in cells if e[0].get("variant", STATED) == (STATED if as_stated else name)))
        measured = (replace(query, summary=query.readings[name]) if as_stated else query).measured(of.found)
        if measured is not None:
            found[name] = measured
    return found
