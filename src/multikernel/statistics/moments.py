"""The sums over samples that determine a squared loss of few features.

With features F (n, q), targets Y (n, t) and weights s of the samples

    squares = F'SF      products = F'SY      sums = F's      target_sums = Y's      target_squares = s'(Y o Y)

where S = diag(s). For any coefficients b and constants c

    sum_i s_i |y_i - b'f_i - c|^2

follows from these sums. The sums of two sets of samples can be added, and the sums of samples that are removed can be
subtracted; after many such steps, rounding errors are relative to the largest sums there were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._arrays import host
from multikernel._linalg import as_columns, product, squared
from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over samples; an immutable value, so every change returns a new one.

    Parameters
    ----------
    squares : array (q, q)
    products : array (q, t)
    sums : array (q,)
    target_sums, target_squares : arrays (t,)
    count : float, the sum of the weights

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.statistics import Moments
    >>> rng = np.random.default_rng(0)
    >>> F, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    >>> moments = Moments.of(F[:60], y[:60]).update(F[60:], y[60:])
    >>> bool(np.allclose(moments.squares, F.T @ F)), moments.count
    (True, 100.0)
    """

    squares: Array
    products: Array
    sums: Array
    target_sums: Array
    target_squares: Array
    count: float

    @classmethod
    def of(cls, F: Array, Y: Array, weight: Array | None = None) -> Moments:
        """The sums over some samples.

        Parameters
        ----------
        F : array (n, q), features, in single or double precision; for arrays of torch, cupy and similar libraries the
            products are computed on their device, and the sums are NumPy arrays
        Y : array (n,) or (n, t), targets
        weight : array (n,) >= 0; 1 if not given

        Raises
        ------
        ValueError : where shapes do not fit, or a number is NaN or infinite
        """
        Y = as_columns(np.asarray(host(Y), dtype=float))
        if weight is None:
            s = np.ones(len(Y))
        else:
            s = np.asarray(host(weight), float)
        if (F.ndim, Y.ndim, s.ndim) != (2, 2, 1) or not F.shape[0] == len(Y) == len(s):
            raise ValueError(
                f"Moments: features of shape {tuple(F.shape)}, targets of shape {Y.shape} and weights of shape "
                f"{s.shape} are not (n, q), (n, t) and (n,)"
            )
        weighted = s[:, None] * Y
        moments = cls(
            squares=squared(F, weight=None if weight is None else s),
            products=product(F.T, weighted),
            sums=product(F.T, s),
            target_sums=weighted.sum(axis=0),
            target_squares=(weighted * Y).sum(axis=0),
            count=float(s.sum()),
        )
        finite = np.isfinite(np.diagonal(moments.squares)).all() and np.isfinite(moments.target_squares).all()
        if not finite or (s < 0).any() or not np.isfinite(moments.count):
            raise ValueError("Moments: features, targets and weights must be finite numbers, and weights >= 0")
        return moments

    def update(self, F: Array, Y: Array, weight: Array | None = None) -> Moments:
        """The sums with further samples included."""
        return self.merge(Moments.of(F, Y, weight))

    def remove(self, F: Array, Y: Array, weight: Array | None = None) -> Moments:
        """The sums without these samples, which must be among those summed."""
        return self.less(Moments.of(F, Y, weight))

    def merge(self, other: Moments) -> Moments:
        """The sums over both sets of samples."""
        return self._with(other, 1.0)

    def less(self, other: Moments) -> Moments:
        """The sums over the samples that are not in ``other``, whose samples must be among these."""
        return self._with(other, -1.0)

    def _with(self, other: Moments, sign: float) -> Moments:
        if other.products.shape != self.products.shape:
            raise ValueError(
                f"Moments: sums of {self.products.shape[0]} features and {self.products.shape[1]} targets do not go "
                f"with those of {other.products.shape[0]} and {other.products.shape[1]}"
            )
        changed = {name: value + sign * getattr(other, name) for name, value in vars(self).items()}
        return Moments(**changed)

    def times(self, factor: float) -> Moments:
        """The sums with all weights multiplied by a factor."""
        return Moments(**{name: factor * value for name, value in vars(self).items()})

    def of_targets(self, which: Array, unit: float = 1.0) -> Moments:
        """The sums for some of the targets, divided by a unit."""
        return Moments(
            self.squares,
            self.products[:, which] / unit,
            self.sums,
            self.target_sums[which] / unit,
            self.target_squares[which] / unit**2,
            self.count,
        )

    def moved(self, shift: Array) -> Moments:
        """The sums with this shift, shape (q,), subtracted from the features."""
        if not shift.any():
            return self
        crossed = np.outer(self.sums, shift)
        squares = self.squares - crossed - crossed.T + self.count * np.outer(shift, shift)
        products = self.products - np.outer(shift, self.target_sums)
        sums = self.sums - self.count * shift
        return Moments(squares, products, sums, self.target_sums, self.target_squares, self.count)

    @property
    def means(self) -> Array:
        """The mean of each target, shape (t,)."""
        return self.target_sums / self.count

    def about(self, means: Array) -> Moments:
        """The sums with these means subtracted from the targets."""
        squares = self.target_squares - 2.0 * means * self.target_sums + self.count * means**2
        products = self.products - np.outer(self.sums, means)
        sums = self.target_sums - self.count * means
        return Moments(self.squares, products, self.sums, sums, np.maximum(squares, 0.0), self.count)
