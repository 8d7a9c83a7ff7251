"""Many targets with weights of their own: against each target alone, in other units, from a file, as coefficients."""

import tracemalloc
import weakref

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, KFold

from cases import one_in
from multikernel import MultipleKernelRidgeCV, bind, kernels, precomputed
from multikernel._floats import all_finite
from multikernel.procedures.ridge_cv import Folds, HeldOutError, held_out_error, ridge_cv
from multikernel.procedures.ridge_cv.each_target import each_target

SIZES = (15, 25, 40)


def data(n=60, t=24, seed=0, sizes=SIZES):
    """Features of three spaces, and targets that use none, one, two or all of them."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(n, p)) / np.sqrt(p) for p in sizes]
    used = (np.arange(t)[:, None] >> np.arange(len(sizes))) & 1
    Y = sum(X @ rng.normal(size=(X.shape[1], t)) * used[:, k] for k, X in enumerate(parts))
    return parts, Y + 1.5 * rng.normal(size=(n, t)) + rng.normal(size=t)


def stack(parts):
    return np.stack([X @ X.T for X in parts])


def model(standard_errors=0.0, **parameters):
    """Weights of least error, whatever they gain."""
    return MultipleKernelRidgeCV("precomputed", standard_errors=standard_errors, **parameters)


class TestAgainstEachAlone:
    @pytest.mark.parametrize("cv", one_in(2, [5, "loo"]))
    def test_errors_are_those_of_each_alone(self, cv):
        parts, Y = data(t=8)
        K = stack(parts)
        many = model(cv=cv).fit(K, Y)
        assert many.converged_
        assert many.target_stationarity_.shape == (8,)
        assert many.target_stationarity_.max() == many.stationarity_ <= 1e-4
        bank, folds = precomputed(K), Folds.of(cv, len(Y), Y)
        for t in range(Y.shape[1]):
            alone = ridge_cv(bank, Y[:, [t]], folds, n_init=2)
            assert many.cv_loss_[t] <= alone.errors[0] * (1.0 + 5e-4)
            point = HeldOutError.of(bank, Y[:, [t]], folds).at(many.weights_[t] / many.alpha_[t])
            assert many.cv_loss_[t] == pytest.approx(point.value, rel=1e-9)

    def test_finer_tolerance_is_reached(self):
        parts, Y = data(t=8)
        K = stack(parts)
        fine = model(tol=1e-9).fit(K, Y)
        assert fine.stationarity_ <= 1e-9
        error = HeldOutError.of(precomputed(K), Y, Folds.of(5, len(Y), Y))
        for t in range(8):
            one = error.of_targets([t])
            v = fine.weights_[t] / fine.alpha_[t]
            slope = one.gradient(one.at(v)) / fine.cv_loss_[t]
            assert (np.abs(slope * v) < 1e-3).all()
            assert (slope > -1e-3).all()

    def test_never_worse_than_equal_weights(self):
        parts, Y = data(seed=3)
        K = stack(parts)
        many = model().fit(K, Y)
        error = HeldOutError.of(precomputed(K), Y, Folds.of(5, len(Y), Y))
        v = np.full(3, 1.0 / K.trace(axis1=1, axis2=2).sum() * len(Y))
        equal = np.min([error.at(10.0**d * v).errors for d in range(6)], axis=0)
        assert (many.cv_loss_ <= equal * (1.0 + 1e-9)).all()

    def test_more_starts_are_never_worse(self):
        parts, Y = data(n=30, t=12, seed=5)
        one, more = (model(n_init=count, random_state=0).fit(stack(parts), Y) for count in (1, 3))
        assert (more.cv_loss_ <= one.cv_loss_ * (1.0 + 2e-4)).all()

    @pytest.mark.parametrize("m", one_in(2, [50, 12]))
    def test_many_kernels(self, m):
        """Overlapping ones, fewer and more than samples."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 5))
        Y = np.sin(X[:, [0, 1, 1]]) + 0.5 * X[:, [2, 2, 3]] + 0.5 * rng.normal(size=(40, 3))
        family = [kernels.RBF(gamma).on([j]) for gamma in np.geomspace(0.01, 10.0, m // 5 + 1) for j in range(5)]
        bank = bind(family[:m], X)
        many = MultipleKernelRidgeCV(standard_errors=0.0).fit(bank, Y)
        for t in range(3):
            alone = MultipleKernelRidgeCV().fit(bank, Y[:, t])
            assert many.cv_loss_[t] <= alone.cv_loss_ * 1.02  # there are other minima, some lower and some higher

    @pytest.mark.study
    def test_more_targets_than_samples_and_threads(self):
        parts, Y = data(n=30, t=40)
        one, two = (model(n_jobs=jobs).fit(stack(parts), Y) for jobs in (1, 2))
        assert one.weights_.shape == two.weights_.shape == (40, 3)
        np.testing.assert_allclose(two.cv_loss_, one.cv_loss_, rtol=2e-3)


class TestOtherCriteria:
    """Evidence, and columns without penalty, are those of each target alone."""

    @pytest.mark.crossed
    @pytest.mark.parametrize("criterion", ["evidence", "held_out"])
    @pytest.mark.parametrize("fixed", [None, ["age"]])
    def test_each_is_that_of_the_target_alone(self, criterion, fixed):
        parts, Y = data(n=50, t=6, seed=2)
        age = np.random.default_rng(0).normal(size=(50, 1))
        Y[:, 3] = 2.0  # constant
        Y[:, 4] += 3.0 * age[:, 0]
        views = {"a": parts[0], "b": parts[1]}
        if fixed is not None:
            views["age"] = age
        linear = {"a": [kernels.Linear()], "b": [kernels.Linear()]}
        parameters = {"criterion": criterion, "fixed": fixed, "tol": 1e-8, "standard_errors": 0.0}
        many = MultipleKernelRidgeCV(linear, **parameters).fit(views, Y)
        assert many.target_stationarity_.max() <= 1e-8
        for t in range(6):
            alone = MultipleKernelRidgeCV(linear, n_init=2, random_state=0, **parameters).fit(views, Y[:, t])
            assert many.objective_[t] <= alone.objective_ * (1.0 + 1e-5)
            if many.objective_[t] >= alone.objective_ * (1.0 - 1e-5) and t != 3:  # there may be other minima
                np.testing.assert_allclose(many.weights_[t], alone.weights_, atol=2e-3)
                assert many.cv_loss_[t] == pytest.approx(alone.cv_loss_, rel=1e-3)
                if fixed is not None:
                    np.testing.assert_allclose(many.fixed_coef_[t], alone.fixed_coef_, rtol=1e-2)
                    np.testing.assert_allclose(many.fixed_std_errors_[t], alone.fixed_std_errors_, rtol=1e-2)
        np.testing.assert_allclose(many.predict(views)[:, 3], 2.0, rtol=1e-6)

    def test_more_kernels_than_samples_and_matrices(self):
        """New samples come as matrices, and a constant target is predicted as such."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(20, 25))
        Y = np.column_stack([X[:, 0] + rng.normal(size=20), np.full(20, 3.0)])
        K = np.stack([np.outer(x, x) for x in X.T])
        many = model(criterion="evidence", fixed=[], tol=1e-2, max_iter=50).fit(K, Y)
        assert many.stationarity_ <= 1e-2
        new = rng.normal(size=(4, 25))
        predicted = many.predict(np.stack([np.outer(x, z) for x, z in zip(new.T, X.T, strict=True)]))
        np.testing.assert_allclose(predicted[:, 1], 3.0)
        known = many.intercept_[0] + ((new * many.weights_[0]) @ X.T) @ many.dual_coef_[0]
        np.testing.assert_allclose(predicted[:, 0], known)


class TestEqualWeights:
    """A target whose weights gain no more than standard errors has equal ones, with a ridge of its own."""

    @pytest.mark.study
    def test_targets_without_signal_are_predicted_as_with_one_kernel(self):
        rng = np.random.default_rng(1)
        parts, Y = data(n=300, t=80, seed=1)
        null = np.arange(80) % 8 == 0
        Y[:, null] = rng.normal(size=(300, 10))
        K = stack(parts)
        train, test = np.ix_(range(3), range(150), range(150)), np.ix_(range(3), range(150, 300), range(150))
        scores = {}
        for name, fitted in (("own", model()), ("default", MultipleKernelRidgeCV("precomputed"))):
            fitted.fit(K[train], Y[:150])
            scores[name] = r2_score(Y[150:], fitted.predict(K[test]), multioutput="raw_values")
        assert scores["default"][null].mean() >= scores["own"][null].mean()
        assert scores["default"][~null].mean() > scores["own"][~null].mean() - 0.005

    def test_which_targets_and_what_they_get(self):
        parts, Y = data()
        K = np.array([1.0, 5.0, 0.1])[:, None, None] * stack(parts)
        own, chosen = model().fit(K, Y), model(standard_errors=1.0).fit(K, Y)
        traces = 1.0 / K.trace(axis1=1, axis2=2)
        sum_of_all = np.tensordot(traces / traces.sum(), K, 1)[None]
        equal = model().fit(sum_of_all, Y)
        simple = equal.cv_loss_ - own.cv_loss_ <= 4.0 / len(Y) * own.cv_loss_
        assert 0 < simple.sum() < len(simple)
        some = simple & (equal.weights_[:, 0] > 0)
        np.testing.assert_allclose(chosen.weights_[some], np.tile(traces / traces.sum(), (some.sum(), 1)), rtol=1e-9)
        np.testing.assert_allclose(chosen.cv_loss_[simple], equal.cv_loss_[simple], rtol=1e-4)
        np.testing.assert_array_equal(chosen.weights_[~simple], own.weights_[~simple])
        np.testing.assert_allclose(chosen.predict(K)[:, simple], equal.predict(sum_of_all)[:, simple], atol=1e-2)
        assert chosen.converged_
        error = HeldOutError.of(precomputed(K), Y, Folds.of(5, len(Y), Y))
        for t in range(Y.shape[1]):
            point = error.of_targets([t]).at(chosen.weights_[t] / chosen.alpha_[t])
            assert chosen.cv_loss_[t] == pytest.approx(point.value, rel=1e-9)


class TestModels:
    @pytest.mark.parametrize(("cv", "n"), [(5, 40), ("loo", 24), (5, 1600)])
    def test_slopes_are_finite_differences(self, cv, n):
        """Of kernel matrices, of many folds, and of features where there are few of them."""
        parts, Y = data(n=n, t=3, sizes=(3, 4, 5))
        columns = np.split(np.arange(12), [3, 7])
        bank = bind([kernels.Linear().on(c.tolist()) for c in columns], np.hstack(parts))
        error = held_out_error(bank, Y, Folds.of(cv, n, Y))
        v = np.array([0.5, 0.01, 2.0])
        every = np.arange(3)
        shared = error.shared(v)
        slopes = shared.models(every).slopes
        np.testing.assert_allclose(shared.errors(every), error.at(v).errors, rtol=1e-12)
        for k, e in enumerate(np.eye(3)):
            step = 1e-5 * v[k]
            ends = [error.shared(v + sign * step * e).errors(every) for sign in (1, -1)]
            np.testing.assert_allclose(2.0 * slopes[:, k], (ends[0] - ends[1]) / (2.0 * step), rtol=1e-4, atol=1e-8)
        whole = error.model(error.at(v))
        np.testing.assert_allclose(shared.models(every).curvatures.sum(axis=0), whole.curvature, rtol=1e-9)


class TestUnits:
    def test_targets_and_kernels_times_constants(self):
        parts, Y = data()
        units = 10.0 ** np.linspace(-6, 6, Y.shape[1])
        first = model().fit(stack(parts), Y)
        other = model().fit(1e6 * stack(parts), Y * units)
        np.testing.assert_allclose(other.cv_loss_ / units**2, first.cv_loss_, rtol=1e-9)
        np.testing.assert_allclose(other.weights_, first.weights_, atol=1e-6)
        np.testing.assert_allclose(other.predict(1e6 * stack(parts)) / units, first.predict(stack(parts)), atol=1e-6)

    @pytest.mark.parametrize("criterion", ["held_out", "evidence"])
    def test_errors_beyond_the_range_of_numbers_are_infinite(self, criterion):
        parts, Y = data(t=3)
        usual, huge = (model(criterion=criterion).fit(stack(parts), size * Y) for size in (1.0, 1e200))
        assert np.isinf(huge.cv_loss_).all()
        np.testing.assert_allclose(huge.weights_, usual.weights_, atol=1e-6)

    def test_duplicates_and_constant_targets(self):
        parts, Y = data(t=4)
        more = np.column_stack([Y, Y, np.full(len(Y), 3.0), np.zeros(len(Y))])
        fitted = model().fit(stack(parts), more)
        np.testing.assert_allclose(fitted.cv_loss_[:4], fitted.cv_loss_[4:8], rtol=1e-12)
        np.testing.assert_allclose(fitted.cv_loss_[8:], 0.0, atol=1e-20)
        np.testing.assert_allclose(fitted.predict(stack(parts))[:, 8:], more[:, 8:], atol=1e-9)
        assert fitted.converged_

    def test_kernels_of_zeros(self):
        _, Y = data(t=4)
        fitted = model().fit(np.zeros((2, len(Y), len(Y))), Y)
        np.testing.assert_array_equal(fitted.weights_, 0.0)
        np.testing.assert_allclose(fitted.predict(np.zeros((2, 3, len(Y)))), np.tile(Y.mean(axis=0), (3, 1)))


class Sliced:
    """What HDF5 and zarr give: a shape, a type, and parts of rows and columns."""

    def __init__(self, values):
        self.values = values
        self.shape = values.shape
        self.dtype = values.dtype
        self.read = []

    def __getitem__(self, index):
        rows, columns = index
        self.read.append(columns)
        return self.values[rows, columns]


class TestColumnsFromFiles:
    def test_memory_map_and_slices_give_what_memory_gives(self, tmp_path, monkeypatch):
        parts, Y = data()
        np.save(tmp_path / "targets.npy", Y)
        expected = model().fit(stack(parts), Y)
        sliced = Sliced(Y)
        for y in (np.load(tmp_path / "targets.npy", mmap_mode="r"), sliced):
            found = model().fit(stack(parts), y)
            np.testing.assert_array_equal(found.weights_, expected.weights_)
            np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)
        monkeypatch.setattr("multikernel.procedures.ridge_cv.many_targets.BUFFER_VALUES", 10 * len(Y))
        sliced.read.clear()
        found = model().fit(stack(parts), sliced)  # in blocks, whose targets share candidates
        np.testing.assert_allclose(found.cv_loss_, expected.cv_loss_, rtol=1e-3)
        assert [(part.start, part.stop) for part in sliced.read] == [(0, 8), (8, 16), (16, 24)]

    def test_targets_in_memory_are_one_block_of_which_few_are_read(self, monkeypatch):
        """Also single precision; the survey's matrices are made once."""
        parts, Y = data()
        expected = model().fit(stack(parts), Y)
        monkeypatch.setattr("multikernel.procedures.ridge_cv.many_targets.BUFFER_VALUES", 10 * len(Y))
        monkeypatch.setattr("multikernel.procedures.ridge_cv.residuals.TILE_VALUES", 3 * len(Y))
        for y in (Y, np.asfortranarray(Y)):
            found = model().fit(stack(parts), y)
            np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-8)
            np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, atol=1e-8 * np.abs(Y).max())
        single = model().fit(stack(parts), Y.astype(np.float32))
        np.testing.assert_allclose(single.cv_loss_, expected.cv_loss_, rtol=1e-3)

    def test_single_precision_is_kept(self):
        parts, Y = data()
        single = model().fit(stack(parts), Y.astype(np.float32))
        double = model().fit(stack(parts), Y)
        assert single.dual_coef_.dtype == np.float32
        np.testing.assert_allclose(single.predict(stack(parts)), double.predict(stack(parts)), atol=1e-3)

    def test_groups_and_missing_values(self):
        parts, Y = data()
        groups = np.arange(len(Y)) % 7
        folds = model(cv=GroupKFold(5)).fit(stack(parts), Sliced(Y), groups=groups)
        np.testing.assert_array_equal(
            folds.weights_, model(cv=GroupKFold(5)).fit(stack(parts), Y, groups=groups).weights_
        )
        Y[3, 5] = np.nan
        with pytest.raises(ValueError, match="row 3, column 5"):
            model().fit(stack(parts), Sliced(Y))
        with pytest.raises(ValueError, match="inconsistent"):
            model().fit(stack(parts), Sliced(Y[:-1]))


