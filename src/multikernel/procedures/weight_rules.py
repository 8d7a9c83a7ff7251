"""Weights by rule: the baselines that every paper compares with.

    average         1 / m for each kernel
    alignment       proportional to the centred alignment of each kernel with the target
    alignf          the non-negative mix whose centred alignment with the target is largest
    best            1 for the kernel of the best score on held-out samples
    proportional    max(score_k - threshold, 0) / sum_j max(score_j - threshold, 0), with scores on held-out samples

The centred alignment of K with the target is <K_c, yy'> / (|K_c| |yy'|), K_c = JKJ and y centred (Cortes, Mohri and
Rostamizadeh 2012, Algorithms for learning kernels based on centered alignment, eq. 5 and section 3); with several
targets yy' is YY'. Samples with weights s stand for samples that occur s_i times: with P = diag(s) - ss' / sum(s) that
is <K_jc, K_kc> = tr P K_j P K_k, and y'P K P y in place of y'K_c y.

The last are the proportionally weighted kernels of Tanabe, Ho, Nguyen and Kawasaki (2008), there with the accuracy as
the score and a threshold below the smallest accuracy: a kernel counts by what it knows beyond the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from scipy.optimize import nnls

from multikernel._arrays import part_of
from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel._workers import in_time
from multikernel.banks import KernelBank
from multikernel.machines import Machine
from multikernel.procedures.base import Weights
from multikernel.procedures.units import spread


def average(bank: KernelBank) -> Weights:
    """1 / m for each kernel."""
    return Weights(np.full(len(bank), 1.0 / len(bank)))


def alignment(bank: KernelBank, y: Array, sample_weight: Array | None = None) -> Weights:
    """Weights proportional to each kernel's centred alignment with the target, or 0 where that is negative.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    y : array (n,) or (n, t)
    sample_weight : array (n,) >= 0; 1 if not given
    """
    s = _of_size_one(sample_weight)
    M, forms = _centred(bank, np.asarray(y, dtype=float), s)
    norms = _norms(bank, M, s)
    scores = np.divide(forms, norms, out=np.zeros(len(bank)), where=norms > 0)
    return Weights(_shares(scores))


def alignf(bank: KernelBank, y: Array, sample_weight: Array | None = None) -> Weights:
    """The non-negative weights of largest centred alignment.

    min_{v >= 0} v'M v - 2 v'a with M_jk = <K_jc, K_kc> and a_k = y'K_kc y (Cortes et al. 2012, proposition 9), solved
    as non-negative least squares on a factor of M.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    y : array (n,) or (n, t)
    sample_weight : array (n,) >= 0; 1 if not given
    """
    s = _of_size_one(sample_weight)
    M, a = _centred(bank, np.asarray(y, dtype=float), s)
    scale = _norms(bank, M, s)
    if not scale.any():  # centred, every kernel is zero: none is better than another
        return average(bank)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)  # kernels of norm 1: M well scaled
    values, vectors = np.linalg.eigh(M * inverse[:, None] * inverse)
    nonzero = values > SINGULAR * max(values.max(), TINY)
    root = np.sqrt(values[nonzero])
    factor = root[:, None] * vectors[:, nonzero].T
    right = (vectors[:, nonzero].T @ (a * inverse)) / root
    size = float(np.linalg.norm(right)) or 1.0
    v = nnls(factor, right / size)[0] * inverse
    return Weights(_shares(v))


def _of_size_one(sample_weight: Array | None) -> Array | None:
    """Weights of samples divided by the largest: alignments have no unit of weights, and their squares overflow."""
    if sample_weight is None:
        return None
    return sample_weight / sample_weight.max()


def _centred(bank: KernelBank, y: Array, s: Array | None) -> tuple[Array, Array]:
    """<K_jc, K_kc> of every pair and <K_kc, yy'> of every kernel, for a target of spread 1."""
    y = y / spread(y)
    if s is None:
        centered = bank.centered()
        return centered.pairs(), centered.quad(y)
    Py = (s * (y - np.average(y, axis=0, weights=s)).T).T
    features = bank.about_mean(s)
    if features is not None:
        return features.pairs(), bank.quad(Py)
    total = float(s.sum())

    def between(K: Array) -> Array:
        """P K P."""
        row_sums = K @ s
        shift = row_sums - 0.5 * float(s @ row_sums) / total
        return s[:, None] * (K - (shift[:, None] + shift) / total) * s

    return np.stack([bank.inner(between(bank.matrix(k))) for k in range(len(bank))]), bank.quad(Py)


