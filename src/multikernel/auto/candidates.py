"""The candidates: kernels whose widths, scales or weights are learned by held-out squared errors, each with a ridge.

They are few and different, since no blend can correct an error that all of them make: a smooth kernel of one width;
rough ones of one width and with a scale for each feature, of squared and of absolute differences, of the features as
they are and of their ranks; a linear one. Where there are texts or kernel matrices or several views, also a weighted
sum over all of them; and of several views each one alone, by the kernels that suit it: so the answer can be that of the
only informative source, and narrow views have scales also beside wide ones.

What each kind does for several views is measured by leaving it out (docs/results/sources.md): the mean logistic loss
of test samples on fourteen sets is .242 with all of them, .288 with those of one table and the sum only; it is .264
without texts and sparse views alone, .255 without scales in narrow views, .250 without the sum, and .245 without
Gaussians of one view. A scale for each view, scales in narrow views beside one for each wide view, and linear kernels
of one view or summed by view do not lower it by more than .0005, and are not tried.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from multikernel._folds import FOLDS
from multikernel._typing import Array
from multikernel._work import Work
from multikernel._workers import time_is_up
from multikernel.auto.samples import (
    Cosine,
    DistanceSimilarity,
    Given,
    LinearSimilarity,
    PreparedSamples,
    ProductSimilarity,
    Similarity,
    WeightedSimilarity,
)
from multikernel.auto.task import RidgeTask
from multikernel.banks import precomputed
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.cost import NONE, BankCost
from multikernel.combinations import Profiles
from multikernel.kernels import RBF, DistanceKernel, Laplacian, Matern
from multikernel.kernels.for_columns import SINGLE
from multikernel.procedures import forecast
from multikernel.procedures.learned_scales import learned_scales
from multikernel.procedures.learned_scales.forms import Separate
from multikernel.procedures.learned_scales.landmarks import LandmarkError, LandmarkSamples, scales_by_landmarks
from multikernel.procedures.ridge_cv import ridge_cv
from multikernel.procedures.ridge_cv.residuals import HeldOut

_IN_PAIRS = 6  # sources beyond which there are no products of pairs: 15 products
_ALONE = 12  # sources beyond which none is tried alone, so that the time of a fit does not grow with their number
_RIDGES = np.geomspace(1e-4, 1e3, 8)  # times the mean self-value of the kernel
_FEW = 300  # samples on which a single width or a ridge is chosen before it is learned further: measured as for FAR
# Times the least error: a single width with a larger error is not learned further. Scores of protein, friedman, adult
# and letter (5000 rows) were the same to .002, and learning further took a third of the seconds on protein.
FAR = 1.1
SEARCH_STEPS = 60  # the most steps for scales and weights: the tolerance ends almost all searches earlier
_WIDTHS = (0.05, 0.3, 2.0)  # of a Gaussian in a sum: the mean of its exponent over pairs


@dataclass(frozen=True, eq=False)
class KernelAndRidge:
    """A kernel and the ridge that belongs to it.

    Parameters
    ----------
    similarity, alpha : the kernel and the ridge
    learned : str, a line about both
    cut : bool, whether the time ended while they were learned
    error : float, the error of held-out samples, by landmarks; infinite where it is not known
    """

    similarity: Similarity
    alpha: float
    learned: str
    cut: bool = False
    error: float = np.inf


@dataclass(frozen=True, eq=False)
class LabelledSamples:
    """Some samples and their targets (n, t)."""

    samples: PreparedSamples
    Y: Array


class KernelCandidate(ABC):
    """One way to learn a kernel and a ridge."""

    name: str  # the name in tables

    @property
    def enough(self) -> float:
        """The number of samples that is enough for ``learn``, where the kernel is learned further on more samples."""
        return np.inf

    @abstractmethod
    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
        """The kernel and the ridge of least held-out error; None where there are none."""

    @abstractmethod
    def work(self, n: int, p: int) -> Work:
        """The work of ``learn`` on n samples of p columns."""

    def learn_further(
        self,
        fitted: KernelAndRidge,
        other_kernels: Sequence[Similarity],
        least_error: float,
        train: LabelledSamples,
        held_out: LabelledSamples,
        landmarks: LabelledSamples,
    ) -> KernelAndRidge | None:
        """The kernel learned further on many samples, by errors on ``held_out``; None where nothing more is learned.

        Parameters
        ----------
        fitted : the kernel that was learned on few samples
        other_kernels : kernels of other candidates, from whose scales it may begin as well
        least_error : float, of another candidate: a single width with a much larger error is not learned further
        train, held_out : LabelledSamples
        landmarks : LabelledSamples, some of those to train on
        """
        return None


@dataclass(frozen=True)
class Scales(KernelCandidate):
    """A kernel of a distance with scales inside.

    Parameters
    ----------
    name : str
    kernel : DistanceKernel
    ranked : bool, whether numbers are taken by their ranks
    each : "all" for one scale of all features, "feature" for a scale of each feature
    columns : tuple of int, the columns of the samples that are used; None for all
    """

    name: str
    kernel: DistanceKernel
    ranked: bool
    each: str
    columns: tuple[int, ...] | None = None

    @property
    def enough(self) -> float:
        if self.each == "all":
            return _FEW
        return np.inf

    def _numbers(self, samples: PreparedSamples) -> Array:
        """The numbers of all columns, by rank or by value."""
        if self.ranked:
            return samples.ranked
        return samples.plain

    def _scaled_columns(self, samples: PreparedSamples) -> tuple[Any, Array, Array]:
        """The columns that are used, the features that have a scale, and the number of the feature of each column."""
        columns: Any = slice(None) if self.columns is None else list(self.columns)
        owners = {"all": np.zeros_like(samples.owner), "feature": samples.owner}[self.each]
        groups, owner = np.unique(owners[columns], return_inverse=True)
        return columns, groups, owner

    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge:
        Z = self._numbers(samples)
        columns, groups, owner = self._scaled_columns(samples)
        bank = ColumnDistancesBank.of(Z[:, columns], self.kernel.degree, owner)
        solution = learned_scales(
            bank, Profiles((self.kernel,)), HeldOut(task.Y, task.folds), tol=1e-2, max_iter=SEARCH_STEPS
        )
        scales = np.zeros(Z.shape[1])
        scales[columns] = solution.scales[0][owner]
        return KernelAndRidge(
            DistanceSimilarity(self.kernel, scales, self.ranked),
            solution.alpha,
            self._description(solution.scales[0] * solution.means, [samples.names[group] for group in groups]),
            cut=time_is_up(),
        )

    def learn_further(
        self,
        fitted: KernelAndRidge,
        other_kernels: Sequence[Similarity],
        least_error: float,
        train: LabelledSamples,
        held_out: LabelledSamples,
        landmarks: LabelledSamples,
    ) -> KernelAndRidge:
        assert isinstance(fitted.similarity, DistanceSimilarity)
        samples = landmarks.samples
        columns, groups, owner = self._scaled_columns(samples)
        X, V, Z = (
            self._numbers(labelled.samples)[:, columns].astype(np.float32) for labelled in (train, held_out, landmarks)
        )
        metric = Separate(np.ones(len(groups)), owner)
        error = LandmarkError(self.kernel, metric, LandmarkSamples(X, train.Y), LandmarkSamples(V, held_out.Y), Z)
        means = (np.abs(Z - np.roll(Z, 1, axis=0)) ** self.kernel.degree).mean(axis=0, dtype=float)
        starts = [fitted.similarity.scales[columns]]
        if self.each == "feature":
            distance_kernels = (kernel for kernel in other_kernels if isinstance(kernel, DistanceSimilarity))
            starts += [
                _as_exponent(kernel, columns, self.kernel.degree, means, starts[0] @ means)
                for kernel in distance_kernels
            ]
        by_group = [np.array([scales[owner == k].max() for k in range(len(groups))]) for scales in starts]
        possible = [metric.parameters(scales) for scales in by_group if scales.any()]
        if not possible:
            return fitted
        values = [error.value(v, fitted.alpha) for v in possible]
        start = possible[int(np.argmin(values))]
        if np.isfinite(self.enough) and min(values) > np.log(FAR * least_error):
            return replace(fitted, error=float(np.exp(min(values))))
        try:
            best = scales_by_landmarks(error, start, fitted.alpha, max_iter=SEARCH_STEPS)
        except ValueError:  # a step led to scales without a kernel matrix in single precision
            return fitted
        scales = np.zeros(len(samples.owner))
        scales[columns] = metric.scales(best.parameters)[owner]
        exponent_parts = np.bincount(owner, scales[columns] * means)
        learned = self._description(exponent_parts, [samples.names[group] for group in groups])
        similarity = DistanceSimilarity(self.kernel, scales, self.ranked)
        return KernelAndRidge(similarity, best.alpha, learned, time_is_up(), best.loss)

    def _description(self, exponent_parts: Array, names: Sequence[str]) -> str:
        """A line with the mean exponent, or with the three features that have the largest parts in it."""
        if self.each == "all":
            return f"mean exponent {float(exponent_parts.sum()):.2g}"
        largest = np.argsort(-exponent_parts, kind="stable")[:3]
        return "mostly " + ", ".join(dict.fromkeys(names[k] for k in largest))

    def work(self, n: int, p: int) -> Work:
        columns = p if self.columns is None else len(self.columns)
        return forecast.scale_steps(n, columns, 1 if self.each == "all" else columns).work


GAUSSIAN = Scales("Gaussian, one width", RBF(), False, "all")


def _as_exponent(other: DistanceSimilarity, columns: Any, degree: int, means: Array, exponent: float) -> Array:
    """The scales of another kernel, for distances of this degree and with this mean of the exponent.

    Parameters
    ----------
    other : the kernel
    columns : index of the columns that are used
    degree : 1 or 2
    means : array, the mean of |x_j - z_j|^degree over pairs
    exponent : float > 0
    """
    scales = other.scales[columns] ** (degree / other.kernel.degree)
    total = float(scales @ means)
    return np.asarray(scales * (exponent / total) if total > 0.0 else scales)


@dataclass(frozen=True)
class FixedKernel(KernelCandidate):
    """A kernel of which nothing is learned, such as the linear one.

    Parameters
    ----------
    name : str
    similarity : the kernel
    """

    name: str
    similarity: Similarity

    @property
    def enough(self) -> float:
        return _FEW

    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
        return with_best_ridge(self.similarity, samples, task)

    def work(self, n: int, p: int) -> Work:
        return forecast.held_out_ridge(n, len(_RIDGES))


@dataclass(frozen=True)
class WeightedSum(KernelCandidate):
    """A sum of kernels with learned weights.

    Parameters
    ----------
    name : str
    parts : tuple of Similarity
    """

    name: str
    parts: tuple[Similarity, ...]

    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
        kernels = self.parts
        if len(kernels) == 1:
            return with_best_ridge(kernels[0], samples, task)
        bank = precomputed(np.stack([kernel(samples, samples) for kernel in kernels]), psd=1e-6)
        solution = ridge_cv(bank, task.Y, task.folds, tol=1e-3, max_iter=SEARCH_STEPS)
        cut = time_is_up()
        weighted = np.flatnonzero(solution.values)
        if not len(weighted):
            return None
        weighted_sum = WeightedSimilarity(tuple(kernels[k] for k in weighted), solution.values[weighted])
        return KernelAndRidge(
            weighted_sum, solution.alpha, f"{len(weighted)} of {len(kernels)} kernels have weight", cut
        )

    def work(self, n: int, p: int) -> Work:
        # the forecast assumes a sum of 20 kernels
        return forecast.ridge_cv(BankCost.stored(20, n, 0.0), FOLDS).work or NONE


def _widths_and_linear(samples: PreparedSamples) -> list[Similarity]:
    """Kernels on every source: Gaussians of several widths, linear ones, texts, matrices."""
    kernels: list[Similarity] = []
    if samples.plain.shape[1]:
        kernels.append(LinearSimilarity())
    for view in np.unique(samples.view):
        in_view = (samples.view == view).astype(float)
        mean = 2.0 * float(samples.plain[:, in_view > 0].var(axis=0).sum())
        if mean > 0.0:
            kernels += [DistanceSimilarity(RBF(1.0), in_view * (width / mean)) for width in _WIDTHS]
    for number in range(len(samples.sparse)):
        kernels += [Cosine(number), Cosine(number, 2)]
    return kernels + [Given(number) for number in range(len(samples.given))]


def _sources_and_pairs(samples: PreparedSamples) -> Iterator[Similarity]:
    """A linear kernel of each source, and the product of each two.

    With x'z of one source and u'v of another, their product is linear in all products of a feature of one and a feature
    of the other.
    """
    views = [LinearSimilarity(tuple(np.flatnonzero(samples.view == v).tolist())) for v in np.unique(samples.view)]
    single: list[Similarity] = [*views, *_sparse_and_given(samples)]
    yield from single
    yield from (ProductSimilarity(first, second) for first, second in combinations(single, 2))


def _sparse_and_given(samples: PreparedSamples) -> list[Similarity]:
    kernels: list[Similarity] = [Cosine(number) for number in range(len(samples.sparse))]
    return kernels + [Given(number) for number in range(len(samples.given))]


def with_best_ridge(similarity: Similarity, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
    """A fixed kernel with the ridge of least held-out error."""
    K = similarity(samples, samples)
    size = float(np.trace(K)) / len(K)
    errors_and_ridges = []
    for ridge in _RIDGES if size > 0.0 else ():
        predicted = task.held_out(K, ridge * size, task.folds)
        if predicted is not None:
            errors_and_ridges.append((task.error(predicted), ridge * size))
    if not errors_and_ridges:
        return None
    alpha = min(errors_and_ridges)[1]
    return KernelAndRidge(similarity, alpha, f"ridge {alpha:.2g}")


def candidates(samples: PreparedSamples) -> list[KernelCandidate]:
    """The candidates to try, cheap and safe ones first."""
    numbers = samples.plain.shape[1] > 0
    sources = len(samples.sparse) + len(samples.given) + len(np.unique(samples.view))
    groups = int(samples.owner.max(initial=-1)) + 1
    kernel_candidates: list[KernelCandidate] = []
    if numbers:
        kernel_candidates += [
            GAUSSIAN,
            FixedKernel("linear", LinearSimilarity()),
            Scales("Laplacian, one width", Laplacian(), False, "all"),
        ]
        # more than 300 scales would overfit the folds
        if 1 < groups <= 300:
            kernel_candidates += [
                Scales("Matern by ranks, a scale for each feature", Matern(), True, "feature"),
                Scales("Laplacian by ranks, a scale for each feature", Laplacian(), True, "feature"),
            ]
        else:
            kernel_candidates.append(Scales("Gaussian by ranks, one width", RBF(), True, "all"))
    if sources > 1 or (sources and not numbers):
        kernel_candidates.append(WeightedSum("sum over sources", tuple(_widths_and_linear(samples))))
    if samples.several and sources <= _IN_PAIRS:
        kernel_candidates.append(WeightedSum("sum over sources and pairs", tuple(_sources_and_pairs(samples))))
    if samples.several and sources <= _ALONE:
        kernel_candidates += _candidates_of_sources(samples)
    return kernel_candidates


def _candidates_of_sources(samples: PreparedSamples) -> Iterator[KernelCandidate]:
    """The candidates of one source each; a single view of numbers already has the candidates of a table."""
    views = np.unique(samples.view).tolist()
    for view in views if len(views) > 1 else ():
        name = samples.views[view]
        columns = tuple(np.flatnonzero(samples.view == view).tolist())
        yield Scales(f"Gaussian by ranks, {name} alone", RBF(), True, "all", columns)
        if 1 < len(np.unique(samples.owner[list(columns)])) <= SINGLE:
            yield Scales(f"Matern by ranks, scales in {name} alone", Matern(), True, "feature", columns)
            yield Scales(f"Laplacian by ranks, scales in {name} alone", Laplacian(), True, "feature", columns)
    for name, similarity in zip(samples.parts, _sparse_and_given(samples), strict=True):
        linear = "linear, " if isinstance(similarity, Cosine) else ""
        yield FixedKernel(f"{linear}{name} alone", similarity)
