"""Figure 1: the number of binary strings that are needed to find the three relevant bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import lars_path

from multikernel import LinearRLS2Regressor, path
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import Better, Binding, Query
from multikernel.typing import Array

SIZES = (2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 80, 100, 125, 150)
ALPHAS = np.logspace(6, -8, 60)
_ASYMPTOTE = 0.1  # an error of about a tenth of the target's deviation counts as having reached the asymptote
_BY_DEFINITION = (
    "The number of examples is here the first one at which these weights are near 1/3 for some lambda, so that they "
    "cannot differ."
)
_SAME_PATH = (
    "If all features are scaled to the same length, linear two-layer least squares and the lasso have the same path. "
    "What the figure shows is the effect of this scaling."
)

Predictions = Callable[[Array, Array, Array], Array]


def strings(seed: int) -> tuple[Array, Array]:
    """250 strings of 100 bits, and the sum of the first three with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(250, 100)).astype(float)
    return X, X[:, :3].sum(axis=1) + 0.01 * rng.normal(size=250)


def _ridge(K: Callable[[Array, Array], Array]) -> Predictions:
    """Predictions along the path of ridge regression with one kernel, by one eigendecomposition."""

    def predictions(X: Array, y: Array, X_test: Array) -> Array:
        values, vectors = np.linalg.eigh(K(X, X))
        shrunk = (vectors.T @ y)[:, None] / (np.maximum(values, 0.0)[:, None] + ALPHAS)
        return (K(X_test, X) @ vectors @ shrunk).T

    return predictions


def _two_layers(X: Array, y: Array, X_test: Array) -> Array:
    rls2_path = path(LinearRLS2Regressor(fit_intercept=False), X, y, "alpha", ALPHAS)
    return np.stack([X_test @ model.coef_ for model in rls2_path.models])


def _lasso(normalised: bool) -> Predictions:
    def predictions(X: Array, y: Array, X_test: Array) -> Array:
        lengths = np.linalg.norm(X, axis=0)
        if normalised:
            s = np.where(lengths > 0, 1.0 / np.where(lengths > 0, lengths, 1.0), 0.0)
        else:
            s = np.ones(X.shape[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, _, coefs = lars_path(X * s, y, method="lasso")
        interpolated = [coefs[:, :-1] + t * np.diff(coefs, axis=1) for t in np.linspace(0, 1, 11)]
        corners = np.concatenate([coefs, *interpolated], axis=1)  # the path is linear from corner to corner
        return (X_test @ (corners * s[:, None])).T

    return predictions


METHODS: dict[str, Predictions] = {
    "ideal kernel": _ridge(lambda A, B: A[:, :3] @ B[:, :3].T),
    "linear kernel": _ridge(lambda A, B: A @ B.T),
    "Gaussian kernel": _ridge(lambda A, B: np.exp(-0.005 * ((A[:, None] - B[None]) ** 2).sum(axis=2))),
    "two layers": _two_layers,
    "Lasso, raw": _lasso(normalised=False),
    "Lasso, unit length": _lasso(normalised=True),
}


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = strings(cell["seed"])
    X_test = X[150:]
    y_test = y[150:]
    errors = {
        name: [float(np.sqrt(((method(X[:n], y[:n], X_test) - y_test) ** 2).mean(axis=1).min())) for n in SIZES]
        for name, method in METHODS.items()
    }
    n_examples = _examples_needed(X, y)
    linear = np.array(errors["linear kernel"])
    return {
        "errors": errors,
        "found after": n_examples,
        "weights": _nearest_weights(X[:n_examples], y[:n_examples]),
        "linear needs": int(next((n for n, e in zip(SIZES, linear, strict=True) if e < _ASYMPTOTE), 151)),
        "below": _size_of_crossing(errors),
    }


def _examples_needed(X: Array, y: Array) -> int:
    """The first number of examples at which the three bits have weights within 0.1 of 1/3 at some lambda."""
    return next((n for n in range(3, 151) if np.abs(np.array(_nearest_weights(X[:n], y[:n])) - 1 / 3).max() < 0.1), 151)


def _nearest_weights(X: Array, y: Array) -> list[float]:
    """The weights of the three bits where they are nearest to 1/3 along the path."""
    weights = path(LinearRLS2Regressor(fit_intercept=False), X, y, "alpha", ALPHAS[20:50]).weights[:, :3]
    return weights[np.abs(weights - 1 / 3).max(axis=1).argmin()].tolist()


def _size_of_crossing(errors: Mapping[str, list[float]]) -> int:
    """The size from which on two layers are not above the Lasso on raw features."""
    not_above = np.array(errors["two layers"]) <= np.array(errors["Lasso, raw"]) * (1 + 1e-3) + 1e-3
    above = np.flatnonzero(~not_above)
    if not len(above):
        return int(SIZES[0])
    return int(SIZES[min(above[-1] + 1, len(SIZES) - 1)])


def _bind(row: PublishedNumber) -> Binding | None:
    if row.data != "Binary strings":
        return None
    quantity = {
        "training examples needed": ("found after",),
        "d_1..d_3 (approx.)": ("weights",),
        "training examples to reach the asymptote (approx.)": ("linear needs",),
        "RLS2 below Lasso from example": ("below",),
    }[row.metric]
    better: Better = "neither"
    if row.metric == "training examples needed":
        better = "lower"
    cause = _SAME_PATH if quantity == ("below",) else ""
    return Query({}, quantity, better, cause=cause, instead=_BY_DEFINITION if quantity == ("weights",) else "")


def _draw(last: int) -> Callable[[Any, Results], None]:
    def draw(ax: Any, results: Results) -> None:
        indices = [i for i, n in enumerate(SIZES) if n <= last]
        for name in METHODS:
            mean = np.mean([measurement["errors"][name] for measurement in results.measurements], axis=0)
            ax.plot([SIZES[i] for i in indices], mean[indices], "o-", markersize=3, linewidth=1.2, label=name)
        ax.set(xlabel="training examples", ylabel="smallest root mean squared error", ylim=(0, None))
        ax.legend(frameon=False, fontsize=8)

    return draw


EXPERIMENT = Experiment(
    paper="rls2",
    name="strings",
    title="Binary strings",
    protocol=(
        "Strings have 100 bits; the target is the sum of the first three bits, with noise of standard deviation 0.01. "
        "Of 250 strings the first 2 to 150 are used for training, and the last 100 for testing. For each method the "
        "smallest test error along its regularisation path is taken. The paper shows one realisation; here the mean of "
        "twenty is reported. There is no intercept, as in the paper. A method has reached its asymptote with the first "
        "of these numbers of strings (80, 100 and 125 at the end) for which its error is below 0.1, a tenth of the "
        "target's standard deviation, and the three bits are found with the first for which their weights are within "
        "0.1 of 1/3; the paper states neither bound."
    ),
    cells=lambda quick: grid(data=[""], seed=range(1 if quick else 20)),
    measure=_measure,
    bind=_bind,
    figures=(1,),
    seconds=1.6,
    draw=(
        Figure(
            "All sizes",
            "Two layers and the lasso reach the level of the noise at about 15 strings, the linear kernel at 100.",
            _draw(150),
        ),
        Figure(
            "Up to 30 strings",
            "The errors of two layers and of the lasso fall together between 10 and 20 strings.",
            _draw(30),
        ),
    ),
)
