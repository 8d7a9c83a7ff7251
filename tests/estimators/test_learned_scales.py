"""Estimators with a learned scale for each feature."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold

from cases import one_in
from multikernel import (
    KernelBank,
    L1MKLClassifier,
    LearnedScalesClassifier,
    LearnedScalesRegressor,
    bind,
    kernels,
    load,
    save,
)
from multikernel._warnings import PredictionWarning

mpl.use("Agg")
Array = Any
X, y = make_friedman1(220, 10, noise=0.5, random_state=0)
TRAIN, TEST = slice(0, 160), slice(160, None)


@pytest.mark.study
def test_it_is_better_than_a_tuned_single_width() -> None:
    """Five of ten features matter, and not alike."""
    grid = {"gamma": np.geomspace(0.03, 10, 7), "alpha": np.geomspace(1e-4, 1, 5)}
    Z, centre = (X - X.mean(axis=0)) / X.std(axis=0), y[TRAIN].mean()
    single = GridSearchCV(KernelRidge(kernel="rbf"), grid).fit(Z[TRAIN], y[TRAIN] - centre)
    error = np.mean((single.predict(Z[TEST]) + centre - y[TEST]) ** 2)
    model = LearnedScalesRegressor(kernels.RBF()).fit(X[TRAIN], y[TRAIN])
    assert np.mean((model.predict(X[TEST]) - y[TEST]) ** 2) < 0.5 * error
    assert model.cv_loss_ < model.cv_loss_equal_ < model.cv_loss_constant_


@pytest.mark.parametrize("kernel", one_in(3, [kernels.Laplacian(), kernels.RBF(), kernels.Matern(nu=0.5)]), ids=repr)
def test_other_units_give_the_same_predictions(kernel: kernels.Kernel) -> None:
    one = LearnedScalesRegressor(kernel).fit(X[TRAIN], y[TRAIN]).predict(X[TEST])
    factors = 10.0 ** np.arange(-5.0, 5.0)
    for c in (1e-150, 1e150):
        other = LearnedScalesRegressor(kernel).fit(factors * X[TRAIN] + factors, c * y[TRAIN])
        np.testing.assert_allclose(other.predict(factors * X[TEST] + factors) / c, one, atol=1e-6 * np.ptp(y))


def test_the_learned_kernel_serves_elsewhere() -> None:
    model = LearnedScalesRegressor([kernels.RBF(), kernels.Matern(nu=2.5)]).fit(X[TRAIN], y[TRAIN])
    K = model.kernel_(X[TEST], X[TRAIN])
    np.testing.assert_allclose(K @ model.dual_coef_ + model.intercept_, model.predict(X[TEST]), rtol=1e-9)
    assert model.scales_.shape == (2, 10)
    assert model.weights_.sum() == pytest.approx(1.0)
    L1MKLClassifier([model.kernel_]).fit(X[TRAIN], y[TRAIN] > 14)


def test_kernels_may_share_the_scales() -> None:
    """Their sum is one function of the distance, and their own widths matter."""
    model = LearnedScalesRegressor([kernels.RBF(0.1), kernels.RBF(10.0)], shared_scales=True).fit(X[TRAIN], y[TRAIN])
    assert model.scales_.shape == (10,)
    D = np.einsum("ilj,j->il", (X[TEST][:, None] - X[TRAIN]) ** 2, model.scales_)
    K = model.weights_[0] * np.exp(-0.1 * D) + model.weights_[1] * np.exp(-10.0 * D)
    np.testing.assert_allclose(K @ model.dual_coef_ + model.intercept_, model.predict(X[TEST]), rtol=1e-9)
    np.testing.assert_allclose(model.kernel_(X[TEST], X[TRAIN]), K, rtol=1e-9)
    assert model.score(X[TEST], y[TEST]) > 0.9


def test_groups_share_a_scale_by_position_and_by_name() -> None:
    model = LearnedScalesRegressor(groups=[[5, 6], [7, 8, 9]]).fit(X[TRAIN], y[TRAIN])
    scales = model.scales_
    assert scales[5] == scales[6]
    assert scales[7] == scales[8] == scales[9]
    assert len(np.unique(scales)) == 7
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    named = LearnedScalesRegressor(groups=[["x5", "x6"], ["x7", "x8", "x9"]]).fit(frame[TRAIN], y[TRAIN])
    np.testing.assert_allclose(named.scales_, scales, rtol=1e-4)
    with pytest.raises(ValueError, match="groups name a feature twice"):
        LearnedScalesRegressor(groups=[[1, 2], [2, 3]]).fit(X, y)


def test_several_targets_share_the_scales() -> None:
    Y = np.column_stack([y, -2.0 * y + X[:, 9]])
    model = LearnedScalesRegressor().fit(X[TRAIN], Y[TRAIN])
    assert model.scales_.shape == (10,)
    assert model.predict(X[TEST]).shape == (60, 2)
    assert model.score(X[TEST], Y[TEST]) > 0.9


def test_classes_of_two_and_of_several() -> None:
    A, labels = load_wine(return_X_y=True)
    names = np.array(["red", "rose", "white"])[labels]
    model = LearnedScalesClassifier().fit(A[::2], names[::2])
    assert model.decision_function(A).shape == (178, 3)
    assert model.score(A[1::2], names[1::2]) > 0.95
    two = LearnedScalesClassifier(kernels.Laplacian()).fit(A[::2], labels[::2] == 1)
    assert two.decision_function(A).shape == (178,)
    assert two.score(A[1::2], labels[1::2] == 1) > 0.9
    with pytest.raises(ValueError, match="at least two classes"):
        LearnedScalesClassifier().fit(A, np.zeros(178))


def test_folds_are_shuffled_unless_they_are_given() -> None:
    """Sorted rows do not matter; given folds are taken as they are."""
    order = np.argsort(y[TRAIN])
    model = LearnedScalesRegressor().fit(X[TRAIN][order], y[TRAIN][order])
    assert model.score(X[TEST], y[TEST]) > 0.9
    folds = list(KFold(4).split(X[TRAIN]))
    first, again = (LearnedScalesRegressor(cv=cv, penalty=1.0).fit(X[TRAIN], y[TRAIN]) for cv in (folds, KFold(4)))
    np.testing.assert_array_equal(first.scales_, again.scales_)
    assert LearnedScalesRegressor(cv="loo", penalty=1.0).fit(X[TRAIN], y[TRAIN]).score(X[TEST], y[TEST]) > 0.9


def test_a_bank_of_distances_of_any_kernels_is_taken() -> None:
    def bank(rows: slice, columns: slice) -> KernelBank:
        return bind(kernels.linear_features(), X).distances()[rows, columns]

    model = LearnedScalesRegressor(kernels.RBF()).fit(bank(TRAIN, TRAIN), y[TRAIN])
    direct = LearnedScalesRegressor(kernels.RBF()).fit(X[TRAIN], y[TRAIN])
    # both end where the stationarity is 1e-2, on ways of their own
    np.testing.assert_allclose(model.predict(bank(TEST, TRAIN)), direct.predict(X[TEST]), atol=0.01 * np.ptp(y))
    assert model.cv_loss_ == pytest.approx(direct.cv_loss_, rel=1e-2)


def test_what_has_no_scales_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="kernels of a distance"):
        LearnedScalesRegressor(kernels.Linear()).fit(X, y)
    with pytest.raises(ValueError, match="kernels must be of one distance"):
        LearnedScalesRegressor([kernels.RBF(), kernels.Laplacian()]).fit(X, y)
    with pytest.raises(ValueError, match="takes no 'precomputed' matrices"):
        LearnedScalesRegressor("precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="square bank of distances"):
        LearnedScalesRegressor().fit(bind(kernels.linear_features(), X), y)
    with pytest.raises(ValueError, match="penalty must be a finite number >= 0 or None, got -1"):
        LearnedScalesRegressor(penalty=-1).fit(X, y)


def test_a_saved_model_predicts_the_same(tmp_path: Any) -> None:
    model = LearnedScalesRegressor().fit(X[TRAIN], y[TRAIN])
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(X[TEST]), model.predict(X[TEST]))


def test_plot_has_a_point_for_each_feature() -> None:
    model = LearnedScalesRegressor().fit(pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), y)
    ax = model.plot_scales()
    assert next(label.get_text() for label in ax.get_yticklabels()) in {"x0", "x1", "x2", "x3"}
    assert len(ax.lines[0].get_xdata()) == 10


def mixed(n: int, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    """The colour shifts the target, the shape does not, and one number matters."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "shape": rng.choice(["round", "square"], n),
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "noise": rng.normal(size=n),
        }
    )
    return frame, np.sin(frame["size"]) + 2.0 * (frame["colour"] == "red") + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", one_in(2, [kernels.RBF(), kernels.Laplacian()]), ids=repr)
