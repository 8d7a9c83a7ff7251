"""A kernel machine in each leaf of a few random trees: every sample is a centre, of those that share a leaf with it.

    f(x) = c + (1 / T) sum_t f_{t,l}(x),    l the leaf of tree t that x falls into,
    f_{t,l}    kernel ridge regression on the samples of leaf l of tree t, of what they differ from c

A rough kernel gains by every sample that is a centre, and few centres lose that gain (docs/results/rows.md). With
all of them as centres in leaves of ``LEAF`` samples, n samples take about T n LEAF^2 / 3 operations, and a prediction
T LEAF values of the kernel. It is the function of a machine with the kernel

    k_T(x, z) = (1 / T) sum_t [x and z are in the same leaf of tree t] k(x, z)

but that every tree has coefficients of its own.

A tree divides its samples by their projections on a direction, drawn from a normal distribution in coordinates in which
k sees plain distances, so that features of large scales have a large part in it. Nodes of one depth share their
direction. Trees see no targets. As each of them cuts elsewhere, their mean has smaller steps at the cuts than one of
them, and less error. Of samples that fit into one leaf there is one machine, without trees.

Samples that are held out need no machine of their own. In a leaf where they are the last ones,

    K + alpha I = L L',    L z = y - c,    K_21 (K_11 + alpha I)^-1 (y_1 - c) = L_21 z_1,

so that the factor of the machine on all of them has what the machine on the first ones predicts of the others.
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

# Samples of a leaf at most, and trees. On protein with 40,730 rows 8 trees with leaves of 650 have R2 .727 in 6 s, 4
# with 1300 .724 in 5, 2 with 2600 .723 in 7, 16 with 325 .726 in 7, and 16 with 650 .729 in 11.
LEAF = 700
TREES = 8
_FEW_TREES = 2  # to choose a kernel by; by a single one another was chosen on letter than by the mean of eight
_LEAF_SECONDS = 0.02  # that a leaf takes: .014 to .025 s were measured, of 9 to 110 columns
_TRIALS = 6  # of kernels and of ridges: four kernels at most, and two ridges at least
# Times the order of a kernel matrix in single precision, the least ridges: rounding may need more than the first
_ROUNDINGS = tuple(4.0**power * float(np.finfo(np.float32).eps) for power in range(4))

Plain = DistanceSimilarity | TurnedSimilarity  # kernels of distances, which have coordinates
Samples = tuple[PreparedSamples, RidgeTask]  # and what is to be learned of them


@dataclass(repr=False)
class Rough(DistanceKernel):
    """k(x, z) = exp(-|x - z|^(3/2)), by Euclidean distances: rougher than a Gaussian, smoother than exp(-|x - z|)."""

    def profile(self, D: Array) -> Array:
        root = np.sqrt(D)  # the distance, to which 3/2 are two more roots
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
        found = np.empty((len(self), len(points)), np.int64)
        for own, directions, thresholds in zip(found, self.directions, self.thresholds, strict=True):
            node = np.zeros(len(points), np.int64)
            for projections in _projected(points, directions):
                node = 2 * node + 1 + (projections > thresholds[node])
            own[:] = node - len(thresholds)
        return found


class TooAlikeError(ValueError):
    """More samples than a leaf may have are the same, so that nothing divides them."""


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees, and the samples of their leaves.

    Parameters
    ----------
    trees : RandomTrees
    order : int array (T, n), the samples of each tree, leaf after leaf, those of a leaf in the order that they had
    ends : int array (T, 2^H + 1), where leaves begin and end there
    """

    trees: RandomTrees
    order: Array
    ends: Array

    @classmethod
    def of(cls, points: Array, count: int, seed: int) -> Grown:
        """So many trees over points (n, q).

        Raises
        ------
        TooAlikeError : where more samples than a leaf may have are the same
        """
        n = len(points)
        # two levels more than halves of equal size need: where samples are the same, halves are not
        depth = 2 + int(np.ceil(np.log2(n / LEAF))) if n > LEAF else 0
        rng = np.random.default_rng(seed)
        directions = rng.normal(size=(count, depth, points.shape[1]))
        thresholds = np.full((count, 2**depth - 1), np.inf)
        order = np.empty((count, n), np.int64)
        ends = np.empty((count, 2**depth + 1), np.int64)
        for t in range(count):
            nodes = [np.arange(n)]
            first = 0
            for projections in _projected(points, directions[t]):
                below: list[Array] = []
                for number, own in enumerate(nodes, first):
                    if len(own) > LEAF:
                        thresholds[t, number] = _threshold(projections[own])
                    right = projections[own] > thresholds[t, number]
                    below += [own[~right], own[right]]
                first += len(nodes)
                nodes = below
            sizes = [len(own) for own in nodes]
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
    found = np.empty((len(directions), len(points)))
    for part in slices(len(points), TILE):
        found[:, part] = directions @ points[part].T.astype(float)
    return found


