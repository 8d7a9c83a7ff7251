"""What each kernel explains of each target, beside written-out formulas, subsets of kernels, and himalaya."""

import itertools
from math import factorial

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import one_in
from multikernel import (
    AverageMKLRegressor,
    GatedMKLRegressor,
    L1MKLRegressor,
    LinearRLS2Regressor,
    MultiKernelRegressor,
    MultipleKernelRidgeCV,
    PolynomialMKLRegressor,
    TwoLayerRegressor,
    kernels,
    views,
)
from multikernel.estimators import score_split

RNG = np.random.default_rng(0)
N, TRAIN, TEST = 90, np.arange(60), np.arange(60, 90)
A, B, C = RNG.normal(size=(3, N, 5))
SPACES = views({"a": A, "b": B, "c": C})
Y = np.stack([A[:, 0] + B[:, 0], A[:, 1] + 7.0, RNG.normal(size=N)], axis=1) + 0.3 * RNG.normal(size=(N, 3))


@pytest.fixture(scope="module")
def fitted():
    return MultipleKernelRidgeCV("linear").fit(SPACES[TRAIN], Y[TRAIN])


def each_r2(truth, values, **weights):
    return r2_score(truth, values, multioutput="raw_values", **weights)


def test_it_is_the_formula(fitted):
    b, sum_to = fitted.intercept_, each_r2(Y[TEST], fitted.predict(SPACES[TEST]))
    f = fitted.predict(SPACES[TEST], split=True)
    found = fitted.score_split(SPACES[TEST], Y[TEST])
    for t in range(3):
        z = Y[TEST, t] - b[t]
        S = ((Y[TEST, t] - Y[TEST, t].mean()) ** 2).sum()
        squares = (f[:, :, t] ** 2).sum(axis=1)
        wanted = [(2 * z @ f[k, :, t] - f[k, :, t] @ f[:, :, t].sum(axis=0)) / S for k in range(3)]
        wanted += (1 - z @ z / S) * squares / squares.sum()
        np.testing.assert_allclose(found[:, t], wanted, atol=1e-10)
    np.testing.assert_allclose(found.sum(axis=0), sum_to, atol=1e-10)


def test_it_is_the_value_of_kernels_that_enter_in_any_order(fitted):
    """Shapley's formula over all subsets, for targets whose mean is that of the training targets."""
    truth = Y[TEST] - Y[TEST].mean(axis=0) + fitted.intercept_
    f = fitted.predict(SPACES[TEST], split=True)

    def score(some):
        return each_r2(truth, fitted.intercept_ + f[list(some)].sum(axis=0))

    wanted = np.zeros((3, 3))
    for k in range(3):
        others = [j for j in range(3) if j != k]
        for size in range(3):
            part = factorial(size) * factorial(2 - size) / factorial(3)
            for some in itertools.combinations(others, size):
                wanted[k] += part * (score((*some, k)) - score(some))
    np.testing.assert_allclose(fitted.score_split(SPACES[TEST], truth), wanted, atol=1e-10)


def test_himalaya_splits_alike(fitted):
    scoring = pytest.importorskip("himalaya.scoring")
    truth = Y[TEST] - Y[TEST].mean(axis=0)
    f = fitted.predict(SPACES[TEST], split=True)
    shifted = truth + fitted.intercept_  # himalaya takes the intercept off
    np.testing.assert_allclose(fitted.score_split(SPACES[TEST], shifted), scoring.r2_score_split(truth, f), atol=1e-10)
    np.testing.assert_allclose(
        fitted.score_split(SPACES[TEST], shifted, scoring="correlation"),
        scoring.correlation_score_split(truth, f),
        atol=1e-10,
    )


def test_correlations_sum_to_the_correlation(fitted):
    found = fitted.score_split(SPACES[TEST], Y[TEST], scoring="correlation")
    values = fitted.predict(SPACES[TEST])
    wanted = [np.corrcoef(Y[TEST, t], values[:, t])[0, 1] for t in range(3)]
    np.testing.assert_allclose(found.sum(axis=0), wanted, atol=1e-7)


