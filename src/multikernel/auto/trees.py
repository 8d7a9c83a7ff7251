"""A kernel of boosted trees: the share of them in which two samples fall into the same leaf.

    k(x, z) = (1 / T) sum_t [leaf_t(x) = leaf_t(z)]

A function of this kernel has a value for each leaf of each tree, as boosting has; ridge regression chooses all these
values anew, together. So the features are those of boosting (thresholds, interactions, few of many columns), for which
kernels of distances need many samples, and the machine, its ridge and its place in the blend are those of every other
kernel. Trees see targets: a model with this kernel is compared on samples that they were not fitted to.

The trees are those of scikit-learn's histogram boosting with squared loss. It has no public way to ask for leaves, so
``_nodes`` reads them where its predictors keep them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel._work import Work
from multikernel.auto.candidates import KernelAndRidge, KernelCandidate
from multikernel.auto.samples import PreparedSamples, Similarity
from multikernel.auto.task import RidgeTask
from multikernel.banks.single import over_few_rows
from multikernel.banks.threads import one_openmp_thread

_TREES = 200  # of all targets together, on few rows; of 5000, 100 and 300 predicted as well to 0.004 on five sets
# More rows justify more trees: on 80,000 rows of benchmarks/streamed.py the kernel of 200 trees has R2 .694, that of
# 600 has .785 (1200 centres).
_MOST_TREES = 600
_ROWS_FOR_A_TREE = 133
_FEWEST_TREES = 10  # of each target: where targets are so many that each has fewer, there is no such kernel


@dataclass(frozen=True, eq=False)
class Leaves(Similarity):
    """The kernel at the head of this file; every tree is a row of nodes.

    Parameters
    ----------
    feature : int array (T, nodes), the column that a node compares; -1 for a leaf
    threshold : array (T, nodes), samples of at most this value go left
    left, right : int arrays (T, nodes), the nodes below
    number : uint8 array (T, nodes), of a leaf among those of its tree
    """

    feature: Array
    threshold: Array
    left: Array
    right: Array
    number: Array

    def __call__(self, samples: PreparedSamples, centres: PreparedSamples) -> Array:
        return self.to(centres)(samples)

    def to(self, centres: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        from multikernel.auto import _leaves

        B = np.ascontiguousarray(self._leaves(centres).T)

        def shared(samples: PreparedSamples) -> Array:
            A = self._leaves(samples)
            K = np.empty((len(A), B.shape[1]), np.float32)

            def fill(rows: slice) -> None:
                _leaves.agreement(A[rows], B, K[rows])
                K[rows] /= np.float32(len(B))

            over_few_rows(fill, *K.shape)
            return K.astype(dtype, copy=False)

        return shared

    def function(self, centres: PreparedSamples, coef: Array, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """The function by sums of coefficients in each leaf: without a kernel, in a few additions for each tree."""
        from multikernel.auto import _leaves

        trees = len(self.feature)
        leaf_count = int(self.number.max()) + 1
        numbers = self._leaves(centres).astype(np.int64) + leaf_count * np.arange(trees)
        leaf_values = [
            np.bincount(numbers.ravel(), np.repeat(target_coef, trees), trees * leaf_count) / trees
            for target_coef in coef.T
        ]
        values = np.stack(leaf_values, axis=1).reshape(trees, leaf_count, len(leaf_values))

        def total(samples: PreparedSamples) -> Array:
            sums = np.zeros((len(samples), coef.shape[1]))
            _leaves.summed(self._leaves(samples), values, sums)
            return sums

        return total

    def _leaves(self, samples: PreparedSamples) -> Array:
        """The number of each sample's leaf in each tree, shape (n, T)."""
        from multikernel.auto import _leaves

        X = np.ascontiguousarray(samples.plain)
        leaves = np.empty((len(X), len(self.feature)), np.uint8)

        def fill(rows: slice) -> None:
            _leaves.leaves(X[rows], self.feature, self.threshold, self.left, self.right, self.number, leaves[rows])

        over_few_rows(fill, *leaves.shape)
        return leaves


@dataclass(frozen=True)
class BoostedTrees(KernelCandidate):
    """The leaves of trees that are fitted to all samples to learn from."""

    name: str = "leaves of boosted trees"

    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
        """The trees with a ridge of 1, which other samples replace by a better one; None for too many targets."""
        trees_per_target = _tree_count(len(samples)) // task.Y.shape[1]
        if trees_per_target < _FEWEST_TREES:
            return None
        from sklearn.ensemble import HistGradientBoostingRegressor  # takes a while to load, and no prediction needs it

        nodes: list[Any] = []
        for y in task.Y.T:
            model = HistGradientBoostingRegressor(max_iter=trees_per_target, early_stopping=False, random_state=0)
            with one_openmp_thread():
                nodes += _nodes(model.fit(samples.plain, y, task.weight))
        return KernelAndRidge(_leaves_of_nodes(nodes), 1.0, f"{len(nodes)} trees")

    def work(self, n: int, p: int) -> Work:
        # 0.3, 0.5, 1.2 and 2.3 s were measured for 200 trees on 4000, 16,000, 80,000 and 200,000 rows of 20 columns
        return Work(steps=_tree_count(n) * (2e-3 + 3e-9 * n * p))


def _tree_count(rows: int) -> int:
    """The number of trees for so many rows."""
    return int(np.clip(rows // _ROWS_FOR_A_TREE, _TREES, _MOST_TREES))


def _nodes(model: Any) -> list[Any]:
    """The nodes of each tree of a boosted model, arrays of records; trees of a constant target have one leaf."""
    return [trees[0].nodes for trees in model._predictors]


def _leaves_of_nodes(nodes: list[Any]) -> Leaves:
    width = max(len(tree) for tree in nodes)
    shape = (len(nodes), width)
    feature = np.full(shape, -1, np.int64)
    threshold = np.zeros(shape)
    left, right = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    number = np.zeros(shape, np.uint8)
    for t, tree in enumerate(nodes):
        inner = tree["is_leaf"] == 0
        columns = slice(0, len(tree))
        feature[t, columns] = np.where(inner, tree["feature_idx"], -1)
        threshold[t, columns] = np.where(inner, tree["num_threshold"], 0.0)
        left[t, columns], right[t, columns] = np.where(inner, tree["left"], 0), np.where(inner, tree["right"], 0)
        number[t, columns] = np.cumsum(~inner) - 1
    return Leaves(feature, threshold, left, right, number)
