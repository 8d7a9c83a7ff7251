"""Figures 1 to 12: errors against lambda for degrees 1 to 3, of ridge regression and of an SVM on its kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from multikernel.reproduce.data import DataSource, folds, random_split
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.polynomial import PolynomialMethod
from multikernel.reproduce.report.methods import LAMBDAS, PREPARATIONS, RADII
from multikernel.reproduce.results import Results

DATA = ("ionosphere", "sonar", "breast_ljubljana", "diabetes_pima", "fourclass", "german", "heart_cleveland")
MACHINES = ("ionosphere", "sonar", "breast_ljubljana", "diabetes_pima", "heart_cleveland")
COSTS = tuple(10.0**e for e in range(-2, 4))
RADIUS = 1.0  # of the ball of weights, for the kernels on which support vector machines are trained


def _load(source: DataSource, name: str) -> tuple[Any, Any]:
    if name != "heart_cleveland":
        return source.signs(name)
    data = source.load(name)
    return np.asarray(data.X, dtype=float), np.where(data.y.astype(float) > 0, 1.0, -1.0)


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        errors = grid(data=["fourclass"], degree=[1, 2], what=["ridge"], count=[3], seed=[0])
        return [*errors, *grid(data=["sonar"], degree=[1], what=["machine"], count=[3], seed=[0])]
    errors = grid(data=DATA, degree=[1, 2, 3], what=["ridge"], count=[10], seed=[0])
    return [*errors, *grid(data=MACHINES, degree=[1, 2, 3], what=["machine"], count=[5], seed=range(5))]


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = _load(source, cell["data"])
    method = PolynomialMethod(cell["degree"], 2)
    train, test = random_split(y, 0.5, cell["seed"], stratified=True)
    Z = PREPARATIONS["stated"](X, train)
    if cell["what"] == "ridge":
        choice = method.choice(Z[train], y[train], method.grid(LAMBDAS, RADII), cell["count"], cell["seed"])
        radius = choice["parameters"]["radius"]
        test_errors = [
            method.test_errors(Z, y, (train, test), {"alpha": a, "radius": radius}, 1e-4)["error"] for a in LAMBDAS
        ]
        return {"lambda": LAMBDAS, "folds": choice["curve"], "test": test_errors}
    runs = [_machine(method, Z, y, train, test, alpha, cell["count"]) for alpha in LAMBDAS]
    return {"lambda": LAMBDAS, "wrong": [wrong for wrong, _ in runs], "ratio": [ratio for _, ratio in runs]}


def _machine(
    method: PolynomialMethod, Z: Any, y: Any, train: Any, test: Any, alpha: float, count: int
) -> tuple[float, float]:
    """The share of wrong labels of an SVM on the learned kernel, and its objective over that of ridge regression."""
    ridge = method.model(1e-4, alpha=alpha, radius=RADIUS).fit(Z[train], y[train])
    K = _kernel(ridge, Z[train], Z[train])
    search = GridSearchCV(
        SVC(kernel="precomputed", max_iter=100_000), {"C": COSTS}, cv=folds(y[train], count, 0, stratified=True)
    ).fit(K, y[train])
    best = search.best_estimator_
    coef = np.zeros(len(train))
    coef[best.support_] = best.dual_coef_[0]
    objective = float(2.0 * np.abs(coef).sum() - coef @ K @ coef)
    wrong = np.mean(best.predict(_kernel(ridge, Z[test], Z[train])) != y[test])
    return float(wrong), objective / float(ridge.objective_)


def _kernel(ridge: Any, X: Any, Z: Any) -> Any:
    """The learned kernel: a power of the weighted sum of products of features."""
    return ((X * ridge.weights_) @ Z.T) ** ridge.degree


def _draw(quantity: str, label: str) -> Callable[[Any, Results], None]:
    def draw(ax: Any, results: Results) -> None:
        for degree in results.values("degree"):
            measurements = results.where(degree=degree).measurements
            mean = np.mean([measurement[quantity] for measurement in measurements], axis=0)
            ax.plot(measurements[0]["lambda"], mean, "o-", markersize=3, label=f"degree {degree}")
        ax.set_xscale("log")
        ax.set(xlabel="lambda", ylabel=label)
        ax.legend(frameon=False)

    return draw


EXPERIMENT = Experiment(
    paper="report",
    name="curves",
    title="Errors against lambda",
    protocol=(
        "Features are scaled to [0, 1] and centred. For ridge regression the figures show the error over ten folds of "
        "one half of the rows, with the best radius for each lambda, and the error on the other half, with the radius "
        "that the folds choose. Support vector machines are trained on the kernels that ridge regression learned with "
        "radius 1; their C is chosen by five folds, and there are five random halves. The figures of the paper have no "
        "numbers."
    ),
    cells=_cells,
    measure=_measure,
    figures=tuple(range(1, 13)),
    seconds=1.5,
    draw=(
        *(
            Figure(
                f"Ridge regression, {name}, {quantity}",
                "Which degree has the smallest error, and from which lambda on do errors rise?",
                _draw(quantity, "root mean squared error"),
                {"what": "ridge", "data": name},
            )
            for name in DATA
            for quantity in ("folds", "test")
        ),
        *(
            Figure(
                f"Support vector machine on learned kernels, {name}",
                "How much does the share of wrong labels depend on the lambda of ridge regression?",
                _draw("wrong", "share of wrong labels"),
                {"what": "machine", "data": name},
            )
            for name in MACHINES
        ),
        *(
            Figure(
                f"The two objectives, {name}",
                "The optimal dual value of the support vector machine is divided by that of ridge regression, on the "
                "kernel that ridge regression learned.",
                _draw("ratio", "support vector machine / ridge regression"),
                {"what": "machine", "data": name},
            )
            for name in MACHINES
        ),
    ),
)
