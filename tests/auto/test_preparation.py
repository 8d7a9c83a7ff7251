"""What a column is taken for, and what becomes of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from multikernel.auto.columns import kind_of
from multikernel.auto.dates import Dates, as_dates
from multikernel.auto.encoders import Categories, Numbers
from multikernel.auto.preparation import Preparation
from multikernel.auto.table import read
from multikernel.auto.text import Text


def objects(values):
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("a", np.array([1.0, 2.0, np.nan]), "number"),
        ("a", np.array([1.0, 1.0, np.nan]), "number"),  # the gap tells
        ("a", np.array([1.0, 1.0]), "constant"),
        ("a", np.array([np.nan, np.nan]), "missing"),
        ("id", np.arange(30.0), "identifier"),
        ("a", np.arange(30.0), "number"),
        ("a", objects(["1", "2.5", None]), "number"),
        ("a", objects(["2020-01-02", "2021-03-04 10:00"]), "date"),
        ("a", np.array(["2020-01-02", "2021-03-04"], dtype="datetime64[s]"), "date"),
        ("a", objects(["red", "blue"] * 10), "category"),
        ("a", objects([f"code {i}" for i in range(30)]), "identifier"),
        ("a", objects([f"some words about item {i}" for i in range(30)]), "text"),
        ("a", objects(["very long answer given", "no answer at all"] * 15), "category"),
        ("a", objects([None, None]), "missing"),
    ],
)
def test_kinds(name, cells, kind):
    assert kind_of(name, cells) == kind


def test_numbers_have_mean_zero_and_spread_one_and_gaps_are_told():
    x = np.array([1.0, 2.0, 30.0, np.nan, 4.0])
    plain, ranked = Numbers.of(x).encode(x)
    assert np.allclose(plain[:, 0].mean(), 0.0)
    assert np.allclose(plain[:, 0].std(), 1.0)
    assert plain[:, 1].tolist() == [0, 0, 0, 1, 0]
    assert np.allclose(ranked[:, 0].std(), 1.0)


def test_ranks_do_not_follow_outliers_or_units():
    x = np.random.default_rng(0).normal(size=100)
    _, ranked = Numbers.of(x).encode(x)
    _, other = Numbers.of(np.exp(3.0 * x)).encode(np.exp(3.0 * x))
    assert np.allclose(ranked, other)
    scores = norm.ppf((np.argsort(np.argsort(x)) + 0.5) / 100)
    assert np.allclose(ranked[:, 0], scores / scores.std())
    assert np.abs(Numbers.of(x).encode(np.array([1e9]))[1]).max() < 4.0


def test_categories_are_indicators_and_unknown_ones_are_zeros():
    encoder = Categories.of(objects(["b", "a", None, "b"]))
    columns, _ = encoder.encode(objects(["a", "b", None, "c"]))
    assert columns.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_dates_are_days_and_what_varies_within_year_and_week():
    days = as_dates(objects(["2021-01-04", "2021-01-11", "2021-01-18"]))  # Mondays of a January
    assert Dates.of(days).chosen == (0,)
    assert Dates.of(as_dates(objects(["2021-01-04", "2021-05-11"]))).chosen == (0, 1, 2, 3, 4)


def test_text_is_rows_of_norm_one():
    encoder = Text.of(objects(["red apple", "green apple", None]))
    rows = encoder.encode(objects(["red apple", "unknown", None]))
    assert np.allclose(np.sqrt(rows.multiply(rows).sum(axis=1)).ravel(), [1.0, 0.0, 0.0])


def test_columns_of_a_feature_share_a_group():
    frame = pd.DataFrame({"n": [1.0, 2.0, np.nan], "c": ["u", "v", "w"], "k": [3.0, 4.0, 6.0]})
    table = read(frame)
    samples = Preparation.of(table).samples(table)
    assert samples.owner.tolist() == [0, 1, 2, 2, 2, 3]
    assert samples.names == ("n", "n", "c", "k")
