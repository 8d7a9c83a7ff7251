"""Kernels for mixed tables: what each column is taken for, and what the kernels are, entry by entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from multikernel import EasyMKLClassifier, L1MKLClassifier, MultipleKernelRidgeCV, bind, kernels, load, save
from multikernel.kernels import RBF, Hamming, Linear, NGrams

Array = Any
N = 120
RNG = np.random.default_rng(0)
WORDS = np.array(["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog"])
CELLS: dict[str, Any] = {
    "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(40, 10, N)),
    "fare": RNG.lognormal(size=N),
    "vip": RNG.random(N) < 0.3,
    "sex": RNG.choice(["f", "m"], N),
    "port": RNG.choice(["S", "C", "Q"], N).astype(object),
    "size": RNG.choice(["small", "medium", "large"], N),
    "joined": np.datetime64("2020-01-01") + 5 * np.arange(N),
    "note": [" ".join(RNG.choice(WORDS, 5)) for _ in range(N)],
    "ticket": [f"A{i}" for i in RNG.permutation(N)],
    "same": np.ones(N),
}
CELLS["port"][3] = None
SIZES = ["small", "medium", "large"]
TYPES = {
    "age": "number",
    "fare": "number",
    "vip": "number",
    "sex": "category",
    "port": "category",
    "size": "ordinal",
    "joined": "date",
    "note": "text",
    "ticket": "identifier",
    "same": "empty",
}
LABELS = ((CELLS["sex"] == "f") ^ (np.nan_to_num(CELLS["age"], nan=40) > 45)).astype(int)


def in_pandas() -> pd.DataFrame:
    return pd.DataFrame(CELLS).assign(size=pd.Categorical(CELLS["size"], SIZES, ordered=True))


def in_polars() -> pl.DataFrame:
    cells = {name: values.tolist() if name in ("age", "port") else values for name, values in CELLS.items()}
    cells["age"] = [None if age != age else age for age in cells["age"]]
    return pl.DataFrame(cells).with_columns(pl.col("size").cast(pl.Enum(SIZES)))


FRAMES = pytest.mark.parametrize("frame", [in_pandas(), in_polars()], ids=["pandas", "polars"])


def matrix(family: kernels.KernelFamily, frame: Any, name: str) -> Array:
    return bind(family, frame).matrix(list(family.names).index(name))


@FRAMES
def test_columns_are_told_apart_by_type(frame: Any) -> None:
    assert kernels.column_types(frame) == TYPES


@FRAMES
def test_each_column_has_its_own_kind_of_kernel(frame: Any) -> None:
    family = kernels.for_columns(frame)
    assert len(set(family.names)) == len(family)
    np.testing.assert_array_equal(matrix(family, frame, "sex"), CELLS["sex"][:, None] == CELLS["sex"])
    port = np.array([str(p) for p in CELLS["port"]])  # a missing cell is a category
    np.testing.assert_array_equal(matrix(family, frame, "port"), port[:, None] == port)
    share = ((CELLS["sex"][:, None] == CELLS["sex"]) + 1.0 * (port[:, None] == port)) / 2
    np.testing.assert_allclose(matrix(family, frame, "all categories"), share, atol=1e-14)
    rank = np.array([SIZES.index(size) for size in CELLS["size"]], dtype=float)
    for name, values in (("fare", CELLS["fare"]), ("size", rank)):
        D = (values[:, None] - values) ** 2
        gamma = 0.5 / np.median(D[np.triu_indices(N, 1)][D[np.triu_indices(N, 1)] > 0])
        np.testing.assert_allclose(matrix(family, frame, name), np.exp(-gamma * D), atol=1e-12)
    assert {"joined: days", "joined: year", "joined: week", "note: words", "note: characters"} <= set(family.names)
    assert not any(left_out in name for name in family.names for left_out in ("ticket", "same"))


@FRAMES
def test_missing_numbers_are_the_mean_and_an_indicator(frame: Any) -> None:
    age = CELLS["age"]
    absent, filled = np.isnan(age), np.where(np.isnan(age), np.nanmean(age), age)
    columns = np.column_stack([(filled - np.nanmean(age)) / np.nanstd(age), absent])
    K = bind(Linear().standardized().on("age"), frame).matrix(0)
    np.testing.assert_allclose(K, columns @ columns.T, atol=1e-12)


def test_ladders_hold_all_numbers_and_all_columns() -> None:
    frame = in_pandas()[["fare", "vip", "sex"]]
    family = kernels.for_columns(frame)
    Z = np.column_stack([frame["fare"], frame["vip"]]).astype(float)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    for name, F in (("numbers", Z), ("all columns", np.column_stack([Z, CELLS["sex"] == "f", CELLS["sex"] == "m"]))):
        D = ((F[:, None] - F) ** 2).sum(axis=2)
        gamma = 0.5 / np.median(D[np.triu_indices(N, 1)])
        for times in (1 / 64, 16):
            K = matrix(family, frame, f"{name}: gamma x {times:g}")
            np.testing.assert_allclose(K, np.exp(-times * gamma * D), atol=1e-10)


@FRAMES
def test_new_samples_meet_what_training_told(frame: Any, tmp_path: Path) -> None:
    """Means, widths, categories and words are those of the training sample, also of a single new sample."""
    family = kernels.for_columns(frame)
    model = EasyMKLClassifier(family).fit(frame[:90], LABELS[:90])
    values = model.decision_function(frame[90:])
    bank = bind(family, frame[:90])
    from multikernel.tables.table import as_table

    K = bank.cross(as_table(frame)[np.arange(90, N)]).combine(model.weights_).dense()
    np.testing.assert_allclose(values, K @ model.dual_coef_ + model.intercept_, atol=1e-10)
    for i in (0, 7):
        np.testing.assert_allclose(model.decision_function(frame[90 + i : 91 + i]), values[i : i + 1], atol=1e-12)
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").decision_function(frame[90:]), values)


def test_unseen_categories_count_as_none_and_are_said_once() -> None:
    frame = in_pandas()[["sex", "port", "fare"]]
    model = EasyMKLClassifier([Hamming().on("sex"), Hamming().on(["sex", "port"])]).fit(frame[:90], LABELS[:90])
    new = frame[90:94].assign(sex=["x", "y", "f", "m"])
    with pytest.warns(UserWarning, match="column 'sex' of X has categories, 'x' for one, that") as said:
        values = model.decision_function(new)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert np.isfinite(values).all()
    with pytest.warns(UserWarning, match="column 'sex' of X has missing cells that the training sample does not"):
        same = model.decision_function(new.assign(sex=[None, None, "f", "m"]))
    np.testing.assert_array_equal(values, same)  # neither has a category


def test_missing_cells_of_a_kernel_that_takes_none_are_refused_also_when_new() -> None:
    frame = in_pandas()
    with pytest.raises(ValueError, match=r"RBF.* takes no missing cells, and column 'age' of X has some: fill them in"):
        EasyMKLClassifier([RBF("median").on("age"), Hamming().on("sex")]).fit(frame, LABELS)
    model = EasyMKLClassifier([RBF("median").on("fare"), Hamming().on("sex")]).fit(frame, LABELS)
    with pytest.raises(ValueError, match="takes no missing cells, and column 'fare' of X has some"):
        model.predict(frame.assign(fare=np.nan))


def test_a_batch_without_any_text_is_predicted() -> None:
    frame = in_pandas()[["note", "port", "age"]]
    model = EasyMKLClassifier(kernels.for_columns(frame)).fit(frame, LABELS)
    row = frame[3:4].assign(note=None, age=None)
    assert row["port"].isna().all()
    assert np.isfinite(model.decision_function(row)).all()


def test_words_of_texts() -> None:
    texts = [" ".join(RNG.choice(WORDS[:4] if label else WORDS[3:], 5)) for label in LABELS]
    model = EasyMKLClassifier([NGrams(), NGrams("character", (2, 3))]).fit(texts[:90], LABELS[:90])
    assert model.score(texts[90:], LABELS[90:]) > 0.9
    K = bind(NGrams(), ["", "a b", "a"]).matrix(0)
    np.testing.assert_allclose(np.diag(K), [0, 1, 1])  # a text without words is like no other
    assert (bind(NGrams(), ["", " "]).matrix(0) == 0).all()
    with pytest.raises(ValueError, match="NGrams compares texts, and X has 0 columns of strings among 1"):
        bind(NGrams(), [[1.0], [2.0]])


def test_arrays_have_kernels_of_numbers() -> None:
    X = RNG.normal(size=(40, 3)) * [1.0, 100.0, 0.0]
    family = kernels.for_columns(X)
    assert family.names[-2:] == ("column 0", "column 1")
    model = MultipleKernelRidgeCV(family).fit(X, X[:, 0])
    assert model.score(X, X[:, 0]) > 0.95
    with pytest.raises(ValueError, match="no column of X has two different values without naming its row"):
        kernels.for_columns(np.ones((5, 2)))


WIDE = pd.DataFrame(RNG.normal(size=(10, 120)), columns=[f"g{j}" for j in range(120)])


def test_many_columns_have_no_kernel_each_unless_it_is_asked_for() -> None:
    assert len(kernels.for_columns(WIDE)) == 4
    assert len(kernels.for_columns(WIDE, single=True)) == 124


def test_what_holds_neither_numbers_nor_strings_is_refused() -> None:
    with pytest.raises(ValueError, match="column 'a' of X holds neither strings nor numbers"):
        kernels.for_columns(pd.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(ValueError, match="column 'a' of X holds strings, but 1 in row 1"):
        kernels.for_columns(pd.DataFrame({"a": ["x", 1]}))


def test_many_columns_have_no_ladder_whose_narrow_widths_are_the_identity() -> None:
    X = np.random.default_rng(1).normal(size=(60, 150)) * np.geomspace(1e-3, 1e4, 150)
    family = kernels.for_columns(X)
    assert family.names == ("numbers: linear", "numbers: gamma x 0.25", "numbers: gamma x 1", "numbers: by ranks")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    np.testing.assert_allclose(matrix(family, X, "numbers: linear"), rows @ rows.T, atol=1e-12)
    for name in family.names[1:]:
        K = matrix(family, X, name)
        np.testing.assert_allclose(np.diag(K), 1.0)
        assert np.median(K) > 0.5
    np.testing.assert_allclose(matrix(family, np.exp(X / X.std(axis=0)), family.names[3]), K, atol=1e-12)


def test_views_with_many_columns_are_learned_in_any_unit() -> None:
    rng = np.random.default_rng(2)
    wide, other, y = rng.normal(size=(80, 200)), rng.normal(size=(80, 150)), np.arange(80) % 2
    wide += 0.5 * (2.0 * y - 1.0)[:, None]
    labels = []
    for unit in (1.0, 1e6):
        model = L1MKLClassifier().fit({"wide": unit * wide[:60], "other": other[:60] / unit}, y[:60])
        labels.append(model.predict({"wide": unit * wide[60:], "other": other[60:] / unit}))
    np.testing.assert_array_equal(*labels)
    assert (labels[0] == y[60:]).mean() > 0.9
