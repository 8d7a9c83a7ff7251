"""A fit whose time is up returns a usable model, with a true certificate and a warning that says so."""

import sys
import warnings
from functools import cache
from itertools import product
from threading import get_ident
from time import perf_counter

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import multikernel
from cases import one_in
from multikernel import (
    AverageMKLClassifier,
    BestKernelClassifier,
    EasyMKLClassifier,
    GatedMKLRegressor,
    L1MKLClassifier,
    LpMKLRegressor,
    MultipleKernelRidgeCV,
    PolynomialMKLRegressor,
    ProportionalMKLClassifier,
    RLS2Regressor,
    TwoLayerRegressor,
    kernels,
    streams,
)
from multikernel._workers import in_time, limited, on_threads, seconds_left, time_is_up

FEW = [kernels.Linear(), kernels.RBF(0.1), kernels.RBF(1.0).on([0, 1]), kernels.RBF(3.0).on([2, 3])]
AT_ONCE = 1e-9  # seconds: up before the first step
NAMES = [
    name
    for name in multikernel.__all__
    if name.endswith(("Classifier", "Regressor", "RidgeCV", "OneClassMKL")) and "MultiKernel" not in name
]

CERTIFIED = [name for name in NAMES if name.startswith(("L1", "Lp", "EasyMKL", "SMKL", "RLS2", "HKL", "OneClass"))]


def data(n=90, classes=2):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(y >= 3 - classes))[:n]
    return scale(X)[rows], y[rows]


def made(name, **parameters):
    model = getattr(multikernel, name)(**parameters)
    if not name.startswith(("LearnedScales", "Linear", "MultiKernel")):
        model.set_params(kernels=FEW)
    return model.set_params(cv=2) if name.startswith(("BestKernel", "Proportional")) else model


def values(model, X):
    """What a model says of samples, before classes are named."""
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


def numbered(model):
    """With numbers in place of "auto", which would be chosen again with less time."""
    numbers = {"alpha": 0.1, "C": 1.0, "epsilon": 0.1, "lam": 0.1, "penalty": 1.0}
    asked = model.get_params(deep=False)
    return model.set_params(**{name: value for name, value in numbers.items() if asked.get(name) == "auto"})


def fitted(model, X, y):
    return model.fit(X) if type(model).__name__ == "OneClassMKL" else model.fit(X, y)