def _norms(bank: KernelBank, pairs: Array, s: Array | None) -> Array:
    """|K_kc| of every kernel; 0 where it is the rounding that centring left of a constant kernel."""
    norms = np.sqrt(np.maximum(np.diagonal(pairs), 0.0))
    traces = bank.traces() if s is None else bank.diagonal() @ s
    return np.where(norms > SINGULAR * traces, norms, 0.0)


def _shares(scores: Array) -> Array:
    """Non-negative scores with sum 1; uniform where none is positive."""
    positive = np.maximum(scores, 0.0)
    total = positive.sum()
    if total > 0:
        return positive / total
    return np.full(len(positive), 1.0 / len(positive))


# -- by held-out samples -----------------------------------------------------------------------------------------------


Score = Callable[..., float]
Folds = Iterable[tuple[Array, Array]]


def best_kernel(
    bank: KernelBank, y: Array, machine: Machine, folds: Folds, score: Score, sample_weight: Array | None = None
) -> Weights:
    """Weight 1 for the kernel of the best mean score over the folds; of equals, for the first.

    The parameters are those of ``held_out_scores``.
    """
    weights = np.zeros(len(bank))
    weights[int(held_out_scores(bank, y, machine, folds, score, sample_weight).argmax())] = 1.0
    return Weights(weights)


def proportional(scores: Array, threshold: float) -> Weights:
    """Weights in proportion to what each score is above the threshold; equal ones where none is above it."""
    return Weights(_shares(scores - threshold))


def held_out_scores(
    bank: KernelBank, y: Array, machine: Machine, folds: Folds, score: Score, sample_weight: Array | None = None
) -> Array:
    """The mean score over the folds of each kernel alone, shape (m,); zeros where there is no fold, or no time for one.

    Where there is no fold, several kernels cannot be compared, and a PredictionWarning says so.

    Parameters
    ----------
    bank : KernelBank of shape (n, n); folds are blocks of it
    y : array (n,) or (n, t)
    machine : the machine trained on each kernel
    folds : pairs of training and validation rows
    score : of a target and its predicted values; larger is better; takes ``sample_weight`` where there are weights
    sample_weight : array (n,) >= 0, of the machine's losses and of the score
    """
    totals = np.zeros(len(bank))
    count = 0
    folds = list(folds)
    if not folds and len(bank) > 1:
        warn_user(
            "kernels are not compared, because no fold of cv holds out enough samples for a score: two numbers, or "
            "samples of both classes; use fewer and larger folds",
            PredictionWarning,
        )
    y = y / (float(np.abs(y).max(initial=0.0)) or 1.0)  # squares of extreme targets overflow
    for train, test in in_time(folds, len(folds), "folds on which kernels are compared", least=0):
        fold = bank.block(train, train)
        held_out = bank.block(test, train)
        train_weight = part_of(sample_weight, train)
        if sample_weight is None:
            weighted = {}
        else:
            weighted = {"sample_weight": sample_weight[test]}
        for k in range(len(bank)):
            solution = machine.solve(fold.select([k]).combine(np.ones(1)), y[train], None, train_weight)
            predicted = held_out.select([k]).combine(np.ones(1)).multiply(solution.coef) + solution.intercept
            totals[k] += score(y[test], predicted, **weighted)
        count += 1
    return totals / max(count, 1)
