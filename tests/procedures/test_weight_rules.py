"""Weights by rule: average, alignment, alignf, best kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut

import reference as ref
from multikernel import (
    BestKernelClassifier,
    BestKernelRegressor,
    PredictionWarning,
    ProportionalMKLRegressor,
    bind,
    precomputed,
)
from multikernel.kernels import RBF, Linear, linear_features
from multikernel.machines import RidgeMachine
from multikernel.procedures import Weights, alignf, alignment, average, best_kernel, held_out_scores, proportional
from zoo import BANKS, PROBLEMS, bank, samples

Array = Any
problems = pytest.mark.parametrize("name", PROBLEMS)


def targets(name: str) -> dict[str, Array]:
    """The labels, and real numbers with a mean."""
    y = PROBLEMS[name]().y
    return {"labels": y, "numbers": y + np.random.default_rng(0).normal(size=len(y)) + 5.0}


def test_average_is_uniform() -> None:
    np.testing.assert_array_equal(average(precomputed(PROBLEMS["random"]().K)).values, np.full(4, 0.25))


@problems
@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_alignment_is_its_formula(name: str, kind: str) -> None:
    problem, y = PROBLEMS[name](), targets(name)[kind]
    scores = np.array(
        [
            max(ref.centred_alignment(K, y), 0.0) if np.linalg.norm(ref.centred_matrix(K)) > 1e-9 else 0.0
            for K in problem.K
        ]
    )
    np.testing.assert_allclose(alignment(precomputed(problem.K), y).values, scores / scores.sum(), atol=1e-9)


@problems
@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_alignf_reaches_the_largest_alignment(name: str, kind: str) -> None:
    problem, y = PROBLEMS[name](), targets(name)[kind]
    weights = alignf(precomputed(problem.K), y).values
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    reached = ref.centred_alignment(ref.combine(problem.K, weights), y)
    best = ref.best_alignment(problem.K, y)
    assert best * (1.0 - 1e-6) <= reached <= best * (1.0 + 1e-6)


@problems
def test_alignf_is_no_worse_than_any_single_kernel_or_the_average(name: str) -> None:
    problem = PROBLEMS[name]()
    reached = ref.centred_alignment(ref.combine(problem.K, alignf(precomputed(problem.K), problem.y).values), problem.y)
    others = [*problem.K, problem.K.mean(axis=0)]
    alignments = [ref.centred_alignment(K, problem.y) for K in others if np.linalg.norm(ref.centred_matrix(K)) > 1e-9]
    assert reached >= max(alignments) - 1e-9


@pytest.mark.parametrize("rule", [alignment, alignf], ids=["alignment", "alignf"])
def test_zero_and_constant_kernels_have_no_weight(rule: Any) -> None:
    for name, k in (("zero", 1), ("constant", 2)):
        problem = PROBLEMS[name]()
        assert rule(precomputed(problem.K), problem.y).values[k] < 1e-9


@pytest.mark.parametrize("value", [0.1, 1.0 / 3.0, 7.7, 1e6 / 3.0], ids=str)
@pytest.mark.parametrize("rule", [alignment, alignf], ids=["alignment", "alignf"])
def test_rounding_of_a_centred_constant_kernel_is_not_a_kernel(rule: Any, value: float) -> None:
    K = PROBLEMS["random"]().K.copy()
    K[2] = value
    for y in targets("random").values():
        found, without = rule(precomputed(K), y).values, rule(precomputed(K[[0, 1, 3]]), y).values
        np.testing.assert_allclose(found, np.insert(without, 2, 0.0), atol=1e-9)


@pytest.mark.parametrize("rule", [alignment, alignf], ids=["alignment", "alignf"])
def test_constant_target_leaves_uniform_weights(rule: Any) -> None:
    problem = PROBLEMS["random"]()
    np.testing.assert_allclose(rule(precomputed(problem.K), np.zeros(30)).values, np.full(4, 0.25))


def test_alignf_does_not_see_the_scale_of_the_target() -> None:
    problem, y = PROBLEMS["random"](), targets("random")["numbers"]
    want = alignf(precomputed(problem.K), y).values
    for factor in (1e-6, -1.0, 1e6):
        np.testing.assert_allclose(alignf(precomputed(problem.K), factor * y).values, want, atol=1e-9)


def test_alignf_follows_the_scale_of_a_kernel() -> None:
    """Ten times the kernel, a tenth of the weight: the mix is the same."""
    problem = PROBLEMS["random"]()
    want = alignf(precomputed(problem.K), problem.y).values / np.array([10.0, 1.0, 1.0, 1.0])
    found = alignf(precomputed(problem.K * np.array([10.0, 1.0, 1.0, 1.0])[:, None, None]), problem.y).values
    np.testing.assert_allclose(found, want / want.sum(), atol=1e-9)


@pytest.mark.parametrize("name", ["packed", "factor-sparse", "powers-cosines", "rbf-uneven", "lazy", "concatenated"])
@pytest.mark.parametrize("rule", [alignment, alignf], ids=["alignment", "alignf"])
def test_form_in_which_the_bank_is_stored_does_not_matter(rule: Any, name: str) -> None:
    X = samples()[0]
    y = X[:, 0] - X[:, 2]
    K = BANKS[name].truth.matrices(X, X)
    found, stored = rule(bank(name), y).values, rule(precomputed(K), y).values
    reached, best = (ref.centred_alignment(ref.combine(K, w), y) for w in (found, stored))
    assert reached == pytest.approx(best, rel=1e-9)


def _folds(n: int) -> list[tuple[Array, Array]]:
    return list(KFold(3).split(np.zeros((n, 1))))


def _score(y: Array, f: Array) -> float:
    return -float(((y - f) ** 2).mean())


def test_best_kernel_is_the_one_that_predicts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    family = [Linear().on(0), Linear().on(1), RBF(50.0)]
    found = best_kernel(bind(family, X), 3.0 * X[:, 1], RidgeMachine(0.1), _folds(30), _score)
    np.testing.assert_array_equal(found.values, [0.0, 1.0, 0.0])


def test_best_kernel_of_equals_is_the_first() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    found = best_kernel(bind([RBF(0.5), RBF(0.5)], X), X[:, 0], RidgeMachine(0.1), _folds(12), _score)
    np.testing.assert_array_equal(found.values, [1.0, 0.0])


def test_rules_claim_no_certificate() -> None:
    problem = PROBLEMS["random"]()
    for found in (average(precomputed(problem.K)), alignf(precomputed(problem.K), problem.y)):
        assert isinstance(found, Weights)
        assert (found.objective, found.gap, found.converged) == (None, None, True)


@pytest.mark.parametrize("rule", [alignment, alignf], ids=["alignment", "alignf"])
def test_the_unit_of_the_weights_of_samples_does_not_matter(rule: Any) -> None:
    problem, s = PROBLEMS["random"](), np.random.default_rng(0).exponential(size=30)
    found = [rule(precomputed(problem.K), problem.y, unit * s).values for unit in (1e-300, 1.0, 1e300)]
    np.testing.assert_allclose(found[::2], [found[1], found[1]], rtol=1e-12)


@pytest.mark.parametrize("model", [BestKernelRegressor, ProportionalMKLRegressor, BestKernelClassifier])
def test_folds_that_compare_no_kernels_are_told(model: Any) -> None:
    """R2 of one sample, and the area under the ROC curve of one, are no numbers."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.warns(PredictionWarning, match="no fold of cv holds out enough samples"):
        model(linear_features(), cv=LeaveOneOut()).fit(X, X[:, 1] > 0)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_alignment_of_kernels_that_centring_leaves_nothing_of_is_their_average(value: float) -> None:
    bank = precomputed(np.full((3, 6, 6), value))
    np.testing.assert_allclose(alignf(bank, np.arange(6.0)).values, np.full(3, 1.0 / 3.0))


def test_scores_are_means_over_the_folds_and_weights_what_is_beyond_the_threshold() -> None:
    """Against ridge regression written out, kernel by kernel and fold by fold."""
    problem, folds = PROBLEMS["random"](), _folds(30)
    expected = np.zeros(len(problem.K))
    for k, K in enumerate(problem.K):
        for train, test in folds:
            mean = problem.y[train].mean()
            a = np.linalg.solve(K[np.ix_(train, train)] + 0.1 * np.eye(len(train)), problem.y[train] - mean)
            expected[k] += _score(problem.y[test], K[np.ix_(test, train)] @ a + mean) / len(folds)
    scores = held_out_scores(precomputed(problem.K), problem.y, RidgeMachine(0.1), folds, _score)
    np.testing.assert_allclose(scores, expected, rtol=1e-9)
    np.testing.assert_allclose(proportional(np.array([0.9, 0.5, 0.6]), 0.5).values, [0.8, 0.0, 0.2])
    np.testing.assert_array_equal(proportional(np.array([0.4, 0.5]), 0.5).values, [0.5, 0.5])
