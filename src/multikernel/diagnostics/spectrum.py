"""The spectral ratio: how far a kernel matrix, or a weighted sum of a bank's matrices, is from rank one."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks import KernelBank
from multikernel.diagnostics import _input


def spectral_ratio(K: Any, standardized: bool = False) -> float:
    """C(K) = tr K / |K|_F, between 1 (rank one) and sqrt(rank K) (equal eigenvalues), whatever the scale of K.

    It is large for a specific kernel, under which most samples are similar only to themselves, and small for a general
    one.

    Parameters
    ----------
    K : array-like (n, n), a kernel matrix
    standardized : bool, whether to return (C - 1) / (sqrt(n) - 1), between 0 and 1; 0 for n = 1

    Returns
    -------
    float ; nan with a RuntimeWarning for K = 0, which has no spectral ratio

    Raises
    ------
    ValueError : where K is not symmetric or not finite

    References
    ----------
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, equations 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import spectral_ratio
    >>> spectral_ratio(np.eye(9)), spectral_ratio(np.ones((9, 9)))
    (3.0, 1.0)
    >>> spectral_ratio(np.eye(9), standardized=True)
    1.0
    """
    matrix = _input.symmetric(K)
    scale = float(np.abs(matrix).max())
    if scale == 0.0:
        warn_user("the spectral ratio of a zero matrix is undefined", RuntimeWarning)
        return float("nan")
    scaled = matrix / scale  # squares neither overflow nor vanish
    ratio = float(np.trace(scaled) / np.linalg.norm(scaled))
    if not standardized:
        return ratio
    return float(_standardized(ratio, len(matrix)))


def spectral_ratios(bank: KernelBank, weights: Any = None, standardized: bool = False) -> Array:
    """C(K) of every kernel of a bank, or of weighted sums of them, without forming the sums.

    |sum_k w_k K_k|_F^2 = w'Pw with P_jk = <K_j, K_k>_F, which the bank computes once for all sums. For the powers 0..D
    of one matrix G, P is the Hankel matrix of the 2D + 1 numbers h_d = sum_ij G_ij^d.

    Parameters
    ----------
    bank : square KernelBank of m kernels
    weights : array-like (t, m), the non-negative weights of t sums; None for the m kernels themselves
    standardized : bool, as in ``spectral_ratio``

    Returns
    -------
    array (t,) or (m,) ; nan with a RuntimeWarning where a sum is the zero matrix

    Raises
    ------
    TypeError : where bank is not a KernelBank
    ValueError : where the bank is not square, or weights are negative, not finite or of another shape

    References
    ----------
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, diagnostics, kernels
    >>> bank = bind(kernels.homogeneous_polynomials(3), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    >>> diagnostics.spectral_ratios(bank).round(4).tolist()
    [1.0, 1.3416, 1.5, 1.6036]
    >>> diagnostics.spectral_ratios(bank, [[0.25, 0.25, 0.25, 0.25]]).round(4).tolist()
    [1.3744]
    """
    if not isinstance(bank, KernelBank):
        raise TypeError(f"spectral_ratios takes a KernelBank, got {type(bank).__name__}; spectral_ratio takes a matrix")
    bank = _input.as_bank(bank)
    W = np.eye(len(bank)) if weights is None else np.asarray(weights, dtype=float)
    if W.ndim != 2 or W.shape[1] != len(bank):
        raise ValueError(f"weights must have a column for each of the {len(bank)} kernels, got shape {W.shape}")
    if not ((W >= 0) & np.isfinite(W)).all():
        raise ValueError("weights must be finite and non-negative")
    kernel_traces = bank.traces()
    traces = W @ kernel_traces
    with np.errstate(over="ignore", invalid="ignore"):
        pairs = bank.pairs()
        squares = np.einsum("tj,jk,tk->t", W, pairs, W)
    if (traces <= 0).any():
        warn_user("the spectral ratio of a zero matrix is undefined", RuntimeWarning)
    ratios = np.full(len(W), np.nan)
    out_of_range = (kernel_traces > 0) & ~((np.diagonal(pairs) > TINY) & np.isfinite(np.diagonal(pairs)))
    plain = (traces > 0) & (squares > TINY) & np.isfinite(squares) & ~(W[:, out_of_range] > 0).any(axis=1)
    ratios[plain] = traces[plain] / np.sqrt(squares[plain])
    for t in np.flatnonzero((traces > 0) & ~plain):  # squares overflow or vanish: the sum itself, of trace one
        ratios[t] = spectral_ratio(bank.combine(W[t] / traces[t]).dense())
    if standardized:
        return _standardized(ratios, bank.shape[0])
    return ratios


def _standardized(ratio: Any, n: int) -> Any:
    """(C - 1) / (sqrt(n) - 1)."""
    if n > 1:
        return (ratio - 1.0) / (np.sqrt(n) - 1.0)
    return 0.0 * ratio
