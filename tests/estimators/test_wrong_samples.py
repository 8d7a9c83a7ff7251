"""Samples, targets and weights that cannot be learned from, and the sentence that says where they are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
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


HIDDEN = np.arange(N) == 4
WITH_GAP = np.ma.masked_array(X[:, 0], mask=HIDDEN)
RIDGE = mk.AverageMKLRegressor(FAMILY, alpha=1.0)
FITTED = clone(RIDGE).fit(X, X[:, 0])
SUMS = mk.RLS2Regressor(FAMILY, alpha=0.1, approximation="nystroem", rank=5)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("y", lambda: FITTED.score(X, WITH_GAP)),
        ("Y", lambda: FITTED.score_split(X, WITH_GAP)),
        ("sample_weight", lambda: FITTED.score(X, X[:, 0], np.abs(WITH_GAP))),
        ("y", lambda: mk.kernel_importance(FITTED, X, WITH_GAP)),
        ("y", lambda: mk.source_values(RIDGE, {"a": X[:, :1], "b": X[:, 1:]}, WITH_GAP, permutations=0)),
        ("y", lambda: mk.path(RIDGE, X, X[:, 0], "alpha", [1.0], validation=(X, WITH_GAP))),
        ("groups", lambda: mk.BankSearchCV(RIDGE, {"alpha": [1.0]}).fit(X, X[:, 0], groups=WITH_GAP)),
        ("y", lambda: clone(SUMS).partial_fit(X, WITH_GAP)),
        ("sample_weight", lambda: clone(SUMS).partial_fit(X, X[:, 0], np.abs(WITH_GAP))),
        ("y", lambda: mk.diagnostics.alignment(X @ X.T, WITH_GAP)),
        ("y", lambda: mk.diagnostics.fisher_scores(X @ X.T, WITH_GAP > 0)),
        ("K", lambda: mk.diagnostics.meb_radius(np.ma.masked_array(X @ X.T, mask=np.diag(HIDDEN)))),
        ("K", lambda: mk.diagnostics.rademacher_bound(np.ma.masked_array([X @ X.T], mask=[np.diag(HIDDEN)]))),
        ("repeats", lambda: mk.noise_ceiling(np.ma.masked_array([X[:, 0]] * 2, mask=[HIDDEN] * 2))),
    ],
)
def test_what_is_masked_beside_samples_is_refused_everywhere(name: str, use: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} is masked at row [04]: give a value there"):
        use()


def test_a_masked_ceiling_is_an_unknown_one() -> None:
    known = np.ma.masked_array([0.8, 0.4], mask=[True, False])
    np.testing.assert_array_equal(mk.normalized_scores([0.2, 0.1], known), [np.nan, 0.25])


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


# -- what targets and samples hold -------------------------------------------------------------------------------------


def with_entry(values: Any, value: Any) -> Any:
    changed = np.array(values, dtype=object)
    changed[3] = value
    return changed


@of_each(EVERY)
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=repr)
def test_a_missing_target_is_told_with_its_row(model: Any, missing: Any) -> None:
    labels = with_entry(list("ab") * 15, missing)
    for y in (labels, labels.tolist(), with_entry(target(model), missing)):
        with pytest.raises(ValueError, match="y contains NaN or None, first at row 3"):
            clone(model).fit(X, y)


@of_each(EVERY)
def test_numbers_that_no_float_holds_are_told(model: Any) -> None:
    cells = X.astype(object)
    cells[2, 1] = 10**400
    for samples in (cells, cells.tolist(), pd.DataFrame(cells), {"a": cells}):
        with pytest.raises(
            ValueError, match=r"holds a number above 1e308|contains a number above 1e308, first at row 2"
        ):
            clone(model).fit(samples, target(model))
    with pytest.raises(ValueError, match="y contains a number above 1e308, first at row 3"):
        clone(model).fit(X, with_entry(target(model), 10**400))


ONE_IS_HUGE, ALL_ARE_HUGE = np.where(np.arange(N) == 3, 1e300, NUMBERS), 1e308 * np.sign(NUMBERS)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "y"),
    [("GMKLRegressor", ONE_IS_HUGE), ("SMKLRegressor", ONE_IS_HUGE), ("GatedMKLRegressor", ALL_ARE_HUGE)],
    ids=["GMKLRegressor", "SMKLRegressor", "GatedMKLRegressor"],
)
def test_targets_whose_squares_overflow_end_in_a_sentence(name: str, y: Any) -> None:
    with pytest.raises(ValueError, match=f"{name}: numbers overflowed; scale the target and the kernels"):
        getattr(mk, name)(FAMILY).fit(X, y)


@of_each(EVERY)
def test_lists_that_are_no_table_are_told(model: Any) -> None:
    loop: list[Any] = []
    loop.append(loop)
    for wrong in (loop, [[1.0, 2.0], [3.0]] * 15):
        with pytest.raises(
            ValueError, match="X is no table: it has rows of different lengths, or cells that are lists"
        ):
            clone(model).fit(wrong, target(model))
        with pytest.raises(ValueError, match="y is no table"):
            clone(model).fit(X, wrong)
        with pytest.raises(ValueError, match="view 'a' is no table"):
            clone(model).fit({"a": wrong, "b": X}, target(model))


@of_each(EVERY)
def test_structured_arrays_are_told(model: Any) -> None:
    fields = np.zeros(N, dtype=[("event", bool), ("time", float)])
    with pytest.raises(ValueError, match="y is a structured array with the fields event, time; give one of them"):
        clone(model).fit(X, fields)
    with pytest.raises(ValueError, match="X is a structured array with the fields event, time; pandas"):
        clone(model).fit(fields, target(model))


@of_each([EVERY[0], EVERY[2]])
def test_labels_with_several_columns_are_told(model: Any) -> None:
    columns = np.column_stack([LABELS, 1 - LABELS])
    for y in (columns, columns.tolist(), pd.DataFrame(columns)):
        with pytest.raises(
            ValueError, match=r"1d array of labels, got an array of shape \(30, 2\).*y\.argmax\(axis=1\)"
        ):
            clone(model).fit(X, y)


@of_each(ORDINARY)
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (X[:, :0], "view 'b': it has no columns"),
        (pd.DataFrame(index=range(N)), "view 'b': it has no columns"),
        (np.full((N, 2), np.nan), "view 'b' is missing for all samples"),
        (1j * X, "view 'b': Complex data not supported: it holds complex numbers"),
        (np.where(X > 1.0, np.inf, X), "view 'b': column 0 holds inf in row"),
        (X[:, :, None], "view 'b': it has 3 dimensions"),
    ],
    ids=["no columns", "no columns in a frame", "missing", "complex", "infinite", "three axes"],
)
def test_a_view_that_is_wrong_is_named(model: Any, wrong: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        clone(model).fit({"a": X, "b": wrong}, target(model))


@of_each(EVERY[2:])
def test_a_view_that_is_wrong_is_named_by_the_automatic_estimators(model: Any) -> None:
    for wrong, told in [
        (1j * X, "view 'b': Complex data not supported"),
        (np.where(X > 1.0, np.inf, X), "view 'b': column 0 of X holds inf in row"),
        (X[:, :, None], "view 'b': Expected 2D array"),
        (X[:, :0], "view 'b': it has no columns"),
        (pd.DataFrame(index=range(N)), "view 'b': it has no columns"),
    ]:
        with pytest.raises(ValueError, match=told):
            clone(model).fit({"a": X, "b": wrong}, target(model))
    with pytest.raises(ValueError, match="X has no columns, so that there is nothing to learn from"):
        clone(model).fit(pd.DataFrame(index=range(N)), target(model))


@of_each(EVERY)
def test_banks_that_are_not_square_and_no_views_are_told(model: Any) -> None:
    cross = mk.precomputed([X @ X.T]).block(np.arange(N), np.arange(5))
    for given in (cross, {"a": cross}, {"a": cross, "b": X}):
        with pytest.raises(ValueError, match="a training bank must be square"):
            clone(model).fit(given, target(model))
    for given in ({}, mk.views({"a": X})):
        with pytest.raises(ValueError, match=r"X is a dict without any view|there is no view|X lacks"):
            clone(model).fit({"b": X}, target(model)).predict(given)


@of_each([mk.L1MKLClassifier(FAMILY), mk.MultiKernelClassifier(random_state=0)])
@pytest.mark.parametrize(
    ("y", "told"),
    [
        ((["a", 1.5] * N)[:N], "y holds strings and other labels"),
        (pd.Series(pd.date_range("2020", periods=N)).mask(np.arange(N) == 3), "first at row 3"),
    ],
)
def test_labels_of_two_kinds_and_dates_that_are_missing_are_told(model: Any, y: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        clone(model).fit(X, y)


@of_each(EVERY)
def test_weights_that_are_no_numbers_are_told(model: Any) -> None:
    for wrong, told in [
        ([10**400] * N, "contains a number above 1e308"),
        (np.arange(N).astype("M8[D]"), "holds dates"),
        (np.ones(N) + 1j, "holds complex"),
        (["a"] * N, "holds strings"),
        ([[1.0], [1.0, 2.0]], "no table"),
    ]:
        with pytest.raises(ValueError, match=f"sample_weight.*{told}"):
            clone(model).fit(X, target(model), sample_weight=wrong)


def test_weights_whose_sum_overflows_are_told() -> None:
    with pytest.raises(ValueError, match="sample_weight must have a finite sum, and it overflows"):
        mk.AverageMKLClassifier(FAMILY, C=1.0).fit(X, LABELS, sample_weight=np.full(N, 1e308))


def test_no_private_class_is_named() -> None:
    for given in (mk.bind(FAMILY, X), {"a": X}):
        with pytest.raises(ValueError, match=r"must hold the features themselves.*: pass X itself, as one table"):
            mk.LinearRLS2Regressor().fit(given, NUMBERS)


def test_a_class_in_the_place_of_samples_is_told() -> None:
    with pytest.raises(ValueError, match="X must have a row for each sample"):
        mk.MultiKernelClassifier().fit(dict, [0, 1])