def _threshold(projections: Array) -> float:
    """Halfway between two different projections, such that both sides fill leaves; infinite where all are the same."""
    values = np.sort(projections)
    least = np.sqrt(np.finfo(float).eps) * np.abs(values[[0, -1]]).max()  # less is rounding
    changes = 1 + np.flatnonzero(np.diff(values) > least)
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

    def __call__(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        shared = np.zeros((len(new), len(old)))
        leaves = (self.trees.leaves(self.base.coordinates(each)) for each in (new, old))
        for a, b in zip(*leaves, strict=True):
            shared += a[:, None] == b
        return shared / len(self.trees) * self.base(new, old)


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
        """What is added to the intercept; the centres of other members and their precision do not matter."""
        return self._values

    def _values(self, new: PreparedSamples) -> Array:
        return np.asarray(sum(self.of_trees(new)) / len(self.grown.trees))

    def of_trees(self, new: PreparedSamples) -> Iterator[Array]:
        """What each tree alone adds to the intercept."""
        points = self.similarity.base.coordinates(new)
        for t, leaves in enumerate(self.grown.trees.leaves(points)):
            values = np.empty((len(points), self.coef.shape[2]))
            for number in np.unique(leaves).tolist():
                own = np.flatnonzero(leaves == number)
                there = self.grown.leaf(t, number)
                kernel = kernel_with(self.similarity.base, self.points[self.grown.order[t, there]])
                values[own] = kernel.times(points[own], self.coef[t, there])
            yield values


def kernel_with(base: Plain, points: Array) -> InSingle:
    """The kernel with some points, a function of the coordinates of others."""
    return InSingle(base.kernel, ScaledPoints.of(points, np.ones(points.shape[1]), base.kernel.degree))


@dataclass(frozen=True, eq=False)
class LeafSolution:
    """The machines of all leaves, and what those on the first samples predict of the others.

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
        """Of samples and their targets, of which the ``first`` ones do without the others.

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
        left = task.Y - intercept
        if task.weight is None:
            ridges = np.full(len(points), alpha)
        else:
            ridges = alpha / task.weight
        coef = np.empty((count, *left.shape))
        held_out = np.zeros((len(points) - first, left.shape[1]))
        leaves = list(grown.used())

        def solve(which: slice) -> tuple[Array, Array]:
            t, number = leaves[which.start]
            check_interrupted()
            there = grown.leaf(t, number)
            own = grown.order[t, there]
            known = int(np.searchsorted(own, first))
            coef[t, there], values = _solved(base, points[own], left[own], ridges[own], known)
            return own[known:] - first, values

        with one_blas_thread(0):
            for index, values in over_rows(solve, len(leaves), 1):
                held_out[index] += values / count
        return cls(points, grown, coef, intercept, held_out + intercept, perf_counter() - begin)

    def member(self, base: Plain, scores: Callable[[Array], Array] = np.asarray) -> LeafMember:
        """The machines as a member, of what ``scores`` makes of their values."""
        similarity = InLeaves(base, self.grown.trees)
        return LeafMember(similarity, self.points, self.grown, scores(self.coef), scores(self.intercept))


def _solved(base: Plain, points: Array, left: Array, ridges: Array, first: int) -> tuple[Array, Array]:
    """Coefficients of the machine of a leaf, and what the one on its first samples predicts of the others."""
    K = kernel_with(base, points)(points)
    L = np.empty(K.shape, order="F")
    for rounding in _ROUNDINGS:
        L.T[:] = K
        L.flat[:: len(L) + 1] += np.maximum(ridges, rounding * len(L) * K.diagonal())
        if factorise(L):
            break
    else:
        raise LinAlgError("a kernel matrix in single precision with a ridge is not positive definite")
    z = solve_triangular(L, left, lower=True, check_finite=False)
    coef = solve_triangular(L, z, lower=True, trans=1, check_finite=False)
    return coef, L[first:, :first] @ z[:first]


# -- the kernel and its ridge ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LeafKernel:
    """A kernel and its ridge, chosen by few trees.

    Trees are alike: with the error E_1 of one and E_2 of the mean of two, that of the mean of T is

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
        train, compared : samples, and what is to be learned of them
        seed : int
        """
        rough = [(replace(base, kernel=Rough()), alpha) for base, alpha in possible if base.kernel.degree == 2]
        each = (cls._of(base, alpha, train, compared, seed) for base, alpha in [*possible, *rough])
        made = [one for one in each if one is not None]
        if not made:
            return None
        first = min(made, key=lambda one: one.error)
        tried: dict[int, LeafKernel | None] = {0: first}

        def error(step: int) -> float:
            """That of 2^step times the ridge; infinite without machines."""
            if step not in tried:
                tried[step] = cls._of(first.base, first.alpha * 2.0**step, train, compared, seed)
            one = tried[step]
            if one is None:
                return np.inf
            return one.error

        return tried[lowest_step(error, (-2,))]

    @classmethod
    def _of(cls, base: Plain, alpha: float, train: Samples, compared: Samples, seed: int) -> LeafKernel | None:
        samples, task = train
        try:
            solution = LeafSolution.of(base, alpha, samples, task, len(samples), _FEW_TREES, seed)
        except (TooAlikeError, LinAlgError):
            return None
        values = [each + solution.intercept for each in solution.member(base).of_trees(compared[0])]
        predicted = np.mean(values, axis=0)
        single, mean = float(np.mean([compared[1].error(each) for each in values])), compared[1].error(predicted)
        endless = single - (single - mean) * len(values) / max(1, len(values) - 1)
        trees, n = solution.grown.order.shape
        size = trees * n / sum(1 for _ in solution.grown.used())
        # smaller leaves than those of more samples take less
        speed = LeafSpeed(solution.seconds / trees / n * LEAF / size)
        return cls(base, alpha, predicted, endless + (single - endless) / TREES, speed)

    @staticmethod
    def work(rows: int) -> Work:
        """What it takes to choose it on so many samples."""
        return Work(steps=_LEAF_SECONDS * _TRIALS * _FEW_TREES * rows / LEAF)


@dataclass(frozen=True)
class LeafSpeed:
    """Seconds that one tree takes for a sample."""

    each: float

    def seconds(self, rows: float, centres: float) -> float:
        """That the machines of all trees take; the centres of other candidates do not matter."""
        return TREES * rows * self.each
