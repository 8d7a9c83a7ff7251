"""Samples of one group are held out together, wherever an estimator holds samples out, and ``cv`` says how."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import is_classifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
    cross_val_score,
)

import multikernel as mk
from cases import one_in
from multikernel import kernels, streams
from multikernel._folds import Resampling, dealt
from multikernel.estimators.base import KernelEstimator

SUBJECTS, ROWS = 12, 4
GROUPS = np.repeat([f"subject {s}" for s in range(SUBJECTS)], ROWS)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(SUBJECTS, 2))[np.arange(SUBJECTS).repeat(ROWS)] + 0.1 * RNG.normal(size=(SUBJECTS * ROWS, 2))
LABELS, NUMBERS = np.tile([0, 1], SUBJECTS * ROWS // 2), X[:, 0] + 0.1 * RNG.normal(size=len(X))
FAMILY = [kernels.RBF(0.5), kernels.Linear()]
ESTIMATORS = {
    name: cls
    for name in mk.__all__
    if inspect.isclass(cls := getattr(mk, name)) and issubclass(cls, KernelEstimator) and name != "OneClassMKL"
}


def made(name: str, **given: Any) -> Any:
    """An estimator with every parameter that may be "auto" so, a small one, and probabilities where it tells any."""
    cls = ESTIMATORS[name]
    known = inspect.signature(cls).parameters
    if "second" in known:
        given |= {"second": "linear"}  # the others are searched in the same way, and take longer
    if "kernels" in known and not name.startswith("LearnedScales"):
        given |= {"kernels": FAMILY}
    model = cls(**given)
    for parameter in model._method.search.names(model):
        if parameter not in given:
            model.set_params(**{parameter: "auto"})
    return model.set_params(**{k: v for k, v in {"max_iter": 20}.items() if k in known and "RLS2" not in name})


@pytest.mark.filterwarnings("ignore")  # of twenty steps
@pytest.mark.parametrize("name", one_in(3, ESTIMATORS))
def test_no_fold_of_any_fit_splits_a_group(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every drawing of folds is seen: each of them keeps the samples of a subject together."""
    seen = []

    def watched(labels: Any, count: int, rng: Any, groups: Any = None) -> Any:
        assert groups is not None
        found = dealt(labels, count, rng, groups)
        assert all(len(np.unique(found[groups == g])) == 1 for g in np.unique(groups))
        seen.append(len(found))
        return found

    monkeypatch.setattr("multikernel._folds.dealt", watched)
    y = LABELS if "probability" in inspect.signature(ESTIMATORS[name]).parameters else NUMBERS
    more = {"probability": "platt"} if y is LABELS else {}
    model = made(name, **more).fit(X, y, groups=GROUPS)
    assert seen
    assert np.isfinite(model.predict_proba(X) if more else model.predict(X)).all()


@pytest.mark.filterwarnings("ignore")  # of twenty steps
@pytest.mark.parametrize("name", one_in(7, ESTIMATORS))
def test_a_splitter_is_asked_for_the_folds(name: str) -> None:
    asked = []

    class Watched(GroupKFold):
        def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
            asked.append(groups)
            return super().split(X, y, groups)

    y = LABELS if is_classifier(ESTIMATORS[name]()) else NUMBERS
    made(name, cv=Watched(3)).fit(X, y, groups=GROUPS)
    assert len(asked) == 1
    assert len(np.unique(asked[0])) == SUBJECTS


def test_labels_drawn_for_each_subject_are_not_predicted_for_others() -> None:
    """40 subjects of ten rows: nothing but the subject tells the label, and of a new subject nobody knows it."""
    rng = np.random.default_rng(1)
    subject = np.repeat(np.arange(40), 10)
    samples = rng.normal(size=(40, 3))[subject] + 0.05 * rng.normal(size=(400, 3))
    labels = rng.permutation(np.arange(40) % 2)[subject]
    model = mk.MultiKernelClassifier(random_state=0)
    apart, together = model.fit(samples, labels), None
    assert apart.candidates_[-1]["error"] < 0.01
    together = model.fit(samples, labels, groups=subject)
    row = together.candidates_[-1]
    assert 0.35 < row["error"] < 0.65
    assert row["spread"] > 0.05  # of 40 subjects, not of 400 rows
    assert "whole groups, of 40" in together.explain()


