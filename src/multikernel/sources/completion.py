"""Completion of a source that a sample lacks: its conditional mean, given the sample's other sources.

Let phi_v be the features of source v, and g the kernel of a sample's other sources: the mean over these sources u of

    s_u(x) s_u(z) k_u(x, z),    s_u(x) = 1 where x has source u, else 0,

with k_u the mean of the kernels of u, each divided by its mean self-value. Ridge regression of phi_v on the features of
g, with an intercept, over the n training samples that have v predicts

    phi_v(x) = sum_i a_i(x) phi_v(x_i),    a(x) = 1/n + J (J G J + lambda I)^-1 J (g(x) - G 1/n),    J = I - 11'/n,

a conditional mean embedding (Song, Huang, Smola and Fukumizu 2009). The completed features of a sample are thus a
weighted sum of features, so a kernel of v between such samples is k(x, z) = a(x)'K_v a(z), which is positive
semi-definite. The ridge lambda minimises the leave-one-out error, the sum over i of
|phi_v(x_i) - sum_j a_j(x_i) phi_v(x_j)|^2 where x_i is left out of the regression. With S = 11'/n + J G J (J G J +
lambda I)^-1 this error is the sum over i of [(I - S) K_v (I - S)]_ii / (1 - S_ii)^2.

Where the other sources do not predict this one, lambda is large and a(x) tends to 1/n, the mean of all samples that
have the source. A sample without any source gets exactly this mean.
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

_MOST_ANCHORS = 2000  # the most samples of which weighted sums are taken: one regression on so many takes 5 seconds
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
        """The regression learned from G and K_v between the samples that have the source, arrays (n, n)."""
        n = len(G)
        offset = G.mean(axis=1)
        centred_G = G - offset - offset[:, None] + offset.mean()
        values, vectors = linalg.eigh(centred_G)
        values = np.maximum(values, 0.0)
        significant = values > n * EPS * values[-1]
        values = values[significant]
        vectors = vectors[:, significant]
        # I - S = I - 11'/n - U diag(v / (v + lambda)) U', from which the error of every ridge is computed
        centred_K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        projected = vectors.T @ centred_K
        inner = projected @ vectors
        diagonal = np.diagonal(centred_K)
        squares = vectors**2
        unit = float(np.trace(G)) / n or 1.0
        errors = []
        for ridge in unit * _RIDGES:
            factors = values / (values + ridge)
            shrunk_vectors = vectors * factors
            squared_residuals = (
                diagonal
                - 2.0 * np.einsum("ij,ji->i", shrunk_vectors, projected)
                + np.einsum("ij,ij->i", shrunk_vectors @ inner, shrunk_vectors)
            )
            complements = np.maximum(1.0 - 1.0 / n - squares @ factors, EPS)
            errors.append(float((squared_residuals / complements**2).sum()))
        ridge = unit * float(_RIDGES[int(np.argmin(errors))])
        # directions outside these eigenvectors are dropped: 1 / lambda would amplify mere rounding errors of g there
        return cls((vectors / (values + ridge)) @ vectors.T, offset, ridge)

    def weights(self, g: Array) -> Array:
        """a(x) of samples with values g (r, n) of the other sources' kernel, 0 where they have none: shape (r, n)."""
        has_sources = g.any(axis=1, keepdims=True)
        return 1.0 / len(self.basis) + np.where(has_sources, g - self.offset, 0.0) @ self.basis


@dataclass(eq=False)
class Regressions:
    """Regressions of each source on the others, each learned from training samples when it is first needed, then kept.

    Parameters
    ----------
    kernels : for each source an array (n, n), its kernel between these samples, 0 where one lacks the source
    present : for each source a bool array (n,), whether the samples have it
    views : for each source the name of its view; sources of one view are missing together
    learned : the regressions learned already, by the number of the source
    """

    kernels: Sequence[Array]
    present: Sequence[Array]
    views: Sequence[str]
    learned: dict[int, Regression] = field(default_factory=dict)

    def observed(self, source: int) -> Array:
        """The positions of the samples that have a source."""
        return np.flatnonzero(self.present[source])

    def weights(self, source: int, count: int, crossed: Callable[[int], Array | None]) -> Array:
        """a(x) of samples that lack a source: shape (count, observed).

        Parameters
        ----------
        source : int, the number of the source that they lack
        count : int, how many samples lack it
        crossed : function of the number of another source: its kernel between these samples and all n samples of the
            regressions, array (count, n), 0 where one lacks it; None where all of them lack it
        """
        observed = self.observed(source)
        other_sources = self._sources_of_other_views(source)
        if source not in self.learned:
            block = np.ix_(observed, observed)
            G = np.mean([self.kernels[u][block] for u in other_sources], axis=0)
            self.learned[source] = Regression.of(G, self.kernels[source][block])
        g = np.zeros((count, len(observed)))
        for u in other_sources:
            K = crossed(u)
            if K is not None:
                g += K[:, observed] / len(other_sources)
        return self.learned[source].weights(g)

    def _sources_of_other_views(self, source: int) -> list[int]:
        return [u for u, view in enumerate(self.views) if view != self.views[source]]


