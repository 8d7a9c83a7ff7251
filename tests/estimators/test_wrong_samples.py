"""Samples, targets and weights that cannot be learned from, and the sentence that says where they are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import multikernel as mk
from multikernel import kernels

N = 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
NUMBERS, LABELS = X[:, 0], (X[:, 0] > 0).astype(int)
FAMILY = kernels.rbf_grid([0.1, 1.0])
ORDINARY = [mk.L1MKLClassifier(FAMILY), mk.RLS2Regressor(FAMILY)]
EVERY = [*ORDINARY, mk.MultiKernelClassifier(random_state=0), mk.MultiKernelRegressor(random_state=0)]


def target(model: Any) -> Any:
    return LABELS if is_classifier(model) else NUMBERS


def of_each(models: list[Any]) -> Any:
    return pytest.mark.parametrize("model", models, ids=[type(model).__name__ for model in models])


# -- masked arrays -----------------------------------------------------------------------------------------------------

MASKED = np.ma.masked_greater(X, 1.0)


@of_each([mk.L1MKLClassifier([kernels.RBF(0.1).standardized()]), *EVERY[2:]])
def test_what_is_masked_is_missing_where_cells_may_be_missing(model: Any) -> None:
    missing = MASKED.filled(np.nan)
    want = clone(model).fit(missing, target(model)).predict(missing)
    np.testing.assert_array_equal(clone(model).fit(MASKED, target(model)).predict(MASKED), want)
    want = clone(model).fit({"a": missing}, target(model)).predict({"a": missing})
    np.testing.assert_array_equal(clone(model).fit({"a": MASKED}, target(model)).predict({"a": MASKED}), want)


@of_each(ORDINARY)
def test_what_is_masked_is_refused_elsewhere(model: Any) -> None:
    with pytest.raises(ValueError, match="Input X contains NaN"):
        clone(model).fit(MASKED, target(model))
    fitted = clone(model).fit(np.ma.masked_array(X), target(model))  # where nothing is masked
    np.testing.assert_array_equal(fitted.predict(X), clone(model).fit(X, target(model)).predict(X))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fitted.predict(MASKED)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        mk.bind(FAMILY, MASKED)
    with pytest.raises(ValueError, match="kernel 0 has a NaN or infinity at row 2, column 2"):
        mk.precomputed(np.ma.masked_greater(X @ X.T, 2.0))


@of_each(EVERY)
def test_masked_targets_and_weights_are_refused(model: Any) -> None:
    hidden = np.arange(N) == 4
    with pytest.raises(ValueError, match="y is masked at row 4: give a value there, or leave the sample out"):
        clone(model).fit(X, np.ma.masked_array(target(model), mask=hidden))
    with pytest.raises(ValueError, match="sample_weight is masked at row 4"):
        clone(model).fit(X, target(model), sample_weight=np.ma.masked_array(np.ones(N), mask=hidden))


# -- numbers that overflow ---------------------------------------------------------------------------------------------

OVERFLOWING = [
    mk.L1MKLClassifier(kernels.polynomials((1, 2, 3))),
    mk.EasyMKLClassifier(),
    mk.AverageMKLRegressor(kernels.polynomials((1, 2, 3))),
    mk.MultipleKernelRidgeCV(kernels.polynomials((1, 2, 3))),
]


@of_each(OVERFLOWING)
def test_answers_that_overflow_are_refused(model: Any) -> None:
    """Where labels and numbers would follow from NaN; the other rows have answers."""
    fitted, new = clone(model).fit(X, target(model)), X.copy()
    new[3, 1] = 1e200
    told = f"{type(model).__name__}: the answer for row 3 of X is NaN or infinite.*too large for the kernels"
    with pytest.raises(ValueError, match=told):
        fitted.predict(new)
    with pytest.raises(ValueError, match=told):
        fitted.contributions(new)
    if hasattr(fitted, "predict_interval"):
        with pytest.raises(ValueError, match=told):
            fitted.predict(new, return_std=True)
    assert np.isfinite(fitted.predict(np.delete(new, 3, axis=0))).all()


@of_each(EVERY)
def test_samples_far_from_all_others_have_an_answer(model: Any) -> None:
    """Of a Gaussian the one without any neighbours, with no warning from a square that is infinite."""
    fitted, new = clone(model).fit(X, target(model)), X.copy()
    new[3, 1] = 1e200
    assert np.isfinite(fitted.predict(new)).all()
