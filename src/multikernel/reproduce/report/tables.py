"""Tables 1 to 4: cross-validated errors, and errors over thirty halves, on Ionosphere and Sonar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from multikernel.reproduce.data import DataSource, share
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
from multikernel.reproduce.verdict import Binding, NotComparable, Query, extent

DATA = {"Ionosphere": "ionosphere", "Sonar": "sonar"}
PRINTED = "printed rule"
FINER = "printed rule, to 1e-4"
CHANGES = {PRINTED: 1e-3, FINER: 1e-4}
SONAR = "Sonar's samples"
PROGRAM = "Sonar's samples, fitted"
FITTED = {  # of the values that the authors' program tries, those that give the published numbers
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
    split = share(y, 0.5, cell["seed"], stratified=variant != NO_INTERCEPT)
    return method.test_errors(prepare(X, split[0]), y, split, parameters, EXPERIMENT.tol)


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place in ("Table 1", "Table 3"):
        if not row.value:
            return NotComparable("no number is printed: the method is for degree 1")
        if row.method in ("IIA", "rIIA") and "d=2" in row.setting:
            return NotComparable("a number is printed for a method that is not defined for degree 2")
        constraint = "penalty" if row.method.startswith("r") else "ball"
        method = f"{constraint}, degree {2 if 'd=2' in row.setting else 1}"
        fields = {"data": DATA[row.data], "method": method, "step": "folds"}
        return Query(fields, ("error",), "lower", cause="")
    if row.metric == "iterations range":
        return Query({"step": "folds"}, ("steps",), summary=extent, cause=_END, stated=PRINTED)
    if row.place not in ("Table 2", "Table 4"):
        return None
    if row.place == "Table 4" and row.method in ("IIA", "rIIA", "BM") and row.metric.startswith("sqrt"):
        return NotComparable("this number of Table 4 is that of another row of Table 2, digit by digit")
    fields = {"data": DATA[row.data], "method": _ON_TEST[row.method], "step": "test"}
    quantity = "misclassified" if row.metric.startswith("misclass") else "error"
    if row.place == "Table 2":
        return Query(fields, (quantity,), "lower", cause=_SAMPLES)
    return Query(fields, (quantity,), "lower", remark=_UNIFORM if row.value == "1.69" else "")


_END = (
    "the end, which the paper does not state: a run ends here where a step is shorter than 1e-3; in the first version "
    "of the authors' program it is 1e-4"
)
_SAMPLES = (
    "the samples, as far as can be told: on those of Sonar all of Table 2 comes out as stated but two errors, which do "
    "with other parameters; on Ionosphere, prepared as in the authors' program, all methods have 14 % wrong signs, "
    "where 23 to 29 are printed"
)
_UNIFORM = (
    "no lambda from 1e-6 to 1e4 gives more than 1.22 with degree 2, with features on [0, 1], as in the file, "
    "standardised, of unit length, or scaled in each half by itself, with centring or without, nor more than 1.31 with "
    "degree 1; errors above 1.2 vary by 0.08 and more over the halves, where 0.02 is printed"
)


EXPERIMENT = Experiment(
    paper="report",
    name="tables",
    title="Cross-validated and tested errors on Ionosphere and Sonar",
    protocol=(
        "One rank-one kernel for each feature; features on [0, 1] and centred, labels -1 and +1, which lose their "
        "mean. Ten folds, not stratified, made in five ways, choose lambda from six values and the radius, or the "
        "strength of the penalty, from the paper's grid; thirty stratified halves test with the choice of the first "
        "way. The rows named MSE are its root; deviations of Tables 1 and 3 are, in the authors' program, those of the "
        "squared error over ten folds. BM is taken as ridge regression with all weights 1, UNIF as the same "
        "for degree 2, both with lambda chosen: the paper does not state what they are, nor the grids of lambda and of "
        "the penalty."
    ),
    cells=_cells,
    measure=_measure,
    bind=_bind,
    tables=(1, 2, 3, 4),
    variants={
        **VARIANTS,
        PRINTED: "The printed descent, fifty steps at most, in place of certified solutions of the same problems.",
        FINER: "The same, to a step of 1e-4, as in the first version of the authors' program.",
        SONAR: "Table 2 as stated, on the samples of Sonar in place of Ionosphere; found by comparing the numbers.",
        PROGRAM: (
            "The same for rows UNIF and rPGD, with lambda = 0.01, and with lambda = 4 and penalty 1, of the values "
            "that the authors' program tries."
        ),
    },
    fitted=frozenset({PROGRAM}),
    tol=1e-6,
    seconds=0.5,
)
