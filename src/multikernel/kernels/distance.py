"""Kernels of a distance: k(x, z) = f(d(x, z)).

Kernels of the same distance differ only in the function f, their profile. Those on the same columns state this as a
fact, and are then evaluated from one matrix of distances.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from multikernel._arrays import foreign, namespace, taken
from multikernel._typing import Array, Columns
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.samples import dense, squared_lengths
from multikernel.kernels.widths import Gamma, Width


def squared_distances(X: Any, Z: Any = None) -> Array:
    """|x - z|^2 of shape (len(X), len(Z)), never negative, and exactly 0 on the diagonal where Z is X.

    A single column is subtracted directly, since the expansion |x|^2 + |z|^2 - 2 x'z loses digits and saves no time
    there. For several columns the expansion is used; it loses fewer digits if samples that lie far from zero are first
    shifted by their mean.
    """
    if X.shape[1] == 1:
        X = dense(X)
        if Z is None:
            Z = X
        difference: Array = X - dense(Z).T
        difference *= difference
        return difference
    reference = X if Z is None else Z
    if foreign(X):
        return _foreign_squares(X, reference)
    if _no_rows(X, Z):
        return np.zeros((X.shape[0], reference.shape[0]))
    if isinstance(X, np.ndarray) and isinstance(reference, np.ndarray) and X.dtype == reference.dtype == np.float64:
        D = _dense_squares(X, reference)
        if D is not None:
            return D
    return euclidean_distances(X, Z, squared=True)  # sparse, in single precision, or samples that it refuses


def _dense_squares(X: Array, Z: Array) -> Array | None:
    """Squared distances of several columns, without the checks of scikit-learn, which take longer for a few samples.

    None where the columns do not match, a cell is not finite, or a squared distance, which is at most
    2 (|x|^2 + |z|^2), may not be.
    """
    if X.shape[1] != Z.shape[1] or X.shape[1] == 0:
        return None
    same = Z is X
    X = np.asarray(X)  # without a mask, and in memory
    Z = X if same else np.asarray(Z)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = far_middle(Z)
        if mean is not None:
            X = X - mean
            Z = X if same else Z - mean
        lengths = squared_lengths(X)
        others = squared_lengths(Z)
        if not np.isfinite(4.0 * (lengths.max() + others.max())):
            return None
    D: Array = X @ Z.T
    D *= -2.0
    D += lengths[:, None]
    D += others
    np.maximum(D, 0.0, out=D)
    if same:
        np.fill_diagonal(D, 0.0)
    return D


def far_middle(X: Any) -> Any:
    """The mean of samples that lie farther from zero than from their mean; None for other samples.

    The former are shifted by their mean before distances are computed. Shifting other samples could lose digits, for
    example where a single sample lies far away and the others close to zero.
    """
    if not X.shape[0]:
        return None
    xp = namespace(X)
    mean = xp.mean(X, axis=0)
    spread = xp.mean((X - mean) ** 2, axis=0)
    if float(mean @ mean) > float(xp.sum(spread)):
        return mean
    return None


def _foreign_squares(X: Any, Z: Any) -> Any:
    """Squared distances over several columns, for arrays of another library."""
    xp = namespace(X)
    same = Z is X
    mean = far_middle(Z)
    if mean is not None:
        X = X - mean
        Z = Z - mean
    D = squared_lengths(X)[:, None] + squared_lengths(Z)[None, :] - 2.0 * (X @ Z.T)
    D = xp.where(D > 0.0, D, xp.zeros_like(D))
    if same:
        return D * (1.0 - xp.eye(D.shape[0], dtype=D.dtype, device=D.device))
    return D


def _no_rows(X: Any, Z: Any) -> bool:
    """Whether there is no pair of samples: scikit-learn refuses these."""
    return X.shape[0] == 0 or (Z is not None and Z.shape[0] == 0)


class DistanceKernel(Kernel):
    """k(x, z) = profile(distance(x, z)): a subclass defines only its profile, from which all else follows.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from multikernel import bind, kernels
    >>> @dataclass(repr=False)
    ... class Cauchy(kernels.DistanceKernel):
    ...     gamma: float = 1.0
    ...
    ...     def profile(self, D):
    ...         return 1.0 / (1.0 + self.gamma * D)
    >>> import numpy as np
    >>> bind([Cauchy(0.5), Cauchy(2.0)], np.array([[0.0], [1.0]])).matrices().round(2)  # one matrix of distances
    array([[[1.  , 0.67],
            [0.67, 1.  ]],
    <BLANKLINE>
           [[1.  , 0.33],
            [0.33, 1.  ]]])
    """

    # The distance d(X, Z), by default squared Euclidean, and its degree q, with d(c x, c z) = c^q d(x, z).
    distance = staticmethod(squared_distances)
    degree: ClassVar[int] = 2

    @abstractmethod
    def profile(self, D: Array) -> Array:
        """f(D), entry by entry, in the precision of D; D is not written into."""

    def slope(self, D: Array) -> Array:
        """f'(D), entry by entry; 0 where D = 0 and f has no slope.

        Raises
        ------
        NotImplementedError : where the kernel does not define its slope
        """
        raise NotImplementedError(f"{type(self).__name__} has no slope written out: scales inside it cannot be learned")

    def profile_and_slope(self, D: Array) -> tuple[Array, Array]:
        """f(D) and f'(D), new arrays; cheaper than two calls where they share a transcendental function."""
        return self.profile(D), self.slope(D)

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self.learned(X if Z is None else Z).profile(self.distance(X, Z))

    def diagonal(self, X: Any) -> Array:
        """The profile at distance 0, which does not depend on the width."""
        if foreign(X):
            return self.learned(X).profile(namespace(X).zeros_like(X[:, 0]))
        zeros = np.zeros(X.shape[0], dtype=X.dtype if X.dtype.kind == "f" else np.float64)
        return self.learned(zeros[:, None]).profile(zeros)

    @property
    def learns(self) -> bool:
        return Width.of(getattr(self, "gamma", None)) is not None

    def learned(self, X: Any) -> Self:
        """The kernel with the width that a rule, if ``gamma`` is one, finds on the training sample."""
        width = Width.of(getattr(self, "gamma", None))
        if width is None:
            return self
        changed: Any = {"gamma": width.gamma(X, self.distance, self.degree)}
        return replace(self, **changed)  # type: ignore[type-var]

    def facts(self) -> tuple[Fact, ...]:
        return (OfDistance(self),)