def test_strings_are_categories(kernel: kernels.Kernel, tmp_path: Any) -> None:
    frame, target = mixed(200)
    model = LearnedScalesRegressor(kernel).fit(frame[:140], target[:140])
    assert model.score(frame[140:], target[140:]) > 0.95
    shape, size, colour, noise = LearnedScalesRegressor(kernel, penalty=1.0).fit(frame[:140], target[:140]).scales_
    assert colour > shape
    assert size > noise
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(frame[140:]), model.predict(frame[140:]))
    other = frame[140:].assign(colour="violet")
    assert np.isfinite(model.predict(other)).all()
    assert not hasattr(model, "kernel_")
    with pytest.raises(ValueError, match="fitted with strings in columns 0, 2"):
        model.predict(frame[140:].assign(colour=1.0))


@pytest.mark.parametrize("kernel", [kernels.RBF(), kernels.Laplacian()], ids=repr)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_features_give_a_constant(kernel: kernels.Kernel, value: float) -> None:
    for samples in (np.full((30, 2), value), np.full((30, 2), str(value), dtype=object)):
        model = LearnedScalesRegressor(kernel).fit(samples, y[:30])
        assert model.converged_
        np.testing.assert_allclose(model.predict(samples[:3]), y[:30].mean(), atol=0.05)
        np.testing.assert_array_equal(model.scales_, 0.0)


