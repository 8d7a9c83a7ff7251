"""The protocol of the experiments on dot-product polynomials: kernels, fixed weights, the choice of lam by inner folds.

Stratified outer folds are used for testing. On the samples outside of an outer fold, stratified inner folds choose lam
(the paper's Lambda is lam / (1 - lam)) by the mean area under the ROC curve; among equally good values the largest is
taken. The model is then fitted to all of these samples, to a duality gap of 1e-6. The machines of the inner folds stop
at a gap of 1e-3. All methods train the same machine on their kernel, which maximises the margin between the convex
hulls of the two classes. Where the hulls meet at lam = 0, the weight vector is zero, and so are all values; their order
would otherwise depend on where the solver stops. So the area is 1/2 where the solution does not prove a distance of the
hulls. All kernels are powers of one matrix of cosines, and the folds are blocks of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from multikernel import KernelBank, bind, kernels
from multikernel.banks import DenseGram
from multikernel.machines import MarginMachine
from multikernel.procedures import easymkl
from multikernel.reproduce.data import DataSource, FeatureScaling, Split, folds
from multikernel.typing import Array

SCALINGS = {
    "stated": FeatureScaling("interval"),
    "signed": FeatureScaling("signed"),
    "standardised": FeatureScaling("standard"),
}
SIGNED = (
    "Features are scaled to [-1, 1], as in a well-known collection of these data sets; the paper does not state how "
    "it scales features, and this scaling was tried because of its numbers."
)
STANDARDISED = "Features have mean 0 and standard deviation 1, so that half of the dot products are negative."
LAMS = tuple(v / 10 for v in range(11))
CONSTANTS = (0.5, 1.0, 2.0, 3.0)
GAMMAS = tuple(2.0**i for i in range(-5, 2))
TOP = 30  # the largest degree
DRAWN = 50_000  # random monomials
OVO_LAM = 0.01
OVO_C = 4.0
OVO_DEGREE = 8
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


def load(source: DataSource, name: str) -> tuple[Array, Array]:
    """Features and labels -1 and +1; of Pendigits the first 4000 rows, even against odd (not stated)."""
    if name != "pendigits":
        return source.signs(name)
    data = source.load(name)
    return np.asarray(data.X, dtype=float)[:4000], np.where(data.y[:4000].astype(int) % 2 == 1, 1.0, -1.0)


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
class FoldRun:
    """For each lam the area under the curve and the relative duality gap; the weights for the smallest lam."""

    areas: Array
    gaps: Array
    weights: Array


INNER = 1e-3
OUTER = 1e-6  # relative duality gaps
STEPS = 4000  # pairwise steps for each sample, at most
APART = 1e-12  # a squared distance of the hulls, relative to that of the samples from 0; a smaller one may be rounding


def margin_machine(lam: float, tol: float, n: int) -> MarginMachine:
    """The machine for n samples."""
    return MarginMachine(lam, tol, STEPS * n)


def along_lam(
    kernel: Array | KernelBank, y: Array, train: Array, test: Array, lams: Sequence[float], tol: float
) -> FoldRun:
    """The area under the curve for each lam, of a matrix of all samples or, with learned weights, of a bank."""
    bank = kernel if isinstance(kernel, KernelBank) else None
    matrix: Array  # of all samples
    if bank is not None:
        weights = np.ones(len(bank))
        matrix = bank.combine(weights).dense()
        train_bank = bank.block(train, train)
    else:
        weights = np.ones(1)
        matrix = cast(Array, kernel)
    total = gram = DenseGram(matrix[np.ix_(train, train)])
    areas = dict[float, float]()
    gaps = dict[float, float]()
    hulls = warm_start = None
    for lam in sorted(lams, reverse=True):  # from lam = 1, whose solution is the class means, to the hard margin
        machine = margin_machine(lam, tol, len(train))
        gap = 0.0
        if bank is not None:
            learned = easymkl(train_bank, y[train], machine, hulls, total)
            weights = learned.values
            hulls = learned.variables
            gap = float(learned.gap or 0.0)
            matrix = bank.combine(weights).dense()
            gram = DenseGram(matrix[np.ix_(train, train)])
        solution = machine.solve(gram, y[train], hulls if warm_start is None else warm_start)
        warm_start = solution.warm
        gaps[lam] = max(gap, solution.gap)
        values = matrix[np.ix_(test, train)] @ solution.coef
        if lam == 0.0 and not -solution.upper > APART * float(gram.diagonal().mean()):
            values = np.zeros(len(test))
        areas[lam] = area_under_curve(y[test], values)
    return FoldRun(np.array([areas[lam] for lam in lams]), np.array([gaps[lam] for lam in lams]), weights)


def choose_lam(
    kernel: Array | KernelBank, y: Array, rows: Array, inner: int, seed: int, lams: Sequence[float]
) -> tuple[float, float]:
    """The largest lam of the best mean area over folds of these rows, and the worst gap there."""
    runs = [along_lam(kernel, y, *fold, lams, INNER) for fold in folds(y, inner, seed, stratified=True, rows=rows)]
    mean = np.mean([run.areas for run in runs], axis=0)
    lam = max(lam for lam, value in zip(lams, mean, strict=True) if value >= mean.max() - 1e-12)
    return lam, max(float(run.gaps.max()) for run in runs)


def nested_area(
    kernel: Array | KernelBank, y: Array, split: Split, inner: int, seed: int, lams: Sequence[float] = LAMS
) -> Mapping[str, Any]:
    """The area under the curve on the test samples with lam chosen by inner folds; the final gap and the inner one."""
    train, test = split
    lam, inner_gap = choose_lam(kernel, y, train, inner, seed, lams)
    final = along_lam(kernel, y, train, test, (lam,), OUTER)
    return {
        "auc": float(final.areas[0]),
        "lam": lam,
        "certificate": float(final.gaps[0]),
        "inner gap": inner_gap,
        "weights": final.weights.tolist(),
    }


def area_under_curve(y: Array, values: Array) -> float:
    """The share of pairs of a sample of each class that have the correct order; ties count half."""
    positive = values[y > 0][:, None]
    negative = values[y < 0]
    return float(((positive > negative).mean() + (positive >= negative).mean()) / 2)
