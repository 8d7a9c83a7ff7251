"""The held-out error of kernels with scales inside: value by refitting, gradient by differences, descent."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from multikernel import _memory, kernels
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.products import ColumnProductsBank
from multikernel.combinations import Profiles
from multikernel.observer import Event
from multikernel.procedures.learned_scales import LearnedScales, learned_scales
from multikernel.procedures.learned_scales.curvature import can_curve, partial_trial
from multikernel.procedures.learned_scales.error import ScalesError, half_distance, mean_distances
from multikernel.procedures.learned_scales.forms import Form, Separate
from multikernel.procedures.learned_scales.metrics import FullMetric, LowRankMetric
from multikernel.procedures.learned_scales.starts import Equal, evidence, gradients, proposed
from multikernel.procedures.ridge_cv import Folds
from multikernel.procedures.ridge_cv.residuals import HeldOut

Array = Any
FAMILIES = {
    "gaussian": (kernels.RBF(),),
    "laplacian": (kernels.Laplacian(),),
    "matern 1/2": (kernels.Matern(nu=0.5),),
    "matern 3/2": (kernels.Matern(nu=1.5),),
    "matern 5/2": (kernels.Matern(nu=2.5),),
    "rational quadratic": (kernels.RationalQuadratic(alpha=0.5),),
    "exponential power": (kernels.ExponentialPower(power=1.4),),
    "two": (kernels.RBF(), kernels.Matern(nu=0.5)),
    "shared": (kernels.RBF(), kernels.Matern(nu=0.5)),
}
families = pytest.mark.parametrize("name", FAMILIES)


def samples(n: int = 40, p: int = 4, t: int = 1, seed: int = 0) -> tuple[Array, Array]:
    """Two features matter, on very different scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    Y = np.sin(2.0 * X[:, :1]) + 0.3 * X[:, 1:2] ** 2 + 0.1 * rng.normal(size=(n, t))
    return X * np.array([1e3, 1e-2, 1.0, 1.0])[:p], Y


def problem(name: str, n: int = 40, t: int = 1, penalty: float = 1.0) -> ScalesError:
    X, Y = samples(n, t=t)
    bank = ColumnDistancesBank.of(X, FAMILIES[name][0].degree)
    held_out = HeldOut(Y, Folds.of(4, n, Y))
    form = Separate.of(bank, mean_distances(bank))
    return ScalesError(bank, Profiles(FAMILIES[name], name == "shared"), held_out, penalty, form)


def metric_problem(name: str, rank: int | None, n: int = 40, penalty: float = 1.0) -> ScalesError:
    """The same with a metric; the last feature is constant."""
    X, Y = samples(n, t=2)
    bank = ColumnProductsBank.of(np.column_stack([X, np.full(n, 3.0)]))
    means = mean_distances(bank.separate)
    form: Form = FullMetric(means) if rank is None else LowRankMetric(means, rank)
    return ScalesError(bank, Profiles(FAMILIES[name], name == "shared"), HeldOut(Y, Folds.of(4, n, Y)), penalty, form)


def differences(error: ScalesError, u: Array) -> list[float]:
    """The derivatives of E by central differences."""
    found = [(error.at(u + e), error.at(u - e)) for e in 1e-5 * np.eye(len(u))]
    return [(up.value - down.value) / 2e-5 for up, down in found if up is not None and down is not None]


