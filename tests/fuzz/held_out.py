"""Errors of kernel ridge regression on held-out samples, each fold trained anew in wide arithmetic.

    L(v) = |r(v)|^2 / n,        r_V = y_V - f_V,    f trained on the samples outside V, kernel sum_k v_k K_k, ridge 1

What the Gauss-Newton model of L promises of one weight alone is a part of what it promises of all. Of a weight that is
to grow to more than twice itself L is evaluated there and on the way: where it is hardly lower, the promise is empty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuzz.machines import Ridge
from fuzz.wide import EPS, Array, Number, combine, wide

_TIMES, _MORE = 4, 64  # roundings tried; of the largest difference that is seen, what is allowed for
_OWN = 8  # times the rounding of residuals in this arithmetic: smaller changes of them are none
_STEP = Number(1e-5)  # of the size of the kernel, by which a weight is changed for a difference quotient


@dataclass(frozen=True)
class HeldOutLoss:
    """What a model says of the kernel that it learned: its mean squared error on consecutive folds.

    Parameters
    ----------
    K : array (m, n, n), the kernels
    v : array (m,), their weights relative to the ridge
    y : array (n,)
    folds : int
    intercept : bool, whether each fold has the mean of its training targets taken off
    told : the error that is published
    largest : the kernel relative to the ridge beyond which floating point can no longer tell the ridge
    learned : bool, whether the weights are what has been learned
    """

    K: Array
    v: Array
    y: Array
    folds: int
    intercept: bool
    told: Number
    largest: Number
    learned: bool = True

    def value(self) -> Any:
        """L(v)."""
        return self._value(self._residuals(self.v))

    def size(self) -> Any:
        """The mean square of the targets: much smaller errors are rounding of it."""
        return (self.y**2).mean()

    def hidden(self) -> Any:
        """How much of the error rounding of the kernel values hides."""
        rng, known = np.random.default_rng(0), self.value()
        return _MORE * max(abs(self._rounded(rng).value() - known) for _ in range(_TIMES))

    def promised(self) -> Any:
        """The most that the model of the error promises of one weight, relative to the error."""
        r, sizes = self._residuals(self.v), np.einsum("kii->k", self.K) / len(self.y)
        if not self.learned or not (r @ r) > 0:
            return Number(0)
        return max((self._of_one(k, r, sizes) for k in np.flatnonzero(sizes)), default=Number(0)) / (r @ r)

    def _of_one(self, k: int, r: Array, sizes: Array) -> Any:
        step = _STEP * max(self.v @ sizes, Number(1)) / sizes[k]
        change = self._residuals(self.v + step * (np.arange(len(self.v)) == k)) - r
        own = _OWN * EPS * (1 + self.v @ sizes) * np.sqrt(len(r) * self.size())
        if not np.sqrt(change @ change) > own:
            return Number(0)
        slope, curvature = change @ r / step, change @ change / step**2
        s = min(max(-slope / curvature, -self.v[k]), max(self.largest - self.v @ sizes, 0) / sizes[k])
        promised = -s * (2 * slope + s * curvature)
        return min(promised, self._gained(k, r, s)) if s > self.v[k] > 0 else promised

    def _gained(self, k: int, r: Array, s: Any) -> Any:
        """The most that L falls where weight k grows by s, and by parts of it; infinity where L rises somewhere."""
        gains = []
        while s > self.v[k] / 16:
            further = self._residuals(self.v + s * (np.arange(len(self.v)) == k))
            gains.append(r @ r - further @ further)
            s = s / 16
        return max(gains) if min(gains) >= 0 else Number(np.inf)

    def _value(self, r: Array) -> Any:
        return (r @ r) / len(self.y)

    def _residuals(self, v: Array) -> Array:
        K, every = combine(self.K, v), np.arange(len(self.y))
        r = np.empty(len(self.y), dtype=Number)
        for test in np.array_split(every, self.folds):
            train = np.setdiff1d(every, test)
            mean = self.y[train].mean() if self.intercept else Number(0)
            machine = Ridge((self.y[train] - mean)[:, None], Number(1), np.ones(len(train), dtype=Number))
            r[test] = self.y[test] - mean - K[np.ix_(test, train)] @ machine.coef(K[np.ix_(train, train)])[:, 0]
        return r

    def _rounded(self, rng: np.random.Generator) -> HeldOutLoss:
        sizes = np.sqrt(np.maximum(np.einsum("kii->ki", self.K), 0))
        errors = rng.uniform(-1.0, 1.0, size=self.K.shape) * np.finfo(float).eps * sizes[:, :, None] * sizes[:, None, :]
        errors = np.tril(errors) + np.tril(errors, -1).swapaxes(1, 2)
        return replace(self, K=self.K + errors, y=wide(self.y.astype(float)))
