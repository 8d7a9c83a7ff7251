"""Variance components against published estimates, closed forms, finite differences and a general solver."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq, minimize
from sklearn.exceptions import NotFittedError

from mixed_models import DYESTUFF, PENICILLIN, SLEEP
from multikernel import MultipleKernelRidgeCV, bind, kernels, precomputed
from multikernel._workers import Interrupted
from multikernel.procedures import restricted_likelihood
from multikernel.procedures.restricted_likelihood import ContrastSpectrum, OfKernels, OfOneKernel
from multikernel.procedures.ridge_cv.evidence import Evidence
from multikernel.procedures.ridge_cv.fixed import FixedColumns
from multikernel.procedures.variance_components import VarianceComponents, null_of_one_kernel

RNG = np.random.default_rng(3)
N = 50
X = RNG.normal(size=(N, 6))
F = np.column_stack([np.ones(N), RNG.normal(50.0, 10.0, N)])
TWO = [kernels.RBF(0.3).on([0, 1]), kernels.Linear().on([2, 3, 4, 5])]


def fitted(matrices, y, **parameters):
    model = MultipleKernelRidgeCV(criterion="evidence", **parameters).fit(matrices, y)
    return model, model.variance_components(matrices, y)


def same(labels):
    return np.equal.outer(labels, labels).astype(float)


def test_one_way_layout_in_closed_form():
    """Estimates and standard errors of a balanced analysis of variance, and its published values."""
    y, batch = DYESTUFF.ravel(), np.repeat(np.arange(6), 5)
    _, table = fitted({"batch": same(batch)}, y, fixed=[])
    within = DYESTUFF.var(axis=1, ddof=1).mean()
    between = 5.0 * DYESTUFF.mean(axis=1).var(ddof=1)
    np.testing.assert_allclose(table["variance"], [(between - within) / 5.0, within], rtol=1e-6)
    np.testing.assert_allclose(table["variance"], [1764.05, 2451.25], rtol=1e-6)
    errors = [np.sqrt(2.0 * between**2 / 5.0 + 2.0 * within**2 / 24.0) / 5.0, within * np.sqrt(2.0 / 24.0)]
    np.testing.assert_allclose(table["standard error"], errors, rtol=1e-6)
    assert table["share"].sum() == pytest.approx(1.0)
    centred = 25.0 / 29.0 * 1764.05
    assert table["share"]["batch"] == pytest.approx(centred / (centred + 2451.25), rel=1e-6)
    # the variance between batches is zero where F = between / within is 1 or less
    assert table["statistic"]["batch"] == pytest.approx(
        29.0 * np.log((5.0 * between + 24.0 * within) / 29.0) - 5.0 * np.log(between) - 24.0 * np.log(within), rel=1e-6
    )
    draws = stats.f.rvs(5, 24, size=200_000, random_state=0)
    ratio = np.where(draws > 1.0, 29.0 * np.log((5.0 * draws + 24.0) / 29.0) - 5.0 * np.log(draws), 0.0)
    assert table["p"]["batch"] == pytest.approx((ratio > table["statistic"]["batch"]).mean(), abs=0.002)


def test_crossed_factors_as_lme4_finds_them():
    plate, sample = np.repeat(np.arange(24), 6), np.tile(np.arange(6), 24)
    model, table = fitted({"plate": same(plate), "sample": same(sample)}, PENICILLIN.ravel(), fixed=[], tol=1e-8)
    np.testing.assert_allclose(table["variance"], [0.7169, 3.7309, 0.3024], atol=6e-5)
    assert model.intercept_ == pytest.approx(22.9722, abs=5e-5)
    assert model.intercept_std_error_ == pytest.approx(0.8086, abs=1e-4)
    assert (table["p"][:2] < 1e-6).all()


def test_slopes_of_subjects_as_lme4_finds_them():
    """Independent intercepts and slopes: kernels of the subject, and of subject and day."""
    subject, days = np.repeat(np.arange(18), 10), np.tile(np.arange(10.0), 18)
    both = {"intercepts": same(subject), "slopes": same(subject) * np.outer(days, days), "days": days[:, None]}
    model, table = fitted(both, SLEEP.ravel(), fixed="days", tol=1e-8)
    np.testing.assert_allclose(table["variance"], [627.57, 35.86, 653.58], atol=0.006)
    frame = model.fixed_frame()
    np.testing.assert_allclose(frame["coefficient"], [251.405, 10.467], atol=6e-4)
    np.testing.assert_allclose(frame["standard error"], [6.885, 1.560], atol=6e-4)


@pytest.mark.parametrize("family", [TWO, TWO[1:]])
def test_scores_and_information(family):
    """Finite differences; the information is the mean of the observed and the expected one."""
    fixed, y = FixedColumns.of(F), np.random.default_rng(11).normal(size=(N, 1)) + X[:, 2:3]
    bank = bind(family, X)
    K, Q = bank.matrices(), np.linalg.svd(F)[0][:, 2:]
    D = np.stack([*(Q.T @ each @ Q for each in K), np.eye(N - 2)])

    def truth(theta):
        V = np.tensordot(theta, D, 1)
        return stats.multivariate_normal(cov=V).logpdf(Q.T @ y[:, 0])

    evidence = Evidence.of(bank, fixed.rest(y), False, fixed.basis)
    likelihoods = [OfKernels(evidence)]
    if len(family) == 1:
        spectrum = ContrastSpectrum.of(evidence)
        likelihoods.append(OfOneKernel(spectrum, spectrum.targets[:, 0]))
    theta = np.array([0.4, 0.2, 0.8])[-len(D) :]
    step = 1e-4 * np.eye(len(D))
    V = np.linalg.inv(np.tensordot(theta, D, 1))
    expected = 0.5 * np.array([[np.trace(V @ a @ V @ b) for a in D] for b in D])
    for likelihood in likelihoods:
        here = likelihood.at(theta)
        assert here.value == pytest.approx(truth(theta), rel=1e-10)
        score = [(truth(theta + s) - truth(theta - s)) / 2e-4 for s in step]
        np.testing.assert_allclose(here.score, score, rtol=1e-5, atol=1e-5)
        observed = [-(likelihood.at(theta + s).score - likelihood.at(theta - s).score) / 2e-4 for s in step]
        np.testing.assert_allclose(here.information, (np.array(observed) + expected) / 2.0, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", [[kernels.RBF(3.0), *TWO], [kernels.RBF(3.0)]])
def test_likelihood_without_noise(family):
    """As with noise where a kernel of full rank leaves none out, and not known without it."""
    fixed, y = FixedColumns.of(F), np.random.default_rng(0).normal(size=(N, 1))
    bank = bind(family, X)
    Q = np.linalg.svd(F)[0][:, 2:]
    D = np.stack([*(Q.T @ each @ Q for each in bank.matrices()), np.eye(N - 2)])
    theta = np.array([0.4, 0.2, 0.3])[: len(family)]
    V = np.tensordot(theta, D[:-1], 1)
    a = np.linalg.solve(V, Q.T @ y[:, 0])
    score = [-0.5 * (np.trace(np.linalg.solve(V, each)) - a @ each @ a) for each in D]
    evidence = Evidence.of(bank, fixed.rest(y), False, fixed.basis)
    likelihoods = [OfKernels(evidence)]
    if len(family) == 1:
        spectrum = ContrastSpectrum.of(evidence)
        likelihoods.append(OfOneKernel(spectrum, spectrum.targets[:, 0]))
    for likelihood in likelihoods:
        here = likelihood.at(np.append(theta, 0.0))
        assert here.value == pytest.approx(stats.multivariate_normal(cov=V).logpdf(Q.T @ y[:, 0]), rel=1e-6)
        np.testing.assert_allclose(here.score, score, rtol=1e-5)
        if len(family) > 1:
            assert likelihood.at(np.append(0.0, np.append(theta[1:], 0.0))) is None


def test_intervals_end_where_a_general_solver_rejects():
    y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 2] + 0.5 * np.random.default_rng(12).normal(size=N)
    bank = bind(TWO, X)
    Q = np.linalg.svd(np.ones((N, 1)))[0][:, 1:]
    D = np.stack([*(Q.T @ each @ Q for each in bank.matrices()), np.eye(N - 1)])

    def minus(theta):
        return -stats.multivariate_normal(cov=np.tensordot(theta, D, 1)).logpdf(Q.T @ y)

    _, table = fitted(views_of(X), y, fixed=[])
    best = minimize(minus, table["variance"], bounds=[(0, None), (0, None), (1e-6, None)], method="L-BFGS-B")
    assert -best.fun == pytest.approx(-minus(table["variance"]), abs=1e-5)
    for k, end in ((0, "lower"), (0, "upper"), (1, "upper"), (2, "lower"), (2, "upper")):
        value = table[end].iloc[k]
        others = np.delete(np.arange(3), k)

        def profile(rest, value=value, k=k, others=others):
            theta = np.empty(3)
            theta[k], theta[others] = value, rest
            return minus(theta)

        bounds = [(1e-6 if j == 2 else 0.0, None) for j in others]
        found = min(
            minimize(profile, start, bounds=bounds, method="L-BFGS-B").fun
            for start in (table["variance"].to_numpy()[others] + 1e-3, np.full(2, 0.2))
        )
        assert 2.0 * (found - minus(table["variance"])) == pytest.approx(stats.chi2.ppf(0.95, 1), abs=0.02)


def views_of(samples):
    return dict(zip(("rbf", "linear"), bind(TWO, samples).matrices(), strict=True))


def test_a_kernel_that_is_noise_has_the_interval_of_what_both_are_together():
    """Each variance may be zero, and none may exceed their sum, whose likelihood is that of one sample."""
    y = DYESTUFF.ravel()
    n, squares = len(y) - 1, ((y - y.mean()) ** 2).sum()
    mean = squares / n

    def loss(s):
        return n * np.log(s / mean) + squares * (1.0 / s - 1.0 / mean) - stats.chi2.ppf(0.95, 1)

    highest = brentq(loss, mean, 5.0 * mean)
    own = {"own": np.eye(len(y))}
    for matrices in (own, {**own, "again": np.eye(len(y))}):
        _, table = fitted(matrices, y, fixed=[])
        assert table["variance"].sum() == pytest.approx(mean, rel=1e-6)
        np.testing.assert_allclose(table["upper"], highest, rtol=2e-3)
        np.testing.assert_allclose(table["lower"], 0.0, atol=1e-6 * mean)


@pytest.mark.filterwarnings("ignore:.*did not converge:sklearn.exceptions.ConvergenceWarning")
def test_a_target_of_groups_without_noise_has_no_estimates_beside_rough_variances():
    batch = np.repeat(np.arange(6), 5)
    means = DYESTUFF.mean(axis=1)[batch]
    for y in (means, means + 1e-9 * np.arange(30)):
        with pytest.warns(UserWarning, match="the kernels explain the target without noise, so that the likelihood"):
            _, table = fitted({"batch": same(batch)}, y, fixed=[])
        assert table[["standard error", "lower", "upper", "statistic", "p"]].isna().all(axis=None)


def test_false_positives():
    """Of null targets beside fixed columns."""
    rng = np.random.default_rng(7)
    fixed, Y = FixedColumns.of(F), rng.normal(size=(N, 200))
    one = VarianceComponents.of(bind(TWO[:1], X), Y, fixed)
    p = np.array([one.target(t).p[0] for t in range(200)])
    assert 0.02 <= (p < 0.05).mean() <= 0.08  # two standard errors of so few targets
    assert 0.14 <= (p < 0.2).mean() <= 0.26


@pytest.mark.study
def test_false_positives_of_several_kernels():
    """At most the level, within two standard errors of 2000 targets."""
    fixed, Y = FixedColumns.of(F), np.random.default_rng(7).normal(size=(N, 2000))
    several = VarianceComponents.of(bind(TWO, X), Y, fixed)
    p = np.array([several.target(t).p[:2] for t in range(2000)])
    assert ((p < 0.05).mean(axis=0) <= 0.06).all()


def test_null_distribution_of_one_kernel():
    """Exact at every level for other draws, also of few features; beyond its own draws it goes on falling."""
    rng = np.random.default_rng(5)
    for values, beyond in ((np.linalg.eigvalsh(bind(TWO[:1], X).matrices()[0]), 0), (np.array([3.0, 1.0, 0.2]), 45)):
        d = np.append(np.maximum(values, 0.0), np.zeros(beyond))
        squares = rng.chisquare(1.0, (10_000, len(d)))
        shrunk = 1.0 / (1.0 + np.outer(d, np.append(0.0, np.logspace(-6.0, 6.0, 301))))
        rises = np.log(squares.sum(axis=1))[:, None] - np.log(squares @ shrunk)
        tests = (len(d) * rises + np.log(shrunk).sum(axis=0)).max(axis=1)
        p = null_of_one_kernel(values, beyond)(np.maximum(tests, 0.0))
        for level in (0.01, 0.05, 0.2, 0.35):
            assert (p < level).mean() == pytest.approx(level, abs=4.0 * np.sqrt(2.0 * level / 10_000))
    found = null_of_one_kernel(values, beyond)(np.array([0.0, 0.5, 2.7, 8.0, 20.0, 40.0]))
    assert found[0] == 1.0
    assert (np.diff(found) < 0.0).all()
    assert 1e-12 < found[-1] < 1e-8


def test_kernels_that_explain_the_same_or_nothing():
    y = 2.0 * X[:, 2] + np.random.default_rng(13).normal(size=N)
    linear = bind(TWO, X).matrices()[1]
    age = F[:, 1] - F[:, 1].mean()
    matrices = {"one": linear, "two": linear, "none": 0.0 * linear, "age": np.outer(age, age), "people": F[:, 1:]}
    _, table = fitted(matrices, y, fixed="people")
    alone = fitted({"one": linear, "people": F[:, 1:]}, y, fixed="people")[1]
    assert table["variance"][["one", "two"]].sum() == pytest.approx(alone["variance"]["one"], rel=1e-5)
    assert table["variance"][["none", "age"]].sum() == 0.0
    assert (table["p"].iloc[:4] == 1.0).all()
    assert table["standard error"].iloc[:4].isna().all()
    np.testing.assert_allclose(table["upper"][["one", "two"]], alone["upper"]["one"], rtol=1e-2)
    np.testing.assert_array_equal(table["upper"][["none", "age"]], np.inf)
    assert table.loc["noise", "variance"] == pytest.approx(alone.loc["noise", "variance"], rel=1e-5)
    # of a target in the span of the fixed columns nothing is left
    _, nothing = fitted({"one": linear, "people": F[:, 1:]}, 3.0 * F[:, 1], fixed="people")
    np.testing.assert_array_equal(nothing["variance"], 0.0)
    assert nothing["p"]["one"] == 1.0


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units(unit):
    y, matrices = np.sin(2.0 * X[:, 0]) + np.random.default_rng(14).normal(size=N), views_of(X)
    base = fitted(matrices, y, fixed=[])[1]
    other = fitted({"rbf": unit * matrices["rbf"], "linear": matrices["linear"]}, y / unit, fixed=[])[1]
    factor = np.array([unit**3, unit**2, unit**2])[:, None]
    columns = ["variance", "standard error", "lower", "upper"]
    np.testing.assert_allclose(other[columns] * factor, base[columns], rtol=2e-3, atol=1e-9)
    same_columns = ["share", "error of share", "statistic", "p"]
    np.testing.assert_allclose(other[same_columns], base[same_columns], rtol=1e-4, atol=1e-6)


def test_tables_of_several_targets_and_forms_of_samples():
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(age=F[:, 1], site=np.where(X[:, 0] > 0.0, "A", "B"))
    rng = np.random.default_rng(15)
    Y = np.column_stack([X[:, 2] + rng.normal(size=N), rng.normal(size=N)])
    family = [kernels.RBF(0.3).on(["a", "b"]), kernels.Linear().on(["c", "d", "e", "f"])]
    model = MultipleKernelRidgeCV(family, fixed=["age", "site"], criterion="evidence", n_jobs=2).fit(frame, Y)
    table = model.variance_components(frame, Y, coverage=None)
    assert table.shape == (6, 8)
    assert table[["lower", "upper"]].isna().all(axis=None)
    for t in range(2):
        alone = MultipleKernelRidgeCV(family, fixed=["age", "site"], criterion="evidence", tol=1e-8)
        alone.fit(frame, Y[:, t])
        expected = alone.variance_components(frame, Y[:, t])
        pd.testing.assert_frame_equal(
            table.loc[t].drop(columns=["lower", "upper"]), expected.drop(columns=["lower", "upper"]), rtol=1e-4
        )
        assert ((expected["lower"] <= expected["variance"]) & (expected["variance"] <= expected["upper"])).all()
        variances = np.append(alone.kernel_scale_ * alone.weights_, alone.noise_variance_)
        np.testing.assert_allclose(variances, expected["variance"], rtol=0.05, atol=1e-3)
    alone = MultipleKernelRidgeCV(TWO, criterion="evidence").fit(X, Y[:, 0])
    intercept = MultipleKernelRidgeCV(TWO, criterion="evidence", fixed=[]).fit(X, Y[:, 0])
    pd.testing.assert_frame_equal(
        alone.variance_components(X, Y[:, 0]), intercept.variance_components(X, Y[:, 0]), rtol=1e-3
    )
    without = MultipleKernelRidgeCV(TWO, criterion="evidence", fit_intercept=False).fit(X, Y[:, 0])
    assert np.isfinite(without.variance_components(precomputed_bank(), Y[:, 0])["variance"]).all()


def precomputed_bank():
    return precomputed(bind(TWO, X).matrices())


def test_what_is_refused():
    y = X[:, 2]
    held_out = MultipleKernelRidgeCV(TWO).fit(X, y)
    with pytest.raises(ValueError, match="criterion='evidence'"):
        held_out.variance_components(X, y)
    shared = MultipleKernelRidgeCV(TWO, criterion="evidence", shared_weights=True).fit(X, X[:, 2:4])
    with pytest.raises(ValueError, match="weights for each"):
        shared.variance_components(X, X[:, 2:4])
    with pytest.raises(ValueError, match="coverage"):
        MultipleKernelRidgeCV(TWO, criterion="evidence").fit(X, y).variance_components(X, y, coverage=95)
    with pytest.raises(NotFittedError):
        MultipleKernelRidgeCV(TWO, criterion="evidence").variance_components(X, y)


def test_steps_look_whether_anybody_waits_for_them(monkeypatch):
    """Targets are estimated on threads, which an interruption of the main one has to end."""

    def interrupted():
        raise Interrupted

    monkeypatch.setattr(restricted_likelihood, "check_interrupted", interrupted)
    bank = bind(TWO, X)
    components = VarianceComponents.of(bank, np.random.default_rng(17).normal(size=(N, 1)), None)
    with pytest.raises(Interrupted):
        components.target(0)


def test_a_kernel_that_the_fixed_columns_explain_has_no_standard_error():
    """Not even where it is the only one, and rounding of 1e-60 is what the contrasts leave of it."""
    found = VarianceComponents.of(precomputed(np.ones((1, N, N))), X[:, :1], FixedColumns.of(F)).target(0, coverage=0.9)
    assert found.variances[0] == 0.0
    assert np.isnan(found.covariance[0]).all()
    assert (found.lower[0], found.upper[0]) == (0.0, np.inf)