def test_a_far_outlier_does_not_hide_a_feature() -> None:
    """Nor does it in the samples to predict."""
    far = X[TRAIN].copy()
    far[3, 3] = 1e6
    with pytest.warns(PredictionWarning, match="feature 3 is 1e.06 in row 3"):  # elsewhere it may
        model = LearnedScalesRegressor().fit(far, y[TRAIN])
    assert model.score(X[TEST], y[TEST]) > 0.9
    for kernel in (kernels.RBF(), kernels.Matern(nu=1.5), kernels.RationalQuadratic(), kernels.Laplacian()):
        model = LearnedScalesRegressor(kernel, max_iter=3, tol=10.0).fit(X[TRAIN], y[TRAIN])
        np.testing.assert_allclose(model.predict(1e200 * X[TEST]), model.intercept_)


@pytest.mark.parametrize("gamma", one_in(2, [1e-100, 1e100]))
def test_own_widths_of_kernels_do_not_matter(gamma: float) -> None:
    one, other = (LearnedScalesRegressor(kernels.RBF(g)).fit(X[TRAIN], y[TRAIN]) for g in (1.0, gamma))
    np.testing.assert_allclose(other.predict(X[TEST]), one.predict(X[TEST]), rtol=1e-3)


def test_features_beyond_double_precision_are_refused_in_a_sentence() -> None:
    """Their squares would be 0 or infinite; their absolute differences are not."""
    for unit in (1e200, 1e-200):
        A = X.copy()
        A[:, 2] *= unit
        with pytest.raises(ValueError, match=r"feature 2 varies by .*give it in another unit"):
            LearnedScalesRegressor().fit(A, y)
        model = LearnedScalesRegressor(kernels.Laplacian(), max_iter=5, tol=1.0).fit(A, y)
        assert np.isfinite(model.predict(A)).all()


