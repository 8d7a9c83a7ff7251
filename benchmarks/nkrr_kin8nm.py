"""Degrees 1 to 4 on kin8nm, beside Figure 3 of Cortes, Mohri and Rostamizadeh (2009).

    python benchmarks/nkrr_kin8nm.py --data-dir DIR [--out nkrr_kin8nm.jsonl] [--figure kin8nm.png]

Half of the rows for training, of which 1 in f takes part, f = 100 .. 1; a rank-one kernel for each feature, its powers;
every weight 1, or weights in a ball of norm 2 around it; lambda and the radius by 10-fold cross-validation on (at most
2000 of) the training rows. What the figure calls squared error has to be its root: the target's variance is 0.0695.

The public data have 8192 rows, the paper speaks of 20,000. Features are centred on [-1/2, 1/2] ("centred"), or have a
constant ninth beside them ("with constant"), which gives a polynomial of degree d all lower degrees.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, train_test_split

import multikernel as mk
from kept import Kept
from multikernel import kernels

Array = Any
FACTORS = (100, 50, 20, 10, 5, 2, 1)
DEGREES = (1, 2, 3, 4)
ALPHAS = np.logspace(2, -4, 13)
RADII = np.array([0.1, 0.3, 1.0, 3.0, 10.0]) * np.sqrt(8)
MOST = 2000


def features(X: Array, by: Array, variant: str) -> Array:
    low, spread = by.min(axis=0), np.ptp(by, axis=0)
    Z = (X - low) / spread - ((by - low) / spread).mean(axis=0)
    return np.column_stack([Z, np.ones(len(Z))]) if variant == "with constant" else Z


def measured(X: Array, y: Array, X_test: Array, y_test: Array, degree: int, learned: bool) -> dict[str, Any]:
    """Test error at the parameters of the least cross-validated error."""
    model = mk.PolynomialMKLRegressor(kernels.linear_features(), degree=degree, norm=2, tol=1e-4)
    grid = {"radius": list(RADII) if learned else [0.0], "alpha": list(ALPHAS)}
    folds = KFold(10, shuffle=True, random_state=0)
    search = mk.BankSearchCV(model, grid, cv=folds, scoring="neg_mean_squared_error").fit(X[:MOST], y[:MOST])
    best = search.best_estimator_ if len(y) <= MOST else model.set_params(**search.best_params_).fit(X, y)
    return {
        "error": float(np.sqrt(np.mean((best.predict(X_test) - y_test) ** 2))),
        "certificate": float(getattr(best, "duality_gap_", getattr(best, "stationarity_", np.nan))),
        "alpha": float(search.best_params_["alpha"]),
        "radius": float(search.best_params_["radius"]),
    }


def table(kept: Kept, variant: str) -> None:
    print(f"{variant}: root mean squared error, every weight 1 / learned; the mean over the halves")
    print("factor  " + "".join(f"     degree {degree}     " for degree in DEGREES))
    for factor in FACTORS:
        cells = []
        for degree in DEGREES:
            plain, learned = (
                [line["error"] for line in kept.where(variant=variant, factor=factor, degree=degree, learned=which)]
                for which in (False, True)
            )
            cells.append(f"   {np.mean(plain):.4f} / {np.mean(learned):.4f}" if plain and learned else "   -")
        print(f"{factor:6d}  " + "".join(cells), flush=True)


def draw(kept: Kept, variant: str, file: Path) -> None:
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for degree, color in zip(DEGREES, ("#4a7fe0", "#dd8a33", "#3f9c6b", "#b5526b"), strict=True):
        for learned in (False, True):
            errors = [
                np.mean(
                    [line["error"] for line in kept.where(variant=variant, factor=f, degree=degree, learned=learned)]
                )
                for f in FACTORS
            ]
            label = f"degree {degree}" + (", learned" if learned else "")
            ax.plot(FACTORS, errors, "o--" if learned else "o-", color=color, markersize=3, label=label)
    ax.set_xscale("log")
    ax.set_xlabel("one training row in ... takes part")
    ax.set_ylabel("root mean squared error")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", ncols=2)
    fig.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--out", type=Path, default=Path("nkrr_kin8nm.jsonl"))
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--halves", type=int, default=3)
    parser.add_argument("--variants", nargs="*", default=["centred", "with constant"])
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    kept = Kept(asked.out, ("variant", "seed", "factor", "degree", "learned"))
    data = mk.datasets.load("kin8nm", data_dir=asked.data_dir)
    for variant in asked.variants:
        for seed in range(asked.halves):
            train, test = train_test_split(np.arange(len(data.y)), train_size=0.5, random_state=seed)
            for factor in FACTORS:
                rows = train[::factor]
                X, X_test = (features(data.X[part], data.X[rows], variant) for part in (rows, test))
                for degree in DEGREES:
                    for learned in (False, True):
                        fields = {
                            "variant": variant,
                            "seed": seed,
                            "factor": factor,
                            "degree": degree,
                            "learned": learned,
                        }
                        if not kept.has(**fields):
                            found = measured(X, data.y[rows], X_test, data.y[test], degree, learned)
                            kept.add([{**fields, **found}])
        table(kept, variant)
    if asked.figure:
        draw(kept, asked.variants[0], asked.figure)


if __name__ == "__main__":
    main()
