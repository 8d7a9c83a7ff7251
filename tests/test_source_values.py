"""What each source is worth: scores alone and without it, what it adds, and whether two sources repeat each other."""

import json
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import one_in
from multikernel import (
    AverageMKLRegressor,
    BankSearchCV,
    EasyMKLClassifier,
    GatedMKLRegressor,
    L1MKLClassifier,
    MultiKernelRegressor,
    bind,
    kernels,
    source_values,
    views,
)
from multikernel.inspection import plot_source_values, source_pairs
from multikernel.inspection.source_fits import BankFits, SampleFits, Setting
from multikernel.inspection.source_parts import ColumnParts, ViewParts, parts_of
from multikernel.inspection.worth import _permutations

QUICK = AverageMKLRegressor(kernels.Linear(), alpha=0.1)
WHOLE = [np.array([0]), np.array([1]), np.array([2])]


@pytest.fixture(scope="module")
def samples():
    """Three views: the first and the second say the same, the third says something else."""
    rng = np.random.default_rng(0)
    first, other = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    X = {"first": first, "again": first + 0.05 * rng.normal(size=(60, 3)), "other": other}
    return X, first[:, 0] + other[:, 0] + 0.2 * rng.normal(size=60)


def score(model, X, y, train, test):
    """The score on test samples of views."""
    part = {name: view[train] for name, view in X.items()}
    return clone(model).fit(part, y[train]).score({name: view[test] for name, view in X.items()}, y[test])


def test_the_columns_are_what_they_are_called(samples):
    X, y = samples
    folds = list(KFold(4).split(y))
    found = source_values(QUICK, X, y, cv=folds, permutations=0)
    assert list(found.columns) == ["source", "alone", "without", "adds", "se", "p"]
    assert list(found["source"]) == list(X)
    assert found["p"].isna().all()
    constant = [DummyRegressor().fit(y[a], y[a]).score(y[b], y[b]) for a, b in folds]
    every = np.array([score(QUICK, X, y, *fold) for fold in folds])
    assert found.attrs["constant"] == pytest.approx(np.mean(constant))
    assert found.attrs["score"] == pytest.approx(every.mean())
    alone = {name: np.array([score(QUICK, {name: X[name]}, y, *fold) for fold in folds]) for name in X}
    for row in found.itertuples():
        rest = {name: view for name, view in X.items() if name != row.source}
        without = np.array([score(QUICK, rest, y, *fold) for fold in folds])
        error = np.sqrt((1 / 4 + 15 / 45) * (every - without).var(ddof=1))
        expected = (alone[row.source].mean(), without.mean(), (every - without).mean(), error)
        np.testing.assert_allclose((row.alone, row.without, row.adds, row.se), expected, rtol=1e-6, atol=1e-9)
    two = np.array([score(QUICK, {"first": X["first"], "other": X["other"]}, y, *fold) for fold in folds])
    difference = two - alone["first"] - alone["other"] + constant
    pair = source_pairs(found).set_index(["first", "second"]).loc[("first", "other")]
    np.testing.assert_allclose(pair["interaction"], difference.mean(), rtol=1e-6)
    np.testing.assert_allclose(pair["se"], np.sqrt((1 / 4 + 1 / 3) * difference.var(ddof=1)), rtol=1e-6)
    assert json.loads(json.dumps(found.attrs))["measure"] == "R2"


def test_repeated_and_completing_sources_are_found(samples):
    X, y = samples
    found = source_values(QUICK, X, y, permutations=9, random_state=0).set_index("source")
    pairs = source_pairs(found)["interaction"]
    assert pairs[0] < -0.2
    assert abs(found.loc["first", "adds"]) < 0.05
    assert found.loc["other", "adds"] > 0.3
    assert found.loc["other", "p"] == 1 / 10
    rng = np.random.default_rng(1)
    a, b = rng.choice([-1.0, 1.0], size=(2, 80, 1))
    product = AverageMKLRegressor(kernels.Polynomial(2), alpha=0.1)
    forms = pd.DataFrame({"a": a[:, 0], "b": b[:, 0]})
    either = source_values(
        make_pipeline(product), forms, (a * b)[:, 0], sources={"a": "a", "b": "b"}, permutations=0, random_state=0
    )
    assert source_pairs(either)["interaction"][0] > 0.9


