"""Tables 1 to 4: cross-validated errors, and errors over thirty halves, on Ionosphere and Sonar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.reproduce.data import DataSource, share
from multikernel.reproduce.experiment import Cell, Experiment, grid
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.report import printed
from multikernel.reproduce.report.methods import LAMBDAS, METHODS, PREPARATIONS, RADII, VARIANTS, sizes
from multikernel.reproduce.verdict import Binding, NotComparable, Query, extent

DATA = {"Ionosphere": "ionosphere", "Sonar": "sonar"}
PRINTED = "printed rule"
WAYS = 5
SPLITS = 30  # to make the folds, and halves
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
                seed=range(1 if variant == "raw" else WAYS),
            )
        ]
    tests = [
        choice.followed_by(step="test", seed=seed)
        for choice in choices
        if choice["seed"] == 0
        for seed in range(3 if quick else SPLITS)
    ]
    return [*choices, *tests, *([] if quick else _printed())]


def _printed() -> list[Cell]:
    return grid(
        data=list(DATA.values()),
        variant=[PRINTED],
        method=["ball, degree 1", "ball, degree 2"],
        step=["folds"],
        count=[10],
        seed=[0],
    )


def _measure(cell: Cell, source: DataSource, given: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = source.signs(cell["data"])
    prepare = PREPARATIONS.get(cell["variant"], PREPARATIONS["stated"])
    method = METHODS[cell["method"]]
    if cell["variant"] == PRINTED:
        return printed.chosen(prepare(X), y, method.degree, LAMBDAS, RADII, cell["count"], cell["seed"])
    if cell["step"] == "folds":
        return method.chosen(prepare(X), y, method.grid(LAMBDAS, sizes(method)), cell["count"], cell["seed"])
    train, test = share(y, 0.5, cell["seed"], stratified=True)
    return method.tested(prepare(X, train), y, (train, test), given["parameters"], EXPERIMENT.tol)


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place in ("Table 1", "Table 3"):
        if not row.value:
            return NotComparable("no number is printed: the method is for degree 1")
        if row.method in ("IIA", "rIIA") and "d=2" in row.setting:
            return NotComparable("a number is printed for a method that is not defined for degree 2")
        form = "penalty" if row.method.startswith("r") else "ball"
        method = f"{form}, degree {2 if 'd=2' in row.setting else 1}"
        where = {"data": DATA[row.data], "method": method, "step": "folds"}
        return Query(where, ("error",), "lower", cause="")
    if row.metric == "iterations range":
        return Query({"variant": PRINTED}, ("steps",), summary=extent, cause=_END, stated=PRINTED)
    if row.place not in ("Table 2", "Table 4"):
        return None
    if row.place == "Table 4" and row.method in ("IIA", "rIIA", "BM") and row.metric.startswith("sqrt"):
        return NotComparable("this number of Table 4 is that of another row of Table 2, for other data")
    where = {"data": DATA[row.data], "method": _ON_TEST[row.method], "step": "test"}
    quantity = "misclassified" if row.metric.startswith("misclass") else "error"
    if where["method"].endswith("degree 1"):
        return Query(where, (quantity,), "lower", cause="centring, which the report does not mention: it is left out")
    if row.method == "rPGD (d=2)" and quantity == "error":
        return Query(where, (quantity,), "lower", cause=_SIGN)
    return Query(where, (quantity,), "lower", known=_UNIFORM if row.value == "1.69" else _QUADRATIC)


_END = (
    "the end, which the paper does not state: a run ends here where a step is shorter than 1e-3; where 1e-4 ends it, "
    "the means are 12 to 24 steps"
)
_SIGN = (
    "the sign of the printed step, which goes up: fifty of them, the most that the report states, shrink the weights "
    "to errors of 0.935 (0.010) and 0.949 (0.004) with lambda = 10 and strengths of 0.01 and 0.001 of the penalty, "
    "though with 36 % wrong signs where 29 are printed"
)
_QUADRATIC = (
    "the printed errors are above those of every lambda that folds choose: with weights 1 and no centring, 1.07 "
    "belongs to lambda = 0.1, with 13 % wrong signs, and an error of 0.94 to a function that is almost constant (0.96)"
)
_UNIFORM = (
    "no lambda from 1e-4 to 1e4 gives more than 1.22, with features on [0, 1], as in the file, standardised, of unit "
    "length, or scaled in each half by itself, with centring or without; a quarter is misclassified"
)


EXPERIMENT = Experiment(
    paper="report",
    name="tables",
    title="Cross-validated and tested errors on Ionosphere and Sonar",
    protocol=(
        "One rank-one kernel for each feature; features on [0, 1] and centred, labels -1 and +1, which lose their "
        "mean. Ten folds, not stratified, made in five ways, choose lambda from six values and the radius, or the "
        "strength of the penalty, from the paper's grid; thirty stratified halves test with the choice of the first "
        "way. The rows named MSE are its root. BM is taken as ridge regression with all weights 1, UNIF as the same "
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
    },
    tol=1e-6,
    seconds=1.5,
)