class TestCoefficients:
    @pytest.mark.parametrize("n", [20, 120])
    def test_of_columns_and_of_views(self, n):
        parts, Y = data(n=n, t=5)
        X = np.hstack(parts)
        spaces = [kernels.Linear().on(columns.tolist()) for columns in np.split(np.arange(80), [15, 40])]
        of_columns = MultipleKernelRidgeCV(spaces).fit(X, Y)
        views = {f"space {k}": part for k, part in enumerate(parts)}
        of_views = MultipleKernelRidgeCV({name: [kernels.Linear()] for name in views}).fit(views, Y)
        assert list(of_views.coef_) == list(views)
        for fitted, samples in ((of_columns, X), (of_views, views)):
            coef = list(fitted.coef_.values())
            assert [c.shape for c in coef] == [(p, 5) for p in SIZES]
            values = sum(part @ c for part, c in zip(parts, coef, strict=True)) + fitted.intercept_
            np.testing.assert_allclose(fitted.predict(samples), values, atol=1e-9)

    def test_of_one_target_is_ridge_regression_of_scaled_features(self):
        parts, Y = data(n=120)
        spaces = [2.0 * kernels.Linear().on(columns.tolist()) for columns in np.split(np.arange(80), [15, 40])]
        X = np.hstack(parts)
        fitted = MultipleKernelRidgeCV(spaces).fit(X, Y[:, 7])
        roots = np.sqrt(np.repeat(2.0 * fitted.weights_ / fitted.alpha_, SIZES))
        ridge = Ridge(alpha=1.0, fit_intercept=False).fit(X * roots, Y[:, 7] - Y[:, 7].mean())
        np.testing.assert_allclose(np.concatenate(list(fitted.coef_.values())), ridge.coef_ * roots, atol=1e-8)

    def test_those_of_kernels_of_the_same_name_are_added(self):
        parts, Y = data(t=2)
        fitted = MultipleKernelRidgeCV([kernels.Linear()] * 2, tol=0.1).fit(parts[0], Y)
        (coef,) = fitted.coef_.values()
        np.testing.assert_allclose(fitted.predict(parts[0]), parts[0] @ coef + fitted.intercept_, atol=1e-9)

    def test_there_are_none_of_other_kernels(self):
        parts, Y = data(t=3)
        assert not hasattr(MultipleKernelRidgeCV([kernels.RBF(0.1)]).fit(parts[0], Y), "coef_")
        assert not hasattr(model().fit(stack(parts), Y), "coef_")