@pytest.mark.parametrize("form", one_in(2, ["views", "matrices", "mixed", "columns"]))
def test_kernels_of_a_bank_are_fits_to_some_of_the_sources(samples, form):
    """What kernels learn (median widths, centres) they learn from the training samples of the fold, moved or not."""
    X, y = samples
    every = [kernels.RBF("median"), kernels.Linear().centered()]
    model = L1MKLClassifier(every, C=1.0, tol=1e-6)
    train, test = np.arange(45), np.arange(45, 60)
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(train), rng.permutation(test)])
    labels = np.where(y > 0, "high", "low")
    parts = parts_of(X)
    if form == "matrices":
        parts = parts_of(views({name: part @ part.T for name, part in X.items()}))
    elif form == "mixed":
        parts = parts_of(X | {"again": X["again"] @ X["again"].T})
    elif form == "columns":
        model = model.set_params(kernels=kernels.column_groups({"u": [0, 1, 2], "v": [3, 4, 5], "w": [6, 7]}, every))
        parts = ColumnParts(np.hstack(list(X.values())))
    of_kernels = [np.array([2 * s, 2 * s + 1]) for s in range(3)]
    setting = Setting(model, parts, of_kernels if form == "columns" else WHOLE, form == "columns", labels, None, None)
    found = setting.fits((train, test))
    assert isinstance(found, BankFits)
    plain = SampleFits(Setting(model, parts, WHOLE, False, labels, None, None), train, test)
    for chosen, moved in [((0,), None), ((0, 2), None), ((0, 1, 2), None), ((0, 1, 2), 1)]:
        expected = plain.score(chosen, moved, order) if form != "columns" else None
        if form == "columns":
            family = model.kernels[[k for s in chosen for k in of_kernels[s]]]
            Z = parts.table if moved is None else parts.moved(np.array([3, 4, 5]), order).table
            own = clone(model).set_params(kernels=family).fit(Z[train], labels[train])
            expected = own.score(Z[test], labels[test])
        assert found.score(chosen, moved, order) == pytest.approx(expected)


def test_samples_change_places_within_folds_and_groups_as_a_whole():
    rng = np.random.RandomState(0)
    folds = list(KFold(3, shuffle=True, random_state=0).split(np.empty(24)))
    for order in _permutations(folds, 24, None, 5, rng):
        assert sorted(order) == list(range(24))
        assert any(order != np.arange(24))
        for _, test in folds:
            assert set(order[test]) == set(test)
    groups = np.repeat(np.arange(8), [1, 2, 3, 4, 4, 3, 4, 3])
    folds = [(np.flatnonzero(groups % 2 != k), np.flatnonzero(groups % 2 == k)) for k in (0, 1)]
    for order in _permutations(folds, 24, groups, 5, rng):
        assert (groups[order] % 2 == groups % 2).all()
        for group in range(8):
            assert len(set(groups[order][groups == group])) == 1


def test_the_unit_of_a_squared_error_does_not_matter(samples):
    X, y = samples
    options = {"scoring": "neg_mean_squared_error", "permutations": 4, "pairs": False, "cv": 2, "random_state": 0}
    one, small = (source_values(QUICK, X, unit * y, **options) for unit in (1.0, 1e-8))
    assert one["p"].min() == 1 / 5
    assert small["p"].tolist() == one["p"].tolist()


