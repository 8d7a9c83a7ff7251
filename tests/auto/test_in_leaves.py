"""Machines in the leaves of random trees, beside NumPy's solutions leaf by leaf."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from multikernel.auto import in_leaves
from multikernel.auto.in_leaves import Grown, InLeaves, LeafKernel, LeafSolution, Rough, divisible
from multikernel.auto.preparation import Preparation
from multikernel.auto.samples import DistanceSimilarity, TurnedSimilarity
from multikernel.auto.table import read
from multikernel.auto.task import RidgeTask
from multikernel.kernels import RBF, DistanceKernel, Laplacian, Matern

KERNELS = [
    DistanceSimilarity(Matern(), np.array([0.5, 0.0, 2.0, 1.0]), ranked=True),
    DistanceSimilarity(Laplacian(), np.array([0.5, 0.0, 2.0, 1.0])),
    DistanceSimilarity(Rough(), np.array([0.5, 0.3, 2.0, 1.0])),
    TurnedSimilarity(RBF(), np.linspace(-1.0, 1.0, 8).reshape(4, 2)),
]


@dataclass(repr=False)
class Indefinite(DistanceKernel):
    """No kernel: similarities grow with the distance."""

    degree = 1
    distance = Laplacian.distance

    def profile(self, D):
        return D


@pytest.fixture(autouse=True)
def leaves_of_30(monkeypatch):
    monkeypatch.setattr(in_leaves, "LEAF", 30)


def posed(n=200, targets=2, weighted=False, seed=0):
    """Samples and their targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    table = read(X)
    Y = np.column_stack([np.sin(X[:, t % 4]) + 0.1 * rng.normal(size=n) for t in range(targets)])
    weight = rng.uniform(0.2, 2.0, n) if weighted else None
    return Preparation.of(table).samples(table), RidgeTask.of(Y, weight, np.zeros(n, dtype=int), 0)


@pytest.mark.parametrize("n", [1, 29, 30, 31, 100, 241])
def test_leaves_hold_all_samples_once_and_no_more_than_they_may(n):
    points = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    grown = Grown.of(points, 5, 0)
    for t, leaves in enumerate(grown.trees.leaves(points)):
        assert np.array_equal(np.sort(grown.order[t]), np.arange(n))
        for number in range(grown.ends.shape[1] - 1):
            own = grown.order[t, grown.leaf(t, number)]
            assert len(own) <= 30
            assert np.array_equal(own, np.flatnonzero(leaves == number))


def test_samples_that_are_the_same_share_their_leaf_with_new_ones():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 2, size=(300, 6)).astype(np.float32)  # 64 different ones
    grown = Grown.of(points, 4, 0)
    assert np.diff(grown.ends, axis=1).max() <= 30
    leaves = grown.trees.leaves(points)
    for i in range(0, 300, 7):
        assert np.array_equal(grown.trees.leaves(points[[i]])[:, 0], leaves[:, i])
    for t in range(4):
        for number in range(grown.ends.shape[1] - 1):
            assert (leaves[t, grown.order[t, grown.leaf(t, number)]] == number).all()


