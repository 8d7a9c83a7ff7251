"""Weights by rule: the baselines that every paper compares with.

    average      1 / m for each kernel
    alignment    proportional to the centred alignment of each kernel with the target
    alignf       the non-negative mix whose centred alignment with the target is largest

The centred alignment of K with the target is <K_c, yy'> / (|K_c| |yy'|), K_c = JKJ and y centred (Cortes, Mohri and
Rostamizadeh 2012, Algorithms for learning kernels based on centered alignment, eq. 5 and section 3); with several
targets yy' is YY'. Samples with weights s stand for samples that occur s_i times: with P = diag(s) - ss' / sum(s) that
is <K_jc, K_kc> = tr P K_j P K_k, and y'P K P y in place of y'K_c y.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel.banks import KernelBank
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
    M, forms = _centred(bank, np.asarray(y, dtype=float), sample_weight)
    norms = _norms(bank, M, sample_weight)
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
    M, a = _centred(bank, np.asarray(y, dtype=float), sample_weight)
    scale = _norms(bank, M, sample_weight)
    if not scale.any():  # centred, every kernel is zero: none is better than another
        return average(bank)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)  # kernels of norm 1: M well scaled
    values, vectors = np.linalg.eigh(M * inverse[:, None] * inverse)
    kept = values > 1e-12 * max(values.max(), np.finfo(float).tiny)
    root = np.sqrt(values[kept])
    factor = root[:, None] * vectors[:, kept].T
    right = (vectors[:, kept].T @ (a * inverse)) / root
    size = float(np.linalg.norm(right)) or 1.0
    v = nnls(factor, right / size)[0] * inverse
    return Weights(_shares(v))


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
    return positive / total if total > 0 else np.full(len(positive), 1.0 / len(positive))
