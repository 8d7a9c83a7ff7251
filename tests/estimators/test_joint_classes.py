"""Classes that share weights and losses: L1- and Lp-MKL with multiclass="crammer_singer"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import joint_reference as ref
import multikernel as mk
from cases import one_in
from multikernel import kernels

Array = Any
IRIS, SPECIES = load_iris(return_X_y=True)
X, NEW = IRIS[::5], IRIS[1::3]
Y, NAMES = SPECIES[::5], np.array(["setosa", "versicolor", "virginica"])
FAMILY = [kernels.RBF(0.1), kernels.RBF(1.0), kernels.Linear().on([2, 3])]
MODELS = {
    "l1": (mk.L1MKLClassifier(FAMILY, multiclass="crammer_singer", C=2.0, tol=1e-6), 1.0),
    "lp": (mk.LpMKLClassifier(FAMILY, multiclass="crammer_singer", C=2.0, tol=1e-6), 2.0),
    "through the origin": (
        mk.L1MKLClassifier(FAMILY, multiclass="crammer_singer", C=2.0, tol=1e-6, fit_intercept=False),
        1.0,
    ),
}


@pytest.mark.parametrize("name", one_in(2, MODELS))
def test_it_is_the_optimum(name: str) -> None:
    """With weights of samples and classes; a sample of weight zero takes no part."""
    model, p = clone(MODELS[name][0]), MODELS[name][1]
    weight = np.linspace(0.0, 2.0, len(Y))
    model.set_params(class_weight={"setosa": 0.5}).fit(X, NAMES[Y], weight)
    assert model.converged_
    assert model.weights_.shape == (3,)
    assert model.dual_coef_.shape == (3, len(Y))
    assert model.intercept_.shape == (3,)
    assert not model.dual_coef_[:, 0].any()
    K = np.stack([mk.bind([kernel], X).matrices()[0] for kernel in FAMILY])[:, 1:, 1:]
    C = 2.0 * (weight * np.where(Y == 0, 0.5, 1.0))[1:]
    known = ref.joint(K, Y[1:], C, model.fit_intercept, p)
    assert known.upper - known.lower <= 1e-3 * known.upper
    assert model.objective_bound_ <= known.upper
    assert model.objective_ >= known.lower
    assert model.objective_ - model.objective_bound_ <= 1e-6 * model.objective_
    combined = np.einsum("k,kij->ij", model.weights_, K)
    own = ref.primal(combined, Y[1:], C, model.dual_coef_[:, 1:].T, model.intercept_)
    assert own == pytest.approx(model.objective_, rel=1e-5)


def test_scores_labels_and_parts() -> None:
    model = clone(MODELS["l1"][0]).fit(X, NAMES[Y])
    scores = model.decision_function(NEW)
    assert scores.shape == (50, 3)
    np.testing.assert_array_equal(model.predict(NEW), NAMES[scores.argmax(axis=1)])
    assert model.score(NEW, NAMES[SPECIES[1::3]]) > 0.85
    parts = model.contributions(NEW)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, scores, atol=1e-9)
    K = sum(d * kernel(NEW, X) for d, kernel in zip(model.weights_, FAMILY, strict=True))
    np.testing.assert_allclose(K @ model.dual_coef_.T + model.intercept_, scores, atol=1e-9)
    assert model.problem_names() == ["all classes"]


@pytest.mark.parametrize("C", one_in(2, [1e-3, 1e3]))
def test_other_units_of_the_kernels_are_the_same_problem(C: float) -> None:
    one = mk.L1MKLClassifier(FAMILY, multiclass="crammer_singer", C=C, tol=1e-5).fit(X, Y)
    large = [1e6 * kernel for kernel in FAMILY]
    other = mk.L1MKLClassifier(large, multiclass="crammer_singer", C=1e-6 * C, tol=1e-5).fit(X, Y)
    assert other.objective_ == pytest.approx(1e-6 * one.objective_, rel=1e-6)
    np.testing.assert_allclose(other.decision_function(NEW), one.decision_function(NEW), atol=2e-3)


def test_two_classes_are_one_problem_of_two() -> None:
    one, other = (
        mk.L1MKLClassifier(FAMILY, C=2.0, multiclass=m).fit(X, NAMES[Y.clip(0, 1)]) for m in ("ovr", "crammer_singer")
    )
    np.testing.assert_array_equal(one.weights_, other.weights_)
    np.testing.assert_array_equal(one.decision_function(NEW), other.decision_function(NEW))


@pytest.mark.parametrize("solver", one_in(2, ["level", "reduced_gradient"]))
def test_a_solver_by_name(solver: str) -> None:
    want = clone(MODELS["l1"][0]).fit(X, Y)
    found = mk.L1MKLClassifier(FAMILY, multiclass="crammer_singer", C=2.0, tol=1e-3, solver=solver).fit(X, Y)
    assert found.objective_ == pytest.approx(want.objective_, rel=2e-3)
    assert found.objective_bound_ <= want.objective_


@pytest.mark.study
def test_what_is_told_of_it(tmp_path: Any) -> None:
    model = mk.L1MKLClassifier(FAMILY, multiclass="crammer_singer", C="auto", probability="platt", tol=1e-2)
    assert model.fit(X, NAMES[Y]).C_ > 0
    np.testing.assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)
    assert list(model.weights_frame().columns) == ["weight"]
    mk.save(model, tmp_path / "model.mk")
    again = mk.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert again.multiclass == "crammer_singer"
    assert mk.path(model.set_params(probability=None), X, NAMES[Y], "C", [0.1, 1.0]).weights.shape == (2, 3)


def test_a_kernel_that_is_approximated() -> None:
    model = mk.L1MKLClassifier(FAMILY, multiclass="crammer_singer", approximation="nystroem", rank=20).fit(X, Y)
    assert model.converged_
    assert model.score(NEW, SPECIES[1::3]) > 0.85


def test_a_fit_that_ends_early_says_how_far_it_is() -> None:
    model = mk.L1MKLClassifier(FAMILY, multiclass="crammer_singer", C=2.0, tol=1e-9, max_iter=2)
    with pytest.warns(match="did not converge"):
        model.fit(X, Y)
    best = clone(MODELS["l1"][0]).fit(X, Y)
    assert model.objective_bound_ <= best.objective_
    assert best.objective_bound_ <= model.objective_
    assert not model.converged_