def test_too_many_that_are_the_same_have_no_leaves():
    points = np.concatenate([np.ones((31, 2)), np.random.default_rng(0).normal(size=(60, 2))]).astype(np.float32)
    with pytest.raises(ValueError, match="too much alike"):
        Grown.of(points, 1, 0)
    assert not divisible(points, 0)
    assert divisible(points[1:], 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("similarity", KERNELS)
def test_machines_are_those_of_numpy(similarity, weighted):
    samples, task = posed(weighted=weighted)
    alpha, first = 0.3, 150
    found = LeafSolution.of(similarity, alpha, samples.of(np.arange(200)), task, first, 3, seed=1)
    new, _ = posed(50, seed=1)
    values = found.member(similarity).function(samples)(new) + found.intercept
    weight = np.ones(200) if task.weight is None else task.weight
    centre = np.average(task.Y[:first], axis=0, weights=weight[:first])
    held, expected = np.zeros((50, 2)), np.zeros((50, 2))
    leaves = found.grown.trees.leaves(similarity.coordinates(samples))
    of_new = found.grown.trees.leaves(similarity.coordinates(new))
    for t in range(3):
        for number in np.unique(leaves[t]):
            own = np.flatnonzero(leaves[t] == number)
            there = np.flatnonzero(of_new[t] == number)
            for rows, others, total in ((own, new.of(there), expected), (own[own < first], None, held)):
                z = samples.of(rows)
                coef = np.linalg.solve(similarity(z, z) + np.diag(alpha / weight[rows]), task.Y[rows] - centre)
                if others is None:
                    last = own[own >= first]
                    total[last - first] += similarity(samples.of(last), z) @ coef / 3
                else:
                    total[there] += similarity(others, z) @ coef / 3
    np.testing.assert_allclose(found.held_out, held + centre, atol=1e-4)
    np.testing.assert_allclose(values, expected + centre, atol=1e-4)


@pytest.mark.parametrize("similarity", KERNELS)
def test_the_kernel_is_that_of_samples_that_share_leaves(similarity):
    samples, _ = posed()
    trees = Grown.of(similarity.coordinates(samples), 4, 0).trees
    kernel = InLeaves(similarity, trees)
    K = kernel(samples, samples)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    leaves = trees.leaves(similarity.coordinates(samples))
    shared = (leaves[:, :, None] == leaves[:, None]).mean(axis=0)
    np.testing.assert_allclose(K, shared * similarity(samples, samples), atol=1e-12)


def test_samples_of_one_leaf_have_one_machine():
    samples, task = posed(30)
    found = LeafSolution.of(KERNELS[0], 0.1, samples, task, 30, 8, 0)
    assert found.coef.shape == (1, 30, 2)
    coef, mean = task.solve(KERNELS[0](samples, samples), 0.1)
    np.testing.assert_allclose(found.coef[0], coef, atol=1e-4)
    np.testing.assert_allclose(found.intercept, mean)


def test_the_kernel_of_least_error_is_chosen():
    samples, task = posed(400)
    train, others = np.arange(300), np.arange(300, 400)
    parts = [(samples.of(own), task.of_rows(own)) for own in (train, others)]
    found = LeafKernel.of([(each, 0.1) for each in KERNELS[:2]], *parts, seed=0)
    assert found.speed.seconds(1000, 0) > 0.0
    for base in (KERNELS[0], KERNELS[1], replace(KERNELS[0], kernel=Rough())):
        for alpha in (0.1, found.alpha, 0.25 * found.alpha, 4.0 * found.alpha):
            other = LeafKernel._trial(base, alpha, *parts, 0)
            chosen = base.kernel == found.base.kernel
            if chosen or alpha == 0.1:
                assert found.error <= other.error
            if chosen and alpha == found.alpha:
                np.testing.assert_array_equal(found.predicted, other.predicted)


def test_the_error_of_many_trees_follows_from_that_of_two(monkeypatch):
    samples, task = posed(1000, targets=1)
    train, others = np.arange(600), np.arange(600, 1000)
    parts = [(samples.of(own), task.of_rows(own)) for own in (train, others)]
    base = KERNELS[2]
    guesses = [LeafKernel._trial(base, 0.01, *parts, seed).error for seed in range(8)]
    solution = LeafSolution.of(base, 0.01, *parts[0], 600, in_leaves.TREES, 0)
    values = solution.member(base).function(samples)(parts[1][0]) + solution.intercept
    assert np.mean(guesses) == pytest.approx(parts[1][1].error(values), rel=0.1)


def test_a_kernel_that_is_not_definite_is_an_error():
    samples, task = posed(60)
    bad = DistanceSimilarity(Indefinite(), np.ones(4))
    with pytest.raises(LinAlgError, match="not positive definite"):
        LeafSolution.of(bad, 1e-3, samples, task, 60, 2, 0)
    part = samples, task
    found = LeafKernel.of([(bad, 1e-3), (KERNELS[1], 0.1)], part, part, 0)
    assert found.base is KERNELS[1]
    assert LeafKernel.of([(replace(bad, kernel=Indefinite()), 1e-3)], part, part, 0) is None
