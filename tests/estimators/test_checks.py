"""Samples, targets and kernels that are not numbers, or not finite, are told in one sentence; NaN is never learned."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import multikernel as mk
from multikernel import kernels
from multikernel.certificate import relative
from multikernel.estimators.predictor import KernelPredictor

X = np.random.default_rng(0).normal(size=(20, 2))
LABELS, NUMBERS = (X[:, 0] > 0).astype(int), X[:, 0] + X[:, 1] ** 2
ESTIMATORS = [mk.EasyMKLClassifier, mk.L1MKLClassifier, mk.L1MKLRegressor, mk.AverageMKLRegressor, mk.RLS2Regressor]


def target(cls: Any) -> Any:
    return LABELS if cls.__name__.endswith("Classifier") else NUMBERS


def objects(place: tuple[int, ...], value: Any, values: Any = X) -> Any:
    array = values.astype(object)
    array[place] = value
    return array


SAMPLES = {
    "complex": (X + 1j, "X holds complex numbers"),
    "sparse complex": (sparse.csr_array(X + 1j), "X holds complex numbers"),
    "sets": ([{"bread", "milk"}, {"tea"}] * 10, "X contains a set, first at row 0: write items as a string"),
    "one complex": (objects((3, 1), 1j), "X holds complex numbers"),
    "dates": (np.arange(40).reshape(20, 2).astype("M8[D]"), "X holds dates"),
    "a date column": (
        pd.DataFrame({"a": X[:, 0], "d": pd.date_range("2020", periods=20)}),
        "column 'd' of X holds dates",
    ),
    "durations": (np.arange(40).reshape(20, 2).astype("m8[s]"), "X holds durations"),
    "bytes": (X.astype("S"), "X holds bytes"),
    "None": (objects((3, 1), None), "None, first at row 3, column 1"),
    "strings": (X.astype(str), "takes numbers, but column 0 of X holds strings"),
    "mixed": (objects((3, 1), "a"), "column 1 of X holds strings, but"),
}


@pytest.mark.parametrize("case", SAMPLES)
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_samples_that_are_no_numbers_are_told(cls: Any, case: str) -> None:
    given, message = SAMPLES[case]
    with pytest.raises(ValueError, match=message) as told:
        cls([kernels.RBF(0.5)]).fit(given, target(cls))
    assert "\n" not in str(told.value)
    if case in ("complex", "dates", "None"):
        with pytest.raises(ValueError, match=message):
            cls([kernels.RBF(0.5)]).fit(X, target(cls)).predict(given)


TARGETS = {
    "complex": (NUMBERS + 1j, "y holds complex numbers"),
    "dates": (np.arange(20).astype("M8[D]"), "y holds dates"),
    "None": (objects((4,), None, NUMBERS), "y contains NaN or None, first at row 4"),
    "not a number": (objects((4,), np.nan, NUMBERS), "NaN"),
    "a word": (objects((4,), "four", NUMBERS), "y holds strings, not numbers"),
    "infinity": (np.r_[NUMBERS[1:], np.inf], "infinity"),
}


@pytest.mark.parametrize("case", TARGETS)
@pytest.mark.parametrize(
    "cls", [mk.L1MKLRegressor, mk.RLS2Regressor, mk.PolynomialMKLRegressor, mk.MultipleKernelRidgeCV]
)
def test_targets_that_are_no_finite_numbers_are_told(cls: Any, case: str) -> None:
    given, message = TARGETS[case]
    for samples in (X, mk.bind([kernels.RBF(0.5)], X)):
        with pytest.raises(ValueError, match=message):
            cls([kernels.RBF(0.5)]).fit(samples, given)


def test_labels_of_two_kinds_are_told() -> None:
    for given, message in (
        (objects((4,), None, LABELS), "y contains NaN or None, first at row 4"),
        (objects((4,), "a", LABELS), "y holds strings and other labels"),
        ((["a", 1.5] * 20)[:20], "y holds strings and other labels"),
        (np.array(["NaT" if row == 7 else "2020-01-01" for row in range(20)], "M8[D]"), "NaN or None, first at row 7"),
        (LABELS + 1j, "y holds complex numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            mk.EasyMKLClassifier([kernels.RBF(0.5)]).fit(X, given)


# -- kernels that overflow ---------------------------------------------------------------------------------------------

LARGE = 1e40 * X


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize(
    "family",
    [kernels.polynomials([1, 9]), [2.0 * kernels.Polynomial(9)], [kernels.Linear() * kernels.Polynomial(7)]],
)
def test_a_kernel_that_overflows_is_named(cls: Any, family: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            ValueError, match=r"Polynomial\(degree=[79].* has values that are NaN or infinite .* scale the"
        ):
            cls(family).fit(LARGE, target(cls))


@pytest.mark.parametrize("cls", [mk.EasyMKLClassifier, mk.GMKLRegressor, mk.PolynomialMKLRegressor])
def test_a_kernel_that_overflows_in_single_precision_only_is_named(cls: Any) -> None:
    with pytest.raises(ValueError, match=r"Polynomial\(degree=9.* has values that are NaN or infinite .* double"):
        cls(kernels.polynomials([1, 9])).fit((1e8 * X).astype(np.float32), target(cls))


@pytest.mark.parametrize("memory", [1 << 31, 1000])
def test_a_kernel_that_overflows_is_named_whatever_its_bank(memory: int) -> None:
    with np.errstate(all="ignore"):
        bank = mk.bind(kernels.polynomials([1, 9]), LARGE, memory=memory)
        with pytest.raises(ValueError, match=r"degree=9.* has values that are NaN"):
            mk.EasyMKLClassifier(kernels.polynomials([1, 9])).fit(bank, LABELS)


def test_an_infinite_value_certifies_nothing() -> None:
    assert relative(0.0, np.inf) == np.inf
    assert relative(-np.inf, np.inf) == np.inf
    assert relative(np.nan, 1.0) == np.inf


# -- kernels that change after the fit ---------------------------------------------------------------------------------


def test_a_fitted_model_does_not_follow_its_kernel() -> None:
    kernel, parts = kernels.RBF(0.5), kernels.RBF(0.2)
    for family in ([kernel], kernel, kernel + kernels.Linear(), [2.0 * parts.on([0]), parts.normalized()]):
        model = mk.AverageMKLRegressor(family).fit(X, NUMBERS)
        before = model.predict(X[:5])
        for each in (kernel, parts):
            each.set_params(gamma=7.0)
        np.testing.assert_array_equal(model.predict(X[:5]), before)
        for each in (kernel, parts):
            each.set_params(gamma=0.3)
        np.testing.assert_array_equal(model.predict(X[:5]), before)
    model = mk.AverageMKLRegressor(kernel).fit(X, NUMBERS)
    before = model.predict(X[:5])
    model.set_params(kernels__gamma=9.0)
    np.testing.assert_array_equal(model.predict(X[:5]), before)
    assert isinstance(model.predictor_, KernelPredictor)


def test_a_bank_does_not_follow_its_kernel() -> None:
    kernel = kernels.RBF(0.5)
    bank = mk.bind(kernel, X)
    kernel.set_params(gamma=7.0)
    np.testing.assert_allclose(bank.cross(X[:3]).matrices()[0], kernels.RBF(0.5)(X[:3], X), rtol=1e-12)
