"""Features of earlier samples, beside a double loop over samples and delays."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from multikernel import AverageMKLRegressor, Delayer, MultipleKernelRidgeCV, kernels, load, save, views

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
RUNS = np.array([7, 7, 7, 7, 7, 3, 3, 7, 7, 7, 7, 5])  # 7 comes twice, as two runs; the last run has one sample


def looped(X, delays, runs):
    """Whether sample i - d belongs to the run of i is seen by walking from one to the other."""
    n, p = X.shape
    found = np.zeros((n, p * len(delays)))
    for i in range(n):
        for place, delay in enumerate(delays):
            j = i - delay
            between = range(min(i, j), max(i, j) + 1)
            if 0 <= j < n and all(runs[k] == runs[i] for k in between):
                found[i, place * p : (place + 1) * p] = X[j]
    return found


def on_time(name):
    return {"check_methods_sample_order_invariance": name, "check_methods_subset_invariance": name}


@parametrize_with_checks([Delayer()], expected_failed_checks=lambda _: on_time("samples follow each other in time"))
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("delays", [(1, 2, 3, 4), [0], [-2, 0, 5], [20, -20], np.arange(3)])
@pytest.mark.parametrize("runs", [None, RUNS, [f"run {run}" for run in RUNS]], ids=["one run", "numbers", "names"])
def test_beside_a_double_loop(delays, runs):
    wanted = looped(X, delays, np.zeros(12) if runs is None else list(runs))
    found = Delayer(delays).fit_transform(X, groups=runs)
    np.testing.assert_array_equal(found, wanted)
    of_sparse = Delayer(delays).fit_transform(sparse.csr_matrix(X), groups=runs)
    assert sparse.issparse(of_sparse)
    np.testing.assert_array_equal(of_sparse.toarray(), wanted)


def test_precision_and_missing_cells_are_kept():
    holes = X.astype(np.float32)
    holes[3, 1] = np.nan
    found = Delayer([1]).fit_transform(holes)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[1:], holes[:-1])


def test_names_and_frames():
    frame = pd.DataFrame(X, columns=["energy", "colour"], index=list("abcdefghijkl"))
    delayer = Delayer([1, 2]).set_output(transform="pandas")
    found = delayer.fit_transform(frame, groups=RUNS)
    names = ["energy_delay1", "colour_delay1", "energy_delay2", "colour_delay2"]
    assert list(found.columns) == names == list(delayer.get_feature_names_out())
    assert found.index.equals(frame.index)
    assert list(Delayer([3]).fit(X).get_feature_names_out()) == ["x0_delay3", "x1_delay3"]
    family = [kernels.Linear().on([f"energy_delay{d}" for d in (1, 2)]), kernels.Linear().on(["colour_delay1"])]
    model = AverageMKLRegressor(family).fit(found, X[:, 0])
    assert model.predict(found).shape == (12,)


def test_views_stay_views():
    frame = pd.DataFrame(X, columns=["a", "b"])
    delayer = Delayer([1, 2])
    found = delayer.fit_transform({"array": X, "frame": frame, "square": RNG.normal(size=(12, 6))}, groups=RUNS)
    assert found.names == ("array", "frame", "square") == tuple(delayer.views_)
    np.testing.assert_array_equal(found.part("array"), looped(X, [1, 2], RUNS))
    assert list(found.part("frame").columns) == ["a_delay1", "b_delay1", "a_delay2", "b_delay2"]
    AverageMKLRegressor("linear").fit(found, X[:, 0])  # twelve columns of twelve samples are no kernel matrix
    some = Delayer([1]).fit_transform(views({"a": X, "b": X})[3:8])
    np.testing.assert_array_equal(some.part("b"), looped(X[3:8], [1], np.zeros(5)))
    assert not hasattr(delayer, "get_feature_names_out")


def test_labels_of_views_stay():
    labels = [f"scan {i}" for i in range(12)]
    frame = pd.DataFrame(X, columns=["a", "b"], index=labels)
    joined = views({"one": frame, "two": frame[::-1]}, rows="index")
    runs = pd.Series(RUNS, index=labels)[::-1]  # matched by the labels
    found = Delayer([1]).fit_transform(joined, groups=runs)
    assert list(found.index) == labels
    np.testing.assert_array_equal(found.part("two"), looped(X, [1], RUNS))


def test_runs_are_folds_and_limits_of_delays_from_end_to_end():
    """The fold of a run is predicted from the other runs alone, in a pipeline as by hand."""
    A, B = RNG.normal(size=(2, 60, 3))
    runs = np.repeat([0, 1, 2, 3], 15)
    spaces = views({"a": A, "b": B})
    Y = np.stack([Delayer([2]).fit_transform(A, groups=runs)[:, 0], B[:, 0]], axis=1) + 0.6 * RNG.normal(size=(60, 2))
    by_run = Delayer([0, 1, 2]).fit_transform(spaces, groups=runs)
    by_hand = []
    for run in range(4):
        train, test = np.flatnonzero(runs != run), np.flatnonzero(runs == run)
        model = MultipleKernelRidgeCV("linear", cv=3, tol=1e-2).fit(by_run[train], Y[train], groups=runs[train])
        by_hand.append(model.score(by_run[test], Y[test]))
    with sklearn.config_context(enable_metadata_routing=True):
        delayer = Delayer([0, 1, 2]).set_transform_request(groups=True)
        pipe = make_pipeline(delayer, MultipleKernelRidgeCV("linear", cv=3, tol=1e-2).set_fit_request(groups=True))
        found = cross_validate(pipe, spaces, Y, cv=GroupKFold(4), params={"groups": runs})["test_score"]
    np.testing.assert_allclose(sorted(found), sorted(by_hand), rtol=1e-6)
    assert min(by_hand) > 0.3


def test_a_model_is_saved_with_its_delays(tmp_path):
    pipe = make_pipeline(Delayer([0, 1]), AverageMKLRegressor("linear")).fit({"a": X, "b": X**2}, X[:, 1])
    save(pipe, tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.predict({"a": X, "b": X**2}), pipe.predict({"a": X, "b": X**2}))


@pytest.mark.parametrize("delays", [[], [1.5], [1, 1], ["1"], None, [True], "12"])
def test_delays_that_are_none_are_refused(delays):
    with pytest.raises(ValueError, match="delays must be different whole numbers"):
        Delayer(delays).fit(X)


def test_what_cannot_be_delayed_is_refused():
    delayer = Delayer([1]).fit(X)
    with pytest.raises(ValueError, match="groups must hold one value for each of 12 samples"):
        delayer.transform(X, groups=RUNS[1:])
    with pytest.raises(ValueError, match="groups has a missing value at row 0"):
        delayer.transform(X, groups=np.where(RUNS == 7, np.nan, RUNS))
    with pytest.raises(ValueError, match="groups has a missing value at row 11"):
        delayer.transform(X, groups=pd.Series([*"aaaaaabbbbb", None], dtype="string"))
    with pytest.raises(ValueError, match="2 features"):
        delayer.transform(X[:, :1])
    of_views = Delayer([1]).fit({"a": X, "b": X})
    with pytest.raises(ValueError, match="was fitted to the views"):
        of_views.transform({"a": X})
    with pytest.raises(ValueError, match="view 'k' has no columns of numbers"):
        Delayer([1]).fit(views({"a": X, "k": X @ X.T}))
    words = pd.DataFrame({"word": ["u", "v"] * 6})
    with pytest.raises(ValueError, match="view 'b'"):
        Delayer([1]).fit({"a": X, "b": words})