@pytest.mark.parametrize(
    ("metric", "units"), one_in(2, [("full", (1e-11, 1e11, 1e-150)), ("diagonal", (1e-150, 1e150, 1.0))])
)
def test_features_in_units_far_apart(metric: Any, units: tuple[float, ...]) -> None:
    """None is taken for a constant beside another, whose squares are 1e600 times its own."""
    A = X.copy()
    A[:, :3] *= units
    one, other = (LearnedScalesRegressor(metric=metric).fit(B[TRAIN], y[TRAIN]) for B in (X, A))
    np.testing.assert_allclose(other.predict(A[TEST]), one.predict(X[TEST]), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.relative_scales_, one.relative_scales_, rtol=1e-6)


def test_columns_that_are_constant_but_for_rounding() -> None:
    A = np.column_stack([X, np.nextafter(1e9, np.where(np.arange(len(X)) % 2, 2e9, 0.0))])
    model = LearnedScalesRegressor(max_iter=1, tol=10.0).fit(A[TRAIN], y[TRAIN])
    assert model.scales_[-1] == 0.0
    assert (model.scales_[:-1] > 0.0).all()


@pytest.mark.parametrize("count", [2, 3, 6])
def test_weight_on_a_few_samples(count: int) -> None:
    """Folds without weight tell nothing: the penalty is chosen only where enough others are left."""
    weight = np.zeros(160)
    weight[:count] = 1.0
    folds = np.arange(160) % 5
    pairs = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(5)]
    model = LearnedScalesRegressor(cv=pairs, tol=10.0).fit(X[TRAIN], y[TRAIN], sample_weight=weight)
    assert np.isfinite(model.predict(X[TEST])).all()


@pytest.mark.parametrize("groups", [[[0.5]], [[True]], [[None]], [["a"], 1], [[]], [[0], []], np.array(0)])
def test_groups_are_lists_of_numbers_and_names(groups: Any) -> None:
    with pytest.raises(ValueError, match=r"groups must be None or a list of lists of one or more features, each a who"):
        LearnedScalesRegressor(groups=groups).fit(X, y)


def test_targets_whose_squares_are_no_numbers() -> None:
    one, other = (LearnedScalesRegressor().fit(X[TRAIN], c * y[TRAIN]) for c in (1.0, 1e300))
    np.testing.assert_allclose(other.predict(X[TEST]) / 1e300, one.predict(X[TEST]), rtol=1e-6)


@pytest.mark.parametrize("n", [2, 3])
def test_a_handful_of_samples(n: int) -> None:
    assert np.isfinite(LearnedScalesRegressor(tol=10.0).fit(X[:n], y[:n]).predict(X[:n])).all()
    assert np.isfinite(LearnedScalesClassifier(tol=10.0).fit(X[:n], np.arange(n)).decision_function(X[:n])).all()


def test_folds_of_very_unequal_sizes() -> None:
    """One sample is held out, and then all others: few samples would miss one of the two."""
    A, target = make_friedman1(600, 5, random_state=1)
    pairs = [(np.arange(1, 600), np.arange(1)), (np.arange(1), np.arange(1, 600))]
    model = LearnedScalesRegressor(cv=pairs, max_iter=2, tol=1e3).fit(A, target)
    assert np.isfinite(model.predict(A)).all()


