"""EasyMKL against the conic solution of its own problem, and what must hold for any kernels."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import reference as ref
from cases import one_in
from multikernel import EasyMKLClassifier, bind, kernels, precomputed
from multikernel.banks.packed import PackedBank
from multikernel.machines import MarginMachine
from multikernel.procedures import easymkl, max_min
from zoo import PROBLEMS, optimum

Array = Any
problems = pytest.mark.parametrize("name", PROBLEMS)
LAMBDAS = (0.0, 0.01, 0.1, 0.5, 0.9, 1.0)
lambdas = pytest.mark.parametrize("lam", LAMBDAS)
problems_and_lambdas = pytest.mark.parametrize(("name", "lam"), one_in(5, product(PROBLEMS, LAMBDAS)))


def solved(K: Array, y: Array, lam: float) -> Array:
    return easymkl(precomputed(K), y, MarginMachine(lam, tol=1e-10)).values


def reference_weights(name: str, lam: float) -> Array:
    problem = PROBLEMS[name]()
    d = np.maximum(ref.quad(problem.K, problem.y * optimum(name, lam).g), 0.0)
    return d / d.sum()


@problems_and_lambdas
def test_weights_are_those_of_the_conic_solution(name: str, lam: float) -> None:
    """The hull points in the space of the sum are unique, hence in the space of each kernel, also where g is not."""
    problem = PROBLEMS[name]()
    weights = solved(problem.K, problem.y, lam)
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights, reference_weights(name, lam), atol=1e-4)


@problems_and_lambdas
def test_certificate_is_that_of_the_sum_of_the_kernels(name: str, lam: float) -> None:
    problem = PROBLEMS[name]()
    found, best = easymkl(precomputed(problem.K), problem.y, MarginMachine(lam)), optimum(name, lam)
    scale = max(best.value, 1e-9 * float(np.einsum("kii->i", problem.K).mean()))
    assert found.converged
    assert found.gap is not None
    assert found.gap <= 1e-6
    assert found.objective is not None
    assert best.bound - 1e-9 * scale <= found.objective <= best.value + 2e-6 * scale


def test_all_ridge_weighs_by_the_distance_of_the_class_means() -> None:
    problem = PROBLEMS["random"]()
    y = problem.y
    means = np.where(y > 0, 1.0 / (y > 0).sum(), -1.0 / (y < 0).sum())
    d = np.array([means @ K @ means for K in problem.K])
    np.testing.assert_allclose(solved(problem.K, y, 1.0), d / d.sum(), rtol=1e-12)


@lambdas
def test_constant_kernel_has_no_weight(lam: float) -> None:
    problem = PROBLEMS["constant"]()
    assert solved(problem.K, problem.y, lam)[2] < 1e-12
    hpk = PROBLEMS["breast-cancer"]()
    assert solved(hpk.K, hpk.y, lam)[0] < 1e-12


@lambdas
def test_constant_kernel_does_not_change_the_other_weights(lam: float) -> None:
    problem = PROBLEMS["constant"]()
    without = solved(problem.K[:2], problem.y, lam)
    np.testing.assert_allclose(solved(problem.K, problem.y, lam)[:2], without, atol=1e-6)


@lambdas
def test_zero_kernel_has_no_weight_and_changes_nothing(lam: float) -> None:
    problem = PROBLEMS["zero"]()
    weights = solved(problem.K, problem.y, lam)
    assert weights[1] == 0.0
    np.testing.assert_allclose(weights[[0, 2]], solved(problem.K[[0, 2]], problem.y, lam), atol=1e-6)


@lambdas
def test_copies_of_a_kernel_have_equal_weights(lam: float) -> None:
    problem = PROBLEMS["duplicated"]()
    weights = solved(problem.K, problem.y, lam)
    np.testing.assert_allclose(weights[[2, 4]], weights[0], rtol=1e-12)


@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
def test_names_of_the_classes_do_not_matter(lam: float) -> None:
    problem = PROBLEMS["random"]()
    np.testing.assert_allclose(solved(problem.K, -problem.y, lam), solved(problem.K, problem.y, lam), atol=1e-5)


@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
@given(seed=st.integers(0, 2**32 - 1))
def test_orders_of_samples_and_of_kernels_do_not_matter(lam: float, seed: int) -> None:
    problem, rng = PROBLEMS["random"](), np.random.default_rng(seed)
    samples, order = rng.permutation(len(problem.y)), rng.permutation(len(problem.K))
    moved = problem.K[np.ix_(order, samples, samples)]
    want = solved(problem.K, problem.y, lam)[order]
    np.testing.assert_allclose(solved(moved, problem.y[samples], lam), want, atol=1e-5)


@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_hard_margin_does_not_see_the_scale(factor: float) -> None:
    problem = PROBLEMS["random"]()
    np.testing.assert_allclose(solved(factor * problem.K, problem.y, 0.0), solved(problem.K, problem.y, 0.0), atol=1e-5)


@pytest.mark.parametrize("lam", [0.01, 0.5])
def test_scale_of_all_kernels_is_a_scale_of_the_ridge(lam: float) -> None:
    """(1 - lam) s K + lam I is a multiple of (1 - lam') K + lam' I with lam' / (1 - lam') = lam / (1 - lam) / s."""
    problem = PROBLEMS["random"]()
    ridge = lam / (1.0 - lam) / 10.0
    want = solved(problem.K, problem.y, ridge / (1.0 + ridge))
    np.testing.assert_allclose(solved(10.0 * problem.K, problem.y, lam), want, atol=1e-5)


@pytest.mark.parametrize(
    "family", [kernels.homogeneous_polynomials(6), kernels.linear_features()], ids=["powers", "factor"]
)
@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
def test_form_in_which_the_bank_is_stored_does_not_matter(family: Any, lam: float) -> None:
    X, labels = make_classification(60, 8, class_sep=2.0, random_state=0)
    y, bank = np.where(labels > 0, 1.0, -1.0), bind(family, X)
    stored = precomputed(bank.matrices())
    assert type(stored) is PackedBank
    machine = MarginMachine(lam, tol=1e-10)
    np.testing.assert_allclose(easymkl(bank, y, machine).values, easymkl(stored, y, machine).values, atol=1e-5)


def test_warm_start_gives_the_same_weights() -> None:
    problem = PROBLEMS["breast-cancer"]()
    bank, machine = precomputed(problem.K), MarginMachine(0.1, tol=1e-10)
    cold = easymkl(bank, problem.y, machine)
    for start in (cold.variables, easymkl(bank, problem.y, MarginMachine(0.5)).variables):
        np.testing.assert_allclose(easymkl(bank, problem.y, machine, start).values, cold.values, atol=1e-5)


MEETING = {
    "zero-kernels": np.zeros((3, 6, 6)),
    "constant-kernels": np.ones((3, 6, 6)),
    "same-samples": np.tile(np.kron(np.eye(3), np.ones((2, 2))), (3, 1, 1)),
}


@pytest.mark.parametrize("K", MEETING.values(), ids=MEETING)
@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0])
def test_hulls_that_meet_in_every_kernel_leave_uniform_weights(K: Array, lam: float) -> None:
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    with pytest.warns(UserWarning, match="hulls of the two classes meet in every kernel"):
        weights = easymkl(precomputed(K), y, MarginMachine(lam)).values
    np.testing.assert_array_equal(weights, np.full(3, 1.0 / 3.0))


def test_hulls_apart_in_one_kernel_are_no_reason_to_warn() -> None:
    y = np.array([1.0, -1.0, 1.0, -1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = solved(np.array([np.ones((4, 4)), np.outer(y, y)]), y, 0.1)
    np.testing.assert_allclose(weights, [0.0, 1.0], atol=1e-12)


# -- the max-min problem -----------------------------------------------------------------------------------------------


def largest_margin(K: Array, y: Array, lam: float) -> float:
    """min_g (1 - lam) |d(g)|_2 + lam |g|^2 by Clarabel; t_s stands for d_s."""
    g, t = cp.Variable(len(y), nonneg=True), cp.Variable(len(K), nonneg=True)
    inside = [cp.sum(g[y > 0]) == 1.0, cp.sum(g[y < 0]) == 1.0]
    inside += [cp.sum_squares(ref.root(each) @ cp.multiply(y, g)) <= t[s] for s, each in enumerate(K) if each.any()]
    return ref.conic(cp.Problem(cp.Minimize((1.0 - lam) * cp.norm(t) + lam * cp.sum_squares(g)), inside))


@pytest.mark.parametrize("lam", [0.01, 0.1, 0.9])
@pytest.mark.parametrize("name", ["random", "zero"])
def test_weights_of_norm_two_have_the_largest_margin(name: str, lam: float) -> None:
    problem = PROBLEMS[name]()
    found = max_min(precomputed(problem.K), problem.y, MarginMachine(lam, tol=1e-9))
    best = largest_margin(problem.K, problem.y, lam)
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.converged
    assert found.gap is not None
    assert found.gap <= 1e-9
    w = found.values / np.linalg.norm(found.values)
    assert ref.hulls(ref.combine(problem.K, w), problem.y, lam).value == pytest.approx(best, rel=1e-6)
    quick = easymkl(precomputed(problem.K), problem.y, MarginMachine(lam)).values
    own = ref.combine(problem.K, quick / np.linalg.norm(quick))
    assert ref.hulls(own, problem.y, lam).value < best  # the quadratic program only bounds it


def test_the_estimator_has_both_problems_and_both_norms() -> None:
    problem = PROBLEMS["random"]()
    for method, rule in (("sum", easymkl), ("max_min", max_min)):
        weights = rule(precomputed(problem.K), problem.y, MarginMachine(0.1)).values
        for norm in (1, 2):
            model = EasyMKLClassifier(method=method, norm=norm, lam=0.1).fit(problem.K, problem.y)
            np.testing.assert_allclose(model.weights_, weights / np.linalg.norm(weights, norm), rtol=1e-9)
    alike = EasyMKLClassifier(method="max_min", lam=1.0).fit(problem.K, problem.y).weights_
    np.testing.assert_allclose(alike, EasyMKLClassifier(lam=1.0).fit(problem.K, problem.y).weights_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:EasyMKL")
def test_hulls_that_meet_have_the_margin_zero() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.where(rng.random(40) > 0.5, 1.0, -1.0)
    found = max_min(bind([kernels.Linear(), kernels.Linear().on([0])], X), y, MarginMachine(0.0))
    assert found.converged
    np.testing.assert_array_equal(found.values, [0.5, 0.5])


def test_margin_problems_whose_gap_rounding_hides_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of very different sizes: no number of steps reaches the gaps that the search for weights asks for."""
    rng = np.random.default_rng(1)
    F = rng.normal(size=(5, 28, 6)) * np.array([2e3, 0.1, 0.02, 0.2, 3e2])[:, None, None]
    y, steps, solve = np.where(rng.normal(size=28) > 0, 1.0, -1.0), list[int](), MarginMachine.solve

    def counted(self: MarginMachine, *given: Any) -> Any:
        found = solve(self, *given)
        steps.append(found.n_iter)
        return found

    monkeypatch.setattr(MarginMachine, "solve", counted)
    max_min(precomputed(F @ F.transpose(0, 2, 1)), y, MarginMachine(0.1))
    assert max(steps) <= 1100 * len(y)
