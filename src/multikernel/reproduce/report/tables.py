"""Tables 1 to 4: cross-validated errors, and test errors over thirty halves, on Ionosphere and Sonar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from multikernel.reproduce.data import DataSource, random_split
from multikernel.reproduce.experiment import Cell, Experiment, grid
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.report import printed
from multikernel.reproduce.report.methods import (
    LAMBDAS,
    METHODS,
    NO_INTERCEPT,
    ONE_WAY,
    PREPARATIONS,
    RADII,
    STATED,
    VARIANTS,
    sizes,
)
from multikernel.reproduce.verdict import Binding, NotComparable, Query, smallest_to_largest

DATA = {"Ionosphere": "ionosphere", "Sonar": "sonar"}
PRINTED = "printed rule"
FINER = "printed rule, to 1e-4"
CHANGES = {PRINTED: 1e-3, FINER: 1e-4}
SONAR = "Sonar's samples"
PROGRAM = "Sonar's samples, fitted"
FITTED = {  # the values, among those that the authors' program tries, that give the published numbers
    "weights 1, degree 2": {"alpha": 0.01, "radius": 0.0},
    "penalty, degree 2": {"alpha": 4.0, "penalty": 1.0},
}
WAYS = 5  # draws of the ten folds
SPLITS = 30  # random halves
_ON_TEST = {
    "IIA": "ball, degree 1",
    "PGD (d=2)": "ball, degree 2",
    "rIIA": "penalty, degree 1",
    "rPGD (d=2)": "penalty, degree 2",
    "BM": "weights 1, degree 1",
    "UNIF": "weights 1, degree 2",
}
_ONE_OF_TWO = (
    "On the samples of Sonar the folds choose parameters with an error of 0.89. With lambda = 4 and penalty 1 it is "
    "0.95, but then 36 % of the signs are wrong, and not 29."
)
_END = (
    "The paper does not state when the algorithm ends. Here a run ends where a step is shorter than 1e-3; in the first "
    "version of the authors' program the bound is 1e-4. With either bound some runs take one or two steps, and some "
    "reach the limit of 50."
)
_SAMPLES = (
    "Table 2 was probably computed on the samples of Sonar. On these all of its numbers are reproduced as stated, "
    "except two errors; that of UNIF is reproduced with other parameters, and that of rPGD is not. On Ionosphere, "
    "prepared as in the authors' program, all methods have 14 % wrong signs, where the table has 23 to 29 %."
)
_UNIFORM = (
    "No lambda from 1e-6 to 1e4 gives an error above 1.22 with degree 2, or above 1.31 with degree 1. This holds for "
    "features scaled to [0, 1], as in the file, standardised, of unit length, or scaled in each half by itself, with "
    "and without centring. Errors above 1.2 have a standard deviation of 0.08 or more over the halves, where 0.02 is "
    "printed."
)


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        choices = grid(
            data=["sonar"],
            variant=["stated"],
            method=["ball, degree 1", "weights 1, degree 1"],
            step=["folds"],
            count=[3],
            seed=[0],
        )
    else:
        choices = [
            choice
            for variant in PREPARATIONS
            for choice in grid(
                data=list(DATA.values()),
                variant=[variant],
                method=list(METHODS),
                step=["folds"],
                count=[10],
                seed=range(1 if variant in ONE_WAY else WAYS),
            )
        ]
    tests = [
        choice.followed_by(step="test", seed=seed)
        for choice in choices
        if choice["seed"] == 0
        for seed in range(3 if quick else SPLITS)
    ]
    return [*choices, *tests, *([] if quick else [*_sonar_cells(choices), *_printed_rule_cells()])]


def _sonar_cells(choices: Sequence[Cell]) -> list[Cell]:
    """Table 2 on the samples of Sonar, with the parameters that its folds choose, or with fitted ones."""
    return [
        choice.followed_by(data="ionosphere", variant=variant, step="test", seed=seed)
        for choice in choices
        if (choice["data"], choice["variant"], choice["seed"]) == ("sonar", "stated", 0)
        for variant in (SONAR, PROGRAM)
        if variant == SONAR or choice["method"] in FITTED
        for seed in range(SPLITS)
    ]


def _printed_rule_cells() -> list[Cell]:
    return grid(
        data=list(DATA.values()),
        variant=list(CHANGES),
        method=["ball, degree 1", "ball, degree 2"],
        step=["folds"],
        count=[10],
        seed=[0],
    )


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    variant = cell["variant"]
    X, y = source.signs("sonar" if variant in (SONAR, PROGRAM) else cell["data"])
    prepare = PREPARATIONS.get(variant, STATED)
    method = replace(METHODS[cell["method"]], intercept=variant != NO_INTERCEPT)
    if variant in CHANGES:
        change = CHANGES[variant]
        return printed.choice(prepare(X), y, method.degree, LAMBDAS, RADII, cell["count"], cell["seed"], change)
    if cell["step"] == "folds":
        return method.choice(prepare(X), y, method.grid(LAMBDAS, sizes(method)), cell["count"], cell["seed"])
    if variant == PROGRAM:
        parameters = FITTED[cell["method"]]
    else:
        parameters = prerequisite["parameters"]
    split = random_split(y, 0.5, cell["seed"], stratified=variant != NO_INTERCEPT)
    return method.test_errors(prepare(X, split[0]), y, split, parameters, EXPERIMENT.tol)


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place in ("Table 1", "Table 3"):
        if not row.value:
            return NotComparable("No number is printed, as the method is defined for degree 1 only.")
        if row.method in ("IIA", "rIIA") and "d=2" in row.setting:
            return NotComparable("A number is printed for a method that the paper defines for degree 1 only.")
        constraint = "penalty" if row.method.startswith("r") else "ball"
        method = f"{constraint}, degree {2 if 'd=2' in row.setting else 1}"
        fields = {"data": DATA[row.data], "method": method, "step": "folds"}
        return Query(fields, ("error",), "lower", same_samples=True, of_squares=True)
    if row.metric == "iterations range":
        steps = ("fewest and most steps",)
        return Query({"step": "folds"}, steps, summary=smallest_to_largest, remark=_END, stated=PRINTED)
    if row.place not in ("Table 2", "Table 4"):
        return None
    if row.place == "Table 4" and row.method == "BM" and row.metric.startswith("sqrt"):
        return NotComparable("This number of Table 4 is, in all digits, that of another method in Table 2.")
    fields = {"data": DATA[row.data], "method": _ON_TEST[row.method], "step": "test"}
    quantity = "misclassified" if row.metric.startswith("misclass") else "error"
    if row.place == "Table 2":
        if row.method == "rPGD (d=2)":  # the other parameters give one of its two numbers and not the other
            return Query(fields, (quantity,), "lower", causes={SONAR: _SAMPLES}, remark=_ONE_OF_TWO)
        return Query(fields, (quantity,), "lower", causes={SONAR: _SAMPLES, PROGRAM: _SAMPLES})
    return Query(fields, (quantity,), "lower", remark=_UNIFORM if row.value == "1.69" else "")


EXPERIMENT = Experiment(
    paper="report",
    name="tables",
    title="Cross-validated errors and test errors on Ionosphere and Sonar",
    protocol=(
        "There is one rank-one kernel for each feature. The paper does not state how features and labels are "
        "prepared; here features are scaled to [0, 1] and centred, and from the labels -1 and +1 their mean is "
        "subtracted. Ten folds, not stratified, choose lambda from six values, and the radius or the strength of the "
        "penalty from the paper's grid; the folds are drawn in five ways. Thirty stratified halves are used for "
        "testing, with the parameters that the first draw of the folds chooses. The rows that the paper names MSE "
        "contain the root of the mean squared error. The standard deviations of Tables 1 and 3 are, in the authors' "
        "program, those of the squared error over ten folds. The paper does not state what the methods BM and UNIF "
        "are: BM is taken to be ridge regression with all weights 1, and UNIF the same for degree 2, both with lambda "
        "chosen by the folds. Nor does it state the grids of lambda and of the penalty. In place of the paper's "
        "algorithms, which need not end at a solution, their problems are solved to a duality gap of 1e-6; so the "
        "interpolated and the projected method are one for degree 1. The printed descent is a variant."
    ),
    cells=_cells,
    measure=_measure,
    bind=_bind,
    tables=(1, 2, 3, 4),
    variants={
        **VARIANTS,
        PRINTED: (
            "The printed descent (PGD), with at most fifty steps, in place of certified solutions of the same "
            "problems, in the folds of Tables 1 and 3; with a penalty (rPGD), on the halves, and for interpolation "
            "(IIA), which has the problem of PGD, the printed rule is not run."
        ),
        FINER: "The same, until a step is shorter than 1e-4, as in the first version of the authors' program.",
        SONAR: "Table 2 as stated, but on Sonar in place of Ionosphere; this was found by comparing the numbers.",
        PROGRAM: (
            "The same for the rows UNIF, with lambda = 0.01, and rPGD, with lambda = 4 and penalty 1. These values are "
            "among those that the authors' program tries."
        ),
    },
    fitted=frozenset({SONAR, PROGRAM}),
    tol=1e-6,
    seconds=0.5,
)