def test_every_form_of_sources_is_taken(samples):
    X, y = samples
    quick = {"permutations": 1, "random_state": 0, "cv": 3}
    table = np.hstack([X["first"], X["other"]])
    frame = pd.DataFrame(table, columns=list("abcde"), index=[f"patient {i}" for i in range(60)])
    named = {"first": ["a", "b", "c"], "other": slice(3, 5)}
    expected = source_values(Ridge(), table, y, sources={"first": [0, 1, 2], "other": [3, 4]}, **quick)
    for form in (frame, pl.DataFrame(frame.to_dict("list")), sparse.csr_matrix(table)):
        sources = {"first": [0, 1, 2], "other": slice(3, None)} if sparse.issparse(form) else named
        found = source_values(Ridge(), form, y, sources=sources, **quick)
        pd.testing.assert_frame_equal(found, expected)
    family = kernels.column_groups({"first": [0, 1, 2], "other": [3, 4]}, [kernels.Linear(), kernels.RBF(0.1)])
    model = AverageMKLRegressor(family, alpha=0.1)
    of_table = source_values(model, table, y, **quick)
    by_view = model.set_params(kernels=[kernels.Linear(), kernels.RBF(0.1)])
    of_views = source_values(by_view, {"first": X["first"], "other": X["other"]}, y, **quick)
    pd.testing.assert_frame_equal(of_table, of_views)
    of_bank = source_values(model, bind(family, table), y, sources={"first": [0, 1], "other": [2, 3]}, **quick)
    pd.testing.assert_frame_equal(of_bank, of_views)
    whole = source_values(model, bind(family, table), y, sources={"both": [0, 1, 2, 3]}, **quick)
    assert whole.loc[0, "without"] == whole.attrs["constant"]
    piped = source_values(make_pipeline(StandardScaler(), clone(model).set_params(kernels=family)), table, y, **quick)
    assert list(piped["source"]) == ["first", "other"]
    search = BankSearchCV(by_view, {"alpha": [0.1, 1.0]}, cv=3)
    assert len(source_values(search, {"first": X["first"], "other": X["other"]}, y, **quick)) == 2
    K = {"first": X["first"] @ X["first"].T, "other": X["other"] @ X["other"].T}
    stacked = AverageMKLRegressor("precomputed", alpha=0.1)
    assert list(source_values(stacked, np.stack(list(K.values())), y, **quick)["source"]) == ["kernel 0", "kernel 1"]
    some = views(X | {"kernel": K["other"]})[np.arange(0, 60, 2)]
    assert list(source_values(QUICK, some, y[::2], **quick)["source"]) == [*X, "kernel"]


def test_the_automatic_estimator_is_fitted_to_some_of_the_sources(samples):
    X, y = samples
    K = views({name: X[name] @ X[name].T for name in ("first", "other")})
    found = source_values(MultiKernelRegressor(random_state=0), K, y, cv=2, permutations=0, random_state=0)
    assert (found["adds"] > 0.2).all()


class Grouped(RegressorMixin, BaseEstimator):
    """Accepts groups, and remembers what it was given."""

    seen: ClassVar[list] = []

    def fit(self, X, y, groups=None):
        Grouped.seen.append(groups)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return 0.5


def test_groups_are_held_out_and_moved_whole_and_given_to_fits():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 3)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    Grouped.seen = []
    sources = {"a": [0, 1], "b": [2, 3]}
    found = source_values(Grouped(), X, y, cv=5, groups=groups, sources=sources, permutations=2, random_state=0)
    assert all(len(set(each)) == 8 and len(each) == 24 for each in Grouped.seen)
    assert len(Grouped.seen) == 5 * (3 + 2 * 2)
    assert (found["p"] == 1.0).all()  # every score is the same
    with pytest.raises(ValueError, match="no two samples, or groups of them, are held out together"):
        source_values(Grouped(), X, y, cv=10, groups=groups, sources=sources)
    search = BankSearchCV(QUICK, {"alpha": [0.1, 1.0]}, cv=2)
    assert len(source_values(search, {"a": X[:, :2], "b": X[:, 2:]}, y, cv=2, groups=groups, permutations=1)) == 2


