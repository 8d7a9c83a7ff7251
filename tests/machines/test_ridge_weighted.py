"""The ridge machine against inverses: several targets, weights of samples, and alphas far below and above K."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rational
from cases import one_in
from multikernel.banks import DenseGram, FactorGram, Gram
from multikernel.machines import DualSolution, RidgeMachine

Array = Any
N = 17


def features(q: int) -> Array:
    return np.random.default_rng(q).normal(size=(N, q))


def weights(q: int) -> Array:
    return np.r_[0.0, np.random.default_rng(q + 1).random(q - 1)]


GRAMS = {
    "dense": lambda: DenseGram((features(30) * weights(30)) @ features(30).T),
    "dense, single precision": lambda: DenseGram((features(4) @ features(4).T).astype(np.float32)),
    "few features": lambda: FactorGram(features(4), weights(4), features(4)),
    "few sparse features": lambda: FactorGram(sparse.csr_array(features(4)), weights(4), sparse.csr_array(features(4))),
    "many features": lambda: FactorGram(features(25), weights(25), features(25)),
    "features by columns": lambda: FactorGram(
        np.asfortranarray(features(4)), weights(4), np.asfortranarray(features(4))
    ),
}
TARGETS = {"one": (N,), "a column": (N, 1), "three": (N, 3)}
grams = pytest.mark.parametrize("name", GRAMS)


def target(shape: tuple[int, ...]) -> Array:
    return 2.0 + np.random.default_rng(3).normal(size=shape)


def by_inverse(K: Array, y: Array, alpha: float, intercept: bool, s: Array | None) -> tuple[Array, Array, float]:
    """Coefficients, intercepts, and J, without the samples of weight zero."""
    s = np.ones(len(K)) if s is None else s
    there = s > 0
    mean = (s @ y) / s.sum() if intercept else 0.0 * y[0]
    r = (y - mean)[there]
    coef = np.zeros_like(y)
    coef[there] = np.linalg.inv(K[np.ix_(there, there)] + alpha * np.diag(1.0 / s[there])) @ r
    return coef, mean, float((r * coef[there]).sum())


def agree(found: DualSolution, want: tuple[Array, Array, float], rtol: float = 1e-8) -> None:
    coef, mean, value = want
    np.testing.assert_allclose(found.coef, coef, rtol=rtol, atol=rtol * np.abs(coef).max())
    np.testing.assert_allclose(found.intercept, mean, rtol=1e-12, atol=1e-14)
    assert found.value == pytest.approx(value, rel=rtol)
    assert 0.0 <= found.gap <= 1e-12
    assert found.converged


@pytest.mark.parametrize(
    ("name", "shape", "intercept", "weighted", "alpha"),
    one_in(5, product(GRAMS, TARGETS.values(), [True, False], [False, True], [1e-2, 30.0])),
)
def test_solution_is_the_inverse(name: str, shape: Any, intercept: bool, weighted: bool, alpha: float) -> None:
    gram, y = GRAMS[name](), target(shape)
    s = np.random.default_rng(5).integers(0, 4, N).astype(float) if weighted else None
    want = by_inverse(gram.dense().astype(float), y, alpha, intercept, s)
    found = RidgeMachine(alpha, intercept).solve(gram, y, sample_weight=s)
    agree(found, want)
    assert found.factor.shape == shape
    assert np.shape(found.intercept) == shape[1:]


@pytest.mark.parametrize(
    ("name", "shape", "weighted", "n_alphas"), one_in(5, product(GRAMS, TARGETS.values(), [False, True], [3, 15]))
)
def test_many_alphas_are_solved_from_one_spectrum(name: str, shape: Any, weighted: bool, n_alphas: int) -> None:
    gram, y = GRAMS[name](), target(shape)
    s = np.random.default_rng(5).integers(0, 4, N).astype(float) if weighted else None
    K = gram.dense().astype(float)
    if "single" in name:  # the rounding of which leaves eigenvalues below zero
        gram = gram if not weighted else DenseGram(K + 1e-5 * np.eye(N))
        K = gram.dense().astype(float)
    alphas = np.geomspace(0.05, 30.0, n_alphas).tolist()
    for alpha, found in zip(alphas, RidgeMachine(9.0).solve_along(gram, y, alphas, s), strict=True):
        agree(found, by_inverse(K, y, alpha, True, s), 1e-4 if "single" in name else 1e-8)


@given(
    st.lists(st.integers(0, 3), min_size=N, max_size=N).filter(any),
    st.sampled_from(["dense", "few features", "few sparse features"]),
    st.floats(1e-3, 1e3),
)
def test_weights_are_repetitions(counts: list[int], name: str, alpha: float) -> None:
    gram, y, s = GRAMS[name](), target((N, 2)), np.array(counts, dtype=float)
    copies = np.repeat(np.arange(N), counts)
    K = gram.dense()
    want = RidgeMachine(alpha).solve(DenseGram(K[np.ix_(copies, copies)]), y[copies])
    found = RidgeMachine(alpha).solve(gram, y, sample_weight=s)
    summed = np.zeros_like(y)
    np.add.at(summed, copies, want.coef)
    np.testing.assert_allclose(found.coef, summed, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(summed).max()))
    np.testing.assert_allclose(found.intercept, want.intercept)
    assert found.value == pytest.approx(want.value, rel=1e-8, abs=1e-12)


@given(st.floats(1e-6, 1e6), st.floats(1e-2, 1e2))
def test_weights_and_alpha_share_their_scale(scale: float, alpha: float) -> None:
    gram, y, s = GRAMS["dense"](), target((N,)), np.random.default_rng(6).random(N)
    one = RidgeMachine(alpha).solve(gram, y, sample_weight=s)
    other = RidgeMachine(alpha * scale).solve(gram, y, sample_weight=s * scale)
    np.testing.assert_allclose(other.coef, one.coef, rtol=1e-8, atol=1e-10)
    assert other.value == pytest.approx(one.value, rel=1e-9)


@pytest.mark.parametrize("name", ["dense", "few features"])
def test_gap_encloses_the_primal(name: str) -> None:
    """|f|^2 + sum s (y - f - b)^2 / alpha at the solution is value / (1 - gap), whatever else is tried."""
    gram, y, s, alpha = GRAMS[name](), target((N,)), np.random.default_rng(6).random(N), 0.2
    found = RidgeMachine(alpha).solve(gram, y, sample_weight=s)

    def primal(a: Array) -> float:
        f = gram.multiply(a)
        return float(a @ f + s @ (y - f - found.intercept) ** 2 / alpha)

    assert primal(found.coef) == pytest.approx(found.value / (1.0 - found.gap), rel=1e-10)
    for _ in range(20):
        assert primal(found.coef + 0.01 * np.random.default_rng(_).normal(size=N)) >= found.value * (1 - 1e-12)


# -- alphas that rounding knows ----------------------------------------------------------------------------------------


def exact(X: Array, Y: Array, alpha: float, reached: bool) -> float:
    """J of K = X X' from the singular values; the part of Y that is outside only where it is."""
    U, roots, _ = np.linalg.svd(X, full_matrices=False)
    Z = U.T @ Y
    outside = 0.0 if reached else float(((Y - U @ Z) ** 2).sum()) / alpha
    return float((Z**2 / (roots**2 + alpha)[:, None]).sum()) + outside


