"""Figure 1: the objective as a function of two weights, which is not convex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel.reproduce.data import DataSource, FeatureScaling
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import Binding, Query, smallest_to_largest

LAMBDAS = (1, 10, 100)
STEPS = 21
_ANY = (
    "These numbers can hardly differ: the largest value is the squared length of the labels divided by lambda, and the "
    "features of Sonar as in the file, centred, standardised, or of samples of unit length give the same axes, but for "
    "one of them with lambda = 100."
)
_SEE = (
    "Is F convex? Where its contour lines are straight and evenly spaced, it is linear; with lambda = 1 they bend "
    "most, and near the origin F is concave along some directions."
)


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = source.signs(cell["data"])
    X = FeatureScaling("interval")(X)[:, :2]
    mu = np.linspace(0.0, 1.0, STEPS)
    values = np.empty((STEPS, STEPS))
    for i, a in enumerate(mu):
        for j, b in enumerate(mu):
            K = ((X * [a, b]) @ X.T) ** 2
            values[i, j] = y @ np.linalg.solve(K + cell["lambda"] * np.eye(len(y)), y)
    second_differences = np.diff(values, 2, axis=0)
    return {"values": values.ravel(), "concave": float((second_differences < 0).mean())}


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place != "Figure 1":
        return None
    return Query(
        {"lambda": int(row.setting.removeprefix("lambda="))}, ("values",), summary=smallest_to_largest, instead=_ANY
    )


def _draw(ax: Any, results: Results) -> None:
    values = np.reshape(results.measurements[0]["values"], (STEPS, STEPS))
    mu = np.linspace(0.0, 1.0, STEPS)
    lines = ax.contour(mu, mu, values.T, levels=10, cmap="viridis", linewidths=1.3)
    ax.clabel(lines, fontsize=8)
    ax.set(xlabel="weight of the first feature", ylabel="weight of the second")


EXPERIMENT = Experiment(
    paper="nkrr",
    name="surfaces",
    title="The objective as a function of two weights",
    protocol=(
        "The first two features of Sonar are scaled to [0, 1], with one rank-one kernel each and degree 2; the labels "
        "-1 and +1 are not centred; the paper does not state this. The objective F is evaluated on a grid of weights "
        "between 0 and 1. The paper shows surfaces, of which only the axes have numbers."
    ),
    cells=lambda quick: grid(data=["sonar"], **{"lambda": LAMBDAS}),
    measure=_measure,
    bind=_bind,
    figures=(1,),
    seconds=0.2,
    draw=tuple(Figure(f"lambda = {lam}", _SEE, _draw, {"lambda": lam}) for lam in LAMBDAS),
)
