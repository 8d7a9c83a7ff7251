"""The tables beside the figures of the report: the numbers that were drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from multikernel.reproduce.pages.numbers import NumbersOfFigure


@pytest.fixture
def axes() -> Any:
    axes = Figure().subplots()
    axes.set(xlabel="degree", ylabel="error")
    return axes


def test_labelled_lines_are_columns_and_error_bars_stand_in_parentheses(axes: Any) -> None:
    axes.errorbar([1, 10], [0.25, 0.5], [0.125, 0.0625], label="a")
    axes.plot([3, 1], [2.0, 4.0], label="b")
    axes.plot([7], [7.0])  # a line without a name
    axes.fill_between([1, 3], 0, 1, label="an area")
    numbers = NumbersOfFigure.of(axes)
    assert numbers.header == ("degree", "b", "a")  # the order of the legend
    assert numbers.rows == (("1", "4.000", "0.2500 (0.12)"), ("3", "2.000", ""), ("10", "", "0.5000 (0.062)"))


def test_the_vertical_axis_names_the_only_line(axes: Any) -> None:
    axes.errorbar([1], [0.25], [0.125])
    assert NumbersOfFigure.of(axes) == NumbersOfFigure(("degree", "error"), (("1", "0.2500 (0.12)"),))


def test_what_is_not_finite_is_left_out(axes: Any) -> None:
    axes.errorbar([1, 2, 3], [0.25, np.nan, 0.5], [np.nan, 0.125, 0.125], label="a")
    axes.errorbar([1, 2, 3], [1.0, 2.0, 3.0], label="b")
    rows = NumbersOfFigure.of(axes).rows
    assert rows == (("1", "0.2500", "1.000"), ("2", "", "2.000"), ("3", "0.5000 (0.12)", "3.000"))


def test_several_lines_without_names_or_positions_without_a_name_have_no_table(axes: Any) -> None:
    axes.plot([1], [2.0])
    axes.plot([1], [3.0])
    assert not NumbersOfFigure.of(axes).rows
    axes.set_xlabel("")
    axes.plot([1], [4.0], label="c")
    assert not NumbersOfFigure.of(axes).rows
