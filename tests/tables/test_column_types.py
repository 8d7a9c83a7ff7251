"""What a column is taken for, and how it becomes numbers."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import norm

from multikernel import EasyMKLClassifier, MultiKernelClassifier, MultiKernelRegressor, kernels
from multikernel._warnings import PredictionWarning
from multikernel.kernels import NormalScores, Standardize
from multikernel.tables.cells import Cells
from multikernel.tables.columns import type_of
from multikernel.tables.dates import date_order, days_in
from multikernel.tables.objects import Objects

Array = Any


def objects(values: list[Any]) -> Array:
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("a", np.array([1.0, 2.0, np.nan]), "number"),
        ("a", np.array([1.0, 1.0, np.nan]), "number"),  # the gap tells
        ("a", np.array([1.0, 1.0]), "empty"),
        ("a", np.array([np.nan, np.nan]), "empty"),
        ("id", np.arange(30.0), "identifier"),
        ("a", np.arange(30.0), "number"),
        ("a", objects(["1", "2.5", None]), "number"),
        ("a", objects([*map(str, range(20)), "n/a", " "]), "number"),
        ("a", objects([*map(str, range(10)), "low", "high"]), "category"),
        ("a", objects(["2020-01-02", "2021-03-04 10:00"]), "date"),
        ("a", objects(["12.03.2020", "1.4.2020"]), "date"),
        ("a", objects(["12/03/2020", "01/25/2020"]), "date"),
        ("a", objects(["12/03/2020", "01/04/2020"]), "category"),  # days or months first, nobody knows
        ("a", objects([f"{1000 + i}-{20 + i % 70}-{40 + i % 50}" for i in range(40)]), "identifier"),  # no such days
        ("a", np.array(["2020-01-02", "2021-03-04"], dtype="datetime64[s]"), "date"),
        ("a", objects(["red", "blue"] * 10), "category"),
        ("a", objects([f"code {i}" for i in range(30)]), "identifier"),
        ("a", objects([letter * 3 + other for letter in "abcdef" for other in "uvwxyz"]), "text"),
        ("a", objects([f"some words about item {i}" for i in range(30)]), "text"),
        ("a", objects(["very long answer given", "no answer at all"] * 15), "category"),
        ("a", objects([None, None]), "empty"),
    ],
)
def test_kinds(name: str, cells: Array, kind: str) -> None:
    assert type_of(name, Cells.of_cells(name, cells)).type == kind


def test_times_of_several_zones_are_those_of_universal_time() -> None:
    there = timezone(timedelta(hours=2))
    given = [datetime(2020, 1, 1, 2, tzinfo=there), datetime(2020, 1, 1, tzinfo=UTC), date(2020, 1, 1), None]
    cells = Cells.of_cells("a", objects(given))
    np.testing.assert_array_equal(cells.values, [18262.0] * 3 + [np.nan])


def test_what_counts_as_missing_among_objects() -> None:
    given = [pd.NA, pd.NaT, None, float("nan"), np.float32("nan"), np.datetime64("NaT"), 0.0, "", [np.nan], np.zeros(2)]
    series = pd.Series([np.nan, 1.0])  # an object that is compared entry by entry
    np.testing.assert_array_equal(Objects.of([*given, series]).absent, [True] * 6 + [False] * 5)


@pytest.mark.parametrize(
    ("texts", "order", "days"),
    [
        (["2020-3-2", "2020-03-02 12:00"], "ymd", [date(2020, 3, 2), date(2020, 3, 2)]),
        (["02.03.2020", "1.1.1999"], "dmy", [date(2020, 3, 2), date(1999, 1, 1)]),
        (["02/03/2020", "13/03/2020"], "dmy", [date(2020, 3, 2), date(2020, 3, 13)]),
        (["02/03/2020", "03-13-2020"], "mdy", [date(2020, 2, 3), date(2020, 3, 13)]),
    ],
)
def test_dates_in_writing(texts: list[str], order: Any, days: list[date]) -> None:
    assert date_order(texts) == order
    ordinals = [day.toordinal() - date(1970, 1, 1).toordinal() for day in days]
    np.testing.assert_array_equal(np.floor(days_in(texts, order)), ordinals)
    assert np.isnan(days_in(["99.99.2020", None, "soon"], order)).all()


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2020-03-12 10:30 AM", "2020-03-12T10:30:00+00:00"),
        ("2020-03-12 10:30:05 p.m.", "2020-03-12T22:30:05+00:00"),
        ("2020-03-12 12:00 am", "2020-03-12T00:00:00+00:00"),
        ("2020-03-12 12:00pm", "2020-03-12T12:00:00+00:00"),
        ("2020-03-12T10:30:15.250Z", "2020-03-12T10:30:15.250+00:00"),
        ("2020-03-12 10:30-08:00", "2020-03-12T10:30:00-08:00"),
        ("2020-03-12 23:30 +0545", "2020-03-12T23:30:00+05:45"),
        ("2020-03-12 10:30 UTC", "2020-03-12T10:30:00+00:00"),
    ],
)
def test_times_of_day_with_halves_and_offsets(text: str, iso: str) -> None:
    truth = datetime.fromisoformat(iso).timestamp() / 86400
    np.testing.assert_allclose(days_in([text], "ymd"), truth, rtol=1e-13)


def test_days_that_no_calendar_has_count_as_missing_and_are_said() -> None:
    days = [f"2020-01-{1 + i % 28:02}" for i in range(40)]
    column = type_of("day", Cells.of_cells("day", objects([*days, "2020-02-30"])))
    assert (column.type, column.gaps, column.strange) == ("date", True, ("2020-02-30",))
    assert column.note == "column 'day' of X is one of dates, and '2020-02-30' in it counts as a missing cell"


def test_a_time_zone_does_not_lead_out_of_the_calendar() -> None:
    texts = ["9999-12-31 23:59:59-05:00", "0001-01-01 00:30+02:00", "2020-01-01 00:30+02:00"]
    np.testing.assert_array_equal(np.isnan(days_in(texts, "ymd")), [True, True, False])


@pytest.mark.parametrize("text", ["13:00 PM", "0:30 am", "24:00", "9:61", "9:30:60", "10:30 CET"])
def test_what_no_clock_shows_is_no_date(text: str) -> None:
    assert np.isnan(days_in([f"2020-03-12 {text}"], "ymd")).all()


def test_scores_do_not_follow_outliers_or_units() -> None:
    x = np.random.default_rng(0).normal(size=(100, 1))
    scores = NormalScores().learned(x)
    ranks = norm.ppf((np.argsort(np.argsort(x[:, 0])) + 0.5) / 100)
    np.testing.assert_allclose(scores(x)[:, 0], ranks / ranks.std())
    np.testing.assert_allclose(NormalScores().learned(np.exp(3 * x))(np.exp(3 * x)), scores(x))
    assert np.abs(scores(np.array([[1e9]]))).max() < 4.0
    gaps = np.vstack([x, [[np.nan]]])
    np.testing.assert_allclose(NormalScores().learned(gaps)(gaps)[-1], [0.0, 1.0])


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_numbers_whose_squares_are_none_are_standardised(size: float) -> None:
    x = np.array([[1.0], [2.0], [6.0], [np.nan]])
    Z = Standardize().learned(size * x)(size * x)
    np.testing.assert_allclose(Z, Standardize().learned(x)(x))
    thin = sparse.csr_array(np.array([[1.0, 0.0], [0.0, -3.0], [2.0, 0.5]]))
    scaled = Standardize().learned(size * thin)(size * thin)
    np.testing.assert_allclose(scaled.toarray(), thin.toarray() / thin.toarray().std(axis=0))


def test_strings_in_a_column_of_numbers_count_as_missing_and_are_said() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 40).astype(float)
    frame = pd.DataFrame({"age": [f"{a:g}" for a in age], "other": rng.normal(size=40)})
    frame.loc[3, "age"] = "unknown"
    sentence = "column 'age' of X is one of numbers, and 'unknown' in it counts as a missing cell"
    with pytest.warns(PredictionWarning, match=sentence):
        model = MultiKernelRegressor(random_state=0).fit(frame, age)
    assert f"C{sentence[1:]}." in model.explain()
    assert np.corrcoef(model.predict(frame), age)[0, 1] > 0.9
    with pytest.warns(PredictionWarning, match="and 'young' in it counts as a missing cell") as said:
        model.predict(frame[:4].assign(age=["young", "41", "unknown", " "]))
    assert len(said) == 1

    with pytest.warns(PredictionWarning, match=sentence):
        family = kernels.for_columns(frame)
    model = EasyMKLClassifier(family).fit(frame, age > 50)
    known = frame[:4].assign(age=["20", "30", "unknown", "70"])
    values = model.decision_function(known)
    with pytest.warns(PredictionWarning, match="and 'young' in it counts as a missing cell"):
        np.testing.assert_array_equal(model.decision_function(known.assign(age=["20", "30", "young", "70"])), values)


def test_a_declared_type_holds_whatever_the_cells_look_like() -> None:
    rng = np.random.default_rng(0)
    zips = rng.integers(0, 5, 40)
    frame = pd.DataFrame(
        {
            "id": np.arange(40),  # which would name its rows
            "zip": zips,  # which would be a number
            "note": rng.choice(["good shop", "bad shop"], 40),  # which would be a category
            "day": [f"{m:02}/{d:02}/2020" for d, m in rng.integers(1, 12, (40, 2))],  # of which nothing tells the order
            "size": ["1", "2", "low", "high"] * 10,  # which would be a category
        }
    )
    types = {"id": "number", "zip": "category", "note": "text", "day": "date", "size": "number"}
    y = np.isin(zips, (1, 3))
    with pytest.warns(PredictionWarning, match="'high', 'low' in it counts as a missing cell"):
        model = MultiKernelClassifier(types=types, random_state=0).fit(frame, y)
    assert {str(c.key): c.type for c in model.preparation_.columns} == types
    assert model.score(frame, y) == 1.0
    with pytest.warns(PredictionWarning, match="counts as a missing cell"):
        family = kernels.for_columns(frame, types=types)
    assert {"id", "zip", "note: characters", "day: days", "size"} <= set(map(str, family.names))
    fitted = EasyMKLClassifier(family).fit(frame, y)
    np.testing.assert_array_equal(fitted.predict(frame), y)


@pytest.mark.parametrize(
    ("types", "sentence"),
    [
        ({"q": "text"}, "types names the column 'q', and X has none of that name"),
        ({"a": "words"}, "types must be a dict from names of columns to 'number'"),
        ("text", "types must be a dict"),
        ({"a": "date"}, "column 'a' is declared to be a date, and none of its cells reads as one"),
        ({"a": "number"}, "column 'a' is declared to be a number, and none of its cells reads as one"),
        ({"b": "date"}, "column 'b' is declared to be a date, and holds numbers"),
    ],
)
def test_a_declared_type_that_cannot_be_is_refused(types: Any, sentence: str) -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": np.arange(20.0)})
    with pytest.raises(ValueError, match=sentence):
        kernels.for_columns(frame, types=types)
    with pytest.raises(ValueError, match=sentence):
        MultiKernelRegressor(types=types).fit(frame, np.arange(20.0))


def test_samples_are_not_encoded_again_for_a_kernel_that_learns_nothing() -> None:
    class Counted(Standardize):
        calls = 0

        def __call__(self, X: Any) -> Any:
            Counted.calls += 1
            return super().__call__(X)

    kernel = kernels.Encoded(kernels.RBF(1.0), Counted((0.0,), (1.0,)))
    assert kernel.learned(np.zeros((3, 1))) is kernel
    assert Counted.calls == 0


def test_dates_day_first_are_dates_everywhere() -> None:
    days = pd.date_range("2020-01-01", periods=60, freq="D")
    written, dates = (pd.DataFrame({"day": d, "x": np.arange(60) % 7}) for d in (days.strftime("%d.%m.%Y"), days))
    y = np.arange(60.0)
    models = [MultiKernelRegressor(random_state=0).fit(frame, y) for frame in (written, dates)]
    assert "Dates of 'day' are read day first" in models[0].explain()
    np.testing.assert_allclose(models[0].predict(written), models[1].predict(dates))
    assert kernels.column_types(written) == {"day": "date", "x": "number"}
    banks = [kernels.for_columns(frame) for frame in (written, dates)]
    assert banks[0].names == banks[1].names
    fitted = [EasyMKLClassifier(b).fit(f, y > 30) for b, f in zip(banks, (written, dates), strict=True)]
    np.testing.assert_allclose(fitted[0].decision_function(written), fitted[1].decision_function(dates), atol=1e-10)


def test_dates_without_an_order_are_reported() -> None:
    days = [f"{i % 12 + 1:02}/{i % 11 + 1:02}/2020" for i in range(40)]
    frame = pd.DataFrame({"day": days, "x": np.arange(40.0)})
    with pytest.warns(
        PredictionWarning, match=r"'day' of X holds dates such as '01/01/2020', in which nothing distinguishes days"
    ):
        model = MultiKernelRegressor(random_state=0).fit(frame, np.arange(40.0) % 7)
    assert "nothing distinguishes days from months" in model.explain()
    declared = MultiKernelRegressor(random_state=0, types={"day": "date"}).fit(frame, np.arange(40.0) % 7)
    assert "1 date (day)" in declared.explain()


def test_dates_with_the_year_first_may_have_slashes() -> None:
    days = [f"2020/{i % 12 + 1:02}/{i % 28 + 1:02}" for i in range(40)]
    assert kernels.column_types(pd.DataFrame({"a": days, "b": [day.replace("/", "-") for day in days]})) == {
        "a": "date",
        "b": "date",
    }
