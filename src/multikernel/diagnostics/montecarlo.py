"""The empirical Rademacher complexity, estimated by drawing random signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._rules import AnyOf, Choice, Generator, Instance, Nothing, Whole
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.diagnostics import _input
from multikernel.diagnostics.complexity import DEGREES, check_class, dual_exponent
from multikernel.tuning import BUFFER_VALUES

_RANDOM = AnyOf((Whole(0), Instance(np.random.Generator, "a Generator"), Generator(), Nothing()))
_SQUARES = Choice((2, float("inf")), why="with degree=2")


@dataclass(frozen=True)
class Estimate:
    """A mean of random draws; ``float(estimate)`` is its value.

    Parameters
    ----------
    value : float, the mean
    standard_error : float, the standard deviation of ``value``, estimated from the draws
    n_draws : int, how many draws
    """

    value: float
    standard_error: float
    n_draws: int

    def __float__(self) -> float:
        return self.value


def empirical_rademacher(
    K: Any,
    q: float = 1.0,
    n_draws: int = 1000,
    random_state: Any = None,
    norm: float = 1.0,
    factor: float = 2.0,
    degree: int = 1,
) -> Estimate:
    """The empirical Rademacher complexity of the class that ``rademacher_bound`` bounds, by Monte Carlo.

    F = { x -> <w, phi_mu(x)> : |w| <= norm, mu >= 0, |mu|_q <= 1 }, for which
    Rad(F) = factor norm / n  E sqrt(|u|_{q/(q-1)}) with u_k = s'K_k s. Only the mean over the signs s is estimated.
    Of degree 2, phi_mu belongs to (sum_k mu_k k_k)^2 and the root is that of max mu'Q mu, Q_jk = s'(K_j o K_k) s: for
    q = 2 the largest eigenvalue of Q.

    Parameters
    ----------
    K : array-like (n, n), one kernel matrix; or a KernelBank, an array (m, n, n) or a list of matrices, m kernels
    q : float >= 1 or inf, the order of the norm of the weights; without effect for a single kernel
    n_draws : int >= 2, how many vectors of signs are drawn
    random_state : int, generator of NumPy or None, for the signs
    norm : float > 0, the radius of the ball
    factor : float > 0, the convention, 2 or 1
    degree : 1, or 2 with q = 2 or inf

    Raises
    ------
    ValueError : where a matrix is not symmetric positive semi-definite, or a parameter is out of its range

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2010), Generalization bounds for learning kernels, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import empirical_rademacher
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> estimate = empirical_rademacher([np.eye(50), X @ X.T], random_state=0)
    >>> round(estimate.value, 2), estimate.standard_error < 0.01
    (0.46, True)
    """
    check_class(norm, q, factor)
    Whole(2, 10_000_000).check(n_draws, "empirical_rademacher: n_draws")
    DEGREES.check(degree, "empirical_rademacher: degree")
    _RANDOM.check(random_state, "empirical_rademacher: random_state")
    bank = _input.as_bank(K)
    n = bank.shape[0]
    # signs are divided by about the root of the kernels' size, as squares of forms may be beyond floating point
    root = float(np.ldexp(1.0, np.frexp(bank.diagonal().max())[1] // 2))
    rng = np.random.default_rng(random_state)
    if degree == 2:
        _SQUARES.check(q, "empirical_rademacher: q")
        squared_suprema = [
            _supremum_of_square(bank, (2.0 * rng.integers(0, 2, size=n) - 1.0) / root, q) for _ in range(n_draws)
        ]
        return _estimate(np.sqrt(squared_suprema), factor * norm / n * root)
    batch = max(1, BUFFER_VALUES // (len(bank) * n))
    dual = dual_exponent(q)
    suprema: list[Array] = []
    for start in range(0, n_draws, batch):
        S = 2.0 * rng.integers(0, 2, size=(min(batch, n_draws - start), n)).T - 1.0
        S /= root
        u = np.maximum(np.einsum("knt,nt->kt", bank.apply(S), S), 0.0)
        suprema.append(np.sqrt(np.linalg.norm(u, dual, axis=0)))
    return _estimate(np.concatenate(suprema), factor * norm / n * root)


def _estimate(draws: Array, unit: float) -> Estimate:
    """The mean of the draws, which are in this unit, with its standard error."""
    error = float(draws.std(ddof=1) / np.sqrt(len(draws)))
    return Estimate(unit * float(draws.mean()), unit * error, len(draws))


def _supremum_of_square(bank: KernelBank, s: Array, q: float) -> float:
    """max mu'Q mu over mu >= 0, |mu|_q <= 1; no entry of Q is negative, since products of kernels are kernels."""
    Q = np.maximum(bank.pair_forms(s), 0.0)
    if np.isinf(q):
        return float(Q.sum())
    return float(np.linalg.eigvalsh(0.5 * (Q + Q.T))[-1])
