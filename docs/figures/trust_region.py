"""Draws docs/images/trust_region.png: how many machines the solvers of polynomial kernel ridge regression need.

Sonar, one linear kernel on each feature, weights in the ball of radius 10 around 1 in the 2-norm, alpha = 1: the
certificate of the best point so far against the machines solved, for the sum of the kernels, its square and its cube.

    python docs/figures/trust_region.py [DATA_DIR]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from multikernel import KernelBank, bind, datasets, kernels
from multikernel.combinations import HadamardPower, Linear
from multikernel.domains import NormBall
from multikernel.machines import RidgeMachine
from multikernel.optimizers import ProjectedGradient, QuasiNewton
from multikernel.optimizers.published_gradient import PublishedGradient
from multikernel.optimizers.ridge.interpolated import Interpolated
from multikernel.optimizers.ridge.sphere import SphereTrustRegion
from multikernel.problem import Problem

OUT = Path(__file__).parents[1] / "images" / "trust_region.png"
ALPHA, RADIUS, TOL, MOST = 1.0, 10.0, 1e-12, 1000
INK = "#30343c"
ROUNDING = 1e-16
TITLES = {1: "The sum of the kernels", 2: "Its square", 3: "Its cube"}
SOLVERS = {
    "published gradient": (PublishedGradient(TOL, MOST), "#dd8a33"),
    "interpolated": (Interpolated(TOL, MOST), "#8d96a8"),
    "spectral gradient": (ProjectedGradient(TOL, MOST), "#3aa38f"),
    "quasi-Newton": (QuasiNewton(TOL, MOST), "#9b6fc9"),
    "trust region": (SphereTrustRegion(TOL, MOST), "#4a7fe0"),
}


def sonar(data_dir: str | None) -> tuple[KernelBank, Any]:
    """Features scaled to [0, 1] and centred; labels -1 and +1."""
    data = datasets.load("sonar", data_dir)
    X = (data.X - data.X.min(axis=0)) / np.ptp(data.X, axis=0)
    return bind(kernels.linear_features(), X - X.mean(axis=0)), np.where(data.y == np.unique(data.y)[0], -1.0, 1.0)


def panel(ax: Any, bank: KernelBank, y: Any, degree: int) -> None:
    combination = Linear() if degree == 1 else HadamardPower(degree)
    problem = Problem(bank, combination, RidgeMachine(ALPHA), NormBall(2.0, RADIUS, center=1.0), y)
    for name, (solver, colour) in SOLVERS.items():
        if name == "interpolated" and degree > 1:
            continue
        history = np.maximum(solver.minimise(problem).history, ROUNDING)
        marks = "o-" if len(history) < 50 else "-"
        ax.loglog(np.arange(1, len(history) + 1), history, marks, color=colour, markersize=3.5, label=name)
    ax.set(xlabel="machines solved", xlim=(0.9, MOST), ylim=(0.3 * ROUNDING, 3.0))
    ax.set_title(TITLES[degree], loc="left", fontsize=10.5)


def main() -> None:
    style = {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.2}
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), INK)
    bank, y = sonar(sys.argv[1] if len(sys.argv) > 1 else None)
    with plt.rc_context({**style, **ink, "axes.axisbelow": True, "font.size": 10.0}):
        figure, axes = plt.subplots(1, 3, figsize=(11, 4.0), layout="constrained", sharey=True)
        for ax, degree in zip(axes, (1, 2, 3), strict=True):
            panel(ax, bank, y, degree)
        axes[0].set_ylabel("certificate: relative gap or stationarity")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=5, frameon=False, labelcolor="linecolor")
        OUT.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(OUT, dpi=150)


if __name__ == "__main__":
    main()