@pytest.mark.parametrize(
    "model",
    one_in(
        3,
        [
            AverageMKLRegressor("linear"),
            L1MKLRegressor("linear", C=1.0, epsilon=0.1),
            PolynomialMKLRegressor("linear"),
            LinearRLS2Regressor(alpha=0.1),
            GatedMKLRegressor(),
            MultiKernelRegressor(random_state=0),
            MultipleKernelRidgeCV("linear", approximation="nystroem", rank=20),
        ],
    ),
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_every_sum_of_kernels_is_split(model):
    X = A if isinstance(model, LinearRLS2Regressor | GatedMKLRegressor) else SPACES
    model.fit(X[TRAIN], Y[TRAIN, 0])
    weight = RNG.integers(0, 3, size=len(TEST)).astype(float)
    found = model.score_split(X[TEST], Y[TEST, 0], sample_weight=weight)
    assert found.shape == model.kernel_names_.shape
    np.testing.assert_allclose(found.sum(), model.score(X[TEST], Y[TEST, 0], weight), atol=1e-9)
    f = model.predict(X[TEST], split=True)
    np.testing.assert_allclose(f.sum(axis=0) + model.intercept_, model.predict(X[TEST]), atol=1e-8)


def test_parts_of_rows_and_targets_add_up(monkeypatch):
    X = np.hstack([A, B, C])
    bands = kernels.column_groups({name: slice(5 * k, 5 * k + 5) for k, name in enumerate("abc")}, kernels.Linear())
    model = AverageMKLRegressor(bands).fit(X[TRAIN], Y[TRAIN])
    whole = [model.score_split(X[TEST], Y[TEST], scoring=each) for each in ("r2", "correlation")]
    monkeypatch.setattr("multikernel.estimators.binding.LARGE_VALUES", 4 * 60)
    monkeypatch.setattr(score_split, "BUFFER_VALUES", 12)
    assert len({(part.rows.start, part.targets.start) for part in score_split.parts_of(model, X[TEST])}) > 10
    for scoring, wanted in zip(("r2", "correlation"), whole, strict=True):
        np.testing.assert_allclose(model.score_split(X[TEST], Y[TEST], scoring=scoring), wanted, rtol=1e-9, atol=1e-12)


def test_targets_that_do_not_vary_and_kernels_that_are_zero_have_none():
    spaces = views({"a": A, "nothing": np.zeros((N, 2))})
    truth = np.stack([np.full(N, 0.1), Y[:, 0]], axis=1)
    model = AverageMKLRegressor("linear").fit(spaces[TRAIN], truth[TRAIN])
    for scoring in ("r2", "correlation"):
        found = model.score_split(spaces[TEST], truth[TEST], scoring=scoring)
        assert found[0, 1] > 0.1
        np.testing.assert_array_equal(found[:, 0], 0.0)
        np.testing.assert_array_equal(found[1], 0.0)


def test_a_constant_prediction_is_split_equally():
    model = MultipleKernelRidgeCV("linear").fit(SPACES[TRAIN], np.ones(len(TRAIN)))
    found = model.score_split(SPACES[TEST], Y[TEST, 0])
    np.testing.assert_allclose(found, np.full(3, model.score(SPACES[TEST], Y[TEST, 0]) / 3))
    np.testing.assert_array_equal(model.score_split(SPACES[TEST], Y[TEST, 0], scoring="correlation"), 0.0)


@pytest.mark.parametrize("unit", [1e-150, 1e-6, 1e6, 1e120])
def test_units_do_not_matter(unit):
    model = AverageMKLRegressor("linear").fit(SPACES[TRAIN], Y[TRAIN])
    scaled = AverageMKLRegressor("linear").fit(SPACES[TRAIN], unit * Y[TRAIN])
    for scoring in ("r2", "correlation"):
        found = scaled.score_split(SPACES[TEST], unit * Y[TEST], scoring=scoring)
        np.testing.assert_allclose(found, model.score_split(SPACES[TEST], Y[TEST], scoring=scoring), atol=1e-9)


def test_columns_without_penalty_have_no_part():
    X = np.hstack([A, B, C[:, :1]])
    bands = kernels.column_groups({"a": slice(0, 5), "b": slice(5, 10)}, kernels.Linear())
    truth = Y + 2.0 * C[:, :1]
    model = MultipleKernelRidgeCV(bands, fixed=[10], tol=1e-2).fit(X[TRAIN], truth[TRAIN])
    known = model.intercept_ + X[TEST][:, 10:] @ model.fixed_coef_.T
    f = model.predict(X[TEST], split=True)
    np.testing.assert_allclose(known + f.sum(axis=0), model.predict(X[TEST]), atol=1e-8)
    wanted = each_r2(truth[TEST], model.predict(X[TEST])) - each_r2(truth[TEST], known)
    np.testing.assert_allclose(model.score_split(X[TEST], truth[TEST]).sum(axis=0), wanted, atol=1e-8)
    correlations = model.score_split(X[TEST], truth[TEST], scoring="correlation")
    y, whole = truth[TEST, 0], model.predict(X[TEST])[:, 0]
    part = np.cov(y, f[0, :, 0])[0, 1] / (y.std(ddof=1) * whole.std(ddof=1))
    np.testing.assert_allclose(correlations[0, 0], part, rtol=1e-8)


def test_a_pipeline_passes_split_on():
    bands = kernels.column_groups({"a": slice(0, 5), "b": slice(5, 10)}, kernels.Linear())
    X = np.hstack([A, B])
    pipe = make_pipeline(StandardScaler(), AverageMKLRegressor(bands)).fit(X, Y)
    assert pipe.predict(X, split=True).shape == (2, N, 3)


def test_what_cannot_be_split_is_refused(fitted):
    with pytest.raises(ValueError, match="Y has 2 targets, and the model has 3"):
        fitted.score_split(SPACES[TEST], Y[TEST, :2])
    with pytest.raises(ValueError, match="Y has 29 rows, and X has more"):
        fitted.score_split(SPACES[TEST], Y[TEST[1:]])
    with pytest.raises(ValueError, match="Y has 31 rows, and X has 30"):
        fitted.score_split(SPACES[TEST], np.vstack([Y[TEST], Y[:1]]))
    with pytest.raises(ValueError, match="NaN"):
        fitted.score_split(SPACES[TEST], np.where(Y[TEST] > 1, np.nan, Y[TEST]))
    with pytest.raises(ValueError, match="scoring must be"):
        fitted.score_split(SPACES[TEST], Y[TEST], scoring="accuracy")
    with pytest.raises(ValueError, match="leave out split"):
        fitted.predict(SPACES[TEST], return_std=True, split=True)
    layers = TwoLayerRegressor(kernels.Linear()).fit(A[TRAIN], Y[TRAIN, 0])
    with pytest.raises(ValueError, match="no sum of what kernels add"):
        layers.score_split(A[TEST], Y[TEST, 0])


class Recorded:
    """A file of targets, of which it is told which parts are read."""

    def __init__(self, values):
        self.values = values
        self.shape = values.shape
        self.dtype = values.dtype
        self.read = []

    def __getitem__(self, index):
        self.read.append(index)
        return self.values[index]


class TestTargetsFromFiles:
    def test_they_are_read_in_blocks(self, fitted, monkeypatch):
        monkeypatch.setattr("multikernel.estimators.score_split.BUFFER_VALUES", 2 * len(TEST))
        target = Recorded(Y[TEST])
        weight = np.arange(30.0)
        for scoring in ("r2", "correlation"):
            found = fitted.score_split(SPACES[TEST], target, scoring=scoring, sample_weight=weight)
            wanted = fitted.score_split(SPACES[TEST], Y[TEST], scoring=scoring, sample_weight=weight)
            np.testing.assert_allclose(found, wanted, atol=1e-12)
        assert max(columns.stop - columns.start for _, columns in target.read) == 2

    def test_a_data_set_of_hdf5(self, fitted, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "targets.h5", "w") as file:
            responses = file.create_dataset("responses", data=Y, chunks=(10, 2))
            train = file.create_dataset("train", data=Y[TRAIN], chunks=(10, 2))
            test = file.create_dataset("test", data=Y[TEST].astype(np.float32), chunks=(10, 2))
            from_file = MultipleKernelRidgeCV("linear").fit(SPACES[TRAIN], train)
            np.testing.assert_array_equal(from_file.weights_, fitted.weights_)
            found = from_file.score_split(SPACES[TEST], test)
            with pytest.raises(ValueError, match="Y has 90 rows, and X has 30"):
                from_file.score_split(SPACES[TEST], responses)
        np.testing.assert_allclose(found, fitted.score_split(SPACES[TEST], Y[TEST]), atol=1e-5)

    def test_a_missing_value_is_named(self, fitted):
        target = Y[TEST].copy()
        target[4, 1] = np.nan
        with pytest.raises(ValueError, match=r"^Y has a NaN or infinity at row 4, column 1"):
            fitted.score_split(SPACES[TEST], Recorded(target))
