"""The margin bound of a learned class of functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._parameters import POSITIVE
from multikernel._rules import Number
from multikernel.diagnostics import _input


def margin_bound(values: Any, y: Any, complexity: float, rho: float = 1.0, delta: float = 0.05) -> float:
    """A bound on the error of a classifier, with probability 1 - delta over the training sample.

    For every f of a class F of complexity Rad (in the convention ``factor=1``),

        P(y f(x) <= 0) <= part of the samples with y f(x) < rho + 2 Rad / rho + 3 sqrt(log(2 / delta) / (2 n)).

    The class must hold the function: for that of ``empirical_rademacher`` or ``rademacher_bound`` with ``norm``,
    weights with |mu|_q <= 1 and |f| <= norm in the space of their kernel, without intercept.

    Parameters
    ----------
    values : array-like (n,), f at the training samples
    y : array-like (n,), labels of two classes, of any kind; f is positive for the larger one
    complexity : float >= 0, Rad of the class on these samples, with factor=1
    rho : float > 0, the margin, chosen before the sample is seen
    delta : float in (0, 1)

    Raises
    ------
    ValueError : for values that are not finite, labels that are not of two classes, or a number out of its range

    References
    ----------
    Koltchinskii and Panchenko (2002), Annals of Statistics 30; Cortes, Mohri and Rostamizadeh (2010), Generalization
    bounds for learning kernels, section 2: the factor of Rad / rho is 2, by which printed constants for learned kernels
    are too small.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import margin_bound, rademacher_bound
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(4000, 2))
    >>> complexity = rademacher_bound(X @ X.T, norm=1.0, factor=1.0)
    >>> round(margin_bound(X @ [1.0, 0.0], X[:, 0], complexity), 3)
    0.109
    """
    f = _input.target(values, len(np.atleast_1d(np.asarray(values))))
    signs = _input.signs(y, len(f))
    POSITIVE.check(rho, "margin_bound: rho")
    Number(above=0, below=1).check(delta, "margin_bound: delta")
    Number(least=0).check(complexity, "margin_bound: complexity")
    inside = float(np.mean(signs * f < rho))
    return inside + 2.0 * float(complexity) / rho + 3.0 * float(np.sqrt(np.log(2.0 / delta) / (2.0 * len(f))))