def test_repeats_scoring_and_numbers_that_are_drawn(samples):
    X, y = samples
    labels = np.where(y > 0, "high", "low")
    model = EasyMKLClassifier(kernels.Linear(), lam=0.1)
    options = {"cv": 2, "permutations": 2, "scoring": "roc_auc", "random_state": 3, "pairs": False}
    one, two = (source_values(model, X, labels, repeats=r, **options) for r in (1, 2))
    assert (one.attrs["folds"], two.attrs["folds"]) == (2, 4)
    assert one.attrs["constant"] == 0.5
    assert one.attrs["measure"] == "roc_auc"
    assert one.attrs["pairs"] == []
    pd.testing.assert_frame_equal(one, source_values(model, X, labels, n_jobs=2, **options))
    assert (one["alone"] != two["alone"]).any()


def test_the_plot_has_a_row_for_each_source(samples):
    pytest.importorskip("matplotlib").use("agg")
    X, y = samples
    ax = plot_source_values(source_values(QUICK, X, y, cv=2, permutations=0, random_state=0))
    assert [label.get_text() for label in ax.get_yticklabels()] == list(X)
    assert "R2" in ax.get_xlabel()


def test_mistakes_are_named(samples):
    X, y = samples
    table = np.hstack(list(X.values()))
    for options, message in [
        ({}, "nothing says which columns belong to which source"),
        ({"sources": {}}, "sources must be a dict"),
        ({"sources": {"a": []}}, "source 'a' is empty"),
        ({"sources": {"a": [0, 1], "b": [1]}}, "'1' is in the sources 'a' and 'b'"),
        ({"sources": {"a": "age"}}, "source 'a': unknown column 'age'"),
        ({"sources": {1: [0], "1": [1]}}, "two sources have the name '1'"),
        ({"sources": {"a": [8]}}, "source 'a': column 8 is out of range"),
        ({"sources": {"a": [0]}, "repeats": 0}, "repeats must be an integer >= 1"),
        ({"sources": {"a": [0]}, "permutations": -1}, "permutations must be an integer >= 0"),
        ({"sources": {"a": [0]}, "cv": 1}, "cv must be an integer >= 2"),
        ({"sources": {"a": [0]}, "cv": KFold(3), "repeats": 2}, "give cv as a number of folds"),
    ]:
        with pytest.raises(ValueError, match=message):
            source_values(QUICK, table, y, **options)
    with pytest.raises(ValueError, match="X has 60 samples and y has 59"):
        source_values(QUICK, X, y[:-1])
    with pytest.raises(ValueError, match="no two samples"):
        source_values(QUICK, X, y, cv=LeaveOneOut())
    with pytest.raises(ValueError, match="is nan on fold 0"), pytest.warns(match="not well-defined"):
        source_values(Ridge(), table, y, cv=LeaveOneOut(), sources={"a": [0]}, permutations=0)
    with pytest.raises(ValueError, match="nothing says which columns"):
        source_values(GatedMKLRegressor(kernels.column_groups({"a": [0], "b": [1]}, kernels.RBF())), table, y)
    with pytest.raises(ValueError, match="none that source_values returned"):
        source_pairs(pd.DataFrame())
    with pytest.raises(TypeError, match="takes a classifier or a regressor, got KMeans"):
        source_values(KMeans(), X, y)
    assert isinstance(parts_of(X), ViewParts)


def test_a_pipeline_of_another_package_is_fitted_to_columns(samples):
    X, y = samples
    labels = y > 0
    frame = pd.DataFrame(np.hstack([X["first"], X["other"]]), columns=list("abcde"))
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = source_values(model, frame, labels, sources={"first": list("abc"), "other": list("de")}, permutations=0)
    assert (found["alone"] > 0.5).all()
