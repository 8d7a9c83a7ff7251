"""Rows that are labelled by pandas in different orders: refused, in whatever way samples and targets come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score, train_test_split

import multikernel as mk
from multikernel import diagnostics, kernels, streams

N = 40
RNG = np.random.default_rng(0)
LABELS = [f"p{i}" for i in range(N)]
X = pd.DataFrame(RNG.normal(size=(N, 3)), index=LABELS, columns=list("abc"))
Y = pd.Series(X["a"] + 0.1 * RNG.normal(size=N), name="y")
CLASS = (Y > 0).astype(int)
ORDER = RNG.permutation(N)
OTHER = "in another order: row 0 is "
CLASSIFIER, REGRESSOR = (
    mk.EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0]), lam=0.1),
    mk.RLS2Regressor(kernels.rbf_grid([0.1, 1.0]), alpha=0.1),
)
AUTOMATIC = [mk.MultiKernelClassifier(random_state=0), mk.MultiKernelRegressor(random_state=0)]
EVERY = [(CLASSIFIER, CLASS), (REGRESSOR, Y), *zip(AUTOMATIC, (CLASS, Y), strict=True)]
OF_BOTH_KINDS = pytest.mark.parametrize(("model", "y"), EVERY, ids=[type(model).__name__ for model, _ in EVERY])


@OF_BOTH_KINDS
def test_a_target_in_another_order_is_refused(model: Any, y: Any) -> None:
    with pytest.raises(
        ValueError, match=r"rows of y have the labels of X in another order: row 0 is 'p0' .*y\.loc\[X\.index\]"
    ):
        clone(model).fit(X, y.iloc[ORDER])
    with pytest.raises(ValueError, match=OTHER):  # by a view that has labels, beside one that has none
        clone(model).fit({"plain": X.to_numpy(), "frame": X}, y.iloc[ORDER])
    with pytest.raises(ValueError, match=OTHER):
        clone(model).fit(X.set_axis(range(100, 100 + N)), y.set_axis(range(100, 100 + N)).iloc[ORDER])
    fitted = clone(model).fit(X, y.iloc[ORDER].loc[X.index])
    with pytest.raises(ValueError, match=OTHER):
        fitted.score(X, y.iloc[ORDER])


@OF_BOTH_KINDS
def test_views_in_different_orders_are_refused(model: Any, y: Any) -> None:
    shuffled = X[["b"]].iloc[ORDER]
    message = r"rows of X\['two'\] have the labels of X\['one'\] in another order.*X\['two'\]\.loc\[X\['one'\]\.index\]"
    for given in ({"one": X, "two": shuffled}, {"one": X, "plain": X.to_numpy(), "two": shuffled}):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(given, y)
    with pytest.raises(ValueError, match=r"rows of X\[1\] have the labels of X\[0\]"):
        clone(model).fit([X, shuffled], y)
    with pytest.raises(ValueError, match=message):
        mk.views({"one": X, "two": shuffled})
    fitted = clone(model).fit({"one": X, "two": shuffled.loc[X.index]}, y)
    with pytest.raises(ValueError, match=message):
        fitted.predict({"one": X, "two": shuffled})
    assert fitted.predict({"one": X, "two": shuffled.reset_index(drop=True)}).shape == (N,)


@OF_BOTH_KINDS
def test_a_matrix_whose_columns_are_in_another_order_is_refused(model: Any, y: Any) -> None:
    K = X @ X.T
    with pytest.raises(ValueError, match=r"rows of X\['K'\].T have the labels of X\['K'\] in another order"):
        clone(model).fit({"K": K.iloc[ORDER], "x": X.iloc[ORDER]}, y.iloc[ORDER])


@OF_BOTH_KINDS
def test_rows_that_belong_together_as_they_lie_are_learned(model: Any, y: Any) -> None:
    """No labels on one side, row numbers, the same labels, or labels of which none is the same."""
    want = clone(model).fit(X.to_numpy()[ORDER], y.to_numpy()[ORDER]).predict(X.to_numpy())
    shuffled, numbered = X.iloc[ORDER], y.iloc[ORDER].reset_index(drop=True)
    for samples, target in [
        (shuffled, y.iloc[ORDER]),
        (shuffled, numbered),
        (shuffled, numbered.to_numpy()),
        (shuffled, numbered.set_axis([f"visit {i}" for i in range(N)])),
        (shuffled.set_axis(ORDER), numbered),  # as after a shuffle of both, and new labels for one
        (shuffled.reset_index(drop=True), numbered.set_axis(ORDER)),
        (pl.DataFrame(shuffled), y.iloc[ORDER]),
    ]:
        found = clone(model).fit(samples, target).predict(X if isinstance(samples, pd.DataFrame) else pl.DataFrame(X))
        np.testing.assert_allclose(found, want)


def test_labels_of_which_some_are_the_same_are_refused() -> None:
    """Where they name samples; whole numbers number the rows of tables that need not be the same."""
    with pytest.raises(
        ValueError, match=r"rows of y and of X have different labels: 1 of 39 labels of y .*'p39' first"
    ):
        REGRESSOR.fit(X[:-1], Y[1:])
    numbered = X.set_axis(range(5, 5 + N))
    assert clone(REGRESSOR).fit(numbered, Y.set_axis(range(6, 6 + N))).predict(numbered).shape == (N,)


def test_labels_that_occur_twice() -> None:
    twice = [f"p{i // 2}" for i in range(N)]
    assert clone(REGRESSOR).fit(X.set_axis(twice), Y.set_axis(twice)).predict(X).shape == (N,)
    with pytest.raises(ValueError, match=r"in another order.*; sort both alike, or"):
        REGRESSOR.fit(X.set_axis(twice), Y.set_axis(twice[::-1]))


@pytest.mark.parametrize(
    ("model", "y"),
    [(mk.L1MKLClassifier(kernels.rbf_grid([0.1, 1.0])), CLASS), (REGRESSOR, Y), *EVERY[2:]],
    ids=lambda model: type(model).__name__,
)
def test_weights_in_another_order_are_refused(model: Any, y: Any) -> None:
    weight = pd.Series(np.arange(1.0, N + 1), index=LABELS)
    with pytest.raises(ValueError, match="rows of sample_weight have the labels of X in another order"):
        clone(model).fit(X, y.to_numpy(), sample_weight=weight.iloc[ORDER])
    with pytest.raises(ValueError, match="rows of sample_weight have the labels of y in another order"):
        clone(model).fit(X.to_numpy(), y, sample_weight=weight.iloc[ORDER])
    with pytest.raises(ValueError, match="rows of sample_weight have the labels of X in another order"):
        clone(model).fit(X, y, sample_weight=weight).score(X, y, weight.iloc[ORDER])


@pytest.mark.parametrize("permuted", [False, True])
def test_folds_of_frames_are_learned(permuted: bool) -> None:
    """Also where one of X and y has labels of an earlier shuffle, and the other row numbers."""
    y = CLASS.iloc[ORDER].set_axis(ORDER) if permuted else CLASS.iloc[ORDER]
    frame = X.iloc[ORDER].reset_index(drop=True) if permuted else X.iloc[ORDER]
    want = cross_val_score(CLASSIFIER, frame.to_numpy(), y.to_numpy(), cv=3)
    np.testing.assert_allclose(cross_val_score(CLASSIFIER, frame, y, cv=3, error_score="raise"), want)
    seen = mk.views({"one": frame[["a"]], "two": frame[["b", "c"]]})
    assert np.isfinite(cross_val_score(CLASSIFIER, seen, y, cv=3, error_score="raise")).all()
    train, test, y_train, y_test = train_test_split(seen, y, random_state=0)
    assert clone(CLASSIFIER).fit(train, y_train).score(test, y_test) > 0.5
    if not permuted:
        with pytest.raises(ValueError, match="in another order"):
            clone(CLASSIFIER).fit(train, y_train.iloc[::-1])


def test_every_other_way_in_refuses() -> None:
    shuffled = Y.iloc[ORDER]
    along = mk.path(REGRESSOR, X, Y, "alpha", [0.1, 1.0])
    search = mk.BankSearchCV(REGRESSOR, {"alpha": [0.1, 1.0]}, cv=3).fit(X, Y)
    streamed = mk.RLS2Regressor(kernels.rbf_grid([0.1]), approximation="nystroem", rank=5)
    for way in (
        lambda: REGRESSOR.bind(X, shuffled),
        lambda: mk.path(REGRESSOR, X, shuffled, "alpha", [0.1, 1.0]),
        lambda: along.score(X, shuffled),
        lambda: along.best(X, shuffled),
        lambda: clone(search).fit(X, shuffled),
        lambda: search.score(X, shuffled),
        lambda: mk.weight_stability(REGRESSOR, X, shuffled),
        lambda: mk.kernel_importance(along.models[0], X, shuffled),
        lambda: streams.arrays(X, shuffled),
        lambda: streamed.partial_fit(X, shuffled),
    ):
        with pytest.raises(ValueError, match="rows of y have the labels of X in another order"):
            way()
    K = X @ X.T
    for ask in (diagnostics.alignment, diagnostics.fisher_scores, diagnostics.radius_margin_bound):
        with pytest.raises(ValueError, match="rows of y have the labels of K in another order"):
            ask(K, np.sign(shuffled))
    with pytest.raises(ValueError, match=r"rows of K\['two'\] have the labels of K\['one'\] in another order"):
        mk.precomputed({"one": K, "two": K.iloc[ORDER, ORDER]})
    assert mk.OneClassMKL(kernels.rbf_grid([0.1])).fit(X, shuffled).predict(X).shape == (N,)  # which uses no target
