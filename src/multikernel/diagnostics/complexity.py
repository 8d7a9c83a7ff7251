"""Bounds on the empirical Rademacher complexity, from the traces of the kernel matrices.

    Rad(F) = factor / n  E sup_{f in F} sum_i s_i f(x_i)    over independent signs s_i

``factor`` is a convention: 2 in Shawe-Taylor and Cristianini (2004) and in Donini and Aiolli (2017), 1 in Cortes,
Mohri and Rostamizadeh (2010). All functions here take it, so their numbers can be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._floats import TINY
from multikernel._parameters import POSITIVE
from multikernel._rules import Choice, Number
from multikernel.diagnostics import _input
from multikernel.diagnostics.spectrum import spectral_ratio

DEGREES = Choice((1, 2))


def rademacher_bound(K: Any, norm: float = 1.0, q: float = 1.0, factor: float = 2.0, degree: int = 1) -> float:
    """A bound on the Rademacher complexity of a ball, in the space of one kernel or of a learned combination.

    One kernel:  F = { x -> <w, phi(x)> : |w| <= norm },  Rad(F) <= factor norm sqrt(tr K) / n.

    m kernels:   F = { x -> <w, phi_mu(x)> : |w| <= norm, mu >= 0, |mu|_q <= 1 } with phi_mu the feature map of
    sum_k mu_k k_k. With tau_k = tr K_k, Rad(F) <= factor norm sqrt(c_r |tau|_r) / n for each r with 1 <= r <= q/(q-1),
    where c_1 = 1 and else c_r = 23/22 ceil(r). What is returned is the smallest of these bounds for r = q/(q-1) and for
    all whole r up to it. For one kernel it is the bound above; for q = 1 it grows like the square root of log m.

    Degree 2:    the same for (sum_k mu_k k_k)^2, a sum of m^2 products with weights mu_j mu_k, whose norm is |mu|_q^2.

    Parameters
    ----------
    K : array-like (n, n), one kernel matrix; or a KernelBank, an array (m, n, n) or a list of matrices, m kernels
    norm : float > 0, the radius of the ball
    q : float >= 1 or inf, the order of the norm of the weights; without effect for a single kernel
    factor : float > 0, the convention, 2 or 1
    degree : 1 or 2, of the power of the sum

    Raises
    ------
    ValueError : where a matrix is not symmetric positive semi-definite, or a parameter is out of its range

    References
    ----------
    Shawe-Taylor and Cristianini (2004), theorem 4.12; Donini and Aiolli (2017), theorem 3. Cortes, Mohri and
    Rostamizadeh (2010), Generalization bounds for learning kernels, sections 3 (q = 1) and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import rademacher_bound
    >>> rademacher_bound(np.eye(100))
    0.2
    >>> round(rademacher_bound([np.eye(100)] * 50, q=1.0), 4)
    0.6669
    """
    check_class(norm, q, factor)
    DEGREES.check(degree, "rademacher_bound: degree")
    bank = _input.as_bank(K)
    tau = np.asarray(bank.traces(), dtype=float)
    unit = 1.0  # of the kernels: squares of very large or small ones are beyond floating point
    if degree == 2:
        diagonal = np.asarray(bank.diagonal(), dtype=float)
        unit = max(float(diagonal.max()), TINY)
        tau = (diagonal / unit @ (diagonal / unit).T).ravel()
    tau = np.maximum(tau, 0.0)
    largest = float(tau.max())
    if largest == 0.0:
        return 0.0
    dual = dual_exponent(q)
    integers = range(1, int(min(dual + 1e-9, np.log(len(tau)) + 2)) + 1)  # for r > log m the bounds grow with r
    orders = [float(r) for r in integers] + ([dual] if np.isfinite(dual) else [])
    bounds = [_constant(r) * largest * float(((tau / largest) ** r).sum()) ** (1.0 / r) for r in orders]
    return factor * norm * unit * float(np.sqrt(min(bounds))) / bank.shape[0]


def spectral_rademacher_bound(K: Any, factor: float = 2.0) -> float:
    """A bound on the Rademacher complexity of kernel expansions, by the spectral ratio C(K) = tr K / |K|_F.

    F = { x_j -> sum_i a_i K_ij / |K|_F : |a|_1 = 1 },  Rad(F) <= factor sqrt(C(K)) / n.

    Parameters
    ----------
    K : array-like (n, n), a kernel matrix
    factor : float > 0, the convention, 2 or 1

    Returns
    -------
    float ; nan with a RuntimeWarning for K = 0

    Raises
    ------
    ValueError : where K is not symmetric positive semi-definite, or factor is not positive

    References
    ----------
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import spectral_rademacher_bound
    >>> spectral_rademacher_bound(np.ones((100, 100)))
    0.02
    """
    check_class(1.0, 1.0, factor)
    matrix = _input.positive(K)
    return factor * float(np.sqrt(spectral_ratio(matrix))) / len(matrix)


def check_class(norm: float, q: float, factor: float) -> None:
    """ValueError where a parameter of the class of functions, or the factor, is out of its range."""
    POSITIVE.check(norm, "the complexity of a class: norm")
    POSITIVE.check(factor, "the complexity of a class: factor")
    if not (isinstance(q, float) and q == float("inf")):
        Number(least=1, why="or infinity").check(q, "the complexity of a class: q")


def dual_exponent(q: float) -> float:
    """q / (q - 1), which is inf for q = 1 and 1 for q = inf."""
    if q == 1.0:
        return float("inf")
    if np.isinf(q):
        return 1.0
    return q / (q - 1.0)


def _constant(r: float) -> float:
    """The c in E (s'Ks)^r <= (c tr K)^r: 1 for r = 1, else that of r rounded up to a whole number.

    For whole r it is 23/22 r (Cortes, Mohri and Rostamizadeh 2010). Khintchine's inequality gives this, too: its bound
    (2r - 1)!! (tr K)^r is smaller.
    """
    if r == 1.0:
        return 1.0
    return 23.0 / 22.0 * float(np.ceil(r - 1e-9))
