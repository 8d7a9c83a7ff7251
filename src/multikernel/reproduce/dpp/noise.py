"""Figure 9: where EasyMKL puts its weight as labels become noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from multikernel import diagnostics
from multikernel.procedures import easymkl
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp.protocol import OUTER, powers
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.results import Results

DEGREE = 10
LAMBDA = 0.01
SAMPLES = 500
PERCENTAGES = (*range(11), *range(20, 101, 10))


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    seed = cell["seed"]
    X, labels = make_classification(
        SAMPLES, n_features=2, n_informative=1, n_redundant=0, n_clusters_per_class=1, random_state=seed
    )
    y = np.where(labels == 1, 1.0, -1.0)
    drawn_rows = np.random.default_rng(seed).integers(SAMPLES, size=round(SAMPLES * cell["percent"] / 100))
    swapped = np.where(np.bincount(drawn_rows, minlength=SAMPLES) % 2 == 1, -y, y)
    learned = easymkl(powers(X, DEGREE), swapped, OUTER.machine(LAMBDA / (1 + LAMBDA), SAMPLES))
    return {
        "mass": diagnostics.center_of_mass(learned.values),
        "wrong": float((swapped != y).mean()),
        "certificate": learned.gap,
    }


def _draw(ax: Any, results: Results) -> None:
    percent = sorted(results.values("percent"))
    masses = [[measurement["mass"] for measurement in results.where(percent=value).measurements] for value in percent]
    ax.errorbar(percent, [np.mean(m) for m in masses], [np.std(m) for m in masses], fmt="o-", capsize=2)
    ax.set(xlabel="labels swapped, %", ylabel="centre of mass of the weights")


EXPERIMENT = Experiment(
    paper="dpp",
    name="noise",
    title="Weights under noise",
    protocol=(
        "500 samples of two features, one informative, two clusters, brought to unit length; homogeneous polynomials "
        "of degrees 0 to 10, Lambda = 0.01; ten repetitions. A percentage of the labels is drawn with replacement and "
        "each draw swaps one: drawn twice it is as before. The paper's other options for the clusters are not stated."
    ),
    cells=lambda quick: grid(data=[""], seed=range(1 if quick else 10), percent=(0, 10, 50) if quick else PERCENTAGES),
    measure=_measure,
    figures=(9,),
    seconds=0.05,
    draw=(Figure("Centre of mass", "Weight moves from low to high degrees as labels become noise.", _draw),),
)
