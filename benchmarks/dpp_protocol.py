"""What the studies of dot-product polynomials (Donini and Aiolli 2017) share: data, scaling, fixed weights, protocol.

Stratified outer folds test; on the other samples stratified inner folds choose lam, the paper's Lambda = lam / (1 -
lam), by the mean area under the curve (the largest lam of the best); the model is fitted anew on all of them, to a
duality gap of 1e-6. The machines of the inner folds stop at 1e-3, or after six pairwise steps a sample: lam = 0 often
needs more, and their worst gap is told for lam > 0. Every method ends with the same machine, the largest margin between
two hulls, and all share one matrix of cosines: its powers are the kernels, and the folds are blocks of it.

The paper is silent on how features are scaled before samples are brought to unit length. Two ways are run and named:
"unit interval" ([0, 1] on the training samples: no negative dot products there) and "standardised" (mean 0, deviation
1). A sample that is zero after scaling stays zero.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from multikernel import KernelBank, bind, datasets, kernels
from multikernel.banks import DenseGram
from multikernel.machines import MarginMachine
from multikernel.procedures import easymkl

Array = Any
SCALERS = {"unit interval": MinMaxScaler, "standardised": StandardScaler}
LAMS = tuple(v / 10 for v in range(11))
CONSTANTS = (0.5, 1.0, 2.0, 3.0)
GAMMAS = tuple(2.0**i for i in range(-5, 2))
TOP = 30
# the paper's name: ours
NAMES = {
    "Haberman": "haberman",
    "Liver": "liver_bupa",
    "Diabetes": "diabetes_pima",
    "Abalone": "abalone_binary",
    "Australian": "australian",
    "Pendigits": "pendigits",
    "Heart": "spect_heart",
    "German": "german",
    "Ionosphere": "ionosphere",
    "Splice": "splice",
    "Sonar": "sonar",
    "Colon": "colon",
}


def parser(text: str, results: str) -> argparse.ArgumentParser:
    """The options that all studies share."""
    options = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data-dir", type=Path, help="default: the directory MULTIKERNEL_DATA")
    options.add_argument("--results", type=Path, default=Path("results") / results, help="where results are kept")
    return options


def load(name: str, directory: Path | None = None) -> tuple[Array, Array]:
    """Features, and labels -1 and +1: the set of this name in the paper."""
    data = datasets.load(NAMES[name], data_dir=directory)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    if name == "Pendigits":  # which 4000 rows and which two classes is not told: the first, even against odd
        X, y = X[:4000], y[:4000].astype(int) % 2
    return X, np.where(y == np.unique(y)[1], 1.0, -1.0)


def scaled(X: Array, scaling: str, train: Array | slice = slice(None)) -> Array:
    """All samples, features scaled by the statistics of the training samples."""
    return SCALERS[scaling]().fit(X[train]).transform(X)


def powers(X: Array, top: int = TOP) -> KernelBank:
    """The kernels of degrees 0..top, on one matrix."""
    return bind(kernels.homogeneous_polynomials(top), X)


def fixed_weights(D: int) -> dict[str, Array]:
    """The paper's fixed weightings of degrees 0..D, each of sum 1 (the Gaussian's coefficients as corrected)."""
    degrees = np.arange(D + 1)
    weights = {"K_D": (degrees == D).astype(float), "K_sum": np.ones(D + 1)}
    for c in CONSTANTS:
        weights[f"K_D,c {c:g}"] = np.array([math.comb(D, s) * c ** (D - s) for s in degrees])
    for gamma in GAMMAS:
        weights[f"K_RBF {gamma:g}"] = np.array([(2 * gamma) ** s / math.factorial(s) for s in degrees])
    return {name: w / w.sum() for name, w in weights.items()}


@dataclass(frozen=True, eq=False)
class Run:
    """For each lam the area under the curve and the relative duality gap; the weights for the smallest lam."""

    areas: Array
    gaps: Array
    weights: Array


@dataclass(frozen=True)
class Solver:
    """How exactly machines are solved; ``pairs``: how many pairwise steps a sample at most."""

    tol: float
    pairs: int

    def machine(self, lam: float, n: int) -> MarginMachine:
        return MarginMachine(lam, self.tol, self.pairs * n)


INNER, OUTER = Solver(1e-3, 6), Solver(1e-6, 4000)


def along_lam(kernel: Array | KernelBank, y: Array, train: Array, test: Array, lams: Any, solver: Solver) -> Run:
    """The area under the curve for each lam, of a matrix of all samples or, with learned weights, of a bank."""
    learned = isinstance(kernel, KernelBank)
    own = kernel.block(train, train) if learned else DenseGram(kernel[np.ix_(train, train)])
    new = kernel.block(test, train) if learned else DenseGram(kernel[np.ix_(test, train)])
    areas, gaps, warm, weights = {}, {}, (None, None), np.ones(1)
    for lam in sorted(lams, reverse=True):  # from the class means, which are known, to the hard margin
        machine, hulls, gap = solver.machine(lam, len(train)), warm[0], 0.0
        if learned:
            found = easymkl(own, y[train], machine, hulls)
            weights, hulls, gap = found.values, found.warm, found.gap
        gram = own.combine(weights) if learned else own
        solution = machine.solve(gram, y[train], hulls if warm[1] is None else warm[1])
        warm, gaps[lam] = (hulls, solution.warm), max(gap, solution.gap)
        values = (new.combine(weights) if learned else new).multiply(solution.coef)
        areas[lam] = area_under_curve(y[test], values)
    return Run(np.array([areas[lam] for lam in lams]), np.array([gaps[lam] for lam in lams]), weights)


def chosen(kernel: Array | KernelBank, y: Array, rows: Array, inner: int, seed: int, lams: Any) -> tuple[float, float]:
    """The largest lam of the best mean area over folds of these rows, and the worst gap there for lam > 0."""
    runs = [along_lam(kernel, y, *fold, lams, INNER) for fold in folds(y, rows, inner, seed)]
    mean = np.mean([run.areas for run in runs], axis=0)
    lam = max(lam for lam, value in zip(lams, mean, strict=True) if value >= mean.max() - 1e-12)
    return lam, max(float(gap) for run in runs for v, gap in zip(lams, run.gaps, strict=True) if v > 0)


def nested(
    kernel: Array | KernelBank, y: Array, train: Array, test: Array, inner: int, seed: int, lams: Any = LAMS
) -> dict[str, Any]:
    """The area under the curve on the test samples, lam chosen by inner folds; gaps of the final fit and of those."""
    lam, inner_gap = chosen(kernel, y, train, inner, seed, lams)
    final = along_lam(kernel, y, train, test, (lam,), OUTER)
    return {
        "auc": float(final.areas[0]),
        "lam": lam,
        "gap": float(final.gaps[0]),
        "inner_gap": inner_gap,
        "weights": final.weights.tolist(),
    }


def folds(y: Array, rows: Array, count: int, seed: int) -> list[tuple[Array, Array]]:
    """Stratified folds of these rows, in the numbering of all."""
    split = StratifiedKFold(count, shuffle=True, random_state=seed).split(rows, y[rows])
    return [(rows[train], rows[test]) for train, test in split]


def area_under_curve(y: Array, values: Array) -> float:
    """The share of pairs, one sample of each class, in the right order; ties count half."""
    positive, negative = values[y > 0][:, None], values[y < 0]
    return float(((positive > negative).mean() + (positive >= negative).mean()) / 2)
