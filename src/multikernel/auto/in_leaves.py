"""A kernel machine in each leaf of a few random trees: every sample is a centre for the samples of its leaves.

    f(x) = c + (1 / T) sum_t f_{t,l}(x),    l the leaf of tree t that x falls into,
    f_{t,l}    kernel ridge regression of y - c on the samples of leaf l of tree t

The error of a rough kernel falls with every sample that becomes a centre, so few centres are a loss
(docs/results/rows.md). With all samples as centres in leaves of ``LEAF`` samples, n samples take about
T n LEAF^2 / 3 operations, and a prediction takes T LEAF values of the kernel. f is the function of a machine with

    k_T(x, z) = (1 / T) sum_t [x and z are in the same leaf of tree t] k(x, z)

except that every tree has separate coefficients.

A tree divides its samples by their projections on a direction. The direction is drawn from a normal distribution in
coordinates in which k is a function of plain distances, so that features of large scales have large parts in it. Nodes
of one depth share a direction. Trees do not depend on targets. As each tree cuts elsewhere, their mean has smaller
steps at the cuts than a single tree, and less error. Samples that fit into one leaf have one machine, without trees.

Held-out samples need no separate machine. In a leaf where they are the last ones,

    K + alpha I = L L',    L z = y - c,    K_21 (K_11 + alpha I)^-1 (y_1 - c) = L_21 z_1,

so that the factor of the machine on all samples also gives the predictions of the held-out ones by the machine on the
first samples (1: first samples, 2: held-out samples).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular

from multikernel._typing import Array
from multikernel._work import Work
from multikernel._workers import check_interrupted
from multikernel.auto.samples import DistanceSimilarity, InSingle, PreparedSamples, Similarity, TurnedSimilarity
from multikernel.auto.task import RidgeTask
from multikernel.banks.single import ScaledPoints
from multikernel.banks.threads import one_blas_thread, over_rows, slices
from multikernel.kernels import DistanceKernel
from multikernel.numerics.cholesky import factorise
from multikernel.procedures.centres import TILE, lowest_step

# The most samples of a leaf, and the number of trees. On protein with 40,730 rows 8 trees with leaves of 650 have R2
# .727 in 6 s, 4 with 1300 .724 in 5, 2 with 2600 .723 in 7, 16 with 325 .726 in 7, and 16 with 650 .729 in 11.
LEAF = 700
TREES = 8
_FEW_TREES = 2  # to choose a kernel by; a single tree chose another kernel on letter than the mean of eight trees
_LEAF_SECONDS = 0.02  # that a leaf takes: .014 to .025 s were measured, of 9 to 110 columns
_TRIALS = 6  # of kernels and ridges: four kernels at most, and two ridges at least
# The least ridges of a kernel matrix in single precision, relative to its order times its diagonal: they are tried in
# this order, as rounding may need more than the first
_ROUNDINGS = tuple(4.0**power * float(np.finfo(np.float32).eps) for power in range(4))

Plain = DistanceSimilarity | TurnedSimilarity  # kernels of distances, which have coordinates
Samples = tuple[PreparedSamples, RidgeTask]  # samples, with their targets and weights


@dataclass(repr=False)
class Rough(DistanceKernel):
    """k(x, z) = exp(-|x - z|^(3/2)), by Euclidean distances: rougher than a Gaussian, smoother than exp(-|x - z|)."""

    def profile(self, D: Array) -> Array:
        root = np.sqrt(D)  # the distance r, of squared ones; r^(3/2) is r times the root of r
        values = np.sqrt(root)
        values *= root
        np.negative(values, out=values)
        return np.asarray(np.exp(values, out=values))


# -- trees -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RandomTrees:
    """Trees of one depth H. The children of node i are the nodes 2 i + 1 and 2 i + 2; the leaves follow the nodes.

    Parameters
    ----------
    directions : array (T, H, q)
    thresholds : array (T, 2^H - 1), halfway between two projections; infinite where all samples go left
    """

    directions: Array
    thresholds: Array

    def __len__(self) -> int:
        return len(self.directions)

    def leaves(self, points: Array) -> Array:
        """The leaf of each of some points (n, q) in each tree: int array (T, n)."""
        leaves_of_trees = np.empty((len(self), len(points)), np.int64)
        for tree_leaves, directions, thresholds in zip(leaves_of_trees, self.directions, self.thresholds, strict=True):
            node = np.zeros(len(points), np.int64)
            for projections in _projected(points, directions):
                node = 2 * node + 1 + (projections > thresholds[node])
            tree_leaves[:] = node - len(thresholds)
        return leaves_of_trees


class TooAlikeError(ValueError):
    """More samples than a leaf may have are the same, so that no projection divides them."""


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees, and the samples of their leaves.

    Parameters
    ----------
    trees : RandomTrees
    order : int array (T, n), the samples of each tree, leaf after leaf; within a leaf in their original order
    ends : int array (T, 2^H + 1), where leaves begin and end in ``order``
    """

    trees: RandomTrees
    order: Array
    ends: Array

    @classmethod
    def of(cls, points: Array, count: int, seed: int) -> Grown:
        """``count`` trees over points (n, q).

        Raises
        ------
        TooAlikeError : where more samples than a leaf may have are the same
        """
        n = len(points)
        # two levels more than halves of equal size need: halves differ in size where samples are the same
        depth = 2 + int(np.ceil(np.log2(n / LEAF))) if n > LEAF else 0
        rng = np.random.default_rng(seed)
        directions = rng.normal(size=(count, depth, points.shape[1]))
        thresholds = np.full((count, 2**depth - 1), np.inf)
        order = np.empty((count, n), np.int64)
        ends = np.empty((count, 2**depth + 1), np.int64)
        for t in range(count):
            nodes = [np.arange(n)]
            first_number = 0
            for projections in _projected(points, directions[t]):
                children: list[Array] = []
                for number, rows in enumerate(nodes, first_number):
                    if len(rows) > LEAF:
                        thresholds[t, number] = _threshold(projections[rows])
                    right = projections[rows] > thresholds[t, number]
                    children += [rows[~right], rows[right]]
                first_number += len(nodes)
                nodes = children
            sizes = [len(rows) for rows in nodes]
            if max(sizes) > LEAF:
                raise TooAlikeError(f"{max(sizes)} samples are too much alike for leaves of {LEAF}")
            order[t] = np.concatenate(nodes)
            ends[t] = np.cumsum([0, *sizes])
        return cls(RandomTrees(directions, thresholds), order, ends)

    def leaf(self, t: int, number: int) -> slice:
        """Where the samples of a leaf are in ``order[t]``."""
        return slice(int(self.ends[t, number]), int(self.ends[t, number + 1]))

    def used(self) -> Iterator[tuple[int, int]]:
        """Tree and number of each leaf that has samples."""
        return ((t, number) for t, ends in enumerate(self.ends) for number in np.flatnonzero(np.diff(ends)).tolist())


