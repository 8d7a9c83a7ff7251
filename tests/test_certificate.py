"""What a certificate says: computed in one place, of one kind, and never reached by what is no number."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel.certificate import Certificate, relative, worst


def test_a_gap_is_relative_to_the_upper_value() -> None:
    assert Certificate.gap(10.0, 9.0) == Certificate("duality gap", 0.1)
    assert Certificate.gap(-9.0, -10.0).value == pytest.approx(1.0 / 9.0)
    assert Certificate.gap(1.0, 1.0 + 1e-12).value == 0.0
    assert Certificate.gap(1e-9, 0.0, floor=1.0).value == 1e-9
    assert Certificate.gap(1e-9, 0.0).value == 1.0


def test_a_stationarity_stays_one() -> None:
    assert Certificate.stationarity(2.0, -10.0) == Certificate("stationarity", 0.2)
    assert str(Certificate.stationarity(2.0, 10.0)) == "relative stationarity of 0.2"


@pytest.mark.parametrize("excess", [np.nan, np.inf])
@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, 1.0])
def test_what_is_no_number_is_never_reached(excess: float, value: float) -> None:
    assert relative(excess, value) == np.inf
    assert not Certificate.stationarity(excess, value).reached(1e300)
    assert not Certificate("duality gap", np.nan).reached(np.inf)


def test_zero_values_without_excess_are_certain() -> None:
    assert relative(0.0, 0.0) == 0.0
    assert relative(-1.0, 0.0) == 0.0
    assert relative(1.0, 0.0) > 1e300


def test_the_worst_of_several_is_a_stationarity_where_one_is() -> None:
    gaps = [Certificate("duality gap", value) for value in (0.1, 0.5)]
    assert worst(gaps).value == 0.5
    assert worst([*gaps, Certificate("stationarity", 1e-9)]) == Certificate("stationarity", 1e-9)
