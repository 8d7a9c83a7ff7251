"""Figures 1, 7 and 8: enclosing balls, spectral ratios and learned weights against the degree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from multikernel import diagnostics
from multikernel.procedures import easymkl
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp.protocol import (
    LAMS,
    OUTER,
    SCALINGS,
    STANDARDISED,
    choose_lam,
    fixed_weights,
    load,
    margin_machine,
    powers,
)
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.results import Results

BALLS = ("spect_heart", "splice")
RATIOS = ("haberman", "liver_bupa", "diabetes_pima", "spect_heart", "ionosphere", "splice")
DEGREES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30)
MIXES = ("K_MKL", "K_D", "K_sum")


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        ratios = grid(data=["haberman"], variant=["stated"], what=["ratio"], D=[3, 10])
        return [*ratios, *grid(data=["spect_heart"], variant=["stated"], what=["ball"], D=[1, 5, 10])]
    variants = ["stated", "standardised"]
    ratios = grid(data=RATIOS, variant=variants, what=["ratio"], D=DEGREES)
    return [*ratios, *grid(data=BALLS, variant=variants, what=["ball"], D=range(1, 31))]


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = load(source, cell["data"])
    bank = powers(SCALINGS[cell["variant"]](X), cell["D"])
    if cell["what"] == "ball":
        ball = diagnostics.meb_radius(bank.matrix(cell["D"]), tol=1e-7)
        return {"squared radius": ball.squared_radius, "average": ball.average_bound, "certificate": ball.gap}
    lam, _ = choose_lam(bank, y, np.arange(len(y)), 3, 0, LAMS)
    learned = easymkl(bank, y, margin_machine(lam, OUTER, len(y)))
    fixed = fixed_weights(cell["D"])
    mixes = [learned.values, fixed["K_D"], fixed["K_sum"]]
    ratios = diagnostics.spectral_ratios(bank, mixes)
    return {
        "ratio": dict(zip(MIXES, ratios.tolist(), strict=True)),
        "weights": learned.values,
        "mass": diagnostics.center_of_mass(learned.values),
        "lam": lam,
        "certificate": learned.gap,
    }


def _draw_balls(ax: Any, results: Results) -> None:
    for quantity, label in (("squared radius", "squared radius of the ball"), ("average", "1 - mean of K")):
        heights = [measurement[quantity] for measurement in results.measurements]
        ax.plot(results.values("D"), heights, linewidth=1.4, label=label)
    ax.set(xlabel="degree", ylabel="size")
    ax.legend(frameon=False)


def _draw_ratios(ax: Any, results: Results) -> None:
    for mix in MIXES:
        ax.plot(
            results.values("D"),
            [measurement["ratio"][mix] for measurement in results.measurements],
            "o-",
            markersize=3,
            label=mix,
        )
    ax.set(xlabel="largest degree D", ylabel="spectral ratio")
    ax.legend(frameon=False)


def _draw_weights(ax: Any, results: Results) -> None:
    for fields, measurement in results:
        ax.plot(
            range(len(measurement["weights"])), measurement["weights"], "o-", markersize=3, label=f"D = {fields['D']}"
        )
    ax.set(xlabel="degree", ylabel="weight")
    ax.legend(frameon=False, fontsize=8)


def _fields(quantity: str, name: str) -> dict[str, Any]:
    return {"what": quantity, "variant": "stated", "data": name}


EXPERIMENT = Experiment(
    paper="dpp",
    name="expressiveness",
    title="Expressiveness of the kernels against the degree",
    protocol=(
        "All rows of a data set are used, with features scaled to [0, 1] and samples of unit length; three stratified "
        "folds choose lam. Figure 1 shows the squared radius of the smallest ball that encloses the samples in feature "
        "space, which the paper calls its radius. Figure 7 shows the spectral ratios of the learned combination, of "
        "the kernel of degree D, and of the mean of all degrees. Figure 8 shows the learned weights. The figures of "
        "the paper have no numbers."
    ),
    cells=_cells,
    measure=_measure,
    figures=(1, 7, 8),
    variants={"standardised": STANDARDISED},
    seconds=0.2,
    draw=(
        *(
            Figure(
                f"Enclosing ball, {name}",
                "If no dot product is negative, both curves grow with the degree towards 1.",
                _draw_balls,
                _fields("ball", name),
            )
            for name in BALLS
        ),
        *(
            Figure(
                f"Spectral ratios, {name}",
                "Does the learned combination (K_MKL) lie between the mean (K_sum) and the highest degree (K_D)?",
                _draw_ratios,
                _fields("ratio", name),
            )
            for name in RATIOS
        ),
        *(
            Figure(
                f"Learned weights, {name}",
                "The weight of degree 0 is always zero.",
                _draw_weights,
                _fields("ratio", name),
            )
            for name in BALLS
        ),
    ),
)