@families
def test_gradient_is_that_of_differences(name: str) -> None:
    error = problem(name, t=2)
    u = error.equal(10.0, 1.0)
    u = u + 0.5 * np.random.default_rng(1).normal(size=len(u))
    trial = error.at(u)
    assert trial is not None
    expected = np.array(differences(error, u))
    np.testing.assert_allclose(trial.gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("rank", [None, 1, 2])
@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "laplacian"])
def test_gradient_of_a_metric_is_that_of_differences(name: str, rank: int | None) -> None:
    error = metric_problem(name, rank)
    rows = len(error.combination.users)
    u = np.random.default_rng(1).normal(size=len(error.combination.kernels) + rows * error.form.size)
    trial = error.at(u)
    assert trial is not None
    expected = np.array(differences(error, u))
    np.testing.assert_allclose(trial.gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    M = error.rows(error.theta(u))[0].reshape(5, 5)
    X = error.bank.X  # type: ignore[attr-defined]
    apart = X[:, None] - X
    D = np.einsum("ilj,jk,ilk->il", apart, M, apart)
    np.testing.assert_allclose(error.bank.combine(M.ravel()).dense(), D, rtol=1e-8, atol=1e-9 * D.max())
    assert np.linalg.matrix_rank(M[:4, :4]) == (rank or 4)


def test_a_diagonal_metric_is_separate_scales() -> None:
    """With the same error, prior and derivatives."""
    error, separate = metric_problem("gaussian", None), problem("gaussian", t=2)
    v = np.array([1.0, 0.3, -0.5, 0.2, 0.7])
    one, other = error.at(np.append(v, np.zeros(6))), separate.at(v)
    assert one is not None
    assert other is not None
    assert one.value == pytest.approx(other.value, rel=1e-10)
    np.testing.assert_allclose(one.gradient[:5], other.gradient, rtol=1e-7, atol=1e-10)


@families
@pytest.mark.parametrize("weighed", [False, True])
def test_gauss_newton_matrix_is_that_of_differences(name: str, weighed: bool) -> None:
    """2 J'J / (n L) with J of held-out residuals by differences, and the second derivatives of the prior."""
    error = problem(name, t=2)
    if error.columns is None:
        assert not can_curve(error)
        return
    if weighed:
        error = replace(error, held_out=error.held_out.weighted(np.random.default_rng(3).uniform(0.5, 2.0, 40)))
    u = error.equal(10.0, 1.0) + 0.5 * np.random.default_rng(1).normal(size=len(error.equal(10.0, 1.0)))
    start, trial = partial_trial(error, u), error.at(u)
    assert start is not None
    assert trial is not None
    found = start.trial()
    assert found.value == trial.value
    np.testing.assert_allclose(found.gradient, trial.gradient, rtol=1e-9, atol=1e-12)

    def residuals(u: Array) -> Array:
        left = error.held_out.residuals(error.weighted(error.combination.gram(error.bank, error.theta(u)).dense()))
        assert left is not None
        return left.values.ravel()

    steps = 1e-5 * np.eye(len(u))
    J = np.stack([(residuals(u + e) - residuals(u - e)) / 2e-5 for e in steps], axis=1)
    expected = 2.0 * J.T @ J / (error.held_out.count * trial.loss)
    bend = np.array([(error.prior(u + e)[1] - error.prior(u - e)[1]) / 2e-5 for e in steps])
    np.testing.assert_allclose(found.curvature, expected + bend, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_value_is_that_of_refitted_folds() -> None:
    X, Y = samples()
    error = problem("gaussian", penalty=2.0)
    u = np.array([np.log(20.0), 0.3, -0.4, 0.1, -1.0])
    trial = error.at(u)
    assert trial is not None
    means = np.array([np.mean((x[:, None] - x) ** 2) for x in X.T])
    scales = half_distance(kernels.RBF()) * np.exp(u[1:]) / means
    K = 20.0 * np.exp(-sum(s * (x[:, None] - x) ** 2 for s, x in zip(scales, X.T, strict=True)))
    residuals = np.empty(len(Y))
    for fold in np.array_split(np.arange(len(Y)), 4):
        rest = np.setdiff1d(np.arange(len(Y)), fold)
        mean = Y[rest, 0].mean()
        coef = np.linalg.solve(K[np.ix_(rest, rest)] + np.eye(len(rest)), Y[rest, 0] - mean)
        residuals[fold] = Y[fold, 0] - mean - K[np.ix_(fold, rest)] @ coef
    prior = 2.0 / len(Y) * np.sum((u[1:] - u[1:].mean()) ** 2)
    assert trial.value == pytest.approx(np.log(np.mean(residuals**2)) + prior, rel=1e-10)


@families
def test_the_end_is_stationary_and_better_than_equal_scales(name: str) -> None:
    X, Y = samples(80)
    bank = ColumnDistancesBank.of(X, FAMILIES[name][0].degree)
    seen: list[Event] = []
    held_out = HeldOut(Y, Folds.of(5, 80, Y))
    found = learned_scales(
        bank, Profiles(FAMILIES[name], name == "shared"), held_out, tol=1e-4, max_iter=500, observe=seen.append
    )
    assert found.converged
    assert found.certificate is not None
    assert found.certificate.value <= 1e-4
    assert found.objective is not None
    assert found.objective < 0.9 * found.equal < found.constant
    assert found.values.sum() == pytest.approx(1.0)
    assert seen[-1].step == found.n_iter + 1
    units = found.scales * mean_distances(bank)
    assert (units[:, 0] > 2.0 * units[:, 2:].max(axis=1)).any()


def test_a_large_penalty_keeps_the_scales_equal_and_none_sets_them_free() -> None:
    X, Y = samples(60)
    bank, held_out = ColumnDistancesBank.of(X), HeldOut(Y, Folds.of(5, 60, Y))
    means = mean_distances(bank)

    def spread(penalty: float) -> float:
        found = learned_scales(bank, Profiles((kernels.RBF(),)), held_out, penalty, tol=1e-3, max_iter=300)
        return float(np.log(found.scales * means).std())

    assert spread(1e6) < 1e-3 < 0.3 < spread(1.0) < spread(0.0)


def test_steps_begin_on_some_of_many_samples() -> None:
    """The end is as good as that of steps on all samples from the beginning."""
    X, Y = samples(1100)
    bank, held_out = ColumnDistancesBank.of(X), HeldOut(Y, Folds.of(5, 1100, Y))
    found = learned_scales(bank, Profiles((kernels.RBF(),)), held_out, penalty=1.0, max_iter=30)
    assert found.converged
    assert found.objective is not None
    assert found.objective < 0.012  # the noise is .01


def test_constant_features_have_no_scale_and_constant_targets_no_error() -> None:
    X, Y = samples(30)
    X = np.column_stack([X, np.full(30, 1e6)])
    bank = ColumnDistancesBank.of(X)
    found = learned_scales(bank, Profiles((kernels.RBF(),)), HeldOut(Y, Folds.of(5, 30, Y)), max_iter=5)
    assert found.scales[0, 4] == 0.0
    flat = learned_scales(bank, Profiles((kernels.RBF(),)), HeldOut(0.0 * Y + 3.0, Folds.of(5, 30, Y)))
    assert flat.objective == pytest.approx(0.0, abs=1e-20)
    assert np.isfinite(flat.theta).all()


def test_a_step_holds_few_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most four with one kernel; and none at all is begun where they do not fit."""
    n = 400
    X, Y = samples(n)
    bank, held_out = ColumnDistancesBank.of(X), HeldOut(Y, Folds.of(5, n, Y))

    def learned() -> None:
        learned_scales(bank, Profiles((kernels.Matern(nu=1.5),)), held_out, max_iter=2)

    def peak(work: Callable[[], None]) -> float:
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1] / (8.0 * n * n)
        finally:
            tracemalloc.stop()

    def refused() -> None:
        with pytest.raises(MemoryError, match=r"kernels of 400 samples takes .* take a part of the samples"):
            learned()

    learned()  # what is imported and compiled once
    assert peak(learned) < 6.0
    monkeypatch.setattr(_memory, "total_memory", lambda: 8.0 * 3.9 * n * n)
    assert peak(refused) < 0.5


def test_a_penalty_is_chosen_by_samples_that_chose_no_scale() -> None:
    """A small one where few features of many matter, the largest where all matter alike; other folds tell the truth."""
    X = np.random.default_rng(0).normal(size=(120, 12))
    few, all_alike = np.sin(2.0 * X[:, :1]) + X[:, 1:2], np.linalg.norm(X, axis=1)[:, None]
    bank, folds = ColumnDistancesBank.of(X), Folds(np.arange(120) % 5, 5)

    def found(Y: Array, penalty: float | None = None) -> LearnedScales:
        noisy = Y + 0.3 * np.random.default_rng(4).normal(size=Y.shape)
        return learned_scales(bank, Profiles((kernels.Matern(nu=1.5),)), HeldOut(noisy, folds), penalty)

    sparse, alike = found(few), found(all_alike)
    assert sparse.penalty <= 3.0 < alike.penalty
    assert sparse.objective is not None
    assert sparse.objective < 0.5 * sparse.equal
    assert sparse.outer > sparse.objective
    assert np.isnan(found(few, 3.0).outer)
    two = learned_scales(bank, Profiles((kernels.RBF(),)), HeldOut(few, Folds.of(2, 120, few)), None)
    assert two.penalty == 3.0  # no two folds are left to choose scales by


def test_mean_distances_are_those_of_pairs_but_for_far_outliers() -> None:
    """Rounding that tells equal categories apart counts as nothing."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.choice(["u", "v"], 300, p=[0.9, 0.1]), rng.normal(size=300), np.full(300, 2.0)])
    table = table.astype(object)
    table[:, 1:] = table[:, 1:].astype(float)
    bank = ColumnDistancesBank.of(table)
    np.testing.assert_allclose(mean_distances(bank), bank.matrices().mean(axis=(1, 2)), rtol=1e-9, atol=1e-12)
    table[5, 1] = 1e8
    means = mean_distances(ColumnDistancesBank.of(table[:100]))
    assert 1.0 < means[1] < 10.0
    assert means[2] == 0.0


@families
@pytest.mark.parametrize("weighed", [False, True])
def test_gradients_of_the_predictor_are_those_of_differences(name: str, weighed: bool) -> None:
    """Of ridge regression written out, moved one column of one sample at a time."""
    error = problem(name, t=2)
    if error.bank.degree == 1:
        assert error.columns is None
        assert proposed(error, Equal(10.0, 1.0)) is None
        return
    Y, weight = error.held_out.Y, np.random.default_rng(3).uniform(0.5, 2.0, 40) if weighed else np.ones(40)
    error = replace(error, held_out=error.held_out.weighted(weight) if weighed else error.held_out)
    u = error.equal(10.0, 1.0)
    u = u + 0.5 * np.random.default_rng(1).normal(size=len(u))
    theta, X = error.theta(u), error.columns
    assert X is not None
    R = len(FAMILIES[name])
    scales = np.broadcast_to(theta[R:].reshape(-1, X.shape[1]), (R, X.shape[1]))

    def kernel(Z: Array) -> Array:
        squares = (Z[:, None] - X) ** 2
        return sum(w * k.profile(squares @ s) for w, k, s in zip(theta[:R], FAMILIES[name], scales, strict=True))

    coef = np.linalg.solve(kernel(X) + np.diag(1.0 / weight), Y - np.average(Y, axis=0, weights=weight))
    slopes = gradients(error, theta)
    assert slopes is not None
    for j, width in enumerate(X.std(axis=0)):
        step = 1e-5 * width * (np.arange(X.shape[1]) == j)
        expected = (kernel(X + step) - kernel(X - step)) @ coef / (2e-5 * width)
        np.testing.assert_allclose(slopes[:, :, j].T, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(("kernel", "seed"), [(kernels.Matern(nu=1.5), 3), (kernels.RBF(), 6)], ids=repr)
def test_gradients_lead_out_of_a_local_minimum(kernel: kernels.DistanceKernel, seed: int) -> None:
    """Two of twelve features matter, one of them as a sine, which smooth predictors do not see."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 12))
    Y = np.sin(2.0 * X[:, :1]) + X[:, 1:2] + 0.3 * np.random.default_rng(4).normal(size=(120, 1))
    bank, held_out = ColumnDistancesBank.of(X), HeldOut(Y / Y.std(), Folds(rng.permutation(120) % 5, 5))
    found, again = (learned_scales(bank, Profiles((kernel,)), held_out) for _ in range(2))
    assert found.objective is not None
    assert found.objective < 0.15  # .29 and .34 at the minimum next to equal scales
    units = found.scales[0] * found.means
    assert units[0] > 5.0 * units[2:].max()
    np.testing.assert_array_equal(found.scales, again.scales)


def test_what_columns_tell_alone_or_in_pairs_is_found_among_many() -> None:
    """One acts by its absolute value, two by their product, one as a sine; 196 do nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 200))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + 0.2 * rng.normal(size=1000)
    found = evidence(X, np.column_stack([rng.normal(size=1000), y]))
    assert found[:4].min() > 0.1
    assert np.count_nonzero(found) <= 6
    assert not evidence(X, rng.normal(size=(1000, 1))).any()
    assert not evidence(np.ones((40, 3)), y[:40, None]).any()


def test_four_of_many_features_matter() -> None:
    """Scales of the others are next to nothing; equal scales tell nothing at all."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 100))
    y = np.sin(2.0 * X[:, :1]) + X[:, 1:2] * X[:, 2:3] + np.abs(X[:, 3:4]) + 0.2 * rng.normal(size=(300, 1))
    bank, held_out = ColumnDistancesBank.of(X), HeldOut(y, Folds(np.arange(300) % 5, 5))
    found = learned_scales(bank, Profiles((kernels.Matern(nu=1.5),)), held_out, 1.0, max_iter=30)
    assert found.objective is not None
    assert found.objective < 0.2 * found.equal
    units = found.scales[0] * found.means
    assert units[:4].min() > 10.0 * units[4:].max()


@pytest.mark.parametrize("rank", [None, 1])
def test_a_metric_finds_the_direction_that_a_target_depends_on(rank: int | None) -> None:
    rng = np.random.default_rng(0)
    X, along = rng.normal(size=(160, 4)), np.array([0.5, -0.5, 0.7, 0.1])
    along /= np.linalg.norm(along)
    y = np.sin(2.0 * X @ along)[:, None] + 0.1 * rng.normal(size=(160, 1))
    units = np.array([1e4, 1.0, 1e-4, 1.0])
    bank, held_out = ColumnProductsBank.of(X * units), HeldOut(y, Folds(np.arange(160) % 5, 5))
    found = learned_scales(bank, Profiles((kernels.Matern(nu=1.5),)), held_out, 1.0, rank=rank)
    assert found.objective is not None
    assert found.objective < 0.3 * found.equal
    values, V = np.linalg.eigh(found.scales.reshape(4, 4) * units[:, None] * units)
    assert abs(V[:, -1] @ along) > 0.99
    assert values[-2] < 0.1 * values[-1]
