"""Numbers by their ranks: normal scores, which no outlier and no heavy tail moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from multikernel._typing import Array
from multikernel.kernels.encoding import Encoding
from multikernel.kernels.features import Features
from multikernel.kernels.samples import dense
from multikernel.kernels.standardize import floats_of, with_indicators

_KNOTS = 257  # quantiles by which ranks are told
Curve = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(repr=False)
class NormalScores(Encoding):
    """The normal score of the rank of a number in the training sample, with mean 0 and deviation 1 in each column.

    A missing cell gets 0, and columns with missing cells in training get a column of indicators, as in ``Standardize``.

    Parameters
    ----------
    curves : for each column a pair of tuples, increasing quantiles and their scores; None until they are learned
    incomplete : tuple of int, the columns that have indicators

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> X = np.array([[1.0], [2.0], [1000.0]])
    >>> kernels.NormalScores().learned(X)(X).round(2).T
    array([[-1.22,  0.  ,  1.22]])
    """

    curves: tuple[Curve, ...] | None = None
    incomplete: tuple[int, ...] = ()

    def resolve(self, features: Features) -> NormalScores:
        features.check_strings(self)
        return self

    def learned(self, X: Any) -> NormalScores:
        if self.curves is not None:
            return self
        X = dense(floats_of(X))
        absent = np.isnan(X)
        curves = tuple(_curve(column[~gone]) for column, gone in zip(X.T, absent.T, strict=True))
        return NormalScores(curves, tuple(np.flatnonzero(absent.any(axis=0)).tolist()))

    def __call__(self, X: Any) -> Array:
        X = dense(floats_of(X))
        columns = zip(X.T, self.curves or (), strict=True)
        Z = np.column_stack([np.interp(column, *curve) for column, curve in columns])
        return with_indicators(Z, np.isnan(X), self.incomplete)

    @property
    def sources(self) -> tuple[int, ...]:
        return (*range(len(self.curves or ())), *self.incomplete)

    def __repr__(self) -> str:
        return "NormalScores()" if self.curves is None else f"NormalScores(<{len(self.curves)} columns>)"


def _curve(x: Array) -> Curve:
    """Quantiles, and the normal scores of the middle of the ranks that have them."""
    if not len(x):
        return (0.0,), (0.0,)
    order, n = np.sort(x), len(x)
    values = np.unique(x)
    if len(values) > _KNOTS:
        values = np.unique(np.quantile(x, np.linspace(0.0, 1.0, _KNOTS)))
    ranks = 0.5 * (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / n
    scores = ndtri(np.clip(ranks, 0.5 / n, 1.0 - 0.5 / n))
    on_samples = np.interp(x, values, scores)
    spread = float(on_samples.std())
    scores = (scores - on_samples.mean()) / (spread if spread > 0 else 1.0)
    return tuple(values.tolist()), tuple(scores.tolist())