def _projected(points: Array, directions: Array) -> Array:
    """The projections of points (n, q) on directions (H, q), shape (H, n), in double precision."""
    projections = np.empty((len(directions), len(points)))
    for block in slices(len(points), TILE):
        projections[:, block] = directions @ points[block].T.astype(float)
    return projections


def _threshold(projections: Array) -> float:
    """Halfway between two different projections, such that both sides fill leaves; infinite where all are the same."""
    values = np.sort(projections)
    smallest_gap = np.sqrt(np.finfo(float).eps) * np.abs(values[[0, -1]]).max()  # smaller ones are rounding
    changes = 1 + np.flatnonzero(np.diff(values) > smallest_gap)
    if not len(changes):
        return float("inf")
    leaves = -(-len(values) // LEAF)
    cut = changes[np.argmin(np.abs(changes - len(values) * (leaves // 2) // leaves))]
    return float(0.5 * (values[cut - 1] + values[cut]))


def divisible(points: Array, seed: int) -> bool:
    """Whether trees over points (n, q) have leaves of few samples."""
    try:
        Grown.of(points, 1, seed)
    except TooAlikeError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class InLeaves(Similarity):
    """The kernel k_T at the head of this file, of a kernel of distances and trees in its coordinates."""

    base: Plain
    trees: RandomTrees

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        shared = np.zeros((len(samples), len(centres)))
        leaves = (self.trees.leaves(self.base.coordinates(side)) for side in (samples, centres))
        for a, b in zip(*leaves, strict=True):
            shared += a[:, None] == b
        return shared / len(self.trees) * self.base(samples, centres)


# -- machines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LeafMember:
    """The trained machines of all leaves, a member of an answer.

    Parameters
    ----------
    similarity : InLeaves
    points : array (n, q) in single precision, the coordinates of the samples
    grown : Grown
    coef : array (T, n, k), in the order of the leaves
    intercept : array (k,)
    size : float > 0, the mean of k(x, x)
    """

    similarity: InLeaves
    points: Array
    grown: Grown
    coef: Array
    intercept: Array
    size: float = 1.0

    def function(self, samples: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """The function without intercept; the centres of other members and their precision do not matter."""
        return self._values

    def _values(self, samples: PreparedSamples) -> Array:
        return np.asarray(sum(self.of_trees(samples)) / len(self.grown.trees))

    def of_trees(self, samples: PreparedSamples) -> Iterator[Array]:
        """The function of each tree alone, without intercept."""
        points = self.similarity.base.coordinates(samples)
        for t, leaves in enumerate(self.grown.trees.leaves(points)):
            values = np.empty((len(points), self.coef.shape[2]))
            for number in np.unique(leaves).tolist():
                rows = np.flatnonzero(leaves == number)
                leaf = self.grown.leaf(t, number)
                kernel = kernel_with(self.similarity.base, self.points[self.grown.order[t, leaf]])
                values[rows] = kernel.times(points[rows], self.coef[t, leaf])
            yield values


def kernel_with(base: Plain, points: Array) -> InSingle:
    """The kernel with these points, as a function of the coordinates of samples."""
    return InSingle(base.kernel, ScaledPoints.of(points, np.ones(points.shape[1]), base.kernel.degree))


@dataclass(frozen=True, eq=False)
class LeafSolution:
    """The machines of all leaves, and predictions of the last samples by machines on the first ones.

    Parameters
    ----------
    points, grown : as in ``LeafMember``
    coef : array (T, n, t)
    intercept : array (t,)
    held_out : array (n - first, t)
    seconds : float
    """

    points: Array
    grown: Grown
    coef: Array
    intercept: Array
    held_out: Array
    seconds: float

    @classmethod
    def of(
        cls, base: Plain, alpha: float, samples: PreparedSamples, task: RidgeTask, first: int, count: int, seed: int
    ) -> LeafSolution:
        """The machines on all samples; the last ones, after ``first``, are predicted without them.

        Raises
        ------
        TooAlikeError : where too many samples are the same
        LinAlgError : where a kernel matrix in single precision has no factor
        """
        begin = perf_counter()
        points = base.coordinates(samples)
        count = count if len(points) > LEAF else 1
        grown = Grown.of(points, count, seed)
        weight = None if task.weight is None else task.weight[:first]
        intercept = np.average(task.Y[:first], axis=0, weights=weight)
        residuals = task.Y - intercept
        if task.weight is None:
            ridges = np.full(len(points), alpha)
        else:
            ridges = alpha / task.weight
        coef = np.empty((count, *residuals.shape))
        held_out = np.zeros((len(points) - first, residuals.shape[1]))
        leaves = list(grown.used())

        def solve(index: slice) -> tuple[Array, Array]:
            t, number = leaves[index.start]
            check_interrupted()
            leaf = grown.leaf(t, number)
            rows = grown.order[t, leaf]
            trained = int(np.searchsorted(rows, first))
            coef[t, leaf], values = _solve_leaf(base, points[rows], residuals[rows], ridges[rows], trained)
            return rows[trained:] - first, values

        with one_blas_thread(0):
            for index, values in over_rows(solve, len(leaves), 1):
                held_out[index] += values / count
        return cls(points, grown, coef, intercept, held_out + intercept, perf_counter() - begin)

    def member(self, base: Plain, scores: Callable[[Array], Array] = np.asarray) -> LeafMember:
        """The machines as a member; ``scores`` is the linear map from their values to scores."""
        similarity = InLeaves(base, self.grown.trees)
        return LeafMember(similarity, self.points, self.grown, scores(self.coef), scores(self.intercept))


def _solve_leaf(base: Plain, points: Array, residuals: Array, ridges: Array, first: int) -> tuple[Array, Array]:
    """Coefficients of the machine of a leaf, and predictions of its last samples by the machine on the first."""
    K = kernel_with(base, points)(points)
    L = np.empty(K.shape, order="F")
    for rounding in _ROUNDINGS:
        L.T[:] = K
        L.flat[:: len(L) + 1] += np.maximum(ridges, rounding * len(L) * K.diagonal())
        if factorise(L):
            break
    else:
        raise LinAlgError("a kernel matrix in single precision with a ridge is not positive definite")
    z = solve_triangular(L, residuals, lower=True, check_finite=False)
    coef = solve_triangular(L, z, lower=True, trans=1, check_finite=False)
    return coef, L[first:, :first] @ z[:first]


# -- the kernel and its ridge ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LeafKernel:
    """A kernel and its ridge, chosen by few trees.

    The errors of trees have the same distribution: with the error E_1 of one tree and E_2 of the mean of two, the error
    of the mean of T trees is

        E + (E_1 - E) / T,    E = 2 E_2 - E_1,

    which has its minimum at a smaller ridge than E_1.

    Parameters
    ----------
    base : Plain
    alpha : float
    predicted : array (r, t), of the samples compared on, by few trees
    error : float, the mean squared error of these that ``TREES`` trees are expected to have
    speed : LeafSpeed
    """

    name: ClassVar[str] = "all samples, in leaves of random trees"

    base: Plain
    alpha: float
    predicted: Array
    error: float
    speed: LeafSpeed

    @classmethod
    def of(
        cls, possible: Sequence[tuple[Plain, float]], train: Samples, compared: Samples, seed: int
    ) -> LeafKernel | None:
        """The kernel and the ridge of least error; None where none of the kernels has machines in leaves.

        Parameters
        ----------
        possible : kernels, each with a ridge to begin with; those of squared distances are tried as ``Rough`` as well
        train, compared : samples with their targets, to train on and to compare on
        seed : int
        """
        rough = [(replace(base, kernel=Rough()), alpha) for base, alpha in possible if base.kernel.degree == 2]
        leaf_kernels = (cls._trial(base, alpha, train, compared, seed) for base, alpha in [*possible, *rough])
        possible_kernels = [kernel for kernel in leaf_kernels if kernel is not None]
        if not possible_kernels:
            return None
        start = min(possible_kernels, key=lambda kernel: kernel.error)
        kernels_by_step: dict[int, LeafKernel | None] = {0: start}

        def error(step: int) -> float:
            """The error with 2^step times the first ridge; infinite without machines."""
            if step not in kernels_by_step:
                kernels_by_step[step] = cls._trial(start.base, start.alpha * 2.0**step, train, compared, seed)
            kernel = kernels_by_step[step]
            if kernel is None:
                return np.inf
            return kernel.error

        return kernels_by_step[lowest_step(error, (-2,))]

    @classmethod
    def _trial(cls, base: Plain, alpha: float, train: Samples, compared: Samples, seed: int) -> LeafKernel | None:
        samples, task = train
        try:
            solution = LeafSolution.of(base, alpha, samples, task, len(samples), _FEW_TREES, seed)
        except (TooAlikeError, LinAlgError):
            return None
        values = [tree_values + solution.intercept for tree_values in solution.member(base).of_trees(compared[0])]
        predicted = np.mean(values, axis=0)
        single = float(np.mean([compared[1].error(tree_values) for tree_values in values]))
        mean = compared[1].error(predicted)
        endless = single - (single - mean) * len(values) / max(1, len(values) - 1)
        trees, n = solution.grown.order.shape
        size = trees * n / sum(1 for _ in solution.grown.used())
        # leaves of so few samples are smaller than those of all samples, and take less time
        speed = LeafSpeed(solution.seconds / trees / n * LEAF / size)
        return cls(base, alpha, predicted, endless + (single - endless) / TREES, speed)

    @staticmethod
    def work(rows: int) -> Work:
        """The work of choosing the kernel and the ridge on so many samples."""
        return Work(steps=_LEAF_SECONDS * _TRIALS * _FEW_TREES * rows / LEAF)


@dataclass(frozen=True)
class LeafSpeed:
    """Seconds that one tree takes for a sample."""

    each: float

    def seconds(self, rows: float, centres: float) -> float:
        """The seconds of the machines of all trees; the centres of other candidates do not matter."""
        return TREES * rows * self.each
