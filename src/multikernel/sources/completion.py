"""What stands for a source that a sample lacks: the mean of those that have it, given the sample's other sources.

Let phi_v be the features of source v, and g the kernel of a sample's other sources, the mean over them of

    s_u(x) s_u(z) k_u(x, z),    s_u(x) = 1 where x has source u, else 0,

with k_u the mean of the kernels of u, each divided by its mean self-value. Ridge regression of phi_v on the features of
g, with an intercept, over the n training samples that have v predicts

    phi_v(x) = sum_i a_i(x) phi_v(x_i),    a(x) = 1/n + J (J G J + lambda I)^-1 J (g(x) - G 1/n),    J = I - 11'/n,

a conditional mean embedding (Song, Huang, Smola and Fukumizu 2009). Every kernel of v between such samples is then one
of weighted sums of features: k(x, z) = a(x)'K_v a(z), which is positive semi-definite. The ridge lambda is the one of
least squared error |phi_v(x_i) - sum_j a_j(x_i) phi_v(x_j)|^2 in the features of k_v, each x_i left out in turn. With
S = 11'/n + J G J (J G J + lambda I)^-1 that is the sum over i of [(I - S) K_v (I - S)]_ii / (1 - S_ii)^2.

Where the other sources say nothing of this one lambda is large, and a(x) tends to the mean of all samples that have
it, which it is for a sample without any source.
benchmarks/missing_sources.py compares this with kernels that are 0, with means and with nearest neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse

from multikernel._floats import EPS
from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.sources.faults import faults_of

_MOST = 2000  # samples of which weighted sums are taken at most: one regression of so many takes 5 seconds
_RIDGES = np.geomspace(1e-4, 1e2, 13)  # in units of the mean self-value of g, half a decade apart


@dataclass(frozen=True, eq=False)
class Regression:
    """The weights a(x) of the samples that have a source.

    Parameters
    ----------
    basis : array (n, n), J (J G J + lambda I)^-1 J
    offset : array (n,), G 1/n
    ridge : float, lambda
    """

    basis: Array
    offset: Array
    ridge: float

    @classmethod
    def of(cls, G: Array, K: Array) -> Regression:
        """Learned from g and k_v between the samples that have the source, arrays (n, n)."""
        n = len(G)
        offset = G.mean(axis=1)
        centred = G - offset - offset[:, None] + offset.mean()
        values, vectors = linalg.eigh(centred)
        values = np.maximum(values, 0.0)
        inside = values > n * EPS * values[-1]
        values = values[inside]
        vectors = vectors[:, inside]
        # I - S = I - 11'/n - U diag(v / (v + lambda)) U', in terms of which the error of every ridge is found
        about = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        turned = vectors.T @ about
        inner = turned @ vectors
        own = np.diagonal(about)
        squares = vectors**2
        size = float(np.trace(G)) / n or 1.0
        errors = []
        for ridge in size * _RIDGES:
            fitted = values / (values + ridge)
            shrunk = vectors * fitted
            rest = own - 2.0 * np.einsum("ij,ji->i", shrunk, turned) + np.einsum("ij,ij->i", shrunk @ inner, shrunk)
            left = np.maximum(1.0 - 1.0 / n - squares @ fitted, EPS)
            errors.append(float((rest / left**2).sum()))
        ridge = size * float(_RIDGES[int(np.argmin(errors))])
        # outside the eigenvectors J / lambda would meet differences of g that are rounding only
        return cls((vectors / (values + ridge)) @ vectors.T, offset, ridge)

    def weights(self, g: Array) -> Array:
        """a(x) of samples with values g (r, n) of the other sources' kernel, 0 where they have none: shape (r, n)."""
        known = g.any(axis=1, keepdims=True)
        return 1.0 / len(self.basis) + np.where(known, g - self.offset, 0.0) @ self.basis


@dataclass(eq=False)
class Regressions:
    """How each source follows from the others, learned from some training samples when it is first asked for, and kept.

    Parameters
    ----------
    kernels : for each source an array (n, n), its kernel between these samples, 0 where one lacks the source
    present : for each source a bool array (n,), whether they have it
    views : for each source the name of its view; sources of one view are missing together
    learned : the regressions so far, by the number of the source
    """

    kernels: Sequence[Array]
    present: Sequence[Array]
    views: Sequence[str]
    learned: dict[int, Regression] = field(default_factory=dict)

    def observed(self, place: int) -> Array:
        """The samples that have a source, by position."""
        return np.flatnonzero(self.present[place])

    def weights(self, place: int, count: int, crossed: Callable[[int], Array | None]) -> Array:
        """a(x) of samples that lack a source: shape (count, observed).

        Parameters
        ----------
        place : int, which source they lack
        count : int, how many samples these are
        crossed : function of another source, its kernel between them and all samples here, array (count, n), 0 where
            one lacks it; None where all of them do
        """
        own = self.observed(place)
        others = self._others(place)
        if place not in self.learned:
            block = np.ix_(own, own)
            G = np.mean([self.kernels[u][block] for u in others], axis=0)
            self.learned[place] = Regression.of(G, self.kernels[place][block])
        g = np.zeros((count, len(own)))
        for u in others:
            K = crossed(u)
            if K is not None:
                g += K[:, own] / len(others)
        return self.learned[place].weights(g)

    def _others(self, place: int) -> list[int]:
        return [u for u, view in enumerate(self.views) if view != self.views[place]]


