"""Widths of kernels that follow from the training sample.

    "median"   gamma = 1 / (2 m^2),  m the median distance of two samples (those that differ)
    "scale"    gamma = 1 / (p v),    v the variance of all entries of the p features: scikit-learn's rule

For a kernel of the distance itself, exp(-gamma |x - z|_1), these are 1 / m and 1 / (p sqrt(v)). The median is that of
at most 500 samples, taken evenly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from multikernel._parameters import POSITIVE, check_parameters
from multikernel._rules import Choice, Rule
from multikernel._typing import Array
from multikernel.kernels.samples import as_floats

_RULES = Choice(("scale", "median"))


@dataclass(frozen=True)
class Width:
    """A multiple of the gamma that a rule finds on the training sample: ``RBF(Width("median", times=4))``.

    Parameters
    ----------
    rule : "scale" or "median"
    times : float > 0

    Raises
    ------
    ValueError : where the rule is another one, or times is not a finite number > 0

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> kernels.RBF(kernels.Width("scale", times=2.0)).learned(np.array([[0.0], [2.0]]))
    RBF(gamma=2.0)
    """

    rule: Literal["scale", "median"] = "median"
    times: Annotated[float, POSITIVE] = 1.0

    def __post_init__(self) -> None:
        check_parameters(self)

    @classmethod
    def of(cls, gamma: Any) -> Width | None:
        """What a parameter says: a rule, by name or with a multiple; None where it is a number."""
        if isinstance(gamma, Width):
            return gamma
        if isinstance(gamma, str):
            return cls("scale" if gamma == "scale" else "median")
        return None

    def gamma(self, X: Any, distance: Callable[[Any], Array] | None = None, degree: int = 2) -> float:
        """The number on a training sample.

        Parameters
        ----------
        X : array or CSR matrix (n, p)
        distance : the distances of some samples, which the median is that of
        degree : 2 where they are squared
        """
        X = as_floats(X)
        if self.rule == "scale" or distance is None:
            size = X.shape[1] * _variance(X) ** (degree / 2.0)
        else:
            # The median of 125,000 distances is within some percent of that of all.
            some = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], 500)).astype(int))
            D = np.asarray(distance(X[some]), dtype=np.float64)[np.triu_indices(len(some), 1)]
            apart = D[D > 0.0]
            size = degree * float(np.median(apart)) if len(apart) else 0.0
        number = self.times / size if size > 0.0 else self.times
        return number if np.isfinite(number) else self.times


@dataclass(frozen=True)
class _Gamma(Rule):
    """A number, or a rule that finds one on the training sample."""

    words = "a finite number > 0, 'scale' or 'median'"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, Width) or _RULES.accepts(value) or POSITIVE.accepts(value)


Gamma = Annotated[Any, _Gamma()]


def _variance(X: Any) -> float:
    """Of all entries."""
    if not X.shape[0]:
        return 0.0
    mean = float(X.mean())
    if hasattr(X, "multiply"):
        squares = float(X.multiply(X).mean())
    else:
        squares = float(np.mean(np.square(X, dtype=np.float64)))
    return max(squares - mean**2, 0.0)
