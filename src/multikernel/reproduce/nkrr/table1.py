"""Table 1: linear and quadratic combinations on four data sets, with weights 1 or learned in balls of norm 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from multikernel.reproduce.data import DataSource, FeatureScaling, random_split
from multikernel.reproduce.experiment import Cell, Experiment, grid
from multikernel.reproduce.polynomial import PolynomialMethod
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.verdict import Binding, Query

DATA = {"Parkinsons": "parkinsons", "Iono": "ionosphere", "Sonar": "sonar", "Breast": "breast_wisconsin"}
METHODS = {
    "linear uniform (baseline)": PolynomialMethod(1, None),
    "linear L1": PolynomialMethod(1, 1),
    "linear L2": PolynomialMethod(1, 2),
    "quadratic uniform (baseline)": PolynomialMethod(2, None),
    "quadratic L1": PolynomialMethod(2, 1),
    "quadratic L2": PolynomialMethod(2, 2),
}
CENTRED = "examples centred"
ONE = "lambda = 1"
HALF = "lambda = 1, training half"
PREPARATIONS = {  # the paper scales "for each dataset", that is before it is split
    "stated": FeatureScaling("interval", "features", rows="all"),
    "uncentred": FeatureScaling("interval", "none", rows="all"),
    "raw": FeatureScaling("raw", "none"),
    CENTRED: FeatureScaling("interval", "examples", rows="all"),
    ONE: FeatureScaling("interval", "features", rows="all"),
    HALF: FeatureScaling("interval", "features"),
}
VARIANTS = {
    "uncentred": (
        "Features are scaled to [0, 1] and not centred, although the paper says that they are; the square of a linear "
        "kernel on centred features has no linear part."
    ),
    "raw": "Features are used as they are in the file, although the paper says that they are scaled and centred.",
    CENTRED: (
        "From each example the mean of its own features is subtracted, which is a mean along the wrong axis; this was "
        "found by comparing the numbers."
    ),
    ONE: ("The experiment as stated, but with lambda = 1, where the folds choose 3 or 10 for linear kernels on Sonar."),
    HALF: (
        "The same for the linear methods on Sonar only, with features that are scaled and centred by the training half."
    ),
}
ALPHAS = tuple(np.logspace(4, -4, 17).tolist())
RADII = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # in units of the norm of the vector of weights 1
SPLITS = 30
_SONAR = (
    "The published errors are larger than those with every preparation that was tried. They are reproduced by two "
    "changes together: lambda = 1, where the folds choose 3 or 10, and features that are scaled by the training half. "
    "Why the folds should choose 1 is not known."
)


_EXAMPLES = "The published number is reproduced where each example is centred by the mean of its own features."
CAUSES = {  # of each data set variants of which none reproduces more of its numbers
    "Parkinsons": {CENTRED: _EXAMPLES},
    "Iono": {"raw": "The published number is reproduced with features as they are in the file."},
    "Sonar": {
        "uncentred": "The published number is reproduced where features are not centred.",
        ONE: _SONAR,
        HALF: _SONAR,
    },
    "Breast": {CENTRED: _EXAMPLES},
}


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        names = ["parkinsons"]
        variants = ["stated", "uncentred"]
        splits = 3
    else:
        names = list(DATA.values())
        variants = [name for name in PREPARATIONS if name != HALF]
        splits = SPLITS
    methods = [name for name in METHODS if not quick or "uniform" in name]
    choices = grid(data=names, variant=variants, method=methods, step=["choice"])
    if not quick:
        linear = [name for name in METHODS if name.startswith("linear")]
        choices += grid(data=["sonar"], variant=[HALF], method=linear, step=["choice"])
    return [choice.followed_by(step="test", seed=seed) for choice in choices for seed in range(splits)]


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = source.signs(cell["data"])
    prepare = PREPARATIONS[cell["variant"]]
    method = METHODS[cell["method"]]
    if cell["step"] == "choice":
        Z = prepare(X)
        alphas = (1.0,) if cell["variant"] in (ONE, HALF) else ALPHAS
        return method.choice(Z, y, method.grid(alphas, [f * Z.shape[1] ** (1 / (method.norm or 2)) for f in RADII]))
    train, test = random_split(y, 0.5, cell["seed"], stratified=True)
    return method.test_errors(prepare(X, train), y, (train, test), prerequisite["parameters"], EXPERIMENT.tol)


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place != "Table 1" or row.metric != "RMSE":
        return None
    fields = {"data": DATA[row.data], "method": row.method, "step": "test"}
    return Query(fields, ("error",), "lower", causes=CAUSES[row.data])


EXPERIMENT = Experiment(
    paper="nkrr",
    name="table1",
    title="Linear and quadratic combinations on four data sets",
    protocol=(
        "Thirty stratified random halves are used for training and testing. There is a rank-one kernel for each "
        "feature. Features are scaled to [0, 1] and centred by all rows, and from the labels -1 and +1 their mean is "
        "subtracted; the error is the root mean squared error of the real-valued output. Both lambda and the radius "
        "are chosen once by ten shuffled folds of all rows, from seventeen values between 1e-4 and 1e4 and from six "
        "radii. The paper states neither the grids nor whether the choice is made once or in each half. In place of "
        "the printed descent the problem is solved to a duality gap of 1e-6, or to stationarity where it is not "
        "convex. As the cause of differences on a data set those variants are named that reproduce most of its numbers."
    ),
    cells=_cells,
    measure=_measure,
    bind=_bind,
    tables=(1,),
    variants=VARIANTS,
    fitted=frozenset(VARIANTS),  # the paper says what the preparation is; the others were found by its numbers
    version=2,
    tol=1e-6,
    seconds=0.5,
)
