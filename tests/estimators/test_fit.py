"""How a fit goes through the estimators: what an own estimator publishes, who hears of it, what is left behind."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import multikernel as mk
from multikernel import kernels
from multikernel._parameters import Count, Positive
from multikernel.combinations import Combination, HadamardPower, Linear
from multikernel.domains import NormBall
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Binding
from multikernel.estimators.method import Method
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.protocol import BankEstimator, FitsManyAlphas, Learned
from multikernel.estimators.regressor import KernelRegressor, polynomials_and_gaussians
from multikernel.machines import RidgeMachine
from multikernel.observer import Progress, listening
from multikernel.optimizers import QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures import outcome, support_mkl

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X[:, 0] * X[:, 1] + 0.1 * X[:, 2]
FAMILY = kernels.linear_features()


def power(model: Any) -> Combination:
    return HadamardPower(model.degree) if model.degree > 1 else Linear()


def learn_power(model: Any, bank: Any, task: Any, warm: Any, observe: Any) -> Learned:
    problem = Problem(bank, power(model), RidgeMachine(0.1), NormBall(2.0), task.target)
    return outcome(QuasiNewton(model.tol, model.max_iter).minimise(problem, observe=observe))


@dataclass(eq=False, repr=False, kw_only=True)
class Powers(KernelRegressor):
    """An estimator as CONTRIBUTING says: fields for parameters, and a method that says how one task is learned."""

    kernels: Any = field(default=None, kw_only=False)
    degree: int = 3
    tol: Positive = 1e-6
    max_iter: Count = 1000
    verbose: int = 0

    _method: ClassVar[Method] = Method(
        learn=learn_power,
        combination=power,
        binding=Binding(default_kernels=polynomials_and_gaussians),
    )


# -- certificates ------------------------------------------------------------------------------------------------------


def test_a_problem_without_a_bound_publishes_stationarity() -> None:
    model = Powers(FAMILY).fit(X, Y)
    assert model.converged_
    assert 0.0 <= model.stationarity_ <= 1e-6
    assert not hasattr(model, "duality_gap_")


def test_the_name_of_the_certificate_follows_the_last_fit() -> None:
    model = Powers(FAMILY, degree=1).fit(X, Y)
    assert model.duality_gap_ <= 1e-6
    assert not hasattr(model, "stationarity_")
    model.set_params(degree=3).fit(X, Y)
    assert hasattr(model, "stationarity_")
    assert not hasattr(model, "duality_gap_")


def test_a_fit_that_stops_early_warns_at_the_users_line_with_what_it_reached() -> None:
    for model in (Powers(FAMILY, max_iter=2), mk.L1MKLRegressor(FAMILY, max_iter=1, tol=1e-9)):
        with pytest.warns(ConvergenceWarning, match="relative (stationarity|duality gap) of [0-9]") as told:
            model.fit(X, Y)
        assert told[0].filename == __file__
        assert not model.converged_
        assert np.isfinite(model.predict(X)).all()


# -- parameters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{"tol": 0.0}, {"tol": float("nan")}, {"tol": -1.0}, {"max_iter": 0}])
@pytest.mark.parametrize("cls", [mk.L1MKLClassifier, mk.EasyMKLClassifier, mk.RLS2Regressor, mk.HKLRegressor, Powers])
def test_tolerances_and_counts_are_checked_everywhere(cls: Any, changes: dict[str, Any]) -> None:
    name = next(iter(changes))
    with pytest.raises(ValueError, match=f"{cls.__name__}: {name} must be"):
        cls(FAMILY, **changes).fit(X, Y > 0)


def test_parameters_are_those_of_the_signature() -> None:
    model = mk.LpMKLClassifier(FAMILY, C=3.0, p=1.5)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["p"] == 1.5
    with pytest.raises(TypeError):
        mk.LpMKLClassifier(FAMILY, 3.0)


# -- who hears of a fit ------------------------------------------------------------------------------------------------

LEARNERS = [
    mk.L1MKLClassifier(FAMILY),
    mk.L1MKLClassifier(FAMILY, solver="level"),
    mk.LpMKLClassifier(FAMILY, p=1.5, multiclass="ovo", n_jobs=2),
    mk.SMKLClassifier(FAMILY, solver="accelerated"),
    mk.EasyMKLClassifier(FAMILY),
    mk.HKLClassifier(kernels.per_feature(kernels.RBF(0.5)), tol=1e-2),
    mk.GMKLClassifier(FAMILY),
    mk.GMKLRegressor(FAMILY, combination="polynomial"),
    mk.PolynomialMKLRegressor(FAMILY),
    mk.RLS2Regressor(FAMILY, alpha=1e-3),
    mk.RLS2Classifier(FAMILY, mode="paper"),
    mk.MultipleKernelRidgeCV(FAMILY),
    mk.OneClassMKL(kernels.rbf_grid([0.1, 1.0])),
    Powers(FAMILY),
]


def labels(model: Any) -> Any:
    return np.digitize(Y, [-0.5, 0.5]) if "Classifier" in type(model).__name__ else Y


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'solver', '')}")
def test_a_listener_hears_of_every_problem(model: Any) -> None:
    heard: list[Progress] = []
    with listening(heard.append):
        fitted = clone(model).fit(X, labels(model))
    problems = len(np.atleast_2d(fitted.weights_))
    assert {each.problem for each in heard} == set(range(1, problems + 1))
    assert all(each.problems == problems and each.estimator == type(model).__name__ for each in heard)
    assert all(each.step >= 1 and each.seconds >= 0.0 and 0.0 <= each.part <= 1.0 for each in heard)
    if getattr(model, "solver", "") != "level":  # whose last bound needs no further machine
        last = {each.problem: each for each in heard}
        stopped_otherwise = isinstance(model, mk.MultipleKernelRidgeCV) or getattr(model, "mode", "") == "paper"
        assert stopped_otherwise or all(each.certificate.reached(each.tol) for each in last.values())


@pytest.mark.parametrize("model", LEARNERS[:1] + LEARNERS[-1:], ids=lambda model: type(model).__name__)
def test_verbose_prints_lines_with_gap_and_time(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    clone(model).fit(X, labels(model))
    assert capsys.readouterr().out == ""
    clone(model).set_params(verbose=1).fit(X, labels(model))
    few = capsys.readouterr().out.splitlines()
    clone(model).set_params(verbose=2).fit(X, labels(model))
    every = capsys.readouterr().out.splitlines()
    assert 2 <= len(few) <= len(every)
    assert "samples" in every[0]  # the forecast
    for line in every[1:]:
        assert line.startswith(type(model).__name__)
        assert " step " in line
        assert "asked 1e-" in line
        assert line.count(" s") >= 1


# -- what is left behind -----------------------------------------------------------------------------------------------


def test_a_constant_target_gives_a_constant_predictor() -> None:
    for model in (mk.L1MKLRegressor(kernels.rbf_grid([0.1, 1.0])), mk.L1MKLRegressor(kernels.RBF(1.0).centered())):
        flat = model.fit(X, np.full(40, 2.5))
        assert not flat.dual_coef_.any()
        np.testing.assert_allclose(flat.predict(X[:7] + 1.0), 2.5)


def test_a_predictor_holds_the_support_and_is_frozen() -> None:
    model = mk.L1MKLClassifier(kernels.rbf_grid([0.5, 2.0]), C=100.0).fit(X, X[:, 0] > 0)
    predictor = model.predictor_
    assert isinstance(predictor, KernelPredictor)
    assert len(predictor.support) == np.count_nonzero(model.dual_coef_) < 40
    assert predictor.reference.shape == (0, len(predictor.support))
    np.testing.assert_array_equal(predictor.over_all()[0], model.dual_coef_)
    with pytest.raises(AttributeError):
        predictor.n_train = 3  # type: ignore[misc]


def test_every_estimator_offers_what_paths_and_searches_ask_for() -> None:
    asked = [name for name in vars(BankEstimator) if not name.startswith("_")]
    for name in mk.__all__:
        cls = getattr(mk, name)
        if isinstance(cls, type) and issubclass(cls, KernelEstimator):
            assert all(hasattr(cls, each) for each in asked), name
            assert isinstance(cls(), FitsManyAlphas) == (name in ("AverageMKLRegressor", "AlignmentMKLRegressor"))


def test_paths_and_searches_use_no_private_member_of_an_estimator() -> None:
    """The protocol is all that the rooms above know."""
    import inspect
    import re

    from multikernel.paths import plots, solution_path, solve
    from multikernel.selection import folds, groups, search, table, trials

    for room in (folds, groups, search, table, trials, plots, solution_path, solve):
        used = re.findall(r"\b(?:model|models\[\w+\]|estimator|private|first|m)\._\w+", inspect.getsource(room))
        assert not used, (room.__name__, used)


def test_weights_of_samples_travel_one_way() -> None:
    """A sample of weight two is one that occurs twice, of weight zero one that is not there."""
    count = np.r_[np.zeros(5, dtype=int), np.full(5, 2), np.ones(30, dtype=int)]
    rows = np.repeat(np.arange(40), count)
    for model in (
        mk.L1MKLRegressor(FAMILY),
        mk.LpMKLClassifier(kernels.rbf_grid([0.1, 1.0]), C=10.0),
        mk.SMKLClassifier(kernels.rbf_grid([0.1, 1.0]), C=10.0),
        mk.PolynomialMKLClassifier(FAMILY, tol=1e-10),
        mk.AverageMKLRegressor(FAMILY),
    ):
        target = Y > 0 if "Classifier" in type(model).__name__ else Y + X[:, 0]  # in which C makes a difference
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            weighted = clone(model).fit(X, target, sample_weight=count)
            repeated = clone(model).fit(X[rows], target[rows])
        np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("model", [mk.EasyMKLClassifier(FAMILY, lam=0.1), mk.MultipleKernelRidgeCV(FAMILY)])
def test_weights_that_an_estimator_does_not_take_are_refused(model: Any) -> None:
    bank, target = model.bind(X, Y > 0 if hasattr(model, "decision_function") else Y)
    with pytest.raises(ValueError, match=f"{type(model).__name__} takes no weights of samples"):
        model.fit_bank(bank, target, sample_weight=np.ones(40))


def test_a_number_of_an_earlier_fit_is_not_kept() -> None:
    model = mk.AverageMKLClassifier(FAMILY, C=1.0, lam=0.2).fit(X, Y > 0)
    assert model.C_ == 1.0
    model.set_params(learner="margin").fit(X, Y > 0)
    assert model.lam_ == 0.2
    assert not hasattr(model, "C_")


@pytest.mark.parametrize("class_weight", [None, {"a": 1.0, "b": 0.0}])
def test_weights_that_leave_no_sample_of_a_class_are_refused_by_its_name(class_weight: dict[str, float] | None) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    weight = None if class_weight else (y == "a").astype(float)
    with pytest.raises(ValueError, match="leave no sample of class b: "):
        mk.L1MKLClassifier(class_weight=class_weight).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("model", [mk.L1MKLClassifier(), mk.OneClassMKL()], ids=lambda model: type(model).__name__)
def test_few_calls_lie_between_a_fit_and_its_procedure(model, monkeypatch):
    """A single problem needs no threads, and is solved where the user waits."""
    found = []

    def procedure(*args, **options):
        frame = sys._getframe(1)
        while frame.f_code.co_name != "fit":
            found.append(frame.f_code.co_name)
            frame = frame.f_back
        return support_mkl(*args, **options)

    monkeypatch.setattr("multikernel.estimators.support.method.support_mkl", procedure)
    X = np.random.default_rng(0).normal(size=(20, 2))
    model.fit(X, (X[:, 0] > 0).astype(int))
    assert len(found) <= 6, found
