"""Least held-out errors near weights whose inverse is known, beside ridge regression fold by fold."""

import numpy as np
import pytest

from multikernel import MultipleKernelRidgeCV, precomputed
from multikernel.procedures.ridge_cv import nearby
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.held_out import HeldOutError
from multikernel.procedures.ridge_cv.nearby import Neighbourhood

N, FOLDS = 260, 3
SIZES = (20, 60, 150)


def problem(seed=0, t=12, n=N, noise=1.0):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(n, p)) / np.sqrt(p) for p in SIZES]
    used = (np.arange(t)[:, None] >> np.arange(len(SIZES))) & 1
    Y = sum(X @ rng.normal(size=(X.shape[1], t)) * used[:, k] for k, X in enumerate(parts))
    K = np.stack([X @ X.T for X in parts])
    return K, Y + noise * rng.normal(size=(n, t)) + rng.normal(size=t), rng.permutation(np.arange(n) % FOLDS)


def error_of(v, K, y, labels, fit_intercept):
    """The held-out error of one target, by an inverse for each fold."""
    total = np.tensordot(v, K, 1)
    squares = 0.0
    for fold in range(FOLDS):
        T, V = labels != fold, labels == fold
        mean = y[T].mean() if fit_intercept else 0.0
        coef = np.linalg.solve(total[np.ix_(T, T)] + np.eye(T.sum()), y[T] - mean)
        squares += ((y[V] - mean - total[np.ix_(V, T)] @ coef) ** 2).sum()
    return squares / len(y)


def gradient_of(v, K, y, labels, fit_intercept, step=1e-4):
    """By central differences, of a step relative to each weight."""
    slopes = np.zeros(len(v))
    for k in range(len(v)):
        moved = np.zeros(len(v))
        moved[k] = step * max(v[k], 1e-2)
        above, below = (error_of(v + sign * moved, K, y, labels, fit_intercept) for sign in (1.0, -1.0))
        slopes[k] = (above - below) / (2.0 * moved[k])
    return slopes


def place(K, Y, labels, v0, fit_intercept):
    error = HeldOutError.of(precomputed(K), Y, Folds(labels, FOLDS), fit_intercept)
    inverse = error.held_out.inverse(error.bank.total(v0))
    return error, Neighbourhood(error.bank, error.held_out, inverse, v0)


class TestSmallModel:
    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_value_and_gradient_at_the_known_weights_are_those_of_the_error(self, fit_intercept):
        K, Y, labels = problem(t=5)
        v0 = np.array([0.7, 0.2, 1.5])
        _, near = place(K, Y, labels, v0, fit_intercept)
        model = nearby._Subspace.of(near, near.held_out).model
        at = model.at(np.tile(v0, (5, 1)))
        for t in range(5):
            arguments = (v0, K, Y[:, t], labels, fit_intercept)
            assert at.errors[t] == pytest.approx(error_of(*arguments), rel=1e-10)
            np.testing.assert_allclose(2.0 * at.slopes[t], gradient_of(*arguments), rtol=1e-5, atol=1e-7)

    def test_a_richer_basis_is_nearer_at_other_weights(self):
        K, Y, labels = problem(t=6)
        v0 = np.array([0.7, 0.2, 1.5])
        v = np.tile([1.5, 0.4, 0.5], (6, 1))
        _, near = place(K, Y, labels, v0, False)
        space = nearby._Subspace.of(near, near.held_out)
        exact = np.array([error_of(v[t], K, Y[:, t], labels, False) for t in range(6)])
        wrong = []
        for _ in range(4):
            wrong.append(np.abs(space.model.at(v).errors / exact - 1.0).max())
            space = space.richer(v, space.residuals(v))
        assert wrong == sorted(wrong, reverse=True)
        assert wrong[3] < 0.01 * wrong[0]

    def test_a_kernel_twice_makes_no_basis_vector_twice(self):
        K, Y, labels = problem(t=4)
        K = K[[0, 0, 1]]
        _, near = place(K, Y, labels, np.ones(3), True)
        space = nearby._Subspace.of(near, near.held_out)
        sizes = np.linalg.norm(space.B, axis=-1)
        np.testing.assert_allclose(sizes[:, :, [0, 1, 3]], 1.0)
        assert (sizes[:, :, 2] == 0.0).all()
        v = np.tile([2.0, 0.5, 1.0], (4, 1))
        space = space.richer(v, space.residuals(v))
        exact = [error_of(v[t], K, Y[:, t], labels, True) for t in range(4)]
        np.testing.assert_allclose(space.model.at(v).errors, exact, rtol=1e-3)


