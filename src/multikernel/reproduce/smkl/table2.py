"""Table 2: seven data sets, of which a fifth of the rows is used for training, with kernels on single features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from multikernel import bind, kernels
from multikernel.reproduce.data import DataSource, FeatureScaling, random_split
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.smkl.methods import (
    BY_BOUND,
    BY_FOLDS,
    BY_FOLDS_SENTENCE,
    COSTS,
    GAP,
    SMKL,
    accuracy_query,
    compare_methods,
)
from multikernel.reproduce.verdict import Binding, Query

DATA = {
    "iono": "ionosphere",
    "breast": "breast_wisconsin",
    "sonar": "sonar",
    "pima": "diabetes_pima",
    "wdbc": "wdbc",
    "heart": "heart_statlog",
    "wdbc (second row; WPBC)": "wpbc",
}
METHODS = ("L1-MKL", "L2-MKL", SMKL, "average", "PWMK")
OF_ONE_COST = ("L1-MKL", "L2-MKL", SMKL, BY_BOUND)
SPLITS = 20
FEWER = 10  # splits, of the variants
LARGE = "C = 100"
BETWEEN = {"C = 2": 2.0, "C = 4": 4.0}  # values between those that folds choose and a large one
RUNS = {
    "full": (COSTS, METHODS),
    "coarse": (COSTS[3::6], ("L1-MKL", "L2-MKL", "average")),
    "bound": (COSTS, (BY_BOUND,)),
    LARGE: ((100.0,), OF_ONE_COST),
    **{name: ((C,), OF_ONE_COST) for name, C in BETWEEN.items()},
}
_BREAST = (
    "The samples differ: the paper's data set has 300 rows, and neither of the two public sets of this name does. Here "
    "it is the one of 683 rows without missing values."
)
_LARGE = "The published number is reproduced with a large C, which cross-validation does not choose."
_PIMA = (
    "The cause is probably C. The published numbers lie between those with C chosen by folds (74) and those with C = "
    "100 (66 to 69). They are reproduced with C = 4, and for weights in a ball of norm 2 with C = 2. Why folds should "
    "choose these values is not known."
)
_SMOOTHED_ON_PIMA = (
    "With C = 4, at which L1-MKL has the published accuracy, SMKL has 73.7 with the smoothing of the bound, and 71.4 "
    "with one that folds choose."
)
NUMBER = (
    "The number of kernels depends on when the algorithm stops. Over these splits, with C = 10, the reduced gradient "
    "method keeps 28 kernels at a duality gap of 0.1 and 23 at a gap of 0.01; the optimum has 22."
)


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = source.signs(cell["data"])
    train, test = random_split(y, 0.2, cell["seed"], stratified=True)
    Z = FeatureScaling("standard")(X, train)
    bank = bind(kernels.smkl_basis(), Z[train])
    scales = len(train) / np.maximum(bank.traces(), 1e-12)
    train_bank = bank.scaled(scales)
    test_bank = bank.scaled(scales).cross(Z[test])
    costs, names = RUNS[cell.get("variant", cell["grid"])]
    return compare_methods(train_bank, y[train], test_bank, y[test], cell["seed"], costs, names)


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        return grid(data=["heart_statlog"], seed=range(2), grid=["coarse"])
    return [
        *grid(data=list(DATA.values()), seed=range(SPLITS), grid=["full", "bound"]),
        *grid(data=list(DATA.values()), seed=range(FEWER), grid=["full"], variant=[LARGE]),
        *grid(data=[DATA["pima"]], seed=range(FEWER), grid=["full"], variant=list(BETWEEN)),
    ]


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place == "Table 2":
        fields = {"data": DATA[row.data]}
        if row.data == "breast":
            return accuracy_query(fields, row.method, instead=_BREAST)
        causes = dict.fromkeys(BETWEEN, _PIMA) if row.data == "pima" else {LARGE: _LARGE}
        remark = _SMOOTHED_ON_PIMA if row.data == "pima" else ""
        return accuracy_query(fields, row.method, causes=causes, remark=remark)
    if row.metric.startswith("kernels selected"):
        return Query({"data": "ionosphere"}, ("L1-MKL", "selected"), "neither", remark=NUMBER)
    return None


def _draw(ax: Any, results: Results) -> None:
    names = results.values("data")
    methods = (*METHODS, BY_BOUND)
    for offset, method in zip(np.linspace(-0.25, 0.25, len(methods)), methods, strict=True):
        accuracies = [
            [
                measurement[method]["accuracy"]
                for measurement in results.where(data=n).measurements
                if method in measurement
            ]
            for n in names
        ]
        if all(accuracies):
            ax.plot(
                np.arange(len(names)) + offset,
                [np.mean(values) for values in accuracies],
                "o",
                markersize=4,
                label=method,
            )
    ax.set_xticks(range(len(names)), names, fontsize=8, rotation=20, ha="right")
    ax.set(ylabel="accuracy in %")
    ax.legend(frameon=False, fontsize=8, ncols=2)


EXPERIMENT = Experiment(
    paper="smkl",
    name="table2",
    title="Seven data sets, kernels on single features",
    protocol=(
        "Twenty stratified splits use a fifth of the rows for training; features are standardised by these rows. Every "
        "feature has ten Gaussian and three polynomial kernels, each of trace n. C is chosen from 2^-5 to 2^10 by five "
        "stratified folds. The paper computes the smoothing of SMKL, and does not say how; it is taken to be the one "
        "that makes the bound that follows from Theorem 4, as corrected here, smallest for this C. Beside the paper's"
        " methods, SMKL with a smoothing that folds choose, the average of the kernels, and weights by the accuracy "
        "of each kernel alone (PWMK) are run, which the paper does not compare with. A kernel counts as selected "
        "where its weight is more than 1e-8 of the largest one. In place of the paper's solvers, those of this "
        "library are run to a duality gap of 0.01."
    ),
    cells=_cells,
    measure=_measure,
    bind=_bind,
    tables=(2,),
    variants={
        BY_FOLDS: BY_FOLDS_SENTENCE,
        LARGE: "C = 100 on all data sets, in place of the choice by folds; all larger C give the same machine.",
        **{name: f"{name} on Pima, where folds choose a smaller C and all larger C are worse." for name in BETWEEN},
    },
    fitted=frozenset({LARGE, *BETWEEN}),
    tol=GAP,
    seconds=9.0,
    draw=(
        Figure(
            "Methods beside the average",
            "The average of the kernels is as accurate as the learned combinations, or more accurate.",
            _draw,
            {"variant": None},
        ),
    ),
)
