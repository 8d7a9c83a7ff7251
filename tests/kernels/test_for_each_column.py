"""The same kernels on each column of a mixed table: on numbers those of the toolbox, on standardised features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from multikernel import RLS2Regressor, bind, kernels

RNG = np.random.default_rng(0)
NUMBERS = pd.DataFrame(RNG.normal(size=(20, 3)) * [1.0, 50.0, 0.01] + [0.0, 7.0, 3.0], columns=list("abc"))


@pytest.mark.parametrize(("basis", "theirs"), [("rls2", kernels.rls2_basis()), ("linear", kernels.linear_features())])
def test_numbers_have_the_kernels_of_standardised_features(basis: str, theirs: kernels.KernelFamily) -> None:
    Z = ((NUMBERS - NUMBERS.mean()) / NUMBERS.std(ddof=0)).to_numpy()
    own = bind(kernels.for_each_column(NUMBERS, basis), NUMBERS).matrices()
    np.testing.assert_allclose(own, bind(theirs, Z).matrices(), atol=1e-9)


def test_categories_gaps_and_dates_are_numbers_side_by_side() -> None:
    frame = NUMBERS.assign(
        a=np.where(np.arange(20) == 3, np.nan, NUMBERS["a"]),
        b=RNG.choice(["x", "y"], 20),
        c=pd.date_range("2020-01-01", periods=20).strftime("%Y-%m-%d"),
        t=[" ".join(RNG.choice(list("uvwxyz"), 5)) for _ in range(20)],
    )
    family = kernels.for_each_column(frame, "linear")
    assert family.names == ("a", "b", "c")  # a text is no column of numbers
    levels = np.equal.outer(frame["b"].to_numpy(), frame["b"].to_numpy()).astype(float)
    np.testing.assert_allclose(bind(family, frame).matrices()[1], levels)
    model = RLS2Regressor(family, alpha=0.1).fit(frame, NUMBERS["a"])
    assert np.isfinite(model.predict(frame)).all()


def test_what_has_no_column_of_numbers_is_refused() -> None:
    texts = pd.DataFrame({"t": [" ".join(RNG.choice(list("uvwxyz"), 5)) for _ in range(30)]})
    with pytest.raises(ValueError, match=r"use kernels\.for_columns for texts"):
        kernels.for_each_column(texts)
    with pytest.raises(ValueError, match="basis"):
        kernels.for_each_column(NUMBERS, "cubic")  # type: ignore[arg-type]
