"""The candidates: kernels whose widths, scales or weights are learned by held-out squared errors, each with a ridge.

They are few and different, since no blend can correct an error that all of them make: a smooth kernel of one width;
rough ones of one width and with a scale for each feature, of squared and of absolute differences, of the features as
they are and of their ranks; a linear one. Where there are texts or kernel matrices or several views, also a weighted
sum over all of them; and of several views each one alone, by the kernels that suit it: so the answer can be that of the
only source that says something, and narrow views have their scales whatever the size of the others.

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
_FEW = 300  # samples on which a width or a ridge alone is found, where they are learned further on more: as for FAR
# Times the least error: a width alone that begins farther stays as it is. Scores of protein, friedman, adult and letter
# (5000 rows) were the same to .002, and learning further took a third of the seconds on protein.
FAR = 1.1
SEARCH_STEPS = 60  # of learned scales and weights: the tolerance ends almost all of them earlier
_WIDTHS = (0.05, 0.3, 2.0)  # of a Gaussian in a sum: the mean of its exponent over pairs


@dataclass(frozen=True, eq=False)
class KernelAndRidge:
    """A kernel and the ridge that belongs to it.

    Parameters
    ----------
    similarity, alpha : the kernel and the ridge
    learned : str, a line about both
    cut : bool, whether the time ended while they were learned
    error : float, of samples held out through landmarks; infinite where it is not known
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

    name: str  # what a table calls it

    @property
    def enough(self) -> float:
        """Samples that are enough to begin with, where it is learned further on more."""
        return np.inf

    @abstractmethod
    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
        """The kernel and the ridge of least held-out error; None where none can be had."""

    @abstractmethod
    def work(self, n: int, p: int) -> Work:
        """What it takes on n samples of p columns."""

    def further(
        self,
        found: KernelAndRidge,
        others: Sequence[Similarity],
        least: float,
        train: LabelledSamples,
        held: LabelledSamples,
        landmarks: LabelledSamples,
    ) -> KernelAndRidge | None:
        """The kernel learned further on many samples, by errors on ``held``; None where nothing more is learned.

        Parameters
        ----------
        found : what was learned on few samples
        others : kernels of other candidates, from which it may begin as well
        least : float, the least error of another candidate: one with a width alone that is far from it stays as it is
        train, held : LabelledSamples
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
    each : "all" for one scale, "feature" for one each
    columns : tuple of int, those of the samples that are used; None for all
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
        """The columns of all samples, by rank or by value."""
        if self.ranked:
            return samples.ranked
        return samples.plain

    def _scaled(self, samples: PreparedSamples) -> tuple[Any, Array, Array]:
        """The columns that are used, the features that have a scale, and which of them has that of each column."""
        used: Any = slice(None) if self.columns is None else list(self.columns)
        owners = {"all": np.zeros_like(samples.owner), "feature": samples.owner}[self.each]
        groups, owner = np.unique(owners[used], return_inverse=True)
        return used, groups, owner

    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge:
        Z = self._numbers(samples)
        used, groups, owner = self._scaled(samples)
        bank = ColumnDistancesBank.of(Z[:, used], self.kernel.degree, owner)
        found = learned_scales(
            bank, Profiles((self.kernel,)), HeldOut(task.Y, task.folds), tol=1e-2, max_iter=SEARCH_STEPS
        )
        scales = np.zeros(Z.shape[1])
        scales[used] = found.scales[0][owner]
        return KernelAndRidge(
            DistanceSimilarity(self.kernel, scales, self.ranked),
            found.alpha,
            self._learned(found.scales[0] * found.means, [samples.names[group] for group in groups]),
            cut=time_is_up(),
        )

    def further(
        self,
        found: KernelAndRidge,
        others: Sequence[Similarity],
        least: float,
        train: LabelledSamples,
        held: LabelledSamples,
        landmarks: LabelledSamples,
    ) -> KernelAndRidge:
        assert isinstance(found.similarity, DistanceSimilarity)
        samples = landmarks.samples
        used, groups, owner = self._scaled(samples)
        X, V, Z = (self._numbers(part.samples)[:, used].astype(np.float32) for part in (train, held, landmarks))
        form = Separate(np.ones(len(groups)), owner)
        error = LandmarkError(self.kernel, form, LandmarkSamples(X, train.Y), LandmarkSamples(V, held.Y), Z)
        means = (np.abs(Z - np.roll(Z, 1, axis=0)) ** self.kernel.degree).mean(axis=0, dtype=float)
        starts = [found.similarity.scales[used]]
        if self.each == "feature":
            alike = (each for each in others if isinstance(each, DistanceSimilarity))
            starts += [_as_exponent(each, used, self.kernel.degree, means, starts[0] @ means) for each in alike]
        by_group = [np.array([scales[owner == k].max() for k in range(len(groups))]) for scales in starts]
        possible = [form.parameters(scales) for scales in by_group if scales.any()]
        if not possible:
            return found
        values = [error.value(v, found.alpha) for v in possible]
        start = possible[int(np.argmin(values))]
        if np.isfinite(self.enough) and min(values) > np.log(FAR * least):
            return replace(found, error=float(np.exp(min(values))))
        try:
            best = scales_by_landmarks(error, start, found.alpha, max_iter=SEARCH_STEPS)
        except ValueError:  # a step led to scales without a kernel matrix in single precision
            return found
        scales = np.zeros(len(samples.owner))
        scales[used] = form.scales(best.parameters)[owner]
        parts = np.bincount(owner, scales[used] * means)
        learned = self._learned(parts, [samples.names[group] for group in groups])
        similarity = DistanceSimilarity(self.kernel, scales, self.ranked)
        return KernelAndRidge(similarity, best.alpha, learned, time_is_up(), best.loss)

    def _learned(self, parts: Array, names: Sequence[str]) -> str:
        """The mean exponent, or the three features with the largest part in it."""
        if self.each == "all":
            return f"mean exponent {float(parts.sum()):.2g}"
        largest = np.argsort(-parts, kind="stable")[:3]
        return "mostly " + ", ".join(dict.fromkeys(names[k] for k in largest))

    def work(self, n: int, p: int) -> Work:
        used = p if self.columns is None else len(self.columns)
        return forecast.scale_steps(n, used, 1 if self.each == "all" else used).work


GAUSSIAN = Scales("Gaussian, one width", RBF(), False, "all")


def _as_exponent(other: DistanceSimilarity, used: Any, degree: int, means: Array, exponent: float) -> Array:
    """The scales of another kernel for distances of this degree, so that their mean is this exponent.

    Parameters
    ----------
    other : the kernel
    used : the columns
    degree : 1 or 2
    means : array, the mean of |x_j - z_j|^degree over pairs
    exponent : float > 0
    """
    scales = other.scales[used] ** (degree / other.kernel.degree)
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
        return ridged(self.similarity, samples, task)

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
        parts = self.parts
        if len(parts) == 1:
            return ridged(parts[0], samples, task)
        bank = precomputed(np.stack([part(samples, samples) for part in parts]), psd=1e-6)
        found = ridge_cv(bank, task.Y, task.folds, tol=1e-3, max_iter=SEARCH_STEPS)
        cut = time_is_up()
        used = np.flatnonzero(found.values)
        if not len(used):
            return None
        sum_of = WeightedSimilarity(tuple(parts[k] for k in used), found.values[used])
        return KernelAndRidge(sum_of, found.alpha, f"{len(used)} of {len(parts)} kernels have weight", cut)

    def work(self, n: int, p: int) -> Work:
        # a sum is forecast to have 20 kernels
        return forecast.ridge_cv(BankCost.stored(20, n, 0.0), FOLDS).work or NONE


def _widths_and_linear(samples: PreparedSamples) -> list[Similarity]:
    """Kernels on every source: Gaussians of several widths, linear ones, texts, matrices."""
    parts: list[Similarity] = []
    if samples.plain.shape[1]:
        parts.append(LinearSimilarity())
    for view in np.unique(samples.view):
        own = (samples.view == view).astype(float)
        mean = 2.0 * float(samples.plain[:, own > 0].var(axis=0).sum())
        if mean > 0.0:
            parts += [DistanceSimilarity(RBF(1.0), own * (width / mean)) for width in _WIDTHS]
    for part in range(len(samples.sparse)):
        parts += [Cosine(part), Cosine(part, 2)]
    return parts + [Given(part) for part in range(len(samples.given))]


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
    found: list[Similarity] = [Cosine(part) for part in range(len(samples.sparse))]
    return found + [Given(part) for part in range(len(samples.given))]


def ridged(similarity: Similarity, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
    """A fixed kernel with the ridge of least held-out error."""
    K = similarity(samples, samples)
    size = float(np.trace(K)) / len(K)
    tried = []
    for ridge in _RIDGES if size > 0.0 else ():
        predicted = task.held_out(K, ridge * size, task.folds)
        if predicted is not None:
            tried.append((task.error(predicted), ridge * size))
    if not tried:
        return None
    alpha = min(tried)[1]
    return KernelAndRidge(similarity, alpha, f"ridge {alpha:.2g}")


def candidates(samples: PreparedSamples) -> list[KernelCandidate]:
    """What can be tried, cheap and safe ones first."""
    numbers = samples.plain.shape[1] > 0
    sources = len(samples.sparse) + len(samples.given) + len(np.unique(samples.view))
    groups = int(samples.owner.max(initial=-1)) + 1
    found: list[KernelCandidate] = []
    if numbers:
        found += [
            GAUSSIAN,
            FixedKernel("linear", LinearSimilarity()),
            Scales("Laplacian, one width", Laplacian(), False, "all"),
        ]
        # more than 300 scales would fit the folds
        if 1 < groups <= 300:
            found += [
                Scales("Matern by ranks, a scale for each feature", Matern(), True, "feature"),
                Scales("Laplacian by ranks, a scale for each feature", Laplacian(), True, "feature"),
            ]
        else:
            found.append(Scales("Gaussian by ranks, one width", RBF(), True, "all"))
    if sources > 1 or (sources and not numbers):
        found.append(WeightedSum("sum over sources", tuple(_widths_and_linear(samples))))
    if samples.several and sources <= _IN_PAIRS:
        found.append(WeightedSum("sum over sources and pairs", tuple(_sources_and_pairs(samples))))
    if samples.several and sources <= _ALONE:
        found += _alone(samples)
    return found


def _alone(samples: PreparedSamples) -> Iterator[KernelCandidate]:
    """Those of one source each; the only view that holds numbers has the candidates of a table already."""
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