@pytest.mark.parametrize("alpha", [1e-300, 1e-14, 1e-11, 1e-8, 1e-5, 1e14])
@pytest.mark.parametrize("reached", [True, False])
@pytest.mark.parametrize("kind", ["dense", "features", "sparse features"])
def test_any_alpha_on_a_singular_matrix(alpha: float, reached: bool, kind: str) -> None:
    """The entries of a dense matrix are known to rounding, which hides what a part beyond its range costs."""
    X = features(4)
    C = np.random.default_rng(2).normal(size=(4, 2))
    Y = X @ C if reached else target((N, 2))
    F = sparse.csr_array(X) if kind.startswith("sparse") else X
    gram: Gram = DenseGram(X @ X.T) if kind == "dense" else FactorGram(F, np.ones(4), F)
    found = RidgeMachine(alpha, fit_intercept=False).solve(gram, Y)
    hidden = 0.0 if reached else (1e-13 if kind == "dense" else 1e-26) / alpha
    if alpha > 1e-100:  # below, the rounding of the targets alone costs more than they do
        want = exact(X, Y, alpha, reached)
        assert found.value <= want * (1.0 + 1e-6)
        assert found.upper == pytest.approx(want, rel=1e-6)
        assert found.upper - found.value == pytest.approx(found.gap * found.upper, rel=1e-6, abs=1e-13 * want)
        assert 0.0 <= found.gap <= 1e-13 + hidden
    assert found.converged == (found.gap < 1e-3)
    if reached:  # a smooth target is reproduced however small alpha is
        shrunk = X @ np.linalg.solve(X.T @ X + alpha * np.eye(4), X.T @ Y)
        np.testing.assert_allclose(gram.multiply(found.coef), shrunk, atol=1e-8)


@pytest.mark.parametrize("alpha", [1e-14, 1e-8, 1e-2])
@pytest.mark.parametrize("spread", [0.0, -6.0])
def test_the_value_of_features_is_that_of_fractions(alpha: float, spread: float) -> None:
    """Features of other sizes: none of them is taken for rounding while alpha is smaller."""
    X, y = features(4) * np.logspace(0.0, spread, 4), target((N,))
    found = RidgeMachine(alpha, fit_intercept=False).solve(FactorGram(X, np.ones(4), X), y)
    J, A = rational.ridge(X, np.ones(4), y, alpha)
    assert abs(found.value / J - 1) <= 1e-9
    assert found.gap <= 1e-9
    q = rational.scores(X, A).astype(float)
    np.testing.assert_allclose((X.T @ found.factor) ** 2, q, rtol=1e-5, atol=1e-14 * float(J))


