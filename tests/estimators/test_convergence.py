"""What an estimator says where it stopped early: what is true of the model, on the user's line."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from cases import one_in
from multikernel import kernels
from multikernel.certificate import Certificate
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.protocol import Fitted
from multikernel.estimators.publish import not_converged
from zoo_estimators import numbered

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X[:, 0] * X[:, 1]
CLASSES = np.digitize(Y, [-0.3, 0.3])
FAMILY = kernels.rbf_grid([0.1, 1.0])
PUBLIC = [cls for name in mk.__all__ if inspect.isclass(cls := getattr(mk, name)) and issubclass(cls, KernelEstimator)]


def heard(act: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        act()
    return told


def model(cls: Any) -> Any:
    return cls() if cls.__name__.startswith(("LinearRLS2", "HKL", "LearnedScales")) else cls(FAMILY)


def plain(cls: Any) -> dict[str, str]:
    """The layer of the least work, where there are several."""
    return {"second": "linear"} if "second" in inspect.signature(cls).parameters else {}


def target(cls: Any) -> Any:
    return CLASSES if "Classifier" in cls.__name__ else Y


# -- the line that a warning points at ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", one_in(7, PUBLIC), ids=lambda cls: cls.__name__)
def test_every_estimator_warns_at_the_users_line(cls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fitted, "converged", lambda self, tol: False)
    y = target(cls)
    name = next(name for name in ("C", "alpha", "tol", "verbose") if name in cls().get_params())
    given = numbered(model(cls))  # that a search for numbers tells nothing else is seen in the first fit
    searched = GridSearchCV(given, {name: [1]}, cv=2, scoring=lambda *given: 0.0)
    for whole in (model(cls).set_params(**plain(cls)), make_pipeline(StandardScaler(), given), searched):
        told = heard(lambda whole=whole: whole.fit(X, y))
        assert len(told) >= 1
        assert {each.filename for each in told} == {__file__}
        assert all("did not converge" in str(each.message) for each in told)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_warning_of_a_problem_is_told_once_on_the_users_line(n_jobs: int | None) -> None:
    meeting = mk.EasyMKLClassifier(kernels.linear_features(), lam=0.0, n_jobs=n_jobs)
    for whole in (meeting, make_pipeline(StandardScaler(), meeting)):
        told = heard(lambda whole=whole: whole.fit(X, CLASSES))
        assert [each.filename for each in told] == [__file__]
        assert "hulls of the two classes meet" in str(told[0].message)


def test_a_warning_of_a_search_on_threads_points_at_the_users_line() -> None:
    search = mk.BankSearchCV(mk.EasyMKLClassifier(kernels.linear_features()), {"lam": [0.0]}, cv=2, n_jobs=2)
    told = heard(lambda: search.fit(X, CLASSES))
    assert {each.filename for each in told} == {__file__}


# -- what it says ------------------------------------------------------------------------------------------------------


def test_a_model_is_called_usable_only_where_little_is_left_to_gain() -> None:
    near = not_converged("Some", Certificate("duality gap", 0.01), 7)
    assert "relative duality gap of 0.01 in 7 iterations" in near
    assert "is usable: its objective is at most 0.01 of its value above the optimum" in near
    far = not_converged("Some", Certificate("duality gap", 0.98), 7)
    assert "usable" not in far
    assert "Do not rely on the model: its objective is at most 0.98 of its value above the optimum" in far
    assert "to first order" in not_converged("Some", Certificate("stationarity", 0.01), 7)
    assert "usable" not in not_converged("Some", Certificate("duality gap", np.inf), 7)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_a_fit_that_stops_far_from_the_optimum_is_not_called_usable() -> None:
    wine, kinds = load_wine(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"gap of 0\.[1-9].*Do not rely on the model"):
        mk.L1MKLClassifier(kernels.linear_features(), C=1e4, max_iter=2, solver="subgradient").fit(wine, kinds == 1)


# -- rules and their machines ------------------------------------------------------------------------------------------

RULES = (mk.AverageMKLClassifier, mk.AlignmentMKLClassifier, mk.BestKernelClassifier, mk.EasyMKLClassifier)


@pytest.mark.parametrize("cls", RULES, ids=lambda cls: cls.__name__)
def test_the_support_vector_machine_of_a_rule_is_as_sharp_as_asked(cls: Any) -> None:
    noisy = np.where(np.random.default_rng(1).random(30) < 0.2, -Y, Y) > 0
    rule = cls(FAMILY, learner="svc", C=100.0, tol=1e-9).fit(X, noisy)
    assert rule.converged_
    K = sum(w * kernel(X) for w, kernel in zip(rule.weights_, FAMILY, strict=True))
    a, f = np.abs(rule.dual_coef_), K @ rule.dual_coef_
    signs = np.where(noisy, 1.0, -1.0)
    primal = 0.5 * rule.dual_coef_ @ f + 100.0 * np.maximum(0.0, 1.0 - signs * (f + rule.intercept_)).sum()
    assert primal - (a.sum() - 0.5 * rule.dual_coef_ @ f) <= 1.1e-9 * primal
    assert abs(rule.dual_coef_.sum()) <= 1e-9 * a.sum()


@pytest.mark.parametrize("cls", RULES[:3], ids=lambda cls: cls.__name__)
def test_a_rule_has_not_converged_where_its_machine_is_far_from_the_gap(cls: Any) -> None:
    wine, kinds = load_wine(return_X_y=True)
    rule = cls(kernels.Linear(), C=1e8)
    with pytest.warns(ConvergenceWarning, match="Do not rely on the model"):
        rule.fit(1e3 * wine, kinds)
    assert rule.duality_gap_ > 0.05
    assert not rule.converged_


def test_a_rule_stops_its_machine_after_so_many_steps() -> None:
    rule = mk.AverageMKLClassifier(FAMILY, C=1e3, max_iter=2)
    with pytest.warns(ConvergenceWarning):
        rule.fit(X, Y > 0)
    assert rule.n_iter_ <= 2
    assert rule.duality_gap_ > 1e-6
    assert clone(rule).set_params(max_iter=10**6).fit(X, Y > 0).duality_gap_ <= 1e-6
