"""The sizes of the data sets beside the printed ones, and the constants of the protocol of each paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np

from multikernel.optimizers import PublishedGradient
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp.protocol import DRAWN, NAMES, OVO_C, OVO_LAM
from multikernel.reproduce.experiment import Cell, Experiment
from multikernel.reproduce.nkrr import table1
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.report import printed
from multikernel.reproduce.report.methods import LAMBDAS, RADII
from multikernel.reproduce.rls2.benchmark import SETS, features
from multikernel.reproduce.rls2.conjugate import DELTA
from multikernel.reproduce.smkl import methods, table2, table3, toy
from multikernel.reproduce.verdict import Binding, Constant, NotComparable, Query

_QUANTITIES = {
    "m": "examples",
    "n": "examples",
    "examples": "examples",
    "d": "features",
    "p (kernels = features)": "features",
    "features": "features",
    "kernels": "kernels",
}
_RULE = PublishedGradient()
_KIN = "The public data set has 8192 rows, which are halved here; a set of 20,000 rows is not available."
_DPP_PRINTED: dict[str, float | str] = {
    "Lambda": f"{OVO_LAM:g}/(1-{OVO_LAM:g})",
    "C": OVO_C,
    "binary tasks": 10 * 9 // 2,
    "steps (drawn monomials)": DRAWN,
    "repetitions": 10,
}


def facts(
    paper: str,
    data: Mapping[str, str],
    size_tables: tuple[str, ...],
    other_bindings: Callable[[PublishedNumber], Binding | None],
    *,
    constant: bool = True,
    cut: Mapping[str, int] | None = None,
    causes: Mapping[str, str] | None = None,
    count: Callable[[DataSource, str], Mapping[str, int]] = lambda source, name: {},
) -> Experiment:
    """An experiment that counts rows and features.

    Parameters
    ----------
    paper : str
    data : from the paper's names of data sets to those of this package
    size_tables : the tables that contain the sizes of the data sets
    other_bindings : the bindings of the numbers that no other experiment measures
    constant : whether features that do not vary are counted
    cut : the number of rows that are used, for data sets that are cut
    causes : by the paper's name of a data set, why a size differs
    count : function of the data source and the name of a data set: further sizes
    """
    row_limits = cut or {}
    reasons = causes or {}

    def measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
        name = cell["data"]
        sizes = {**_sizes(source, name, constant), **count(source, name)}
        return {**sizes, "examples": min(row_limits.get(name, sizes["examples"]), sizes["examples"])}

    def bind(row: PublishedNumber) -> Binding | None:
        binding = other_bindings(row)
        if binding is not None:
            return binding
        if row.place in size_tables and row.data in data and not row.method and row.metric in _QUANTITIES:
            return Query({"data": data[row.data]}, (_QUANTITIES[row.metric],), cause=reasons.get(row.data, ""))
        return None

    return Experiment(
        paper=paper,
        name="facts",
        title="Sizes of data sets, constants of the protocol, and numbers that are not measured",
        protocol=(
            "The rows without missing values and the features of the public files are counted; constant features are "
            "counted only where the paper counts them. For the constants of the paper's protocol, the values that the "
            "experiments here use are shown."
        ),
        cells=lambda quick: [Cell.of(data=name) for name in dict.fromkeys(data.values())],
        measure=measure,
        bind=bind,
        tables=tuple(int(table.removeprefix("Table ")) for table in size_tables if table.startswith("Table")),
        seconds=0.03,
    )


def _sizes(source: DataSource, name: str, constant: bool) -> dict[str, int]:
    data = source.load(name)
    entry = source.entry(name)
    if data.X.ndim == 1 or entry.d is None:
        return {"examples": len(data.y)}
    if constant or entry.d != data.X.shape[1]:
        flat = 0
    else:
        flat = int((np.ptp(np.asarray(data.X), axis=0) == 0).sum())
    return {"examples": len(data.y), "features": entry.d - flat}


def _nkrr_others(row: PublishedNumber) -> Binding | None:
    constants: dict[str, float] = {"eta initial": _RULE.step, "eta reduction factor": _RULE.factor}
    if row.metric in constants:
        return Constant(constants[row.metric])
    if row.metric == "train / test":
        return Constant("4096 / 4096", _KIN)
    return None


NKRR = facts(
    "nkrr",
    {**table1.DATA, "kin-8nm": "kin8nm"},
    ("Table 1", "text 4.3"),
    _nkrr_others,
    causes={
        "kin-8nm": _KIN,
        "Parkinsons": "The public file has 195 rows and 22 features; without its first row and column it has fewer.",
    },
)


def _dpp_others(row: PublishedNumber) -> Binding | None:
    if row.data == "Gisette":
        return NotComparable("The data set is not available here.")
    if "LeCun" in row.method:
        return NotComparable("The paper quotes this number from another paper, whose method is not run.", quoted=True)
    if row.metric in _DPP_PRINTED:
        return Constant(_DPP_PRINTED[row.metric])
    return None


DPP = facts("dpp", {**NAMES, "MNIST": "mnist"}, ("Table 2",), _dpp_others, cut={"pendigits": 4000})


def _kernels(source: DataSource, name: str) -> dict[str, int]:
    return {"kernels": 13 * (features(source, name).shape[1] + 1)}


def _rls2_others(row: PublishedNumber) -> Binding | None:
    if row.metric == "standardised":
        return Constant("Yes" if SETS[row.data].standardised else "No")
    if row.metric == "stopping delta":
        return Constant(DELTA)
    if row.data == "14 Cancers":
        reason = "The data set (198 tumours, 16,063 genes) is not available here"
        if row.method and "RLS2" not in row.method:
            return NotComparable(f"The paper quotes this number from others. {reason}.", quoted=True)
        return NotComparable(f"{reason}; the data set srbct is used in its place.")
    return None


RLS2 = facts(
    "rls2",
    {name: benchmark_set.source for name, benchmark_set in SETS.items()},
    ("Table 2",),
    _rls2_others,
    constant=False,
    causes={
        "Wpbc": "The paper counts one column more than the public file has features: the number of the patient, "
        "or the outcome.",
        "Cpu": "The paper uses PRP as a feature, and ERP, an estimate of PRP by others, as the target.",
        "Servo": "The paper has 156 kernels, which belong to 11 indicator features; the public file has 12 of them.",
    },
    count=_kernels,
)


def _report_others(row: PublishedNumber) -> Binding | None:
    if row.method == "IIA-type":
        return NotComparable("The algorithm of this constant is not run: its problem is solved by another one.")
    constants: dict[str, float | str] = {
        "eta": printed.ETA,
        "eta reduction factor": printed.SHRINK,
        "Lambda (printed Gamma) grid": ",".join(f"{radius:g}" for radius in RADII),
        "lambda range": f"1e-4..{LAMBDAS[0]:g}",
    }
    if row.metric in constants:
        return Constant(constants[row.metric])
    if row.metric.startswith("eta0"):
        return Constant(sqrt(23 / 11))
    if row.metric.startswith("eta1"):
        return Constant(
            2.0 * sqrt(23 / 11), "The paper prints the root of 46/11, where twice the root of 23/11 is right."
        )
    return None


REPORT = facts("report", {"Ionosphere": "ionosphere", "Sonar": "sonar"}, (), _report_others)


def _smkl_others(row: PublishedNumber) -> Binding | None:
    if row.data in table3.DATA and row.metric == "d":
        return Constant(table3.DATA[row.data][1])
    constants: dict[str, float | str] = {
        "base kernels": 13 * 33,
        "duality gap": methods.GAP,
        "max iterations": methods.ITERATIONS,
        "points / dims / irrelevant": f"{toy.POINTS} / {toy.DIMENSIONS} / {toy.IRRELEVANT}",
        "training fraction %": round(100 * toy.PART),
    }
    if row.metric in constants:
        return Constant(constants[row.metric])
    return None


SMKL = facts(
    "smkl",
    {**table2.DATA, **{name: source for name, (source, _) in table3.DATA.items()}},
    ("Table 1",),
    _smkl_others,
    constant=False,
    causes={
        "wdbc": "The printed 13 features are those of the heart data in the row above; the data set has 30.",
        "breast": "No public data set of this name has 300 rows; the one with nine features has 683.",
        "wdbc (second row; WPBC)": "Four rows have missing values and are left out here.",
        **{f"text{k}": table3.OTHERS for k in range(1, 4)},
        **{f"text{k}": "The public files leave out messages that were sent twice." for k in (4, 5)},
    },
)
