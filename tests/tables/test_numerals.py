"""Numbers with units, with marks between thousands and with decimal commas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import multikernel
from cases import one_in
from multikernel import AverageMKLRegressor, MultiKernelRegressor, kernels
from multikernel.tables.numerals import numbers_in, written_in

READ = [
    (["$1,234.56", "$950"], [1234.56, 950.0]),
    (["-$5", "$-6", "\u22123 $"], [-5.0, -6.0, -3.0]),
    (["(1,234.50)", "7"], [-1234.5, 7.0]),
    (["($5)", "$7"], [-5.0, 7.0]),
    (["1,234.56 EUR", "12 EUR"], [1234.56, 12.0]),
    (["EUR 1.234,56", "EUR 12"], [1234.56, 12.0]),
    (["12.3%", "5 %"], [12.3, 5.0]),
    (["3 kg", "4.5kg", "5"], [3.0, 4.5, 5.0]),
    (["20 \u00b0C", "21,5 \u00b0C"], [20.0, 21.5]),
    (["0.5", "1,5"], [0.5, 1.5]),
    (["1,234", "0.5"], [1234.0, 0.5]),
    (["1,234", "2,5"], [1.234, 2.5]),
    (["1.234", "2,5"], [1234.0, 2.5]),
    (["1 234", "12\u00a0345,5"], [1234.0, 12345.5]),
    (["1'234.5", "7"], [1234.5, 7.0]),
    (["1.234", "5.678"], [1.234, 5.678]),
    (["1e3", "-2.5"], [1000.0, -2.5]),
]
NOT_READ = [
    ["3 kg", "5 g"],
    ["5%", "3"],
    ["0.5", "1,5", "1,234"],  # 1234 or 1.234: the column has both marks before decimals
    ["12,34,567", "0,123,456"],
    ["12.03.2020", "13.03.2020"],
    ["10:30", "11:30"],
    ["REF001", "REF002"],
    ["p1", "p2"],
    ["12a", "13b"],
    ["1_000", "2_000"],
    ["1-2", "3-4"],
]


@pytest.mark.parametrize(("texts", "values"), READ, ids=lambda each: str(each[0]))
def test_numbers_in_writing_are_numbers(texts: list[str], values: list[float]) -> None:
    written = written_in(texts)
    assert written.numerals is not None
    assert numbers_in(texts, written.numerals).tolist() == values
    assert not written.doubt


@pytest.mark.parametrize("texts", NOT_READ, ids=str)
def test_what_is_no_number_is_none(texts: list[str]) -> None:
    assert written_in(texts).numerals is None


def test_a_column_that_tells_nothing_is_read_in_thousands_and_said() -> None:
    written = written_in(["$1,234", "$5,678"])
    assert (written.doubt, written.numerals("$1,234")) == ("$1,234", 1234.0)
    assert written_in(["1,234", "5,678"], comma=True).numerals("1,234") == 1.234
    assert written_in(["1.234", "5.678"], comma=True).numerals("1.234") == 1234.0
    frame = pd.DataFrame({"x": [f"{1 + i % 7},{100 + 17 * i}" for i in range(40)]})
    with pytest.warns(UserWarning, match="column 'x' of X does not show whether '1,100' is 1100 or 1.1: it is read as"):
        kernels.for_columns(frame)


RNG = np.random.default_rng(0)
PRICE = RNG.uniform(100, 9000, 60).round(2)
FORMS = {
    "dollars": [f"${value:,.2f}" for value in PRICE],
    "euros": [f"{value:,.2f} EUR".translate(str.maketrans(",.", ".,")) for value in PRICE],
    "percent": [f"{value:.2f}%" for value in PRICE],
    "marks of both kinds": [f"{value:.2f}".replace(".", ",.."[i % 3]) for i, value in enumerate(PRICE)],
}


@pytest.mark.parametrize("form", one_in(3, FORMS))
def test_a_price_in_writing_is_as_good_as_a_number(form: str, tmp_path) -> None:
    plain, texts = pd.DataFrame({"price": PRICE}), pd.DataFrame({"price": FORMS[form]})
    model = MultiKernelRegressor(random_state=0).fit(plain[:40], np.log(PRICE[:40]))
    written = MultiKernelRegressor(random_state=0).fit(texts[:40], np.log(PRICE[:40]))
    multikernel.save(written, tmp_path / "model.mk")
    again = multikernel.load(tmp_path / "model.mk")
    for new in (texts[40:], plain[40:]):
        np.testing.assert_allclose(again.predict(new), model.predict(plain[40:]), rtol=1e-10)
    assert "1 number (price)" in written.explain()
    declared = kernels.for_columns(texts[:40], types={"price": "number"})
    ridge = AverageMKLRegressor(declared, alpha=0.1).fit(texts[:40], PRICE[:40])
    same = AverageMKLRegressor(kernels.for_columns(plain[:40]), alpha=0.1).fit(plain[:40], PRICE[:40])
    np.testing.assert_allclose(ridge.predict(texts[40:]), same.predict(plain[40:]), rtol=1e-8)


def test_another_unit_than_in_training_is_refused() -> None:
    model = MultiKernelRegressor(random_state=0).fit(
        pd.DataFrame({"w": [f"{i} kg" for i in range(40)]}), np.arange(40.0)
    )
    with pytest.raises(ValueError, match="column 'w' of X held numbers in training, and '5 g' is not a number"):
        model.predict(pd.DataFrame({"w": ["5 g", "7 g"]}))


def test_several_units_are_not_mixed() -> None:
    frame = pd.DataFrame({"w": ["3 kg", "5 g", "4 kg", "6 g"] * 10, "x": np.arange(40.0)})
    with pytest.warns(
        UserWarning, match=r"'w' of X holds numbers with several units \('g', 'kg'\), and is taken as a col"
    ):
        model = MultiKernelRegressor(random_state=0).fit(frame, np.arange(40.0))
    assert "several units ('g', 'kg')" in model.explain()
    with pytest.raises(ValueError, match=r"declared to be a number, and its cells have several units \('g', 'kg'\)"):
        kernels.for_columns(frame, types={"w": "number"})
