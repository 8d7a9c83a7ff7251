"""The sizes of the data sets beside the printed ones, and the numbers that a protocol sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from multikernel.reproduce.experiment import Cell, Experiment
from multikernel.reproduce.published import Row
from multikernel.reproduce.sources import Source
from multikernel.reproduce.verdict import Binding, Query

_QUANTITIES = {
    "m": "examples",
    "n": "examples",
    "examples": "examples",
    "d": "features",
    "p (kernels = features)": "features",
    "features": "features",
    "kernels": "kernels",
}


def facts(
    paper: str,
    data: Mapping[str, str],
    places: tuple[str, ...],
    others: Callable[[Row], Binding | None],
    *,
    constant: bool = True,
    cut: Mapping[str, int] | None = None,
    causes: Mapping[str, str] | None = None,
    more: Callable[[Source, str], Mapping[str, int]] = lambda source, name: {},
) -> Experiment:
    """An experiment that counts rows and features.

    Parameters
    ----------
    paper : str
    data : the paper's names of data sets, and ours
    places : the tables in which their sizes stand
    others : what the other numbers of the paper are bound to, which no other experiment measures
    constant : whether features that do not vary are counted
    cut : how many rows are taken, where not all are
    causes : by the paper's name of a data set, why a size differs
    more : what else is counted, given our name of a data set
    """
    taken, reasons = cut or {}, causes or {}

    def measure(cell: Cell, source: Source, given: Mapping[str, Any]) -> Mapping[str, Any]:
        name = cell["data"]
        sizes = {**_sizes(source, name, constant), **more(source, name)}
        return {**sizes, "examples": min(taken.get(name, sizes["examples"]), sizes["examples"])}

    def bind(row: Row) -> Binding | None:
        if row.place in places and row.data in data and not row.method and row.metric in _QUANTITIES:
            return Query({"data": data[row.data]}, (_QUANTITIES[row.metric],), cause=reasons.get(row.data, ""))
        return others(row)

    return Experiment(
        paper=paper,
        name="facts",
        title="Sizes of the data, and what the protocols set",
        protocol=(
            "Rows without missing values, and features of the public files; features that do not vary are counted "
            "where the paper counts them. Numbers that the paper sets are those that the experiments here take."
        ),
        cells=lambda quick: [Cell.of(data=name) for name in dict.fromkeys(data.values())],
        measure=measure,
        bind=bind,
        tables=tuple(int(place[-1]) for place in places if place.startswith("Table")),
        seconds=0.2,
    )


def _sizes(source: Source, name: str, constant: bool) -> dict[str, int]:
    data, entry = source.load(name), source.entry(name)
    if data.X.ndim == 1 or entry.d is None:
        return {"examples": len(data.y)}
    flat = 0 if constant or entry.d != data.X.shape[1] else int((np.ptp(np.asarray(data.X), axis=0) == 0).sum())
    return {"examples": len(data.y), "features": entry.d - flat}