class TestEnds:
    @pytest.mark.parametrize("fit_intercept", [True, False])
    @pytest.mark.parametrize(("tol", "most_left"), [(1e-2, 1), (1e-3, 4)])
    def test_targets_that_ended_are_stationary_with_the_errors_that_are_reported(self, tol, most_left, fit_intercept):
        K, Y, labels = problem(1)
        error, near = place(K, Y, labels, np.full(3, 0.5), fit_intercept)
        found = near.ends(np.arange(Y.shape[1]), tol)
        assert len(found.index) >= Y.shape[1] - most_left
        for i, t in enumerate(found.index):
            v = found.v[i]
            assert found.errors[i] == pytest.approx(error_of(v, K, Y[:, t], labels, fit_intercept), rel=tol)
            one = error.of_targets([t])
            model = one.model(one.at(v))
            step = model.step(1e-3 * np.diag(model.curvature), error.diagonals, error.largest)
            assert model.decrease(step) <= tol * found.errors[i]

    def test_weights_far_from_the_known_ones_are_left_to_others(self):
        K, Y, labels = problem(2, noise=0.05)
        v0 = np.full(3, 1e-3)
        _, near = place(K, Y, labels, v0, True)
        found = near.ends(np.arange(Y.shape[1]), 1e-4)
        assert (found.v <= 10.0 * v0).all()
        assert len(found.index) < Y.shape[1]

    def test_multiples_of_given_weights(self):
        K, Y, labels = problem(5, n=390)
        w = np.array([1.0, 0.5, 2.0])
        error = HeldOutError.of(precomputed(K), Y, Folds(labels, FOLDS), True)
        shared = error.shared(0.3 * w)
        found = shared.ends(np.arange(Y.shape[1]), 1e-4, w)
        assert found.v.shape == (len(found.index), 1)
        assert len(found.index) >= 9
        coef = shared.coef_near(found.index, found.v * w)
        for i, t in enumerate(found.index):
            c = found.v[i, 0]
            assert found.errors[i] == pytest.approx(error_of(c * w, K, Y[:, t], labels, True), rel=1e-4)
            assert all(
                error_of(b * c * w, K, Y[:, t], labels, True) > (1.0 - 1e-4) * found.errors[i] for b in (0.9, 1.1)
            )
            size = c * w.sum() or 1.0
            left = (c * np.tensordot(w, K, 1) @ coef[:, i] + coef[:, i]) / size - (Y[:, t] - Y[:, t].mean())
            assert np.linalg.norm(left) <= 1e-9 * np.linalg.norm(Y[:, t])

    def test_coefficients_solve_the_equations_of_all_samples(self):
        K, Y, labels = problem(3)
        _, near = place(K, Y, labels, np.full(3, 0.5), True)
        found = near.ends(np.arange(Y.shape[1]), 1e-4)
        coef = near.coef(found.index, found.v)
        for i, t in enumerate(found.index):
            left = np.tensordot(found.v[i], K, 1) @ coef[:, i] + coef[:, i] - (Y[:, t] - Y[:, t].mean())
            assert np.linalg.norm(left) <= 1e-9 * np.linalg.norm(Y[:, t])

    def test_where_it_costs_more_than_an_inverse(self):
        K, Y, labels = problem(n=450)
        assert not place(K, Y, labels, np.ones(3), True)[1].worthwhile  # 114 products of 2 n^2 operations beside n^3
        K, Y, labels = problem(n=460)
        assert place(K, Y, labels, np.ones(3), True)[1].worthwhile
        assert not place(K, Y, labels, np.zeros(3), True)[1].worthwhile


def test_a_fit_reports_what_is_true_of_its_weights(monkeypatch):
    K, Y, labels = problem(4, t=8, n=460)
    cv = [(np.flatnonzero(labels != fold), np.flatnonzero(labels == fold)) for fold in range(FOLDS)]
    ended = []
    ends = Neighbourhood.ends

    def counted(self, index, tol):
        found = ends(self, index, tol)
        ended.extend(found.index)
        return found

    monkeypatch.setattr(Neighbourhood, "ends", counted)
    model = MultipleKernelRidgeCV("precomputed", cv=cv, standard_errors=0.0).fit(K, Y)
    assert len(set(ended)) >= 6
    assert model.converged_
    monkeypatch.setattr(Neighbourhood, "worthwhile", False)
    other = MultipleKernelRidgeCV("precomputed", cv=cv, standard_errors=0.0).fit(K, Y)
    for t in range(8):
        v = model.weights_[t] / model.alpha_[t]
        assert model.cv_loss_[t] == pytest.approx(error_of(v, K, Y[:, t], labels, True), rel=1e-4)
        left = np.tensordot(model.weights_[t], K, 1) @ model.dual_coef_[t] + model.alpha_[t] * model.dual_coef_[t]
        np.testing.assert_allclose(left, Y[:, t] - Y[:, t].mean(), atol=1e-7)
    np.testing.assert_allclose(model.cv_loss_, other.cv_loss_, rtol=1e-3)
    np.testing.assert_allclose(model.predict(K), other.predict(K), atol=0.05 * Y.std())
