"""Models that an earlier version saved are read, and say what they said then."""

from __future__ import annotations

import numpy as np
import pytest

from golden.models import FOLDER, names, samples
from multikernel.persistence import read


@pytest.mark.parametrize("name", names())
def test_a_model_of_an_earlier_version_says_what_it_said(name: str) -> None:
    model, answers = read(FOLDER / f"{name}.mk")
    for method, told in answers.items():
        said = getattr(model, method)(samples(name))
        if isinstance(told[0], str):
            assert said.tolist() == told
        else:
            np.testing.assert_allclose(said, told, rtol=1e-7, atol=1e-9)
    assert set(model.get_params(deep=False)) <= set(vars(model))
