"""Weights by rule: the baselines that every paper compares with.

    average      1 / m for each kernel
    alignment    proportional to the centred alignment of each kernel with the target
    alignf       the non-negative mix whose centred alignment with the target is largest

The centred alignment of K with the target is <K_c, yy'> / (|K_c| |yy'|), K_c = JKJ and y centred (Cortes, Mohri and
Rostamizadeh 2012, Algorithms for learning kernels based on centered alignment, eq. 5 and section 3).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from multikernel.banks import KernelBank
from multikernel.kernels.base import Array
from multikernel.procedures.base import Weights

_ROUNDING = 1e-10  # of a kernel's trace, which is at least its norm


def average(bank: KernelBank) -> Weights:
    """1 / m for each kernel."""
    return Weights(np.full(len(bank), 1.0 / len(bank)))


def alignment(bank: KernelBank, y: Array) -> Weights:
    """Weights proportional to each kernel's centred alignment with the target, where positive."""
    centered = bank.centered()
    norms = _norms(bank, centered.pairs())
    forms = centered.quad(np.asarray(y, dtype=float))
    scores = np.divide(forms, norms, out=np.zeros(len(bank)), where=norms > 0)
    return Weights(_shares(scores))


def alignf(bank: KernelBank, y: Array) -> Weights:
    """The non-negative weights of largest centred alignment.

    min_{v >= 0} v'M v - 2 v'a with M_jk = <K_jc, K_kc> and a_k = y'K_kc y (Cortes et al. 2012, proposition 9), solved
    as non-negative least squares on a factor of M.
    """
    centered = bank.centered()
    M, a = centered.pairs(), centered.quad(np.asarray(y, dtype=float))
    scale = _norms(bank, M)
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)  # kernels of norm 1: M well scaled
    values, vectors = np.linalg.eigh(M * inverse[:, None] * inverse)
    kept = values > 1e-12 * max(values.max(), np.finfo(float).tiny)
    root = np.sqrt(values[kept])
    factor = root[:, None] * vectors[:, kept].T
    right = (vectors[:, kept].T @ (a * inverse)) / root
    size = float(np.linalg.norm(right)) or 1.0
    v = nnls(factor, right / size)[0] * inverse
    return Weights(_shares(v))


def _norms(bank: KernelBank, pairs: Array) -> Array:
    """|K_kc| of every kernel; 0 where it is the rounding that centring left of a constant kernel."""
    norms = np.sqrt(np.maximum(np.diagonal(pairs), 0.0))
    kept: Array = np.where(norms > _ROUNDING * bank.traces(), norms, 0.0)
    return kept


def _shares(scores: Array) -> Array:
    """Non-negative scores with sum 1; uniform where none is positive."""
    positive = np.maximum(scores, 0.0)
    total = positive.sum()
    shares: Array = positive / total if total > 0 else np.full(len(positive), 1.0 / len(positive))
    return shares