@dataclass(frozen=True, eq=False)
class Anchors:
    """Some training samples, in whose features those of other samples are expressed.

    Parameters
    ----------
    views : tuple of str, the names of the sources
    rows : int array (n,), which of all training samples they are
    banks : tuple of KernelBank, square, for each source its kernels between them, 0 where one lacks the source
    present : tuple of bool arrays (n,), whether they have the source
    """

    views: tuple[str, ...]
    rows: Array
    banks: tuple[KernelBank, ...]
    present: tuple[Array, ...]

    @cached_property
    def shares(self) -> tuple[Array, ...]:
        """For each source what makes the mean of its kernels, divided by their mean self-values."""
        sizes = []
        for name, bank, has in zip(self.views, self.banks, self.present, strict=True):
            with faults_of(name):
                sizes.append(bank.traces() / has.sum())
        return tuple(np.divide(1.0, s, out=np.zeros_like(s), where=s > 0) / len(s) for s in sizes)

    @cached_property
    def kernels(self) -> tuple[Array, ...]:
        """These means, arrays (n, n)."""
        return tuple(bank.combine(share).dense() for bank, share in zip(self.banks, self.shares, strict=True))

    @cached_property
    def regressions(self) -> Regressions:
        """How each source follows from the others."""
        return Regressions(self.kernels, self.present, self.views)


@dataclass(frozen=True, eq=False)
class Completion:
    """One source of samples that lack it, by their other sources.

    Parameters
    ----------
    anchors : Anchors, shared by all sources
    place : int, which of the sources it is
    """

    anchors: Anchors
    place: int

    @property
    def observed(self) -> Array:
        """The anchors that have the source, by position."""
        return np.flatnonzero(self.anchors.present[self.place])  # known before any kernel is evaluated

    @property
    def bank(self) -> KernelBank:
        """The kernels of the source between all anchors."""
        return self.anchors.banks[self.place]

    def weights(self, X: Any) -> Array:
        """a(x) of samples that lack the source: shape (len(X), observed).

        Parameters
        ----------
        X : Views
        """
        anchors = self.anchors

        def crossed(u: int) -> Array | None:
            if anchors.views[u] not in X.names:
                return None
            return anchors.banks[u].cross(X).combine(anchors.shares[u]).dense()

        return anchors.regressions.weights(self.place, len(X), crossed)


def anchor_rows(present: Sequence[Array]) -> Array:
    """Which training samples stand for those that lack a source: all, or those that have most sources.

    Parameters
    ----------
    present : for each source a bool array (n,), whether the samples have it
    """
    count = np.sum(present, axis=0)
    if len(count) <= _MOST:
        return np.arange(len(count))
    order = np.random.default_rng(0).permutation(len(count))
    chosen = order[np.argsort(-count[order], kind="stable")[:_MOST]]
    for has in present:  # every source has some sample
        if not has[chosen].any():
            chosen = np.append(chosen, np.flatnonzero(has)[: _MOST // 10])
    return np.unique(chosen)


def mixing(present: Array, weights: Array, columns: Array, own: Array | None = None, width: int = 0) -> Any:
    """Samples as weighted sums: themselves where they have a view, and else of some columns, as a CSR matrix.

    Parameters
    ----------
    present : bool array (n,), which have it
    weights : array (lacking samples, q)
    columns : int array (q,), the columns to which the weights belong
    own : int array (n,), the column that is the sample itself; 0, 1, 2, ... by default
    width : int, how many columns there are, at least as many as are named here
    """
    n = len(present)
    if own is None:
        own = np.arange(n)
    here = np.flatnonzero(present)
    lacking = np.flatnonzero(~present)
    rows = np.concatenate([here, np.repeat(lacking, len(columns))])
    where = np.concatenate([own[here], np.tile(columns, len(lacking))])
    values = np.concatenate([np.ones(len(here)), weights.ravel()])
    last = max(int(own.max(initial=-1)), int(columns.max(initial=-1)))
    return sparse.csr_array((values, (rows, where)), shape=(n, max(width, last + 1)))
