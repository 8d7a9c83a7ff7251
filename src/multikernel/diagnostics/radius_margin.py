"""The radius-margin bound on the leave-one-out error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel.banks import DenseGram
from multikernel.diagnostics import _input
from multikernel.diagnostics.ball import meb_radius

_MEET = 1e-9  # of the mean distance to the centroid, squared: hulls that are closer meet


def radius_margin_bound(K: Any, y: Any, tol: float = 1e-6, max_iter: int = 1_000_000) -> float:
    """R^2 / (n m^2) = 4 R^2 / (n dist^2), for choosing between kernels by the leave-one-out error of a hard margin.

    R is the radius of the smallest ball around the samples and m the geometric margin, half the distance of the hulls
    of the two classes: dist^2 = min_g g'YKYg over g >= 0 with sum 1 in each class. Both are certified: the bound of R
    is taken from above and that of dist from below.

    What is proved: R^2 / (n m^2) bounds the leave-one-out error of the hard margin through a fixed origin, with R and m
    measured from there. With a free threshold, as here, the squared diameter has to stand for the squared radius, so
    four times this number bounds the error. The number itself is the customary criterion and can fall below the error:
    for K = I and balanced classes it is 1 - 1/n, while every sample is misclassified when it is left out.

    Parameters
    ----------
    K : array-like (n, n), a kernel matrix
    y : array-like (n,), labels of two classes, of any kind
    tol : float > 0, the relative precision
    max_iter : int, how many pairwise steps at most; a ConvergenceWarning says that they were not enough, and the
        number is then larger than need be, perhaps inf

    Returns
    -------
    float ; inf where the hulls meet, so that no hyperplane separates the classes

    References
    ----------
    Vapnik (1998), Statistical learning theory; Vapnik and Chapelle (2000), Bounds on error expectation
    for support vector machines. Donini and Aiolli (2017), section 3.2, prints R^2 for R and the distance of the hulls
    for m.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import radius_margin_bound
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> round(radius_margin_bound(x @ x.T, [-1, -1, 1, 1]), 4)
    1.0
    """
    from multikernel.machines import MarginMachine

    matrix = _input.positive(K)
    labels = _input.signs(y, len(matrix))
    ball = meb_radius(matrix, tol, max_iter)
    C = _input.centered(matrix)  # as for the ball: only differences of samples count
    floor = _MEET * float(np.diagonal(C).mean())
    if ball.squared_radius == 0.0 or floor <= 0.0:
        return float("inf")
    solution = MarginMachine(lam=0.0, tol=tol, max_iter=max_iter).solve(DenseGram(C), labels)
    if -solution.value <= floor:
        return float("inf")
    if not solution.converged:
        warnings.warn(
            f"the margin has a relative gap of {solution.gap:.2g} after {max_iter} steps, not {tol:.2g}: the bound is "
            "larger than need be",
            ConvergenceWarning,
            stacklevel=2,
        )
    squared_distance = -solution.value - solution.gap * max(-solution.value, floor)
    radius = ball.squared_radius + ball.gap
    return 4.0 * radius / (len(C) * squared_distance) if squared_distance > 0 else float("inf")
