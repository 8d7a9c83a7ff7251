"""Samples in several views: matrices, blocks of features, frames; views that some samples lack; cross-validation."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split

import multikernel as mk
from cases import one_in
from multikernel import (
    BankSearchCV,
    EasyMKLClassifier,
    L1MKLClassifier,
    MultiKernelClassifier,
    MultipleKernelRidgeCV,
    RLS2Regressor,
    bind,
    load,
    path,
    precomputed,
    save,
    views,
)
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.localized.gated import GatedModel
from multikernel.estimators.scales.method import ScalesModel
from multikernel.kernels import RBF, Hamming, Linear
from zoo_estimators import numbered

Array = Any
N, TRAIN, TEST = 80, np.arange(60), np.arange(60, 80)
RNG = np.random.default_rng(0)
GENES = RNG.normal(size=(N, 12))
FRAME = pd.DataFrame(
    {"age": RNG.normal(50, 9, N), "sex": RNG.choice(["f", "m"], N), "note": RNG.choice(["ill", "well", "so so"], N)}
)
SIGNAL = GENES[:, 0] + (FRAME["sex"] == "f") + 0.05 * (FRAME["age"] - 50)
Y, NUMBERS = (SIGNAL > 0.5).astype(int), SIGNAL.to_numpy()
PROTEINS = np.column_stack([SIGNAL + RNG.normal(size=N), RNG.normal(size=(N, 3))])
K1, K2 = RBF(0.05)(GENES), Linear()(PROTEINS)


def cut(K: Array, rows: Array, columns: Array) -> Array:
    return K[np.ix_(rows, columns)]


def part(X: dict[str, Any], rows: Array, columns: Array = TRAIN) -> dict[str, Any]:
    """Some of the samples of each view; matrices against some of them."""
    return {
        name: cut(v, rows, columns)
        if isinstance(v, np.ndarray) and v.shape == (N, N)
        else (v.iloc[rows] if isinstance(v, pd.DataFrame) else v[rows])
        for name, v in X.items()
    }


# -- matrices ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [dict, "list", "array", "bank", "frames"])
def test_matrices_need_no_word(form: Any) -> None:
    want = EasyMKLClassifier("precomputed", lam=0.1).fit(
        np.stack([cut(K1, TRAIN, TRAIN), cut(K2, TRAIN, TRAIN)]), Y[TRAIN]
    )

    def given(rows: Array) -> Any:
        both = [cut(K1, rows, TRAIN), cut(K2, rows, TRAIN)]
        if form == "frames":
            both = [pd.DataFrame(K) for K in both]
        if form == "bank" and rows is TRAIN:
            return precomputed(both, names=["genes", "proteins"])
        return dict(zip(["genes", "proteins"], both, strict=True)) if form in (dict, "frames") else both

    made = np.stack if form == "array" else lambda X: X
    model = EasyMKLClassifier(lam=0.1).fit(made(given(TRAIN)), Y[TRAIN])
    np.testing.assert_allclose(model.weights_, want.weights_, rtol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(made(given(TEST))), want.decision_function(np.stack([K1, K2])[:, 60:, :60]), atol=1e-6
    )
    named = form in (dict, "bank", "frames")
    assert list(model.kernel_names_) == (["genes", "proteins"] if named else ["kernel 0", "kernel 1"])


def test_a_dict_is_read_by_name_and_said_what_it_lacks() -> None:
    model = EasyMKLClassifier(lam=0.1).fit({"a": cut(K1, TRAIN, TRAIN), "b": cut(K2, TRAIN, TRAIN)}, Y[TRAIN])
    new = {"b": cut(K2, TEST, TRAIN), "a": cut(K1, TEST, TRAIN)}
    np.testing.assert_array_equal(model.predict(new), model.predict([new["a"], new["b"]]))
    with pytest.raises(ValueError, match="expected the kernels 'a', 'b', got 'a'"):
        model.predict({"a": new["a"]})
    with pytest.raises(ValueError, match="2 kernels need as many names, got 1"):
        precomputed([K1, K2], names=["a"])


def test_a_single_matrix_is_one_kernel() -> None:
    model = L1MKLClassifier("precomputed").fit(cut(K1, TRAIN, TRAIN), Y[TRAIN])
    assert model.weights_.shape == (1,)
    assert model.predict(cut(K1, TEST, TRAIN)).shape == (20,)
    assert cross_val_score(L1MKLClassifier("precomputed"), K1, Y, cv=3).shape == (3,)
    assert len(precomputed(K1)) == 1


@pytest.mark.parametrize("word", one_in(2, [None, "precomputed"]))
def test_a_bank_goes_through_the_tools_of_scikit_learn(word: Any) -> None:
    """With the word and without; folds have the scores that slices of the matrices have."""
    bank = bind([RBF(0.05), Linear()], GENES)
    model = L1MKLClassifier(word)
    want = cross_val_score(L1MKLClassifier([RBF(0.05), Linear()]), GENES, Y, cv=4)
    np.testing.assert_array_equal(cross_val_score(model, bank, Y, cv=4), want)
    np.testing.assert_array_equal(cross_val_predict(model, bank, Y, cv=4).shape, (N,))
    search = GridSearchCV(model, {"C": [0.1, 10.0]}, cv=3).fit(bank, Y)
    np.testing.assert_array_equal(search.predict(bank), search.best_estimator_.predict(bank))
    ours = BankSearchCV(model, {"C": [0.1, 10.0]}, cv=3).fit(bank, Y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_parts_of_a_bank_are_split_fitted_and_predicted() -> None:
    bank = precomputed({"a": K1, "b": K2})
    train, test, y_train, y_test = train_test_split(bank, Y, random_state=0, stratify=Y)
    model = EasyMKLClassifier(lam=0.1).fit(train, y_train)
    assert model.score(test, y_test) == EasyMKLClassifier("precomputed", lam=0.1).fit(
        bank[np.ix_(train.rows, train.rows)], y_train
    ).score(bank[np.ix_(test.rows, train.rows)], y_test)
    assert list(model.kernel_names_) == ["a", "b"]
    assert train[:5].shape == (5, N)


# -- matrices with an error in them ------------------------------------------------------------------------------------

KERNELS_ARE_LEARNED = [EasyMKLClassifier(lam=0.1), MultiKernelClassifier(random_state=0)]
LOWER, HOLE, FAR = np.triu(K1), K1.copy(), -K1
HOLE[3, 4] = np.nan


def in_forms(*matrices: Array) -> list[Any]:
    """What a user gives several matrices as, all in the same order; the last is named "b" or "view 1"."""
    names = ["a", "b"][-len(matrices) :]
    by_name = dict(zip(names, matrices, strict=True))
    frames = {name: pd.DataFrame(K) for name, K in by_name.items()}
    return [by_name, frames, list(matrices), np.stack(matrices), views(by_name), views(list(matrices))]


@pytest.mark.parametrize("model", KERNELS_ARE_LEARNED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            LOWER,
            r"view '(b|view 1)' is square, 80 x 80, .* not symmetric: entry \(\d+, \d+\) .* features=\['(b|view 1)'\]",
        ),
        (HOLE, r"view '(b|view 1)' is square.*entry \(3, 4\) is nan and entry \(4, 3\) is "),
    ],
    ids=["triangle", "hole"],
)
def test_a_square_view_that_is_not_symmetric_is_refused(model: Any, wrong: Array, told: str) -> None:
    """In every form, by both kinds of estimators: nobody meant its columns to be features."""
    for X in [*in_forms(K1, wrong), {"x": GENES, "b": wrong}]:
        with pytest.raises(ValueError, match=told):
            clone(model).fit(X, Y)
    with pytest.raises(ValueError, match="'b' is square"):  # also by a part of it
        clone(model).fit(views({"x": GENES, "b": wrong})[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("model", one_in(2, KERNELS_ARE_LEARNED), ids=lambda model: type(model).__name__)
def test_a_square_sparse_view_needs_a_word(model: Any) -> None:
    """Whether it is symmetric or not: nobody can know whether it holds kernel values or features."""
    for wrong in (sparse.csr_array(LOWER), sparse.csc_matrix(K1)):
        for X in ({"a": K1, "b": wrong}, {"x": GENES, "b": wrong}, views({"x": GENES, "b": wrong})[TRAIN]):
            rows = Y if isinstance(X, dict) else Y[TRAIN]
            with pytest.raises(ValueError, match=r"'b' is sparse and square, 80 x 80, .* toarray.*features=\['b'\]"):
                clone(model).fit(X, rows)
        with pytest.raises(ValueError, match="view 'view 1' is sparse and square"):
            clone(model).fit([K1, wrong], Y)
    said = clone(model).fit(views({"x": GENES, "b": sparse.csr_array(LOWER)}, features=["b"]), Y)
    dense = clone(model).fit(views({"x": GENES, "b": LOWER}, features=["b"]), Y)
    np.testing.assert_allclose(
        said.predict({"x": GENES[:9], "b": sparse.csr_array(LOWER[:9])}),
        dense.predict({"x": GENES[:9], "b": LOWER[:9]}),
    )
    assert clone(model).fit({"x": GENES, "b": sparse.csr_array(LOWER[:, 1:])}, Y).predict is not None


@pytest.mark.parametrize("model", KERNELS_ARE_LEARNED, ids=lambda model: type(model).__name__)
def test_a_symmetric_matrix_that_is_no_kernel_is_refused(model: Any) -> None:
    for X in [{"a": K1, "b": FAR}, {"x": GENES, "b": FAR}]:
        with pytest.raises(ValueError, match=r"kernel 'b' is not positive semi-definite.* features=") as told:
            clone(model).fit(X, Y)
        assert "clip=True" in str(told.value)
    with pytest.raises(ValueError, match="is not positive semi-definite"):
        clone(model).fit(np.stack([K1, FAR]), Y)


@pytest.mark.parametrize("model", one_in(2, KERNELS_ARE_LEARNED), ids=lambda model: type(model).__name__)
def test_square_features_are_learned_where_the_user_says_so(model: Any) -> None:
    square = RNG.normal(size=(N, N)) + 0.1 * SIGNAL.to_numpy()[:, None]
    wide = np.hstack([square, np.zeros((N, 1))])  # the same kernels, and nobody takes it for a matrix
    want = clone(model).fit({"b": wide}, Y).predict({"b": wide[:9]})
    said = clone(model).fit(views({"b": square}, features=["b"]), Y)
    np.testing.assert_array_equal(said.predict({"b": square[:9]}), want)
    named = pd.DataFrame(
        square, columns=[f"gene {j}" for j in range(N)]
    )  # columns with names of their own are features
    np.testing.assert_array_equal(clone(model).fit({"b": named}, Y).predict({"b": named[:9]}), want)
    part = views([square, GENES], features=["view 0"])[TRAIN]
    assert clone(model).fit(part, Y[TRAIN]).predict(views([square, GENES], features=["view 0"])[TEST]).shape == (20,)


def test_features_are_said_by_kernels_for_the_view() -> None:
    square = RNG.normal(size=(N, N))
    model = EasyMKLClassifier({"b": RBF("median"), "x": Linear()}, lam=0.1).fit({"b": square, "x": GENES}, Y)
    assert list(model.kernel_names_) == ["b", "x"]


def test_what_features_says_is_checked() -> None:
    with pytest.raises(ValueError, match="views: features names 'c', and the views are 'a', 'b'"):
        views({"a": GENES, "b": LOWER}, features=["c"])
    with pytest.raises(ValueError, match="not of views that are made already"):
        views(views({"a": GENES}), features=["a"])
    with pytest.raises(ValueError, match="view 'a' holds samples, and kernels='precomputed' says"):
        EasyMKLClassifier("precomputed").fit(views({"a": GENES, "b": K1}), Y)
    with pytest.raises(ValueError, match="kernel 'b' is not symmetric"):
        EasyMKLClassifier("precomputed").fit({"a": K1, "b": LOWER}, Y)
    with pytest.raises(ValueError, match="kernel 0 is a sparse matrix; precomputed kernels are dense"):
        precomputed([sparse.csr_array(K1)])


def test_the_automatic_estimator_takes_views_banks_and_their_parts() -> None:
    """As if every part had been cut by hand."""
    genes = GENES[:, 2:]
    seen, matrices = views({"genes": genes, "proteins": K2}), views({"a": K1, "b": K2})
    model, y = MultiKernelClassifier(random_state=0), Y[TRAIN]
    got = clone(model).fit(seen[TRAIN], y).predict_proba(seen[TEST])
    by_hand = clone(model).fit({"genes": genes[TRAIN], "proteins": cut(K2, TRAIN, TRAIN)}, y)
    new = {"genes": genes[TEST], "proteins": cut(K2, TEST, TRAIN)}
    np.testing.assert_array_equal(got, by_hand.predict_proba(new))
    fitted = clone(model).fit(matrices[TRAIN], y)
    new = {"a": cut(K1, TEST, TRAIN), "b": cut(K2, TEST, TRAIN)}
    np.testing.assert_array_equal(fitted.predict_proba(matrices[TEST]), fitted.predict_proba(new))
    stacked = clone(model).fit(np.stack([cut(K, TRAIN, TRAIN) for K in (K1, K2)]), y)
    np.testing.assert_array_equal(stacked.predict_proba(np.stack(list(new.values()))), fitted.predict_proba(new))
    inside = clone(model).fit({"genes": genes, "proteins": precomputed([K2])}, Y)
    np.testing.assert_array_equal(
        inside.predict_proba({"genes": genes, "proteins": K2}), clone(model).fit(seen, Y).predict_proba(seen)
    )


def test_the_automatic_estimator_learns_nothing_of_rows_that_a_matrix_lacks() -> None:
    """What other kernels say of them does not matter, in training and of new samples."""
    absent, model = np.array([3, 17]), MultiKernelClassifier(random_state=0)
    gaps, other = K2.copy(), K2.copy()
    gaps[absent], gaps[:, absent] = np.nan, np.nan
    got = clone(model).fit({"genes": GENES, "proteins": gaps}, Y)
    new = {"genes": GENES[:5], "proteins": gaps[:5]}
    other[absent] = np.nan
    other[np.ix_([0, 1, 2, 4], absent)] = 7.0
    np.testing.assert_allclose(got.predict_proba(new), got.predict_proba(new | {"proteins": other[:5]}))
    hole = K2[:5].copy()
    hole[0, 1] = np.nan
    with pytest.raises(ValueError, match="view 'proteins' has a NaN or infinity at row 0, column 1"):
        got.predict({"genes": GENES[:5], "proteins": hole})


# -- blocks of features and frames -------------------------------------------------------------------------------------

MIXED = {"genes": GENES, "clinic": FRAME, "proteins": K2}
OWN = {"genes": RBF("median"), "clinic": [RBF("median").on("age").standardized(), Hamming().on("sex")]}


def test_views_of_every_kind_are_learned_together() -> None:
    """As if every view were bound by itself, and the sum of all were learned."""
    model = EasyMKLClassifier(OWN, lam=0.1).fit(part(MIXED, TRAIN), Y[TRAIN])
    assert list(model.kernel_names_) == [
        "genes",
        "clinic: RBF(gamma='median').standardized().on('age')",
        "clinic: Hamming().on('sex')",
        "proteins",
    ]
    K = np.concatenate(
        [
            bind(RBF("median"), GENES[TRAIN]).matrices(),
            bind(OWN["clinic"], FRAME.iloc[TRAIN]).matrices(),
            [cut(K2, TRAIN, TRAIN)],
        ]
    )
    new = np.concatenate(
        [
            bind(RBF("median"), GENES[TRAIN]).cross(GENES[TEST]).matrices(),
            bind(OWN["clinic"], FRAME.iloc[TRAIN]).cross(FRAME.iloc[TEST]).matrices(),
            [cut(K2, TEST, TRAIN)],
        ]
    )
    want = EasyMKLClassifier("precomputed", lam=0.1).fit(K, Y[TRAIN])
    np.testing.assert_allclose(model.weights_, want.weights_, rtol=1e-5)
    found = model.decision_function(part(MIXED, TEST))
    np.testing.assert_allclose(found, want.decision_function(new), rtol=1e-5, atol=1e-9)


@pytest.mark.crossed
@pytest.mark.parametrize(
    "X",
    [
        MIXED,
        {"genes": GENES, "clinic": pl.DataFrame(FRAME.to_dict("list"))},
        [GENES, sparse.csr_array(PROTEINS)],
        [FRAME[["age"]], FRAME[["sex"]]],
        {"a": PROTEINS[:, 0], "words": FRAME["note"].tolist()},
    ],
    ids=["mixed", "polars", "list", "frames", "columns"],
)
@pytest.mark.parametrize("kind", [L1MKLClassifier, RLS2Regressor])
def test_views_have_kernels_by_their_types_by_default(X: Any, kind: Any, tmp_path: Path) -> None:
    y = Y if kind is L1MKLClassifier else NUMBERS
    model = kind().fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(X), model.predict(X))
    if isinstance(X, dict):
        assert all(str(name).startswith(tuple(X)) for name in model.kernel_names_)


@pytest.mark.study
def test_views_are_cross_validated_searched_and_followed_along_a_path() -> None:
    X, model = views(MIXED), L1MKLClassifier(OWN)
    scores = cross_val_score(model, X, Y, cv=4)
    assert scores.shape == (4,)
    train, test, y_train, y_test = train_test_split(X, Y, random_state=0)
    got = model.fit(train, y_train).decision_function(test)
    want = L1MKLClassifier(OWN).fit(part(MIXED, train.rows, train.rows), y_train)
    np.testing.assert_allclose(got, want.decision_function(part(MIXED, test.rows, train.rows)), atol=1e-8)
    assert BankSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(MIXED, Y).best_estimator_.predict(MIXED).shape == (N,)
    assert GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(X, Y).predict(X).shape == (N,)
    assert path(model, MIXED, Y, "C", [0.1, 1.0]).predict(MIXED).shape == (2, N)
    assert model.score(test, y_test) > 0.6


def test_views_that_do_not_fit_are_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="views are of the same samples, row by row; got 80 in 'a' and 79 in 'b'"):
        EasyMKLClassifier(lam=0.1).fit({"a": GENES, "b": GENES[1:]}, Y)
    with pytest.raises(ValueError, match="kernels has no entry for the view 'clinic'; it has 'genes'"):
        EasyMKLClassifier({"genes": RBF()}).fit({"genes": GENES, "clinic": FRAME}, Y)
    model = EasyMKLClassifier(OWN, lam=0.1).fit({"genes": GENES, "clinic": FRAME}, Y)
    with pytest.raises(
        ValueError, match="X has a view 'gene', and training had 'genes', 'clinic': give views the names"
    ):
        model.predict({"gene": GENES})
    with pytest.raises(ValueError, match="view 'genes' had 12 columns in training, and has 11 columns now"):
        model.predict({"genes": GENES[:, 1:], "clinic": FRAME})
    with pytest.raises(ValueError, match="view 'clinic' had age, sex, note in training, and has sex, age, note now"):
        model.predict({"genes": GENES, "clinic": FRAME[["sex", "age", "note"]]})
    with pytest.raises(ValueError, match="views takes a dict or a list of arrays"):
        views(GENES)


def test_views_are_shown_in_a_line() -> None:
    seen = views(MIXED)
    assert repr(seen) == "<Views of 80 samples: 'genes' (12 columns), 'clinic' (3 columns), 'proteins' (1 kernel)>"
    assert repr(seen[TEST]).startswith("<Views of 20 samples: ")
    assert repr(views({f"v{k}": GENES[:, 0] for k in range(9)})).endswith("'v4' (1 column) and 4 more>")
    assert repr(views([K1, K2])[TEST]) == "<20 of the 80 samples of a bank of 2 kernels>"


# -- views that some samples lack --------------------------------------------------------------------------------------


def lacking(rows: Array) -> dict[str, Any]:
    genes, frame, K = GENES.copy(), FRAME.astype(object), K2.copy()
    genes[rows], K[rows], K[:, rows] = np.nan, np.nan, np.nan
    frame.iloc[rows] = None
    return {"genes": genes, "clinic": frame.astype({"age": float}), "proteins": K}


def test_widths_and_means_are_those_of_the_samples_that_have_a_view() -> None:
    """And a sample that has all views meets those that have them as if no other had been there."""
    absent = np.array([3, 17])
    model = EasyMKLClassifier(OWN, lam=0.1).fit(part(lacking(absent), TRAIN), Y[TRAIN])
    known = np.setdiff1d(TRAIN, absent)
    K = np.stack([*bind(RBF("median"), GENES[known]).matrices(), *bind(OWN["clinic"], FRAME.iloc[known]).matrices()])
    found = model.kernel_matrix(part(MIXED, known[:9], known[:9]))
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    want = np.tensordot(weights[:3], K[:, :9, :9], 1) + weights[3] * cut(K2, known[:9], known[:9])
    np.testing.assert_allclose(found, want, rtol=1e-10)


def test_a_view_that_is_complete_in_training_may_be_missing_later() -> None:
    model = MultipleKernelRidgeCV(OWN, tol=1e-3).fit(part(MIXED, TRAIN), NUMBERS[TRAIN])
    whole = model.predict(part(MIXED, TEST))
    some = model.predict(part(lacking(np.array([62])), TEST))
    np.testing.assert_allclose(np.delete(some, 2), np.delete(whole, 2))
    mean = model.predict(part(MIXED, TRAIN)).mean()
    assert some[2] == pytest.approx(mean)  # no view speaks for it
    alone = model.predict(part(lacking(np.array([62])), np.array([62])))
    assert alone[0] == pytest.approx(mean)


def test_a_view_that_everyone_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="view 'genes' is missing for all samples"):
        EasyMKLClassifier(OWN, lam=0.1).fit({"genes": np.full_like(GENES, np.nan), "clinic": FRAME}, Y)
    partly = GENES.copy()
    partly[4, 2] = np.nan
    with pytest.raises(ValueError, match=r"view 'genes': RBF.* takes no missing cells, and column 2 has some: fill"):
        EasyMKLClassifier(OWN, lam=0.1).fit({"genes": partly, "clinic": FRAME}, Y)
    K = K2.copy()
    K[3, 4] = K[4, 3] = np.nan
    with pytest.raises(ValueError, match="kernel 0 has a NaN or infinity at row 3, column 4"):
        EasyMKLClassifier("precomputed", lam=0.1).fit([K], Y)


# -- every estimator ---------------------------------------------------------------------------------------------------

KINDS = [
    cls
    for name in mk.__all__
    if inspect.isclass(cls := getattr(mk, name)) and issubclass(cls, KernelEstimator)
    if not (
        issubclass(cls, ScalesModel | GatedModel) or cls.__name__.startswith("LinearRLS2")
    )  # which learn in features
]


@pytest.mark.parametrize("cls", one_in(4, KINDS), ids=lambda cls: cls.__name__)
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_takes_matrices_views_and_parts_of_a_bank(cls: Any) -> None:
    seeded = {"random_state": 0} if "random_state" in inspect.signature(cls).parameters else {}
    auto = cls(**seeded, **({"second": "linear"} if "second" in inspect.signature(cls).parameters else {}))
    new = partial(clone, numbered(auto))
    y = NUMBERS if is_regressor(new()) else Y
    matrices = {"genes": K1, "proteins": K2}
    first = new().fit(matrices, y)
    assert {"genes", "proteins"} <= {str(name).rpartition(": ")[2] for name in first.kernel_names_}  # "group 0: genes"
    values = first.predict(matrices)
    np.testing.assert_array_equal(new().fit(precomputed(matrices), y).predict(np.stack([K1, K2])), values)
    seen = {"age": FRAME[["age"]], "proteins": K2}
    assert auto.fit(seen, y).predict(seen).shape == (N,)
    whole = views(matrices)
    part, y_part = whole[TRAIN], y[TRAIN]
    assert new().fit(part, y_part).predict(whole[TEST]).shape == (20,)


INDICES = {
    "a word": ("zz", TypeError, "samples are taken by numbers, a slice or a mask"),
    "words": (["a"], TypeError, "samples are taken by numbers, a slice or a mask"),
    "fractions": ([0.5], TypeError, "samples are taken by numbers, a slice or a mask"),
    "None": (None, TypeError, "samples are taken by numbers, a slice or a mask"),
    "a short mask": ([True, False], ValueError, "a mask has True or False for each of the 6 samples"),
    "beyond": ([0, 99], IndexError, "99"),
}


@pytest.mark.parametrize(("index", "error", "message"), INDICES.values(), ids=INDICES)
def test_samples_of_views_and_banks_are_taken_by_numbers_or_masks(index: Any, error: Any, message: str) -> None:
    given = mk.views({"a": np.arange(12.0).reshape(6, 2), "b": np.arange(6.0)[:, None]})
    bank = precomputed(np.eye(6))
    mask = np.arange(6) % 2 == 0
    for whole in (given, given[:], bank, bank[:]):
        with pytest.raises(error, match=message):
            whole[index]
        assert [list(whole[form].rows) for form in (mask, mask.tolist(), [0, 2, 4], slice(0, 6, 2), [])] == [
            *([[0, 2, 4]] * 4),
            [],
        ]


def test_views_have_samples_and_names_of_their_own() -> None:
    with pytest.raises(ValueError, match="views: the views have no sample"):
        mk.views({"a": np.empty((0, 2))})
    with pytest.raises(ValueError, match="two views have the name '1'"):
        mk.views({1: np.ones((3, 2)), "1": np.ones((3, 1))})


# -- kernels between any samples ---------------------------------------------------------------------------------------


def test_sources_are_bound_without_an_estimator() -> None:
    bank = bind({"genes": ["rbf", Linear()], "clinic": OWN["clinic"]}, MIXED)
    want = [*bind(["rbf", Linear()], GENES).matrices(), *bind(OWN["clinic"], FRAME).matrices(), K2]
    np.testing.assert_allclose(bank.matrices(), want)
    new = bank.cross(part(MIXED, TEST, np.arange(N)))
    np.testing.assert_allclose(new.matrices(), bank.block(TEST, np.arange(N)).matrices())
    assert len(bind(RBF("median"), {"genes": GENES, "more": GENES[:, :2]})) == 2
    with pytest.raises(ValueError, match="bind: there are no kernels for the source 'clinic', but for"):
        bind({"genes": "rbf"}, MIXED)
    with pytest.raises(TypeError, match="kernels by source need samples of several sources"):
        bind({"genes": "rbf"}, GENES)


@pytest.mark.parametrize(
    "model",
    [
        EasyMKLClassifier(OWN, lam=0.1),
        L1MKLClassifier(OWN, C=1.0, approximation="nystroem", rank=12),
        MultipleKernelRidgeCV(OWN, tol=1e-3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_learned_kernel_of_views_is_known_between_any_samples(model: Any) -> None:
    """As the decision is linear in the kernel, it is the one that the model predicts by."""
    seen = views(MIXED)
    model = clone(model).fit(seen[TRAIN], NUMBERS[TRAIN] if is_regressor(model) else Y[TRAIN])
    K = model.kernel_matrix(seen[TRAIN])
    between = model.kernel_matrix(seen[TEST], seen[TRAIN])
    np.testing.assert_allclose(model.kernel_matrix(seen[TRAIN], seen[TRAIN]), K, atol=1e-10 * np.abs(K).max())
    np.testing.assert_allclose(model.kernel_matrix(seen)[np.ix_(TEST, TRAIN)], between, atol=1e-6 * np.abs(K).max())
    predict = getattr(model, "decision_function", model.predict)
    if getattr(model, "approximation", None) is None:
        found = between @ model.dual_coef_ + model.intercept_
        np.testing.assert_allclose(found, predict(seen[TEST]), rtol=1e-6)
    step = model.as_transformer().set_output(transform="pandas").fit(seen[TRAIN])
    frame = step.transform(seen[TEST])
    np.testing.assert_allclose(frame, between, atol=1e-10 * np.abs(K).max())
    assert list(frame.columns) == list(step.get_feature_names_out())


def test_a_matrix_says_nothing_of_other_samples() -> None:
    model = EasyMKLClassifier(OWN, lam=0.1).fit(MIXED, Y)
    one = {"genes": GENES[:7], "clinic": FRAME[:7], "proteins": K2[:7, :5]}
    two = {"genes": GENES[:5], "clinic": FRAME[:5], "proteins": K2[:5, :5]}
    np.testing.assert_allclose(model.kernel_matrix(one, two), model.kernel_matrix(MIXED)[:7, :5])
    with pytest.raises(ValueError, match=r"view 'proteins' is a kernel matrix.*shape \(7, 6\); or both as parts"):
        model.kernel_matrix(one, {"genes": GENES[:6], "clinic": FRAME[:6], "proteins": K2[:6, :6]})


def test_the_automatic_estimators_kernel_of_parts_of_the_same_views() -> None:
    seen = views(MIXED)
    model = MultiKernelClassifier(random_state=0).fit(seen[TRAIN], Y[TRAIN])
    K = model.kernel_matrix(seen)
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.trace(K)
    np.testing.assert_allclose(model.kernel_matrix(seen[TEST], seen[TRAIN]), K[np.ix_(TEST, TRAIN)], atol=1e-12)
    with pytest.raises(ValueError, match=r"view 'proteins' is a kernel matrix, .* parts of the same views"):
        model.kernel_matrix(part(MIXED, TEST))


def test_a_matrix_that_samples_lack_is_completed_between_any_samples() -> None:
    rows = np.array([3, 17])
    seen = views(lacking(rows) | {"genes": GENES, "clinic": FRAME})
    model = EasyMKLClassifier(OWN, lam=0.1).fit(seen, Y)
    K = model.kernel_matrix(seen)
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.trace(K)
    some = np.array([2, 3, 50])
    np.testing.assert_allclose(model.kernel_matrix(seen[some], seen[TEST]), K[np.ix_(some, TEST)], atol=1e-9)
    values = K @ np.ravel(model.dual_coef_) + model.intercept_
    np.testing.assert_allclose(values, model.decision_function(seen), atol=1e-9 * np.abs(values).max())


def test_a_model_without_the_kernels_of_its_views_says_so() -> None:
    """As models of earlier versions are."""
    model = EasyMKLClassifier(OWN, lam=0.1).fit(MIXED, Y)
    model._bound_kernels = None
    with pytest.raises(ValueError, match=r"saved by an earlier version, .* fit it again to ask for its kernel"):
        model.kernel_matrix(MIXED)
