"""Expressiveness of dot-product polynomials over the degree: Figures 1, 7 and 8 of Donini and Aiolli (2017).

    python benchmarks/dpp_expressiveness.py --data-dir DIR [--results results/dpp_expressiveness.jsonl]

Figure 1: the squared radius of the ball that encloses the samples (the paper's "radius"), and its lower bound 1 -
mean K, for the degrees 1 to 30. Figure 7: the spectral ratio of K_MKL, K_D and K_sum. Figure 8: the weights that
EasyMKL finds. All samples of a data set take part, features scaled by their statistics; lam is chosen by three
stratified folds of them. The table says whether the paper's claims hold: ratio and radius grow with the degree,
C(K_sum) <= C(K_MKL) <= C(K_D).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dpp_auc import FULL, LARGE, plan
from dpp_protocol import NAMES, OUTER, SCALERS, chosen, fixed_weights, load, parser, powers, scaled
from kept import Kept
from multikernel import KernelBank, diagnostics
from multikernel.procedures import easymkl

BALLS = ("Heart", "Splice")
ROUNDING = 1e-9


def expressiveness(bank: KernelBank, y: Any, D: int, inner: int, lams: Any) -> dict[str, Any]:
    """Spectral ratios with degrees 0..D, standardised too, and the learned weights."""
    own = bank.select(slice(D + 1))
    lam, _ = chosen(own, y, np.arange(len(y)), inner, 0, lams)
    learned = easymkl(own, y, OUTER.machine(lam, len(y)))
    fixed = fixed_weights(D)
    mixes = [learned.values, fixed["K_D"], fixed["K_sum"]]
    ratios = {
        field: dict(zip(("K_MKL", "K_D", "K_sum"), diagnostics.spectral_ratios(own, mixes, flag).tolist(), strict=True))
        for field, flag in (("ratio", False), ("standardised_ratio", True))
    }
    mass = diagnostics.center_of_mass(learned.values)
    return {**ratios, "weights": learned.values.tolist(), "mass": mass, "lam": lam, "gap": learned.gap}


def ball(bank: KernelBank, degree: int) -> dict[str, Any]:
    """The squared radius of the enclosing ball at one degree."""
    found = diagnostics.meb_radius(bank.matrix(degree), tol=1e-7)
    return {"squared_radius": found.squared_radius, "average": found.average_bound, "gap": found.gap}


def told(kept: Kept, name: str, scaling: str, negative: float) -> None:
    """Whether the claims hold on one data set."""
    lines = sorted(kept.where(data=name, scaling=scaling, what="ratio"), key=lambda line: line["D"])
    ratios = {kind: np.array([line["ratio"][kind] for line in lines]) for kind in ("K_MKL", "K_D", "K_sum")}
    below = int((ratios["K_MKL"] > ratios["K_D"] + ROUNDING).sum())
    above = int((ratios["K_MKL"] < ratios["K_sum"] - ROUNDING).sum())
    growing = bool((np.diff(ratios["K_D"]) >= -ROUNDING).all())
    text = " ".join(f"{kind} {values[-1]:.2f}" for kind, values in ratios.items())
    print(
        f"{name:11s} {scaling:13s} {negative:4.0%} of the dot products < 0; D = {lines[-1]['D']}: {text}; "
        f"C(K_D) grows: {growing}; of {len(lines)} D, C(K_MKL) > C(K_D) at {below}, C(K_MKL) < C(K_sum) at {above}; "
        f"centre of mass {lines[-1]['mass']:.3f}",
        flush=True,
    )
    balls = sorted(kept.where(data=name, scaling=scaling, what="ball"), key=lambda line: line["D"])
    if balls:
        radius = np.array([line["squared_radius"] for line in balls])
        falls = int((np.diff(radius) < -1e-6).sum())
        print(
            f"{'':11s} squared radius {radius[0]:.4f} at degree 1, {radius[-1]:.4f} at {balls[-1]['D']}, falls at "
            f"{falls} of {len(balls) - 1} steps; 1 - mean K {balls[0]['average']:.4f} and {balls[-1]['average']:.4f}"
        )


def main() -> None:
    options = parser(__doc__ or "", "dpp_expressiveness.jsonl")
    options.add_argument("datasets", nargs="*", default=list(NAMES), metavar="DATASET", help=", ".join(NAMES))
    asked = options.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="EasyMKL: the hulls")
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    kept = Kept(asked.results, ("data", "scaling", "what", "D"))
    sets = sorted(((name, *load(name, asked.data_dir)) for name in asked.datasets), key=lambda entry: len(entry[1]))
    for name, X, y in sets:
        for scaling in SCALERS:
            bank, own = powers(scaled(X, scaling)), plan(len(y), scaling)
            for D in own.degrees if own == LARGE else FULL.degrees:
                here = {"data": name, "scaling": scaling, "what": "ratio", "D": D}
                if not kept.has(**here):
                    kept.add([{**here, **expressiveness(bank, y, D, 3, own.lams)}])
            for degree in range(1, 31) if name in BALLS else ():
                here = {"data": name, "scaling": scaling, "what": "ball", "D": degree}
                if not kept.has(**here):
                    kept.add([{**here, **ball(bank, degree)}])
            told(kept, name, scaling, float((bank.matrix(1) < 0).mean()))


if __name__ == "__main__":
    main()
