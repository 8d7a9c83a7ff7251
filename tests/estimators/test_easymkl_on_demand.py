"""EasyMKL where no n x n matrix is stored: fit, predict, keep on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import multikernel
from multikernel import EasyMKLClassifier, bind, kernels
from multikernel.banks.powers import PowersBank

Array = Any
FAMILY = kernels.homogeneous_polynomials(5)


def samples(n: int, dtype: Any = np.float64) -> tuple[Array, Array]:
    """Three clouds on a sphere that overlap a little."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = 0.45 * rng.normal(size=(n, 6)) + np.eye(6)[y]
    return X.astype(dtype), y


def model(learner: str = "svc", multiclass: str = "ovo", **parameters: Any) -> EasyMKLClassifier:
    return EasyMKLClassifier(FAMILY, lam=0.01, learner=learner, C=4.0, multiclass=multiclass, **parameters)


@pytest.mark.crossed
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("learner", ["svc", "margin"])
def test_model_is_that_of_the_stored_bank(learner: str, multiclass: str) -> None:
    (X, y), new = samples(1650), samples(1900)[0][1650:]  # of two classes 1100, of which some work
    found = model(learner, multiclass).fit(bind(FAMILY, X, memory=1), y)
    want = model(learner, multiclass).fit(bind(FAMILY, X), y)
    assert isinstance(found.predictor_.reference, PowersBank)
    assert found.predictor_.reference.B.stored is None
    assert found.converged_
    np.testing.assert_allclose(found.weights_, want.weights_, atol=1e-3)
    np.testing.assert_allclose(found.objective_, want.objective_, rtol=1e-5)
    scores, wanted = found.decision_function(new), want.decision_function(new)
    assert np.abs(scores - wanted).max() <= 0.02 * np.abs(wanted).max()
    assert (found.predict(new) == want.predict(new)).mean() > 0.99


def test_default_tolerance_is_reached_in_single_precision() -> None:
    X, y = samples(2400, np.float32)
    found = model("margin").fit(bind(FAMILY, X, memory=1), y)
    assert found.converged_
    assert found.duality_gap_ <= 1e-6


def test_reference_holds_the_support_only() -> None:
    X, y = samples(1650)
    found = model().fit(bind(FAMILY, X, memory=1), y)
    support = np.flatnonzero(found.dual_coef_.any(axis=0))
    assert found.predictor_.reference.shape == (0, len(support))
    assert len(support) < 0.7 * len(y)


def test_model_on_disk_is_the_same(tmp_path: Path) -> None:
    X, y = samples(1500, np.float32)
    found = model().fit(bind(FAMILY, X, memory=1), y)
    multikernel.save(found, tmp_path / "model")
    again = multikernel.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X[:50]), found.decision_function(X[:50]))
