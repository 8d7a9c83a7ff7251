"""Figure 9: the degrees to which EasyMKL gives weight as more labels are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from multikernel import diagnostics
from multikernel.procedures import easymkl
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp.protocol import OUTER, margin_machine, powers
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
    learned = easymkl(powers(X, DEGREE), swapped, margin_machine(LAMBDA / (1 + LAMBDA), OUTER, SAMPLES))
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
    title="Learned weights with noisy labels",
    protocol=(
        "There are 500 samples in two clusters, with two features, one of which is informative; samples are scaled to "
        "unit length. EasyMKL with Lambda = 0.01 learns weights of the homogeneous polynomials of degrees 0 to 10, in "
        "ten repetitions. A given percentage of the labels is drawn with replacement, and each draw changes the sign "
        "of one label: a label that is drawn twice is unchanged. The paper does not state further parameters of the "
        "clusters."
    ),
    cells=lambda quick: grid(data=[""], seed=range(1 if quick else 10), percent=(0, 10, 50) if quick else PERCENTAGES),
    measure=_measure,
    figures=(9,),
    seconds=0.05,
    draw=(Figure("Centre of mass", "Weight moves from low to high degrees as more labels are wrong.", _draw),),
)