@pytest.mark.crossed
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("standard_errors", [0.0, 1.0])
def test_coefficients_are_those_of_the_last_inverse(fit_intercept, standard_errors, monkeypatch):
    """They solve the equations on all samples, and nothing is factored for them once more."""
    parts, Y = data()
    K = stack(parts)
    monkeypatch.setattr("multikernel.procedures.ridge_cv.many_targets.RidgeMachine", None)
    shuffled = KFold(5, shuffle=True, random_state=0)
    fitted = model(standard_errors, fit_intercept=fit_intercept, cv=shuffled).fit(K, Y)
    for t, y in enumerate(Y.T):
        total = np.tensordot(fitted.weights_[t], K, 1) + fitted.alpha_[t] * np.eye(len(Y))
        coef = np.linalg.solve(total, y - y.mean() * fit_intercept)
        np.testing.assert_allclose(fitted.dual_coef_[t], coef, rtol=1e-8, atol=1e-10 * np.abs(coef).max())


def test_a_fit_holds_one_matrix_at_a_time():
    """Beside it are the blocks of five folds, a fifth of a matrix, and what some targets need."""
    parts, Y = data(n=600, t=2)
    bank = precomputed(stack(parts))
    model().fit(bank.block(np.arange(60), np.arange(60)), Y[:60])  # compiles
    tracemalloc.start()
    model(1.0, max_iter=3, tol=1e-2).fit(bank, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.8 * 8 * 600**2


def test_an_answer_is_checked_without_an_array_of_its_shape():
    answer = np.full((1000, 1000), 1e301)  # whose sum is finite
    tracemalloc.start()
    assert all_finite(answer)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < answer.size / 100
    assert all_finite(1e6 * answer)  # whose sum is not
    for wrong in (np.nan, np.inf, -np.inf):
        answer[3, 5] = wrong
        assert not all_finite(answer)
    assert not all_finite(np.array([np.inf, -np.inf]))


def test_says_how_many_targets_are_how_far():
    parts, Y = data()
    with pytest.warns(ConvergenceWarning, match=r"of 24 targets that are above tol=1e-12"):
        fitted = model(tol=1e-12, max_iter=1).fit(stack(parts), Y)
    assert not fitted.converged_
    assert (fitted.target_stationarity_ > 1e-12).any()


@pytest.mark.study
def test_deviations_of_many_targets_keep_no_matrix_for_each():
    parts, Y = data(t=20)
    K = stack(parts)
    fitted = model().fit(K, Y)
    alone = model(tol=1e-9).fit(K, Y[:, 1])
    many = model(tol=1e-9).fit(K, Y)
    values = np.full((3, len(Y)), 2.0)
    _, deviations = many.predict(K, return_std=True, self_values=values)
    np.testing.assert_allclose(deviations[:, 1], alone.predict(K, return_std=True, self_values=values)[1], rtol=1e-3)
    assert fitted.degrees_of_freedom_.shape == (20,)
    assert fitted._posterior.posed[3].half is None


def test_survey_of_few_points_where_time_is_up():
    parts, Y = data()
    with pytest.warns(ConvergenceWarning):
        fitted = model(time_budget=1e-9).fit(stack(parts), Y)
    assert np.isfinite(fitted.predict(stack(parts))).all()


def test_targets_are_followed_to_their_own_points():
    """The procedure alone, without machines: rounds end where every target is stationary."""
    parts, Y = data()
    bank = precomputed(stack(parts))
    steps = []
    found = each_target(HeldOutError.of(bank, Y, Folds.of(5, len(Y), Y)), observe=steps.append)
    assert found.n_iter == len(steps) - 1
    assert (found.stationarity <= 1e-4).all()
    assert steps[-1].certificate.value == pytest.approx(1e-4)
    values = [step.value for step in steps]
    assert values == sorted(values, reverse=True)


class TestSpacesWithoutARidge:
    """A space of few features predicts best without a ridge: its weight grows, and its error falls like 1 / v."""

    @pytest.mark.parametrize("seed", one_in(3, [5, 6, 9]))
    def test_targets_end_where_doubling_a_weight_gains_nothing(self, seed):
        parts, Y = data(n=150, t=30, seed=seed, sizes=(3, 15, 40))
        K = stack(parts)
        fitted = model(cv=3).fit(K, Y)
        assert fitted.converged_
        assert fitted.n_iter_ < 60
        error = HeldOutError.of(precomputed(K), Y, Folds.of(3, len(Y), Y))
        endless = 0
        for t in range(30):
            v = fitted.weights_[t] / fitted.alpha_[t]
            further = error.of_targets([t]).at(v * [100.0, 1.0, 1.0])
            gained = fitted.cv_loss_[t] - further.value
            endless += gained > 0.0
            assert gained <= 3e-4 * fitted.cv_loss_[t]
        assert endless

    def test_the_matrix_of_a_point_is_gone_before_that_of_another_is_made(self, monkeypatch):
        parts, Y = data(n=150, t=30, seed=5, sizes=(3, 15, 40))
        error = HeldOutError.of(precomputed(stack(parts)), Y, Folds.of(3, len(Y), Y))
        made, together = [], []
        shared = HeldOutError.shared

        def noted(self, v):
            together.append(sum(point() is not None for point in made))
            found = shared(self, v)
            made.append(weakref.ref(found))
            return found

        monkeypatch.setattr(HeldOutError, "shared", noted)
        each_target(error)
        assert len(made) > 10
        assert max(together) == 0

    def test_a_weight_far_beyond_the_least_error_leads_the_others_to_theirs(self):
        parts, Y = data(n=150, t=30, seed=5, sizes=(3, 15, 40))
        error = HeldOutError.of(precomputed(stack(parts)), Y, Folds.of(3, len(Y), Y))
        found = each_target(error, begin=np.tile([1e5, 0.0, 0.0], (30, 1)))
        assert (found.stationarity <= 1e-4).all()
        assert found.n_iter < 100
        surveyed = each_target(error)
        assert np.median(found.errors / surveyed.errors) < 1.001
