"""Bounds on the error of a classifier by its margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel._parameters import COUNT, POSITIVE
from multikernel._row_labels import check_rows
from multikernel._rules import Number
from multikernel._warnings import warn_user
from multikernel.banks import DenseGram
from multikernel.diagnostics import _input
from multikernel.diagnostics.ball import meb_radius


def margin_bound(values: Any, y: Any, complexity: float, rho: float = 1.0, delta: float = 0.05) -> float:
    """A bound on the error of a classifier, with probability 1 - delta over the training sample.

    For every f of a class F of complexity Rad (in the convention ``factor=1``),

        P(y f(x) <= 0) <= share of the samples with y f(x) < rho + 2 Rad / rho + 3 sqrt(log(2 / delta) / (2 n)).

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
    check_rows(("values", values), ("y", y))
    f = _input.target(values, len(np.atleast_1d(np.asarray(values))))
    signs = _input.signs(y, len(f))
    POSITIVE.check(rho, "margin_bound: rho")
    Number(above=0, below=1).check(delta, "margin_bound: delta")
    Number(least=0).check(complexity, "margin_bound: complexity")
    share_below_margin = float(np.mean(signs * f < rho))
    deviation = float(np.sqrt(np.log(2.0 / delta) / (2.0 * len(f))))
    return share_below_margin + 2.0 * float(complexity) / rho + 3.0 * deviation


def radius_margin_bound(K: Any, y: Any, tol: float = 1e-6, max_iter: int = 1_000_000) -> float:
    """R^2 / (n m^2) = 4 R^2 / (n dist^2), for choosing between kernels by the leave-one-out error of a hard margin.

    R is the radius of the smallest ball around the samples and m the geometric margin, half the distance of the convex
    hulls of the two classes: dist^2 = min_g g'YKYg over g >= 0 with sum 1 in each class. Both are computed with a
    certificate; R is replaced by its upper bound and dist by its lower bound.

    For hyperplanes through a fixed origin, with R measured from there, this number is proved to bound the leave-one-out
    error. With a threshold, as here, the proof needs the squared diameter in place of the squared radius, so only four
    times this number is a bound. The number itself is the customary criterion and can be smaller than the error: for
    K = I and balanced classes it is 1 - 1/n, while every sample is misclassified when it is left out.

    Parameters
    ----------
    K : array-like (n, n), a kernel matrix
    y : array-like (n,), labels of two classes, of any kind
    tol : float > 0, the relative precision
    max_iter : int, the largest number of pairwise steps, of the ball and of the margin

    Returns
    -------
    float ; inf where the hulls touch, so that no hyperplane separates the classes; with a ConvergenceWarning, and
    larger than it need be, where max_iter steps do not reach tol

    Raises
    ------
    ValueError : where K is not symmetric positive semi-definite, y does not have two classes, or tol is not positive

    References
    ----------
    Vapnik (1998), Statistical learning theory; Vapnik and Chapelle (2000), Bounds on error expectation for support
    vector machines. Donini and Aiolli (2017), section 3.2, write R for R^2 and m for the distance of the hulls.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import radius_margin_bound
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> round(radius_margin_bound(x @ x.T, [-1, -1, 1, 1]), 4)
    1.0
    """
    from multikernel.machines import MarginMachine

    POSITIVE.check(tol, "radius_margin_bound: tol")
    COUNT.check(max_iter, "radius_margin_bound: max_iter")
    check_rows(("K", K), ("y", y))
    matrix = _input.near_one(_input.positive(K))  # the bound is the same for all multiples of K
    labels = _input.signs(y, len(matrix))
    ball = meb_radius(matrix, tol, max_iter)
    C = _input.centered(matrix)  # distances between samples, all that matters here, stay the same
    floor = 1e-9 * float(np.diagonal(C).mean())  # hulls with a smaller squared distance touch
    if ball.squared_radius == 0.0 or floor <= 0.0:
        return float("inf")
    solution = MarginMachine(lam=0.0, tol=tol, max_iter=max_iter).solve(DenseGram(C), labels)
    if -solution.value <= floor:
        return float("inf")
    if not solution.converged:
        warn_user(
            f"the margin has a relative gap of {solution.gap:.2g} after {max_iter} steps, not {tol:.2g}: the bound is "
            "larger than need be",
            ConvergenceWarning,
        )
    squared_distance = -solution.upper
    radius = ball.squared_radius + ball.gap
    if squared_distance > 0:
        return 4.0 * radius / (len(C) * squared_distance)
    return float("inf")