class Clock:
    """A second goes by whenever somebody looks."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return float(self.now)


@pytest.mark.parametrize(("name", "classes"), one_in(3, product(NAMES, [2, 3])))
def test_without_time_there_still_is_a_model(name, classes):
    X, y = data(classes=classes)
    model = made(name, time_budget=AT_ONCE)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        fitted(model, X, y)
    assert np.isfinite(model._values(X)).all()
    assert all("time_budget" in str(warning.message) for warning in told)
    if not model.converged_:
        assert f"{name} stopped after its time budget of 1e-09 s: it reached a relative" in str(told[-1].message)
        assert "Raise time_budget" in str(told[-1].message)


@cache
def with_choices(name):
    """A model that chooses whatever it can, fitted without a limit; and its parameters."""
    asked = getattr(multikernel, name)().get_params()
    chosen = {"C", "alpha", "lam"} & set(asked) if name.startswith(("L1", "Lp", "SMKL", "Easy", "GMKL", "HKL")) else ()
    parameters = {"random_state": 0} if "random_state" in asked else {}
    parameters |= dict.fromkeys(chosen, "auto")
    model = clone(made(name, **parameters))
    return fitted(model, *data(n=30)), model.get_params(deep=False)


@pytest.mark.parametrize(
    ("name", "looks"),
    one_in(11, product([*NAMES, "MultiKernelClassifier", "MultiKernelRegressor"], [AT_ONCE, 12.0, 150.0])),
)
def test_what_time_cut_is_the_same_or_warned_of(name, looks, monkeypatch):
    """Parameters, candidates, starts, folds and steps: what time leaves out either changes nothing, or is said."""
    (X, y), (whole, parameters) = data(n=30), with_choices(name)
    monkeypatch.setattr("multikernel._workers.perf_counter", Clock())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        cut = fitted(type(whole)(**parameters | {"time_budget": looks}), X, y)
    if not told:
        np.testing.assert_allclose(values(cut, X), values(whole, X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "looks"), one_in(2, product(CERTIFIED, [2, 5, 12])))
def test_the_gap_is_true_wherever_the_time_ends(name, looks, monkeypatch):
    """The optimum, of a fit that takes its time, is no further away than the gap says."""
    X, y = data()
    optimum = fitted(numbered(made(name, tol=1e-8)), X, y).objective_
    monkeypatch.setattr("multikernel._workers.perf_counter", Clock())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped = fitted(numbered(made(name, tol=1e-8, time_budget=float(looks))), X, y)
    gap = stopped.duality_gap_
    assert np.isfinite(stopped._values(X)).all()
    if gap < 1.0:  # it is relative to an upper value, which is at most so much larger than the one told
        assert abs(stopped.objective_ - optimum) <= (gap / (1.0 - gap) + 1e-8) * abs(stopped.objective_)


@pytest.mark.parametrize("cls", [BestKernelClassifier, ProportionalMKLClassifier])
def test_a_rule_leaves_half_of_the_time_to_the_machine(cls, monkeypatch):
    X, y = data()
    left, name = [], {BestKernelClassifier: "best_kernel", ProportionalMKLClassifier: "held_out_scores"}[cls]
    weigh = getattr(sys.modules[cls.__module__], name)
    monkeypatch.setattr(f"{cls.__module__}.{name}", lambda *given: left.append(seconds_left()) or weigh(*given))
    cls(FEW, C=1.0, cv=2, time_budget=1000.0).fit(X, y)
    assert len(left) == 1
    assert 400.0 < left[0] <= 500.0


@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_making_the_kernels_is_part_of_the_time(name, monkeypatch):
    X, y = data(n=30)
    left, bind = [], type(made(name))._bind
    monkeypatch.setattr(type(made(name)), "_bind", lambda *given: left.append(seconds_left()) or bind(*given))
    fitted(numbered(made(name, time_budget=1000.0)), X, y)
    assert left[0] <= 1000.0


@pytest.mark.parametrize("cls", [RLS2Regressor, PolynomialMKLRegressor])
def test_reading_a_source_is_part_of_the_time(cls, monkeypatch):
    X, y = data(n=60)
    left, survey = [], multikernel.estimators.streamed.source.survey
    watched = lambda *given, **named: left.append(seconds_left()) or survey(*given, **named)  # noqa: E731
    monkeypatch.setattr("multikernel.estimators.streamed.source.survey", watched)
    model = cls(FEW, alpha=0.1, approximation="nystroem", rank=5, time_budget=1000.0)
    (model.set_params(degree=1) if cls is PolynomialMKLRegressor else model).fit(streams.arrays(X, y))
    assert left[0] <= 1000.0


def test_a_search_that_time_ends_says_what_it_compared(monkeypatch):
    X, y = data()
    monkeypatch.setattr("multikernel._workers.perf_counter", Clock())
    with pytest.warns(ConvergenceWarning, match=r"AverageMKLClassifier compared 0 of 10 candidates for C='auto', from"):
        AverageMKLClassifier(FEW, time_budget=6.0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"only 0 of 2 folds on which kernels are compared ended in time"):
        BestKernelClassifier(FEW, C=1.0, cv=2, time_budget=AT_ONCE).fit(X, y)


@pytest.mark.parametrize(
    ("model", "looks"),
    [
        (MultipleKernelRidgeCV(FEW), AT_ONCE),
        (GatedMKLRegressor(FEW, alpha=1.0), 12.0),
        (TwoLayerRegressor(FEW, second="linear", alpha=1.0), AT_ONCE),
        (PolynomialMKLRegressor(FEW, alpha=1.0, degree=3), AT_ONCE),
    ],
)
def test_starts_without_time_are_counted(model, looks, monkeypatch):
    X, y = data(n=30)
    monkeypatch.setattr("multikernel._workers.perf_counter", Clock())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        clone(model).set_params(n_init=3, time_budget=looks).fit(X, y)
    assert any("only 0 of 3 starts of the" in str(warning.message) for warning in told)


def test_candidates_are_counted_until_the_time_is_up():
    assert list(in_time("abc", 3, "letters")) == ["a", "b", "c"]
    with limited(0.0), pytest.warns(ConvergenceWarning, match="only 0 of 3 letters ended in time"):
        assert list(in_time("abc", 3, "letters")) == ["a"]
    with limited(0.0), pytest.warns(ConvergenceWarning, match="only 0 of 3 letters ended in time"):
        assert list(in_time("abc", 3, "letters", least=0)) == []
    with limited(0.0):
        assert list(in_time("a", 1, "letters")) == ["a"]  # which is no choice


def test_probabilities_of_models_that_time_stopped_are_warned_of(monkeypatch):
    X, y = data()
    monkeypatch.setattr("multikernel.estimators.calibration.time_is_up", lambda: True)
    with pytest.warns(ConvergenceWarning, match="calibrate probabilities"):
        AverageMKLClassifier(FEW, C=1.0, probability="platt").fit(X, y)


def test_more_time_gives_smaller_gaps(monkeypatch):
    X, y = data()
    gaps = []
    for looks in (3, 20, 1000):
        monkeypatch.setattr("multikernel._workers.perf_counter", Clock())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            gaps.append(L1MKLClassifier(FEW, tol=1e-8, time_budget=float(looks)).fit(X, y).duality_gap_)
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] <= 1e-8


def test_a_solution_that_is_there_is_certified_in_one_pass_where_the_time_is_up(monkeypatch):
    """Kernels stored in single precision are passed over again as they are, which costs what binding them did."""
    X, y = data()
    rough = L1MKLClassifier(FEW, tol=1e-2)
    bank, target = rough.bind(X, y)
    found = rough.fit_bank(bank, target)
    passes = []
    for name in ("combine_all", "apply", "quads"):
        whole = getattr(type(bank), name)
        counted = lambda *given, name=name, whole=whole: passes.append(name) or whole(*given)  # noqa: E731
        monkeypatch.setattr(type(bank), name, counted)
    model = L1MKLClassifier(FEW, tol=1e-8, time_budget=AT_ONCE)
    with pytest.warns(ConvergenceWarning, match="time budget"):
        model.fit_bank(bank, target, found)
    assert passes[-1] == "apply"  # which looks for values that are no numbers
    assert passes[:-1] in (["apply"], ["combine_all", "quads"])
    np.testing.assert_allclose(model.weights_, rough.weights_, atol=1e-12)
    assert 1e-8 < model.duality_gap_ <= 1e-2
    optimum = L1MKLClassifier(FEW, tol=1e-8).fit(X, y).objective_
    assert abs(model.objective_ - optimum) <= 1.01 * model.duality_gap_ * model.objective_


@pytest.mark.parametrize("solver", ["reduced_gradient", "cutting_plane", "level", "subgradient"])
def test_solvers_by_name_stop_as_well(solver):
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="time budget of 1e-09 s"):
        model = L1MKLClassifier(FEW, solver=solver, tol=1e-8, time_budget=AT_ONCE).fit(X, y)
    assert model.n_iter_ < 200


def test_enough_time_changes_nothing():
    X, y = data()
    plain, limited_ = L1MKLClassifier(FEW).fit(X, y), L1MKLClassifier(FEW, time_budget=1e6).fit(X, y)
    np.testing.assert_array_equal(plain.dual_coef_, limited_.dual_coef_)


def test_calibration_shares_the_time():
    X, y = data()
    with pytest.warns(ConvergenceWarning):
        model = L1MKLClassifier(FEW, time_budget=AT_ONCE, probability="platt").fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("bad", [0, -1.0, "long", float("inf")])
def test_a_budget_is_a_number_of_seconds(bad):
    with pytest.raises(ValueError, match="LpMKLRegressor: time_budget must be"):
        LpMKLRegressor(time_budget=bad).fit(*data())


def test_limits_of_time_are_nested_and_reach_threads():
    assert seconds_left() == np.inf
    with limited(None), limited(100.0):
        assert 99.0 < seconds_left() <= 100.0
        with limited(1000.0):
            assert seconds_left() <= 100.0
        with limited(0.0):
            assert time_is_up()
            assert seconds_left() == 0.0
            found = on_threads([lambda: (get_ident(), time_is_up())] * 4, n_jobs=2)
            assert all(up for _, up in found)
    assert not time_is_up()


def test_problems_one_after_the_other_leave_each_other_time():
    """The first of three is given a third of it."""
    X, y = data(classes=3)
    model, given = clone(EasyMKLClassifier(FEW, lam=0.1, time_budget=1000.0)), []
    learn, begin = model._method.learn, perf_counter()

    def watched(model, bank, task, warm, observe):
        given.append(seconds_left() + perf_counter() - begin)
        return learn(model, bank, task, warm, observe)

    bank, target = model.bind(X, y)
    model.fit_bank(bank, target, learn=watched)
    np.testing.assert_allclose(given, [1000 / 3, 2000 / 3, 1000], rtol=0.01)