def test_the_ridge_follows_the_folds() -> None:
    """A number for each subject: within it the smallest ridge is best, for others nothing is to be learned."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(20), 5)
    samples = rng.normal(size=(20, 3))[subject] + 0.01 * rng.normal(size=(100, 3))
    y = rng.normal(size=20)[subject]
    for model in (mk.AverageMKLRegressor(kernels.RBF(0.1)), mk.MultipleKernelRidgeCV(kernels.RBF(0.1))):
        if isinstance(model, mk.MultipleKernelRidgeCV):
            model.set_params(cv=KFold(5, shuffle=True, random_state=0))
        apart = float(model.fit(samples, y).alpha_)
        together = float(model.set_params(cv=5).fit(samples, y, groups=subject).alpha_)
        assert together > 10.0 * apart


def test_leaving_one_out_leaves_a_group_out() -> None:
    one = mk.MultipleKernelRidgeCV(FAMILY, cv="loo", tol=1e-2).fit(X, NUMBERS, groups=GROUPS)
    other = mk.MultipleKernelRidgeCV(FAMILY, cv=LeaveOneGroupOut(), tol=1e-2).fit(X, NUMBERS, groups=GROUPS)
    np.testing.assert_allclose(one.cv_loss_, other.cv_loss_, rtol=1e-6)


def test_groups_are_dealt_out_as_evenly_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 60, 900)
    labels = (rng.random(900) < 0.2).astype(int) + (groups < 12)
    folds = dealt(labels, 5, np.random.default_rng(0), groups)
    assert all(len(np.unique(folds[groups == g])) == 1 for g in range(60))
    theirs = np.empty(900, dtype=int)
    for f, (_, test) in enumerate(StratifiedGroupKFold(5).split(X[:1].repeat(900, 0), labels, groups)):
        theirs[test] = f

    def unevenness(found: Any) -> float:
        counts = np.array([np.bincount(labels[found == f], minlength=3) for f in range(5)])
        return float((counts.std(axis=0) / counts.mean(axis=0)).max())

    assert unevenness(folds) < 1.5 * unevenness(theirs) + 0.02


def test_every_fold_has_a_group_where_groups_have_labels_of_their_own() -> None:
    groups = np.repeat(np.arange(3), 4)
    assert set(dealt(groups, 3, np.random.default_rng(0), groups)) == {0, 1, 2}
    assert set(dealt(groups, 2, np.random.default_rng(0), groups)) == {0, 1}


def with_missing(values: Any) -> Any:
    return np.where(np.arange(len(values)) == 3, np.nan, values)


@pytest.mark.parametrize("name", ["L1MKLClassifier", "MultiKernelClassifier", "MultiKernelRegressor", "BankSearchCV"])
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[1:], r"groups must hold one value for each of 48 samples, .*; got shape \(47,\)"),
        (np.column_stack([GROUPS, GROUPS]), r"got shape \(48, 2\)"),
        (with_missing(np.arange(48.0)), "groups has a missing value at row 3"),
        ([None if i == 3 else "a" for i in range(48)], "groups has a missing value at row 3"),
        (np.zeros(48), "groups has one value only, 0.0, and a fold holds out whole groups"),
        ([1 if i % 2 else "a" for i in range(48)], "groups holds values of several types|one value"),
    ],
)
def test_groups_that_are_none_are_refused(name: str, groups: Any, message: str) -> None:
    model = getattr(mk, name)
    model = mk.BankSearchCV(mk.RLS2Classifier(FAMILY), {"alpha": [0.1, 1.0]}) if name == "BankSearchCV" else model()
    if name == "L1MKLClassifier":
        model.set_params(kernels=FAMILY, C="auto")
    groups = np.array(groups, dtype=object) if isinstance(groups, list) else groups
    with pytest.raises(ValueError, match=f"{name}: .*{message}") as caught:
        model.fit(X, LABELS, groups=groups)
    assert "\n" not in str(caught.value)


def test_a_single_group_does_not_matter_where_nothing_is_held_out() -> None:
    one = mk.L1MKLClassifier(FAMILY, C=1.0).fit(X, LABELS, groups=np.zeros(len(X)))
    np.testing.assert_array_equal(one.weights_, mk.L1MKLClassifier(FAMILY, C=1.0).fit(X, LABELS).weights_)


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (KFold(5), GROUPS, "fold 0 of cv trains and tests on samples of one group, that of row"),
        (GroupKFold(3), None, r"cv=GroupKFold.* needs the group of each sample: fit\(X, y, groups=...\)"),
        ([([0, 1], [99])], None, "fold 0 of cv must be a pair of training and test rows, numbers from 0 to 47"),
        ([(1,)], None, "fold 0 of cv must be a pair of training and test rows, numbers from 0 to 47"),
        (np.ones(9), None, "fold 0 of cv must be a pair of training and test rows, numbers from 0 to 47"),
        ([([0, 1], [2]), 3], None, "fold 1 of cv must be a pair of training and test rows, numbers from 0 to 47"),
        (np.array(5.0), None, "cv must be an integer >= 2, a splitter, or pairs of training and test rows"),
        ([(np.ones(47, bool), np.ones(48, bool))], None, "fold 0 of cv must be a pair of .* or masks of 48 entries"),
        ([([[0, 1]], [[2]])], None, "fold 0 of cv must be a pair of training and test rows"),
        ([([0, 1], [])], None, "fold 0 of cv has 2 training and 0 test samples"),
        (iter([]), None, "cv gives no folds"),
    ],
)
def test_folds_that_are_none_are_refused(cv: Any, groups: Any, message: str) -> None:
    for model in (mk.LpMKLClassifier(FAMILY, C="auto", cv=cv), mk.MultiKernelClassifier(cv=cv)):
        if hasattr(cv, "__next__"):
            model.set_params(cv=iter([]))
        with pytest.raises(ValueError, match=f"{type(model).__name__}: {message}"):
            model.fit(X, LABELS, groups=groups)


def test_folds_that_leave_no_sample_of_a_class_are_refused() -> None:
    groups = LABELS
    with pytest.raises(ValueError, match="every fold leaves out all samples of a class"):
        mk.L1MKLClassifier(FAMILY, C="auto").fit(X, LABELS, groups=groups)
    with pytest.raises(ValueError, match="every fold leaves out all samples of a class"):
        mk.L1MKLClassifier(FAMILY, C=1.0, probability="platt").fit(X, LABELS, groups=groups)


def test_a_class_of_one_subject_is_learned_beside_the_others() -> None:
    labels = np.where(np.arange(len(X)) < ROWS, 2, LABELS)
    model = mk.L1MKLClassifier(FAMILY, C="auto", probability="platt").fit(X, labels, groups=GROUPS)
    assert model.predict_proba(X).shape == (len(X), 3)


@pytest.mark.parametrize(
    "cv", one_in(3, [4, TimeSeriesSplit(3), ShuffleSplit(2, random_state=0), [(range(30), range(30, 48))]])
)
def test_folds_that_do_not_hold_out_every_sample_choose_and_calibrate(cv: Any) -> None:
    model = mk.L1MKLClassifier(FAMILY, C="auto", probability="platt", cv=cv).fit(X, LABELS)
    assert np.isfinite(model.predict_proba(X)).all()
    assert mk.AverageMKLRegressor(FAMILY, cv=cv).fit(X, NUMBERS).alpha_ > 0


@pytest.mark.parametrize(
    "model", [mk.MultipleKernelRidgeCV(FAMILY), mk.LearnedScalesRegressor(), mk.MultiKernelRegressor()]
)
def test_where_every_sample_has_to_be_held_out_a_splitter_that_does_not_is_refused(model: Any) -> None:
    for cv in (TimeSeriesSplit(3), ShuffleSplit(2, random_state=0)):
        with pytest.raises(ValueError, match=r"fold 0 of cv holds|must be held out exactly once"):
            model.set_params(cv=cv).fit(X, NUMBERS)


@pytest.mark.parametrize(
    "make", one_in(2, [lambda: mk.MultiKernelClassifier(random_state=0), lambda: mk.LpMKLClassifier(FAMILY, C="auto")])
)
def test_groups_are_routed_to_the_fit(make: Callable[[], Any]) -> None:
    """With routing the folds of the fit are those of groups, too: of one group there are none."""
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            make().set_fit_request(groups=True), X, LABELS, cv=GroupKFold(3), params={"groups": GROUPS}
        )
        assert np.isfinite(scores).all()
        with pytest.raises(ValueError, match="groups has one value only"):
            cross_val_score(
                make().set_fit_request(groups=True), X, LABELS, cv=GroupKFold(2), error_score="raise",
                params={"groups": np.repeat([0, 1], 24)},
            )  # fmt: skip


def test_a_search_keeps_groups_whole_outside_and_inside() -> None:
    model = mk.BankSearchCV(mk.LpMKLClassifier(FAMILY), {"p": [1.5, 2.0]}, cv=3)
    model.fit(X, LABELS, groups=GROUPS)
    given = mk.BankSearchCV(mk.LpMKLClassifier(FAMILY, C="auto"), {"p": [1.5]}, cv=GroupKFold(3))
    given.fit(X, LABELS, groups=GROUPS)
    assert model.n_splits_ == given.n_splits_ == 3
    direct = mk.LpMKLClassifier(FAMILY, C="auto", p=given.best_params_["p"]).fit(X, LABELS, groups=GROUPS)
    assert given.best_estimator_.C_ == direct.C_


def test_rules_that_hold_out_inside_a_search_hold_out_groups() -> None:
    """The samples of the inner folds are those of the training part of the outer ones."""
    model = mk.ProportionalMKLRegressor(FAMILY, cv=LeaveOneGroupOut()).fit(X, NUMBERS, groups=GROUPS)
    assert np.isfinite(model.weights_).all()


def test_a_path_and_streams() -> None:
    found = mk.path(mk.L1MKLClassifier(FAMILY, probability="platt"), X, LABELS, "C", [0.1, 1.0], groups=GROUPS)
    assert len(found.models) == 2
    streamed = mk.RLS2Regressor(FAMILY, alpha=1.0, approximation="nystroem", rank=8)
    with pytest.raises(ValueError, match="RLS2Regressor: groups of rows that are read in chunks"):
        streamed.fit(streams.arrays(X, NUMBERS), groups=GROUPS)


def test_folds_of_some_of_the_samples() -> None:
    whole = Resampling.of("a model", [([0, 1, 2], [3, 4]), ([3, 4], [0, 1])], None, np.zeros(5))
    some = whole.among(np.array([0, 3, 4]))
    assert [(list(train), list(test)) for train, test in some.folds(np.zeros(3, int), 5, None)] == [
        ([0], [1, 2]),
        ([1, 2], [0]),
    ]
