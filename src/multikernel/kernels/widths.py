"""Widths of kernels that are learned from the training sample.

    "median"   gamma = 1 / (2 m^2),  m the median distance of two samples (those that differ)
    "scale"    gamma = 1 / (p v),    v the variance of all entries of the p features: scikit-learn's rule

For a kernel of the distance itself, exp(-gamma |x - z|_1), these are 1 / m and 1 / (p sqrt(v)). The median is taken
over at most 500 samples, evenly spaced in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from multikernel._arrays import host, is_sparse
from multikernel._floats import ROUNDING, TINY, size_of
from multikernel._parameters import POSITIVE, check_parameters
from multikernel._rules import Rule, abbreviated, listed
from multikernel._typing import Array
from multikernel.kernels.samples import as_floats, dense


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
        """The Width that a parameter stands for: a rule by name, or a Width itself; None where it is a number."""
        if isinstance(gamma, Width):
            return gamma
        if isinstance(gamma, str):
            return cls("scale" if gamma == "scale" else "median")
        return None

    def gamma(self, X: Any, distance: Callable[[Any], Array] | None = None, degree: int = 2) -> float:
        """The gamma that the rule finds on a training sample.

        Parameters
        ----------
        X : array or CSR matrix (n, p)
        distance : function that returns the distances between samples, for the median
        degree : 2 where these distances are squared, 1 where they are not

        Raises
        ------
        ValueError : where the samples differ by so much or so little that double precision cannot represent gamma
        """
        X = as_floats(X)
        if self.rule == "scale" or distance is None:
            deviation = _deviation(host(X))
            differ = deviation > 0.0
            with np.errstate(over="ignore", under="ignore"):
                inverse_gamma = X.shape[1] * float(np.power(deviation, degree))
        else:
            # The median of these 125,000 distances is within a few percent of the median of all.
            subsample = X[np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], 500)).astype(int))]
            with np.errstate(over="ignore", invalid="ignore"):
                D = np.asarray(distance(subsample), dtype=np.float64)[np.triu_indices(subsample.shape[0], 1)]
            distances = D[D > 0.0]
            inverse_gamma = degree * float(np.median(distances)) if len(distances) else 0.0
            differ = inverse_gamma > 0.0 or bool(np.ptp(dense(host(subsample)), axis=0).any())
        if not differ:
            return self.times
        number = self.times / inverse_gamma if inverse_gamma > 0.0 else np.inf
        if not TINY <= number < np.inf:
            raise ValueError(
                f"the width of a kernel by the rule {self.rule!r} is beyond double precision for samples with entries "
                f"up to {float(abs(X).max()):.3g}: give them in other units"
            )
        return number


@dataclass(frozen=True)
class _Gamma(Rule):
    """The rule for a width: a number, or the name of a rule that finds it on the training sample."""

    rules: tuple[str, ...] = ("scale", "median")

    @property
    def words(self) -> str:
        return listed([POSITIVE.words, *map(repr, self.rules)])

    def accepts(self, value: Any) -> bool:
        if isinstance(value, Width):
            value = value.rule
        return POSITIVE.accepts(value) or (isinstance(value, str) and value in self.rules)

    def check(self, value: Any, name: str) -> Any:
        if isinstance(value, list | tuple | np.ndarray):
            raise ValueError(
                f"{name} must be {self.words}, got {abbreviated(value)}; several widths are a list of kernels, "
                f"[{name.partition(':')[0]}(gamma) for gamma in ...]"
            )
        return super().check(value, name)


Gamma = Annotated[Any, _Gamma()]
GammaOfProduct = Annotated[Any, _Gamma(("scale",))]  # an inner product is no distance, whose median could be taken


def _deviation(X: Any) -> float:
    """The standard deviation of all entries, including zeros of sparse samples; 0 where it is rounding.

    It is computed in two passes, since the mean of the squares minus the squared mean loses the digits of samples far
    from zero.
    """
    values = X.data if is_sparse(X) else X
    entries = X.shape[0] * X.shape[1]
    if not entries:
        return 0.0
    unit = float(np.abs(values).max(initial=0.0)) or 1.0  # sums of very large numbers overflow
    scaled = values.astype(np.float64) / unit
    mean = float(scaled.sum()) / entries
    stored = scaled.size / entries
    deviation = float(np.hypot(np.sqrt(stored) * size_of(scaled - mean), np.sqrt(1.0 - stored) * mean))
    if deviation > ROUNDING * abs(mean):
        return unit * deviation
    return 0.0
