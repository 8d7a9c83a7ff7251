"""Binary strings: how many examples until the three bits that matter are found (Dinuzzo, Figure 1).

    python benchmarks/rls2_strings.py [--realisations 20] [--figure strings.png]

Strings of 100 bits, y the sum of the first three and a little noise; 2 to 150 examples for training, 100 for testing.
For each method the least test error along its path is told (a lower bound of what any choice of the parameter gives):
ridge regression with the ideal kernel (the three bits), the linear kernel and a Gaussian kernel, linear two-layer least
squares with every feature divided by its length, and the Lasso on raw features and on features of length 1. With the
same lengths two-layer least squares and the Lasso have one and the same path; with few examples features tie, and
scikit-learn's LARS may end before the path does.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import lars_path

import multikernel as mk

Array = Any
SIZES = (2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 80, 100, 125, 150)
ALPHAS = np.logspace(6, -8, 60)


def strings(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(250, 100)).astype(float)
    return X, X[:, :3].sum(axis=1) + 0.01 * rng.normal(size=250)


def ridge(K: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """Predictions along the path of ridge regression with one kernel, by one eigendecomposition."""

    def predictions(X: Array, y: Array, X_test: Array) -> Array:
        values, vectors = np.linalg.eigh(K(X, X))
        shrunk = (vectors.T @ y)[:, None] / (np.maximum(values, 0.0)[:, None] + ALPHAS)
        return (K(X_test, X) @ vectors @ shrunk).T

    return predictions


def two_layers(X: Array, y: Array, X_test: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mk.path(mk.LinearRLS2Regressor(fit_intercept=False), X, y, "alpha", ALPHAS)
    return np.stack([X_test @ model.coef_ for model in found.models])


def lasso(normalised: bool) -> Callable[..., Array]:
    def predictions(X: Array, y: Array, X_test: Array) -> Array:
        lengths = np.linalg.norm(X, axis=0)
        s = np.where(lengths > 0, 1.0 / np.where(lengths > 0, lengths, 1.0), 0.0) if normalised else np.ones(X.shape[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, _, coefs = lars_path(X * s, y, method="lasso")
        fine = np.concatenate([coefs[:, :-1] + t * np.diff(coefs, axis=1) for t in np.linspace(0, 1, 11)], axis=1)
        path = np.concatenate([coefs, fine], axis=1)  # which is linear between the corners
        return (X_test @ (path * s[:, None])).T

    return predictions


METHODS: dict[str, Callable[..., Array]] = {
    "ideal kernel": ridge(lambda A, B: A[:, :3] @ B[:, :3].T),
    "linear kernel": ridge(lambda A, B: A @ B.T),
    "Gaussian kernel": ridge(lambda A, B: np.exp(-0.005 * ((A[:, None] - B[None]) ** 2).sum(axis=2))),
    "two layers": two_layers,
    "Lasso, raw": lasso(normalised=False),
    "Lasso, unit length": lasso(normalised=True),
}


def errors(seed: int) -> dict[str, list[float]]:
    """The least root mean squared error along each path, for every training size."""
    X, y = strings(seed)
    X_test, y_test = X[150:], y[150:]
    return {
        name: [float(np.sqrt(((method(X[:n], y[:n], X_test) - y_test) ** 2).mean(axis=1).min())) for n in SIZES]
        for name, method in METHODS.items()
    }


def found_after(seed: int) -> int:
    """The first number of examples from which on the three bits have weights near 1/3 at some lambda."""
    X, y = strings(seed)
    for n in range(3, 151):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = mk.path(mk.LinearRLS2Regressor(fit_intercept=False), X[:n], y[:n], "alpha", ALPHAS[20:50])
        if any(np.abs(weights[:3] - 1.0 / 3.0).max() < 0.1 for weights in path.weights):
            return n
    return 151


def draw(mean: dict[str, Array], file: Path) -> None:
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    colors = ("#3f9c6b", "#6b7387", "#b5526b", "#4a7fe0", "#dd8a33", "#a58a2c")
    for ax, last in zip(axes, (150, 30), strict=True):
        for (name, values), color in zip(mean.items(), colors, strict=True):
            shown = [i for i, n in enumerate(SIZES) if n <= last]
            ax.plot([SIZES[i] for i in shown], values[shown], "o-", color=color, markersize=3, label=name)
        ax.set_xlabel("training examples")
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("least root mean squared error")
    axes[1].legend(frameon=False, fontsize="small")
    fig.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--realisations", type=int, default=20)
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    runs = [errors(seed) for seed in range(asked.realisations)]
    mean = {name: np.mean([run[name] for run in runs], axis=0) for name in METHODS}
    print("examples  " + "  ".join(f"{name:>18s}" for name in METHODS))
    for i, n in enumerate(SIZES):
        print(f"{n:8d}  " + "  ".join(f"{mean[name][i]:18.4f}" for name in METHODS))
    after = [found_after(seed) for seed in range(min(asked.realisations, 5))]
    print(f"weights within 0.1 of (1/3, 1/3, 1/3) from {after} examples on; the paper: about 12")
    if asked.figure:
        draw(mean, asked.figure)


if __name__ == "__main__":
    main()
