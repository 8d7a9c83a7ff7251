"""Columns of new samples that hold something else than in training."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from multikernel import MultiKernelRegressor, MultipleKernelRidgeCV, kernels, views
from multikernel.tables.cells import columns_of
from multikernel.tables.columns import type_of

N = 40
_RNG = np.random.default_rng(0)
_DAYS = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(_RNG.integers(0, 300, N), unit="D"))
FRAME = pd.DataFrame(
    {
        "number": _RNG.normal(size=N),
        "date": _DAYS,
        "category": _RNG.choice(["u", "v"], N),
        "code": _RNG.choice(["1", "2"], N),
        "written": [f"{value:.2f}" for value in _RNG.normal(size=N)],
        "day": _DAYS.dt.strftime("%Y-%m-%d"),
        "time": _DAYS - _DAYS[0],
    }
)
TYPES = {"code": "category"}
TARGET = FRAME["number"] + (FRAME["category"] == "u")
WORDS, NUMBERS = np.full(N, "word"), np.arange(N) + 0.5


@pytest.fixture(scope="module")
def model() -> MultiKernelRegressor:
    return MultiKernelRegressor(random_state=0, types=TYPES).fit(FRAME, TARGET)


@pytest.mark.parametrize(
    ("name", "cells", "said"),
    [
        ("number", _DAYS, "held numbers in training, and holds dates now"),
        ("number", FRAME["day"], "held numbers in training, and '2020-..-..' is not a number"),
        ("number", FRAME["time"], "held numbers in training, and holds durations now"),
        ("number", WORDS, "held numbers in training, and 'word' is not a number"),
        ("date", NUMBERS, "held dates in training, and holds numbers now"),
        ("date", FRAME["written"], "held dates in training, and '-.*' is not a date"),
        ("category", NUMBERS, "held strings in training, and holds numbers now"),
        ("category", _DAYS, "held strings in training, and holds dates now"),
        ("code", _DAYS, "held strings in training, and holds dates now"),
        ("written", _DAYS, "held numbers in training, and holds dates now"),
        ("written", WORDS, "held numbers in training, and 'word' is not a number"),
        ("day", NUMBERS, "held dates in training, and holds numbers now"),
        ("day", WORDS, "held dates in training, and 'word' is not a date"),
        ("time", NUMBERS, "held durations in training, and holds numbers now"),
    ],
)
def test_a_column_of_another_type_is_refused(model, name, cells, said):
    with pytest.raises(ValueError, match=f"column '{name}' of X {said}"):
        model.predict(FRAME.assign(**{name: cells}))


@pytest.mark.parametrize("name", list(FRAME))
@pytest.mark.filterwarnings("ignore:.* missing cells that the training sample does not have")
def test_a_column_of_which_nothing_is_known_is_taken(model, name):
    nothing = [model.predict(FRAME.assign(**{name: cells})) for cells in (np.nan, None, pd.NaT)]
    assert np.array_equal(nothing[0], nothing[1])
    assert np.array_equal(nothing[0], nothing[2])


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("number", FRAME["number"].map(repr)),
        ("date", FRAME["day"]),
        ("day", _DAYS),
        ("code", FRAME["code"].astype(int)),
        ("written", FRAME["written"].astype(float)),
        ("category", pd.Categorical(FRAME["category"])),
    ],
)
def test_the_same_values_in_another_form_are_the_same(model, name, same):
    assert np.allclose(model.predict(FRAME.assign(**{name: same})), model.predict(FRAME))


def test_few_words_among_numbers_count_as_missing_and_are_said(model):
    words = FRAME["number"].astype(object).where(np.arange(N) > 0, "word")
    missing = FRAME["number"].where(np.arange(N) > 0)
    with pytest.warns(UserWarning, match="'word' in it counts as a missing cell"):
        found = model.predict(FRAME.assign(number=words))
    assert np.allclose(found, model.predict(FRAME.assign(number=missing)))


def test_codes_of_many_digits_stay_apart():
    codes = pd.DataFrame({"code": np.array([1234567, 1234568] * 10)})
    column = type_of("code", next(columns_of(codes)), "category")
    assert sorted(set(column.read(next(columns_of(codes)))[0].values)) == ["1234567", "1234568"]


def test_kernels_by_type_refuse_words_for_numbers_too():
    model = MultipleKernelRidgeCV(kernels.for_columns(FRAME)).fit(FRAME, TARGET)
    with pytest.raises(ValueError, match="column 'written' of X held numbers in training, and 'word' is not a number"):
        model.predict(FRAME.assign(written=WORDS))
    with pytest.raises(ValueError, match="column 'number' has another type than in training"):
        model.predict(FRAME.assign(number=_DAYS))
    assert np.isfinite(model.predict(FRAME.assign(date=pd.NaT))).all()


def test_a_column_of_a_view_of_another_type_is_refused():
    other = _RNG.normal(size=(N, 2))
    model = MultipleKernelRidgeCV({"a": kernels.for_columns(FRAME), "b": kernels.RBF("scale")}, tol=1e-2)
    model.fit(views({"a": FRAME, "b": other}), TARGET)
    for name, cells in (("number", _DAYS), ("date", NUMBERS), ("category", NUMBERS)):
        with pytest.raises(ValueError, match=f"view 'a': column '{name}' has another type than in training"):
            model.predict(views({"a": FRAME.assign(**{name: cells}), "b": other}))
    assert np.isfinite(model.predict(views({"a": FRAME.assign(date=pd.NaT), "b": other}))).all()
