"""Copies of rows, and identifiers that repeat, are told of; rows that are equal by chance are not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cases import one_in
from multikernel import MultiKernelClassifier, MultiKernelRegressor, PredictionWarning, datasets
from multikernel.auto.repeats import are_copies, repeated

SMALL = ("breast_ljubljana", "breast_wisconsin", "haberman", "ionosphere", "liver_bupa", "spect_heart", "splice")


def rows(name: str) -> Any:
    found = datasets.load(name)
    columns = [np.unique(np.asarray(c, dtype=str), return_inverse=True)[1] for c in np.asarray(found.X, dtype=object).T]
    return np.column_stack([*columns, np.unique(np.asarray(found.y), return_inverse=True)[1]])


@pytest.mark.parametrize("name", SMALL)
def test_rows_that_are_equal_by_chance_are_no_copies(name: str) -> None:
    try:
        X = rows(name)
    except (ValueError, OSError) as error:
        pytest.skip(str(error))
    assert repeated(X) > 0
    assert not are_copies(X, np.arange(X.shape[1]))


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_copies_are_found_among_small_numbers(share: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.binomial(4, 0.3, (300, 6))
    assert repeated(X) > 0.05 * len(X)
    assert not are_copies(X, np.arange(6))
    assert are_copies(np.vstack([X, X[rng.permutation(300)[: int(share * 300)]]]), np.arange(6))


def test_indicators_of_one_column_are_one_cell() -> None:
    """Three levels as three columns: two rows that differ in the level differ in two columns, and are neighbours."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, (400, 5))
    indicators = (levels[:, :, None] == np.arange(3)).reshape(400, 15).astype(float)
    assert repeated(indicators) > 0.1 * 400
    assert not are_copies(indicators, np.repeat(np.arange(5), 3))


@pytest.mark.parametrize("values", one_in(2, [np.arange(10), np.array([f"s{k}" for k in range(10)])]))
def test_an_identifier_that_repeats_is_told_of(values: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"subject_id": np.repeat(values, 4), "x": rng.normal(size=40)})
    y = rng.normal(size=40)
    with pytest.warns(PredictionWarning, match=r"MultiKernelRegressor: column 'subject_id' .* fit\(X, y, groups=...\)"):
        MultiKernelRegressor(random_state=0).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultiKernelRegressor(random_state=0).fit(frame, y, groups=frame["subject_id"])


def test_no_other_column_is_called_an_identifier() -> None:
    """Unique ones are left out without a word, measurements and categories are used."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"id": np.arange(40), "paid": rng.integers(0, 2, 40), "humid": rng.normal(size=40), "grid": list("abcd") * 10}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultiKernelClassifier(random_state=0).fit(frame, np.arange(40) % 2)


def test_few_different_rows_say_nothing_of_copies() -> None:
    """Four kinds of things, each of them met ten times."""
    assert not are_copies(np.tile(np.arange(8.0).reshape(4, 2), (10, 1)), np.arange(2))
    assert are_copies(np.tile(np.arange(20.0).reshape(10, 2), (10, 1)), np.arange(2))


def test_repeated_measurements_that_are_equal_are_told_of() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 2))[np.repeat(np.arange(10), 4)], np.repeat(np.arange(10) % 2, 4)
    with pytest.warns(PredictionWarning, match="MultiKernelClassifier: 30 of 40 samples are the same as an earlier"):
        MultiKernelClassifier(random_state=0).fit(X, y)
