"""What a newcomer types: tables, texts, views, matrices and kernels as they lie at hand.

Every task works, or is refused in one sentence that names the fix.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process.kernels import RBF as GaussianProcessRBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import multikernel as mk
from cases import one_in
from multikernel import (
    EasyMKLClassifier,
    L1MKLClassifier,
    L1MKLRegressor,
    MultipleKernelRidgeCV,
    RLS2Regressor,
    kernels,
)
from multikernel.kernels import RBF, Hamming, Laplacian, Linear, NGrams, Polynomial

IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)
X, Y = IRIS.to_numpy()[:100], SPECIES.to_numpy()[:100]
RNG = np.random.default_rng(0)
N = 80
PASSENGERS = pl.DataFrame(
    {
        "sex": RNG.choice(["female", "male"], N),
        "age": [None if RNG.random() < 0.2 else float(a) for a in RNG.integers(1, 80, N)],
        "fare": RNG.lognormal(3, 1, N),
        "embarked": [None if RNG.random() < 0.05 else str(p) for p in RNG.choice(["S", "C", "Q"], N)],
        "date": np.datetime64("1912-01-01") + RNG.integers(0, 300, N),
        "alone": RNG.random(N) < 0.4,
    }
)
SURVIVED = ((PASSENGERS["sex"] == "female") ^ (PASSENGERS["fare"] > 60)).to_numpy().astype(int)
REVIEWS = [
    " ".join(RNG.choice(["good", "nice", "film", "plot"] if s else ["bad", "dull", "film", "plot"], 6))
    for s in SURVIVED
]


def one_sentence(error: pytest.ExceptionInfo[Exception]) -> None:
    assert "\n" not in str(error.value)


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", one_in(2, ["polars", "pandas"]))
def test_a_table_of_passengers(form: str) -> None:
    table = PASSENGERS if form == "polars" else pd.DataFrame(PASSENGERS.to_dict(as_series=False))
    model = L1MKLClassifier(kernels.for_columns(table)).fit(table[:60], SURVIVED[:60])
    assert model.score(table[60:], SURVIVED[60:]) > 0.7
    assert cross_val_score(model, table, SURVIVED, cv=3).mean() > 0.8


def test_a_pandas_table_with_categories_and_nullable_numbers() -> None:
    table = pd.DataFrame(
        {
            "grade": pd.Categorical(RNG.choice(["low", "high"], N), ["low", "high"], ordered=True),
            "town": pd.Categorical(RNG.integers(0, 4, N)),
            "visits": pd.array([None if i == 3 else i % 5 for i in range(N)], dtype="Int64"),
            "member": pd.array([None if i == 7 else i % 2 == 0 for i in range(N)], dtype="boolean"),
        }
    )
    assert list(kernels.column_types(table).values()) == ["ordinal", "category", "number", "number"]
    model = EasyMKLClassifier(kernels.for_columns(table)).fit(table, SURVIVED)
    assert model.predict(table).shape == (N,)


def test_a_table_given_to_kernels_of_numbers_is_told_which_column_is_the_trouble() -> None:
    with pytest.raises(
        ValueError, match=r"column 'sex' of X holds strings: .* or let kernels.for_columns\(X\)"
    ) as told:
        EasyMKLClassifier().fit(PASSENGERS, SURVIVED)
    one_sentence(told)
    with pytest.raises(ValueError, match=r"column 'date' of X holds dates .* or let kernels.for_columns\(X\) choose"):
        RLS2Regressor("rbf").fit(PASSENGERS[["fare", "date"]], SURVIVED)
    with pytest.raises(
        ValueError, match=r"column 'age' of X has some: fill them in, make the kernel .standardized\(\)"
    ):
        RLS2Regressor("rbf").fit(PASSENGERS[["fare", "age"]], SURVIVED)


def test_an_array_with_missing_cells() -> None:
    holes = X.copy()
    holes[::9, 1] = np.nan
    model = L1MKLClassifier(kernels.for_columns(holes)).fit(holes[:80], Y[:80])
    assert model.score(holes[80:], Y[80:]) > 0.9
    assert model.predict(X).shape == (100,)
    assert L1MKLClassifier(RBF("median").standardized()).fit(holes, Y).score(holes, Y) > 0.9
    with pytest.raises(ValueError, match="Input X contains NaN"):
        L1MKLClassifier("rbf").fit(holes, Y)


def test_columns_that_are_numbered_or_named_twice() -> None:
    table = pd.DataFrame(PASSENGERS[["sex", "fare"]].to_dict(as_series=False))
    numbered = table.set_axis([0, 1], axis=1)
    assert kernels.for_columns(numbered).names[-2:] == ("column 0", "column 1")
    assert EasyMKLClassifier(kernels.for_columns(numbered)).fit(numbered, SURVIVED).predict(numbered).shape == (N,)
    with pytest.raises(ValueError, match="two columns of X are named 'a': rename one of them"):
        kernels.for_columns(table.set_axis(["a", "a"], axis=1))


def test_times_of_every_kind() -> None:
    table = pd.DataFrame(
        {
            "zoned": pd.date_range("2024-01-01", periods=N, freq="7h", tz="Europe/Berlin"),
            "lasted": pd.to_timedelta(RNG.integers(1, 50, N), "h"),
            "day": [date(2024, 1, 1 + i % 28) for i in range(N)],
        }
    )
    assert list(kernels.column_types(table).values()) == ["date", "number", "date"]
    assert "zoned: day" in kernels.for_columns(table).names
    assert EasyMKLClassifier(kernels.for_columns(table)).fit(table, SURVIVED).predict(table[:3]).shape == (3,)


def test_kernels_of_chosen_columns() -> None:
    chosen = [RBF("median").on(["age", "fare"]).standardized(), Hamming().on(["sex", "embarked"]), Linear().on("alone")]
    model = EasyMKLClassifier(chosen).fit(PASSENGERS, SURVIVED)
    assert model.weights_.shape == (3,)
    with pytest.raises(
        ValueError, match="unknown column 'gender'; the data have sex, age, fare, embarked, date, alone"
    ):
        EasyMKLClassifier(Hamming().on("gender")).fit(PASSENGERS, SURVIVED)


def test_columns_in_another_order_or_missing_are_told() -> None:
    model = EasyMKLClassifier(kernels.for_columns(PASSENGERS)).fit(PASSENGERS, SURVIVED)
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        model.predict(PASSENGERS[["age", "sex", "fare", "embarked", "date", "alone"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(PASSENGERS.drop("fare"))


def test_a_category_that_was_never_seen_is_said_and_predicted() -> None:
    model = EasyMKLClassifier([Hamming().on("embarked"), RBF("median").on("fare")]).fit(PASSENGERS[:60], SURVIVED[:60])
    new = PASSENGERS[60:].with_columns(pl.lit("Hamburg").alias("embarked"))
    with pytest.warns(UserWarning, match="column 'embarked' of X has categories, 'Hamburg' for one, that"):
        assert model.predict(new).shape == (20,)


def test_a_scaler_and_encoders_in_a_pipeline() -> None:
    assert cross_val_score(make_pipeline(StandardScaler(), L1MKLClassifier("rbf")), X, Y, cv=3).min() > 0.9
    table = pd.DataFrame(PASSENGERS[["sex", "fare"]].to_dict(as_series=False))
    encode = make_column_transformer((OneHotEncoder(), ["sex"]), (StandardScaler(), ["fare"]))
    assert make_pipeline(encode, EasyMKLClassifier()).fit(table, SURVIVED).predict(table).shape == (N,)


# -- columns of arrays -------------------------------------------------------------------------------------------------


def test_a_mask_an_index_and_a_slice_choose_columns_of_an_array() -> None:
    mask = X.std(axis=0) > 0.5
    for columns in (mask, mask.tolist(), np.flatnonzero(mask), slice(0, 4, 2)):
        want = RBF(0.1)(X[:, np.arange(4)[columns] if not isinstance(columns, list) else mask])
        np.testing.assert_allclose(mk.bind(RBF(0.1).on(columns), X).matrix(0), want)
    with pytest.raises(ValueError, match="the mask has 3 entries, and the samples have 4 columns") as told:
        EasyMKLClassifier(RBF().on(mask[:3])).fit(X, Y)
    one_sentence(told)


def test_several_kernels_for_each_group_of_columns() -> None:
    groups = kernels.column_groups({"sepal": [0, 1], "petal": slice(2, None)}, ["rbf", "linear"])
    model = EasyMKLClassifier(groups).fit(X, Y)
    assert list(model.kernel_names_) == [
        "sepal: RBF(gamma='scale')",
        "sepal: Linear()",
        "petal: RBF(gamma='scale')",
        "petal: Linear()",
    ]
    by_name = kernels.column_groups({"petal": ["petal length (cm)", "petal width (cm)"]}, "rbf")
    assert EasyMKLClassifier(by_name).fit(IRIS, SPECIES).score(IRIS, SPECIES) > 0.9


def test_kernels_of_one_column_see_a_frame() -> None:
    assert RBF(0.1).on([0, 1])(IRIS).shape == (150, 150)
    np.testing.assert_allclose(RBF(0.1).on("petal width (cm)")(IRIS), RBF(0.1)(IRIS[["petal width (cm)"]].to_numpy()))


# -- kernels by name and width -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_kernels_by_name() -> None:
    for given in ("rbf", "linear", ["rbf", "linear", "poly"], {"near": "rbf", "far": Laplacian("median")}):
        assert L1MKLClassifier(given).fit(X, Y).score(X, Y) > 0.95
    with pytest.raises(ValueError, match=r"L1MKLClassifier: kernels known by name are .*got 'gaussian'") as told:
        L1MKLClassifier("gaussian").fit(X, Y)
    one_sentence(told)
    with pytest.raises(TypeError, match=r"kernels\[0\] is of type int; a family is made of kernels such as RBF\(0.1\)"):
        L1MKLClassifier([3]).fit(X, Y)
    with pytest.raises(TypeError, match=r"kernels\[0\] is a function: kernels.external\(...\) makes a kernel of it"):
        L1MKLClassifier([lambda x, z: x @ z.T]).fit(X, Y)
    with pytest.raises(TypeError, match=r"kernels\[0\] is the class Laplacian, not a kernel .* \(Laplacian\(...\)\)"):
        L1MKLClassifier([Laplacian]).fit(X, Y)


def test_widths_from_the_data_whatever_the_units() -> None:
    data, target = load_diabetes(return_X_y=True)
    for unit in (1e-3, 1.0, 1e3):
        model = MultipleKernelRidgeCV(kernels.rbf_grid()).fit(unit * data[:200], target[:200])
        assert model.score(unit * data[200:], target[200:]) > 0.4


def test_a_kernel_of_gaussian_processes() -> None:
    model = L1MKLClassifier(2.0 * GaussianProcessRBF(1.5)).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), L1MKLClassifier(2.0 * RBF(1 / 4.5)).fit(X, Y).predict(X))


@pytest.mark.study
def test_the_width_is_searched_as_other_parameters_are() -> None:
    grid = {"kernels": ["rbf", "linear", kernels.rbf_grid()], "C": [1.0, 10.0]}
    assert GridSearchCV(L1MKLClassifier(), grid, cv=3).fit(X, Y).best_score_ > 0.95
    assert GridSearchCV(L1MKLClassifier(RBF("scale")), {"kernels__gamma": ["scale", "median", 0.1]}, cv=3).fit(X, Y)
    assert mk.BankSearchCV(L1MKLClassifier(), grid, cv=3).fit(X, Y).best_score_ > 0.95


# -- texts and sparse matrices -----------------------------------------------------------------------------------------


def test_a_list_of_texts() -> None:
    model = L1MKLClassifier([NGrams(), NGrams("character", (2, 3))]).fit(REVIEWS[:60], SURVIVED[:60])
    assert model.score(REVIEWS[60:], SURVIVED[60:]) > 0.9
    assert L1MKLClassifier(kernels.for_columns(REVIEWS)).fit(REVIEWS, SURVIVED).score(REVIEWS, SURVIVED) > 0.9
    assert cross_val_score(L1MKLClassifier("words"), REVIEWS, SURVIVED, cv=3).mean() > 0.9
    with pytest.raises(ValueError, match=r"column 0 of X holds strings: use a kernel of .* such as .* NGrams\(\)"):
        L1MKLClassifier().fit(REVIEWS, SURVIVED)


def test_sparse_texts_of_a_vectorizer() -> None:
    S = TfidfVectorizer().fit_transform(REVIEWS)
    assert sparse.issparse(S)
    for family in ("linear", "cosine", "rbf", kernels.for_columns(S)):
        assert L1MKLClassifier(family).fit(S, SURVIVED).score(S, SURVIVED) > 0.9
    assert (
        make_pipeline(TfidfVectorizer(), L1MKLClassifier("linear")).fit(REVIEWS, SURVIVED).score(REVIEWS, SURVIVED)
        > 0.9
    )


# -- matrices and banks ------------------------------------------------------------------------------------------------

MATRICES = {"near": rbf_kernel(X, gamma=0.5), "far": rbf_kernel(X, gamma=0.05), "linear": X @ X.T}
TRAIN, TEST = train_test_split(np.arange(100), random_state=0, stratify=Y)


@pytest.mark.parametrize(
    "form", [dict, lambda pairs: [K for _, K in pairs], lambda pairs: np.stack([K for _, K in pairs])]
)
def test_a_dict_a_list_or_a_stack_of_matrices(form: Any) -> None:
    def against(rows: Any) -> Any:
        return form([(name, K[np.ix_(rows, TRAIN)]) for name, K in MATRICES.items()])

    model = EasyMKLClassifier().fit(against(TRAIN), Y[TRAIN])
    assert model.score(against(TEST), Y[TEST]) > 0.9
    assert list(model.kernel_names_) == (list(MATRICES) if form is dict else ["kernel 0", "kernel 1", "kernel 2"])


def test_one_matrix_is_one_kernel() -> None:
    K = MATRICES["near"]
    assert cross_val_score(L1MKLClassifier("precomputed"), K, Y, cv=3).min() > 0.9
    assert L1MKLClassifier("precomputed").fit(K, Y).kernel_names_.tolist() == ["kernel 0"]


def test_matrices_under_cross_validation() -> None:
    together = mk.views(MATRICES)
    assert cross_val_score(EasyMKLClassifier(), together, Y, cv=3).min() > 0.9
    assert GridSearchCV(EasyMKLClassifier(), {"lam": [0.1, 0.9]}, cv=3).fit(together, Y).predict(together).shape == (
        100,
    )
    assert mk.BankSearchCV(EasyMKLClassifier(), {"lam": [0.1, 0.9]}, cv=3).fit(MATRICES, Y).best_score_ > 0.9


def test_a_bank_under_cross_validation() -> None:
    bank = mk.bind(kernels.rbf_grid(), X)
    assert cross_val_score(L1MKLClassifier(), bank, Y, cv=3).min() > 0.9
    assert L1MKLClassifier().fit(bank, Y).predict(bank).shape == (100,)
    with pytest.raises(ValueError, match=r"a training bank must be square, .* bank\[np.ix_\(rows, rows\)\]") as told:
        L1MKLClassifier().fit(bank[np.ix_(TEST, TRAIN)], Y[TEST])
    one_sentence(told)


# -- views -------------------------------------------------------------------------------------------------------------


@pytest.mark.study
@pytest.mark.filterwarnings("ignore:.*kernels of very different size:multikernel.PredictionWarning")
def test_views_of_a_matrix_a_frame_and_texts() -> None:
    genes = np.random.default_rng(1).normal(size=(N, 200)) + 0.2 * SURVIVED[:, None]
    seen = {"genes": genes, "clinic": PASSENGERS, "notes": REVIEWS, "similar": genes @ genes.T}
    model = L1MKLClassifier().fit(seen, SURVIVED)
    assert model.score(seen, SURVIVED) > 0.9
    assert {str(name).split(":")[0] for name in model.kernel_names_} == set(seen)
    assert cross_val_score(model, mk.views(seen), SURVIVED, cv=3).mean() > 0.7


def test_kernels_for_each_view() -> None:
    seen = {"clinic": PASSENGERS, "notes": REVIEWS}
    own = {"clinic": kernels.for_columns(PASSENGERS), "notes": "words"}
    model = L1MKLClassifier(own).fit(seen, SURVIVED)
    assert model.kernel_names_[-1] == "notes"
    with pytest.raises(ValueError, match="kernels has no entry for the view 'notes'; it has 'clinic'"):
        L1MKLClassifier({"clinic": "rbf"}).fit(seen | {"clinic": X[:N]}, SURVIVED)


def test_a_list_of_frames() -> None:
    frames = [PASSENGERS[["sex", "embarked"]], PASSENGERS[["age", "fare"]]]
    assert L1MKLClassifier().fit(frames, SURVIVED).predict(frames).shape == (N,)


def test_a_view_that_some_patients_lack() -> None:
    genes = np.random.default_rng(2).normal(size=(N, 20))
    genes[5:25] = np.nan
    seen = {"genes": genes, "clinic": PASSENGERS}
    assert L1MKLClassifier().fit(seen, SURVIVED).score(seen, SURVIVED) > 0.8


def test_views_of_different_patients_are_told() -> None:
    with pytest.raises(
        ValueError, match="views are of the same samples, row by row; got 80 in 'a' and 100 in 'b'"
    ) as told:
        L1MKLClassifier().fit({"a": PASSENGERS, "b": X}, SURVIVED)
    one_sentence(told)


# -- families ----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_families_are_put_together_and_taken_apart() -> None:
    family = kernels.per_feature(kernels.rbf_grid()) + Polynomial(2) + [Linear(), "rbf"]
    assert EasyMKLClassifier(family).fit(X, Y).weights_.shape == (27,)
    assert len(kernels.rbf_grid()[:3]) == 3
    assert EasyMKLClassifier(kernels.rbf_grid()[2]).fit(X, Y).weights_.shape == (1,)


@pytest.mark.study
def test_models_of_tables_and_views_are_saved(tmp_path: Path) -> None:
    for data in (PASSENGERS, {"clinic": PASSENGERS, "notes": REVIEWS}):
        family = kernels.for_columns(PASSENGERS) if data is PASSENGERS else None
        model = L1MKLRegressor(family).fit(data, SURVIVED)
        mk.save(model, tmp_path / "model.mk")
        np.testing.assert_array_equal(mk.load(tmp_path / "model.mk").predict(data), model.predict(data))
