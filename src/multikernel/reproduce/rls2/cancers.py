"""Figure 9, with a substitute for the data of Table 5: kinds of tumours by gene expressions, one against the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel import LinearRLS2Regressor, path
from multikernel.reproduce.data import DataSource, folds, random_split
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.results import Results
from multikernel.typing import Array

EXPONENTS = np.linspace(0.0, -5.0, 50)  # lambda is 10 to this power, times the largest correlation


def _values(X: Array, y: Array, labels: Array, X_test: Array) -> tuple[Array, Array]:
    """For every lambda the values of each class at the test rows, and which genes any class uses."""
    values = []
    selected = []
    for label in labels:
        sign = np.where(y == label, 1.0, -1.0)
        spread = X[sign > 0].var(axis=0, ddof=1) + X[sign < 0].var(axis=0, ddof=1)
        scale = np.where(spread > 0, spread, np.inf) ** -0.25  # the root of the factor (variances)^(-1/2)
        Z = X * scale
        centred = sign - sign.mean()
        largest = float(((Z.T @ centred) ** 2).max() / (centred @ centred))
        model = LinearRLS2Regressor(scaling="none", tol=1e-6)
        rls2_path = path(model, Z, sign, "alpha", (largest * 10.0**EXPONENTS).tolist())
        values.append([model.predict(X_test * scale) for model in rls2_path.models])
        selected.append([model.coef_ != 0 for model in rls2_path.models])
    return np.array(values), np.any(selected, axis=0)


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    data = source.load(cell["data"])
    X = np.asarray(data.X, dtype=float)
    y = data.y
    labels = np.unique(data.y)
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)  # by patient
    train, test = random_split(y, 2 / 3, cell["seed"], stratified=True)
    hits = np.zeros(len(EXPONENTS))
    for fit_rows, held_out_rows in folds(y, cell["folds"], cell["seed"], stratified=True, rows=train):
        values, _ = _values(X[fit_rows], y[fit_rows], labels, X[held_out_rows])
        hits += (labels[values.argmax(axis=0)] == y[held_out_rows]).sum(axis=1)
    values, selected = _values(X[train], y[train], labels, X[test])
    errors = (labels[values.argmax(axis=0)] != y[test]).sum(axis=1)
    best = int(np.flatnonzero(hits == hits.max())[0])  # the largest lambda of the best
    return {
        "accuracy": hits / len(train),
        "wrong": errors,
        "errors": int(errors[best]),
        "genes": int(selected[best].sum()),
        "test rows": len(test),
    }


def _draw(ax: Any, results: Results) -> None:
    accuracy = np.mean([measurement["accuracy"] for measurement in results.measurements], axis=0)
    wrong = np.mean(
        [np.array(measurement["wrong"]) / measurement["test rows"] for measurement in results.measurements], axis=0
    )
    ax.plot(10.0**EXPONENTS, accuracy, label="folds", linewidth=1.6)
    ax.plot(10.0**EXPONENTS, 1.0 - wrong, label="test", linewidth=1.6)
    ax.set_xscale("log")
    ax.set(xlabel="lambda, relative to its largest value", ylabel="accuracy")
    ax.legend(frameon=False)


EXPERIMENT = Experiment(
    paper="rls2",
    name="cancers",
    title="Kinds of tumours by gene expressions",
    protocol=(
        "The paper's data set of 14 cancers (16,063 genes) is not available here. In its place 83 small round blue "
        "cell tumours of four kinds with 2308 genes are used, for which no number is published. The gene expressions "
        "of each patient are scaled to mean 0 and variance 1. Each class is separated from the others by linear "
        "two-layer least squares, where the factor of a gene is the inverse root of the sum of its variances in the "
        "two classes. Of fifty values of lambda the largest of the best over eight stratified folds is chosen. Two "
        "thirds of the patients are used for training."
    ),
    cells=lambda quick: grid(data=["srbct"], folds=[2 if quick else 8], seed=range(1 if quick else 10)),
    measure=_measure,
    tables=(5,),
    figures=(9,),
    seconds=5.0,
    draw=(Figure("Accuracy along the path", "All lambda of the plateau separate the four kinds of tumours.", _draw),),
)