def test_a_value_is_that_of_its_factor() -> None:
    """2 <A, Y> - <A, K A> - alpha <A, A> in exact arithmetic at the A that is returned, whatever rounding did to it."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(12, 3)) * 10.0 ** rng.uniform(-3, 3, 3)
        y, alpha, w = rng.normal(size=12), 10.0 ** rng.uniform(-16, 2), 10.0 ** rng.uniform(-6, 6, 3)
        found = RidgeMachine(alpha, fit_intercept=False).solve(FactorGram(X, w, X), y)
        A, a = rational.fractions(found.factor), Fraction(alpha)
        dual = 2 * A @ rational.fractions(y) - rational.scores(X, A) @ rational.fractions(w) - a * A @ A
        J = rational.ridge(X, w, y, alpha)[0]
        assert found.value <= float(dual) * (1.0 + 1e-12)
        assert dual <= J
        assert float(J) <= found.upper * (1.0 + 1e-12)


def test_a_spectrum_that_falls_below_rounding() -> None:
    """No null space can be told there, and small eigenvalues are not taken for zero."""
    x = np.linspace(0.0, 1.0, 40)
    K = np.exp(-((x[:, None] - x) ** 2))
    found = RidgeMachine(1e-15).solve(DenseGram(K), np.sin(3.0 * x))
    np.testing.assert_allclose(K @ found.coef + found.intercept, np.sin(3.0 * x), atol=1e-5)
    assert 1e-4 <= found.gap <= 1e-1  # alpha is a few roundings of K
    assert RidgeMachine(1e-11).solve(DenseGram(K), np.sin(3.0 * x)).gap <= 1e-5


@pytest.mark.parametrize("alpha", [1e-14, 1.0, 1e14])
def test_smallest_cases(alpha: float) -> None:
    one = RidgeMachine(alpha, fit_intercept=False).solve(DenseGram(np.array([[3.0]])), np.array([2.0]))
    assert one.value == pytest.approx(4.0 / (3.0 + alpha))
    mean = RidgeMachine(alpha).solve(DenseGram(np.array([[3.0]])), np.array([2.0]))
    assert (mean.intercept, mean.value) == (2.0, 0.0)
    nothing = RidgeMachine(alpha, fit_intercept=False).solve(DenseGram(np.zeros((3, 3))), np.array([1.0, -2.0, 3.0]))
    assert nothing.value == pytest.approx(14.0 / alpha)
    constant = RidgeMachine(alpha).solve(GRAMS["dense"](), np.full((N, 2), 2.5))
    np.testing.assert_array_equal(constant.coef, np.zeros((N, 2)))
    assert (constant.value, constant.gap) == (0.0, 0.0)


def test_weights_on_a_singular_matrix_with_a_tiny_alpha() -> None:
    X, s = features(4), np.random.default_rng(6).integers(0, 3, N).astype(float)
    Y = target((N, 2))
    root = np.sqrt(s)[:, None]
    want = exact(root * X, root * Y, 1e-13, False)
    dense = RidgeMachine(1e-13, fit_intercept=False).solve(DenseGram(X @ X.T), Y, sample_weight=s)
    assert dense.upper == pytest.approx(want, rel=1e-6)
    found = RidgeMachine(1e-13, fit_intercept=False).solve(FactorGram(X, np.ones(4), X), Y, sample_weight=s)
    assert found.value == pytest.approx(want, rel=1e-6)


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_indefinite_matrices_are_refused() -> None:
    with pytest.raises(ValueError, match="has the eigenvalue -1 and the trace 1, and a kernel matrix has no negative"):
        RidgeMachine(1e-3).solve(DenseGram(np.diag([2.0, -1.0])), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="no negative eigenvalues"):
        RidgeMachine(1.0).solve_along(DenseGram(np.diag([2.0, -1.0])), np.array([1.0, 2.0]), [1e3] * 15)


def test_a_matrix_with_nan_is_no_solution() -> None:
    K = np.eye(3)
    K[2, 1] = K[1, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        RidgeMachine().solve(DenseGram(K), np.array([1.0, 2.0, 4.0]))


@pytest.mark.parametrize("bad", [[1.0, -1.0, 1.0], [np.nan, 1.0, 1.0], [0.0, 0.0, 0.0], [[1.0, 1.0, 1.0]]])
def test_bad_weights(bad: Any) -> None:
    with pytest.raises(ValueError, match="sample_weight must be a finite number >= 0 for each of 3 samples"):
        RidgeMachine().solve(DenseGram(np.eye(3)), np.arange(3.0), sample_weight=np.array(bad))


def test_weights_of_other_samples() -> None:
    with pytest.raises(ValueError, match=r"for each of 17 samples, .* got shape \(3,\)"):
        RidgeMachine().solve(GRAMS["dense"](), target((N,)), sample_weight=np.ones(3))