@dataclass(frozen=True, eq=False)
class Anchors:
    """Training samples whose features express the missing features of other samples.

    Parameters
    ----------
    views : tuple of str, the names of the sources
    rows : int array (n,), the positions of the anchors among all training samples
    banks : tuple of KernelBank, square, for each source its kernels between anchors, 0 where one lacks the source
    present : tuple of bool arrays (n,), for each source whether the anchors have it
    """

    views: tuple[str, ...]
    rows: Array
    banks: tuple[KernelBank, ...]
    present: tuple[Array, ...]

    @cached_property
    def shares(self) -> tuple[Array, ...]:
        """For each source the weights that make the mean of its kernels, each divided by its mean self-value."""
        sizes = []
        for name, bank, has in zip(self.views, self.banks, self.present, strict=True):
            with faults_of(name):
                sizes.append(bank.traces() / has.sum())
        return tuple(np.divide(1.0, s, out=np.zeros_like(s), where=s > 0) / len(s) for s in sizes)

    @cached_property
    def kernels(self) -> tuple[Array, ...]:
        """For each source the mean of its kernels, each divided by its mean self-value: arrays (n, n)."""
        return tuple(bank.combine(share).dense() for bank, share in zip(self.banks, self.shares, strict=True))

    @cached_property
    def regressions(self) -> Regressions:
        """The regressions of each source on the others."""
        return Regressions(self.kernels, self.present, self.views)


@dataclass(frozen=True, eq=False)
class Completion:
    """Completes one source of samples that lack it from their other sources.

    Parameters
    ----------
    anchors : Anchors, shared by all sources
    place : int, the number of the source
    """

    anchors: Anchors
    place: int

    @property
    def observed(self) -> Array:
        """The positions of the anchors that have the source."""
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
    """The training samples from which sources are completed: all of them, or those that have the most sources.

    Parameters
    ----------
    present : for each source a bool array (n,), whether the samples have it
    """
    count = np.sum(present, axis=0)
    if len(count) <= _MOST_ANCHORS:
        return np.arange(len(count))
    order = np.random.default_rng(0).permutation(len(count))
    chosen = order[np.argsort(-count[order], kind="stable")[:_MOST_ANCHORS]]
    for has in present:  # each source needs anchors that have it
        if not has[chosen].any():
            chosen = np.append(chosen, np.flatnonzero(has)[: _MOST_ANCHORS // 10])
    return np.unique(chosen)


def mixing(present: Array, weights: Array, columns: Array, sample_columns: Array | None = None, width: int = 0) -> Any:
    """Each sample as a weighted sum: the sample itself where it has a view, else a sum of some columns; a CSR matrix.

    Parameters
    ----------
    present : bool array (n,), which samples have the view
    weights : array (samples that lack it, q)
    columns : int array (q,), the columns to which the weights belong
    sample_columns : int array (n,), the column that is the sample itself; 0, 1, 2, ... by default
    width : int, the number of columns of the result; it has more if an index above requires so
    """
    n = len(present)
    if sample_columns is None:
        sample_columns = np.arange(n)
    present_rows = np.flatnonzero(present)
    lacking_rows = np.flatnonzero(~present)
    rows = np.concatenate([present_rows, np.repeat(lacking_rows, len(columns))])
    column_indices = np.concatenate([sample_columns[present_rows], np.tile(columns, len(lacking_rows))])
    values = np.concatenate([np.ones(len(present_rows)), weights.ravel()])
    last = max(int(sample_columns.max(initial=-1)), int(columns.max(initial=-1)))
    return sparse.csr_array((values, (rows, column_indices)), shape=(n, max(width, last + 1)))
