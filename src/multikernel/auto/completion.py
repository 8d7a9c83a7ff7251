"""Prepared samples that lack a source: the mean of those that have it, given their other sources.

The rule is that of all estimators (sources/completion.py), for the features that kernels see: with the weights a(x) of
the training samples that have the source, its columns are sum_i a_i(x) x_i, and a kernel matrix is one between weighted
sums. The kernel that compares samples by a source is a Gaussian of its columns with a mean exponent of 1 over pairs,
the cosine of sparse rows, or the user's kernel matrix.
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
    """The sources of some training samples, from which missing sources of other samples are completed.

    Parameters
    ----------
    samples : PreparedSamples (n,), the anchors
    views : tuple of str, the view of each source; the numbers and the texts of a view are separate sources
    present : bool array (sources, n), which anchors have each source
    columns : tuple, for each source its columns among the numbers, int array, or None
    similarities : tuple of Similarity, the kernel of each source
    given : tuple of CSR matrices or None, for each kernel matrix all training samples as weighted sums of those in it
    """

    samples: PreparedSamples
    views: tuple[str, ...]
    present: Array
    columns: tuple[Array | None, ...]
    similarities: tuple[Similarity, ...]
    given: tuple[Any, ...] = ()

    @classmethod
    def of(cls, samples: PreparedSamples, views: tuple[str, ...], present: Array) -> PreparedCompletion:
        """The completion that training samples give; in these, another sample fills in where one lacks a source.

        Parameters
        ----------
        samples : of training
        views : of the numbers of each view, of the sparse parts, of the kernel matrices
        present : bool array (sources, n)
        """
        columns = [np.flatnonzero(samples.view == view) for view in np.unique(samples.view)]
        similarities: list[Similarity] = [_gaussian(samples, view_columns) for view_columns in columns]
        similarities += [Cosine(number) for number in range(len(samples.sparse))]
        similarities += [Given(number) for number in range(len(samples.given))]
        rows = anchor_rows(list(present))
        no_columns = [None] * (len(similarities) - len(columns))
        completion = cls(samples.of(rows), views, present[:, rows], (*columns, *no_columns), tuple(similarities))
        return replace(completion, given=completion._given_columns(samples, present))

    def __call__(self, samples: PreparedSamples, present: Array) -> PreparedSamples:
        """The samples with their missing sources completed, in place of values that another sample filled in.

        Parameters
        ----------
        samples : PreparedSamples
        present : bool array (sources, len(samples)), which samples have each source
        """
        plain, ranked = samples.plain.copy(), samples.ranked.copy()
        matrices = [*samples.sparse, *samples.given]
        first = len(self.columns) - len(matrices)
        for source, has in enumerate(present):
            if has.all():
                continue
            rows, observed = self._mixing_rows(source, samples, present)
            columns = self.columns[source]
            if columns is None:
                number = source - first
                anchors = [*self.samples.sparse, *self.samples.given][number][observed]
                matrices[number] = _weighted_sums(rows, matrices[number], anchors)
            else:
                plain[:, columns] = _weighted_sums(
                    rows, plain[:, columns], self.samples.plain[np.ix_(observed, columns)]
                )
                ranked[:, columns] = _weighted_sums(
                    rows, ranked[:, columns], self.samples.ranked[np.ix_(observed, columns)]
                )
        count = len(samples.sparse)
        kernel_matrices = [
            matrix if mixed is None else (mixed @ matrix.T).T
            for matrix, mixed in zip(matrices[count:], self.given or [None] * len(samples.given), strict=True)
        ]
        return replace(
            samples, plain=plain, ranked=ranked, sparse=tuple(matrices[:count]), given=tuple(kernel_matrices)
        )

    def _mixing_rows(self, source: int, samples: PreparedSamples, present: Array) -> tuple[Any, Array]:
        """A CSR matrix of samples as weighted sums of themselves and the anchors with a source; and these anchors."""
        lacking = np.flatnonzero(~present[source])
        observed = self.regressions.observed(source)
        incomplete = samples.of(lacking)
        weights = self.regressions.weights(
            source, len(lacking), lambda u: self._kernel(u, incomplete, present[u][lacking])
        )
        return mixing(present[source], weights, len(samples) + np.arange(len(observed))), observed

    def _kernel(self, source: int, samples: PreparedSamples, present: Array) -> Array:
        """The kernel of a source between samples and anchors, of mean self-value 1; 0 where one of a pair lacks it."""
        K = self.similarities[source](samples, self.samples)
        return K * (present[:, None] & self.present[source])

    @cached_property
    def regressions(self) -> Regressions:
        """The regressions of each source on those of other views."""
        kernels = tuple(self._kernel(u, self.samples, has) for u, has in enumerate(self.present))
        return Regressions(kernels, list(self.present), self.views)

    def _given_columns(self, samples: PreparedSamples, present: Array) -> tuple[Any, ...]:
        """For each kernel matrix all training samples as weighted sums of those in it; None where all are in it."""
        first = len(self.similarities) - len(samples.given)
        mixtures: list[Any] = []
        for source in range(first, len(self.similarities)):
            if present[source].all():
                mixtures.append(None)
                continue
            weights = self._mixing_rows(source, samples, present)[0][np.flatnonzero(~present[source]), len(samples) :]
            known_rows = self.samples.rows[self.present[source]]
            mixtures.append(mixing(present[source], weights.toarray(), known_rows))
        return tuple(mixtures)


def _gaussian(samples: PreparedSamples, columns: Array) -> Similarity:
    """A Gaussian of some columns, with a mean exponent of 1 over pairs of samples."""
    scales = np.zeros(samples.plain.shape[1])
    mean = 2.0 * float(samples.plain[:, columns].var(axis=0).sum())
    scales[columns] = 1.0 / mean if mean > 0.0 else 0.0
    return DistanceSimilarity(RBF(1.0), scales)


def _weighted_sums(rows: Any, values: Any, anchors: Any) -> Any:
    """Weighted sums of samples and anchors."""
    if is_sparse(values):
        return sparse.csr_matrix(rows @ sparse.vstack([values, anchors], format="csr"))
    return rows @ np.vstack([values, anchors])