@dataclass(frozen=True)
class OfDistance(Fact):
    """K(X, Z) = kernel.profile(D), D the kernel's distances on the columns (None: all of them).

    Calling the fact on two samples returns D.
    """

    kernel: DistanceKernel
    columns: Columns | None = None

    def __call__(self, X: Any, Z: Any = None) -> Array:
        if self.columns is None:
            return self.kernel.distance(X, Z)
        index = list(self.columns)
        return self.kernel.distance(taken(X, index, axis=1), None if Z is None else taken(Z, index, axis=1))

    def diagonal(self, X: Any) -> Array:
        """The distances of samples from themselves."""
        return np.zeros(X.shape[0], dtype=X.dtype)


@dataclass(repr=False)
class ExponentialKernel(DistanceKernel):
    """k(x, z) = exp(-gamma d(x, z)): a kernel of a larger gamma is a power of one of a smaller gamma."""

    gamma: Gamma = 1.0

    @staticmethod
    @abstractmethod
    def distance(X: Any, Z: Any = None) -> Array:
        """d of samples X and Z, shape (len(X), len(Z))."""

    def profile(self, D: Array) -> Array:
        return self._exponential(D, D if foreign(D) else np.empty_like(D))

    def slope(self, D: Array) -> Array:
        return self.profile_and_slope(D)[1]

    def profile_and_slope(self, D: Array) -> tuple[Array, Array]:
        value = self.profile(D)
        return value, -self.gamma * value

    def __call__(self, X: Any, Z: Any = None) -> Array:
        kernel = self.learned(X if Z is None else Z)
        D = self.distance(X, Z)
        if is_exponential(kernel):
            return kernel._exponential(D, D)
        return kernel.profile(D)

    def _exponential(self, D: Array, out: Array) -> Array:
        if foreign(D):
            return namespace(D).exp(D * -float(self.gamma))
        np.multiply(D, D.dtype.type(-self.gamma), out=out)
        return np.exp(out, out=out)


def is_exponential(kernel: DistanceKernel) -> bool:
    """Whether a kernel is exp(-gamma d): a class derived from ``ExponentialKernel`` may have another profile."""
    kind = type(kernel)
    return kind.profile is ExponentialKernel.profile and kind.__call__ is ExponentialKernel.__call__


@dataclass(repr=False)
class RBF(ExponentialKernel):
    """k(x, z) = exp(-gamma |x - z|^2), |.| the Euclidean norm.

    Parameters
    ----------
    gamma : float > 0, in units of 1 / (distance squared); or "scale" or "median", a rule that finds it on the training
        sample (scikit-learn's, or the median distance); or ``Width(rule, times)``, a multiple of what the rule finds

    Raises
    ------
    ValueError : where gamma is neither a finite number > 0 nor such a rule
    """

    distance = staticmethod(squared_distances)


@dataclass(repr=False)
class Laplacian(ExponentialKernel):
    """k(x, z) = exp(-gamma |x - z|_1).

    Parameters
    ----------
    gamma : float > 0, in units of 1 / distance; or "scale" or "median", a rule that finds it on the training sample

    Raises
    ------
    ValueError : where gamma is neither a finite number > 0 nor such a rule
    """

    degree: ClassVar[int] = 1

    @staticmethod
    def distance(X: Any, Z: Any = None) -> Array:
        if foreign(X):
            xp = namespace(X)
            if Z is None:
                Z = X
            terms = (xp.abs(X[:, j, None] - Z[None, :, j]) for j in range(X.shape[1]))
            return reduce(add, terms)
        if _no_rows(X, Z):
            return np.zeros((X.shape[0], (X if Z is None else Z).shape[0]))
        D: Array = manhattan_distances(X, Z)
        if X.dtype.kind == "f":
            return D.astype(X.dtype, copy=False)
        return D
