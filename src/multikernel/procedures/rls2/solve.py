"""RLS2 for kernels of any kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.machines import DualSolution
from multikernel.observer import Observer, silent
from multikernel.procedures.rls2.alternation import alternation
from multikernel.procedures.rls2.newton import newton
from multikernel.procedures.rls2.weights import ScaledWeights, equal_weights


def rls2(
    bank: KernelBank,
    target: Array,
    alpha: float,
    scaling: Array,
    *,
    fit_intercept: bool = True,
    mode: str = "certified",
    tol: float = 1e-4,
    max_iter: int = 200,
    warm: ScaledWeights | None = None,
    sample_weight: Array | None = None,
    observe: Observer = silent,
) -> tuple[ScaledWeights, DualSolution]:
    """The weights with their certificate, and the ridge at them.

    Parameters
    ----------
    bank : square KernelBank of m kernels
    target : array (n,), or (n, t) for targets that share the weights
    alpha : float > 0
    scaling : array (m,) >= 0, the factors s_k
    fit_intercept : bool, whether the means of the targets are taken off first
    mode : "certified", Newton steps to a relative duality gap of ``tol``; "paper", its alternation and stopping rule
    tol : float, the relative duality gap to reach in mode "certified"
    max_iter : int, steps at most
    warm : ScaledWeights of a similar problem, to begin with; by default the optimum for alpha to infinity
    sample_weight : array (n,) > 0, what the squared loss of each sample is multiplied with; 1 if not given. With
        w = s^(1/2) that is the problem of the kernels w_i w_j K_ij and the targets w_i y_i, and coefficients w_i c_i.
    observe : told of each step
    """
    w = None if sample_weight is None else np.sqrt(sample_weight)[:, None]
    scaled = (bank if w is None else bank.weighed(w[:, 0])).scaled(scaling)
    single = target.ndim == 1
    Y = np.asarray(target, dtype=float).reshape(len(target), -1)
    mean = np.average(Y, axis=0, weights=sample_weight) if fit_intercept else np.zeros(Y.shape[1])
    Y = Y - mean if w is None else w * (Y - mean)
    rotation = scaled.rotation(Y)
    if rotation is not None:  # kernels of few features are solved for in few coordinates
        scaled, Y = scaled.rotated(rotation), rotation.coordinates(Y)
    Y = np.asfortranarray(Y)
    with one_blas_thread(len(Y)):
        begin = _begin(scaled, scaling, Y) if warm is None else warm.values
        if mode == "paper":
            weights, point = alternation(scaled, Y, alpha, max_iter, begin, observe)
        else:
            scores = None if warm is None else warm.scores
            weights, point = newton(scaled, Y, alpha, tol, max_iter, begin, scores, observe)
    if rotation is not None:
        point = replace(point, C=rotation.samples(point.C))
    if w is not None:
        point = replace(point, C=w * point.C)
    return replace(weights, scaling=scaling), point.solution(single, mean)


def _begin(scaled: KernelBank, scaling: Array, Y: Array) -> Array:
    """The optimum for alpha to infinity: the kernel of the largest tr Y'R_k Y (Lemma 5); equal weights if all are 0."""
    scores = scaled.quad(Y)
    if scores.max() <= 0:
        return equal_weights(scaling)
    start = np.zeros(len(scores))
    start[int(scores.argmax())] = 1.0
    return start
