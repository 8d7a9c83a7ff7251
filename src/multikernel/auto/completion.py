"""Prepared samples that lack a source: the mean of those that have it, given their other sources.

The rule is that of all estimators (sources/completion.py), for the features that kernels see: with the weights a(x) of
the training samples that have the source, its columns are sum_i a_i(x) x_i, and a kernel matrix is one between weighted
sums. A source is compared by a Gaussian of its columns, the mean of whose exponent over pairs is 1, by the cosine of
sparse rows, or by the kernel matrix that was given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._arrays import is_sparse
from multikernel._typing import Array
from multikernel.auto.samples import Cosine, DistanceSimilarity, Given, PreparedSamples, Similarity
from multikernel.kernels import RBF
from multikernel.sources.completion import Regressions, anchor_rows, mixing


@dataclass(frozen=True, eq=False)
class PreparedCompletion:
    """The sources of some training samples, by which those that other samples lack are completed.

    Parameters
    ----------
    samples : PreparedSamples (n,), the anchors
    views : tuple of str, the view of each source; the numbers and the texts of a view are sources of their own
    present : bool array (sources, n), which of them have each source
    columns : tuple, for each source its columns among the numbers, int array, or None
    similarities : tuple of Similarity, how each source is compared
    given : tuple of CSR matrices or None, for each kernel matrix the training samples as weighted sums of these
    """

    samples: PreparedSamples
    views: tuple[str, ...]
    present: Array
    columns: tuple[Array | None, ...]
    similarities: tuple[Similarity, ...]
    given: tuple[Any, ...] = ()

    @classmethod
    def of(cls, samples: PreparedSamples, views: tuple[str, ...], present: Array) -> PreparedCompletion:
        """Learned from training samples, with another sample in place of each that lacks a source.

        Parameters
        ----------
        samples : of training
        views : of the numbers of each view, of the sparse parts, of the kernel matrices
        present : bool array (sources, n)
        """
        columns = [np.flatnonzero(samples.view == view) for view in np.unique(samples.view)]
        similarities: list[Similarity] = [_gaussian(samples, own) for own in columns]
        similarities += [Cosine(part) for part in range(len(samples.sparse))]
        similarities += [Given(part) for part in range(len(samples.given))]
        rows = anchor_rows(list(present))
        others = [None] * (len(similarities) - len(columns))
        found = cls(samples.of(rows), views, present[:, rows], (*columns, *others), tuple(similarities))
        return replace(found, given=found._given_columns(samples, present))

    def __call__(self, new: PreparedSamples, present: Array) -> PreparedSamples:
        """Samples with the sources that they lack; of new ones, another sample stands in place of these before.

        Parameters
        ----------
        new : samples
        present : bool array (sources, len(new))
        """
        plain, ranked = new.plain.copy(), new.ranked.copy()
        parts = [*new.sparse, *new.given]
        first = len(self.columns) - len(parts)
        for place, has in enumerate(present):
            if has.all():
                continue
            rows, own = self._rows(place, new, present)
            columns = self.columns[place]
            if columns is None:
                part = place - first
                anchors = [*self.samples.sparse, *self.samples.given][part][own]
                parts[part] = _mixed(rows, parts[part], anchors)
            else:
                plain[:, columns] = _mixed(rows, plain[:, columns], self.samples.plain[np.ix_(own, columns)])
                ranked[:, columns] = _mixed(rows, ranked[:, columns], self.samples.ranked[np.ix_(own, columns)])
        count = len(new.sparse)
        given = [
            matrix if mixed is None else (mixed @ matrix.T).T
            for matrix, mixed in zip(parts[count:], self.given or [None] * len(new.given), strict=True)
        ]
        return replace(new, plain=plain, ranked=ranked, sparse=tuple(parts[:count]), given=tuple(given))

    def _rows(self, place: int, new: PreparedSamples, present: Array) -> tuple[Any, Array]:
        """Samples as weighted sums of themselves and of the anchors with a source, a CSR matrix; and these anchors."""
        lacking = np.flatnonzero(~present[place])
        own = self.regressions.observed(place)
        some = new.of(lacking)
        weights = self.regressions.weights(place, len(lacking), lambda u: self._kernel(u, some, present[u][lacking]))
        return mixing(present[place], weights, len(new) + np.arange(len(own))), own

    def _kernel(self, place: int, new: PreparedSamples, present: Array) -> Array:
        """A source of samples against the anchors, of mean self-value 1, and 0 where one lacks it."""
        K = self.similarities[place](new, self.samples)
        return K * (present[:, None] & self.present[place])

    @cached_property
    def regressions(self) -> Regressions:
        """How each source follows from those of other views."""
        kernels = tuple(self._kernel(u, self.samples, has) for u, has in enumerate(self.present))
        return Regressions(kernels, list(self.present), self.views)

    def _given_columns(self, samples: PreparedSamples, present: Array) -> tuple[Any, ...]:
        """For each kernel matrix all training samples as weighted sums of those it knows; None where it knows all."""
        first = len(self.similarities) - len(samples.given)
        found: list[Any] = []
        for place in range(first, len(self.similarities)):
            if present[place].all():
                found.append(None)
                continue
            weights = self._rows(place, samples, present)[0][np.flatnonzero(~present[place]), len(samples) :]
            own = self.samples.rows[self.present[place]]
            found.append(mixing(present[place], weights.toarray(), own))
        return tuple(found)


def _gaussian(samples: PreparedSamples, columns: Array) -> Similarity:
    """A Gaussian of some columns, the mean of whose exponent over pairs of samples is 1."""
    scales = np.zeros(samples.plain.shape[1])
    mean = 2.0 * float(samples.plain[:, columns].var(axis=0).sum())
    scales[columns] = 1.0 / mean if mean > 0.0 else 0.0
    return DistanceSimilarity(RBF(1.0), scales)


def _mixed(rows: Any, values: Any, anchors: Any) -> Any:
    """Weighted sums of samples and of anchors."""
    if is_sparse(values):
        return sparse.csr_matrix(rows @ sparse.vstack([values, anchors], format="csr"))
    return rows @ np.vstack([values, anchors])