@pytest.mark.parametrize("kernel", one_in(2, [kernels.Laplacian(), kernels.RBF()]), ids=repr)
def test_a_weight_is_how_often_a_sample_is_there(kernel: kernels.Kernel) -> None:
    """Where the copies of a sample are in one fold."""
    count = np.resize([0, 1, 1, 2, 3], 80)
    rows, fold = np.repeat(np.arange(80), count), np.arange(80) % 7 % 4

    def pairs(labels: Array) -> list[tuple[Array, Array]]:
        return [(np.flatnonzero(labels != f), np.flatnonzero(labels == f)) for f in range(4)]

    for model, target in ((LearnedScalesRegressor, y), (LearnedScalesClassifier, np.digitize(y, [12, 16]))):
        weighed = model(kernel, cv=pairs(fold)).fit(X[:80], target[:80], sample_weight=count)
        repeated = model(kernel, cv=pairs(fold[rows])).fit(X[rows], target[rows])
        assert weighed.cv_loss_ == pytest.approx(repeated.cv_loss_, rel=1e-6)
        np.testing.assert_allclose(weighed.scales_, repeated.scales_, rtol=1e-4)
        np.testing.assert_array_equal(np.isfinite(weighed.predict(X[80:])), True)
    with pytest.raises(ValueError, match="all weight is in one fold"):
        LearnedScalesRegressor(cv=pairs(fold)).fit(X[:80], y[:80], sample_weight=fold == 1)


@pytest.mark.parametrize("kernel", one_in(2, [kernels.RBF(), kernels.Laplacian()]), ids=repr)
def test_missing_numbers_have_a_distance_of_their_own(kernel: kernels.Kernel, tmp_path: Any) -> None:
    """Where a number is missing the target is higher, whatever stands beside it."""
    rng = np.random.default_rng(0)
    A, gone = rng.normal(size=(200, 3)), rng.random((200, 3)) < 0.2
    target = A[:, 1] + 3.0 * gone[:, 2] + 0.1 * rng.normal(size=200)
    gone[:, 1] = False
    holes = np.where(gone, np.nan, A)
    model = LearnedScalesRegressor(kernel).fit(holes[:140], target[:140])
    assert model.score(holes[140:], target[140:]) > 0.9
    assert model.scales_.shape == (3,)
    assert not hasattr(model, "kernel_")
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(holes[140:]), model.predict(holes[140:]))
    frame = pd.DataFrame(holes, columns=list("abc"))
    np.testing.assert_allclose(
        LearnedScalesRegressor(kernel).fit(frame[:140], target[:140]).predict(frame[140:]), model.predict(holes[140:])
    )
    frame["d"] = np.where(gone[:, 2], None, "known")
    assert LearnedScalesRegressor(kernel).fit(frame[:140], target[:140]).score(frame[140:], target[140:]) > 0.9
    complete = LearnedScalesRegressor(kernel).fit(A[:140], target[:140])
    median = A[150:151].copy()
    median[0, 0] = np.median(A[:140, 0])
    lacking = np.where([True, False, False], np.nan, A[150:151])
    np.testing.assert_allclose(complete.predict(median), complete.predict(lacking))  # what training never missed


def test_a_value_far_from_all_others_takes_no_digits_from_them() -> None:
    """Samples are measured from their medians: the mean is at 1e12 / 40, and squares there have few digits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    X[3, 0] = 1e12
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = LearnedScalesRegressor().fit(X, y)
    assert any("feature 0 is 1e+12 in row 3" in str(each.message) for each in told)
    others = np.arange(40) != 3
    assert model.score(X[others], y[others]) > 0.9
    assert 0.1 < model.scales_[0] / model.scales_[1] < 10.0


def test_where_rounding_leaves_one_value_only_it_is_said() -> None:
    """In each column clusters that are so far apart that there are no digits for the differences inside them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    rng = np.random.default_rng(11)
    count = int(rng.integers(2, 6))
    cluster = rng.integers(0, count, 40)
    X[:, 0] += 1e12 * rng.normal(size=count)[cluster]
    X[:, 1] += 1e13 * rng.normal(size=count)[rng.integers(0, count, 40)]
    with pytest.raises(ValueError, match="a value far from all others"):
        LearnedScalesRegressor().fit(X, y)
