"""What each candidate adds to a prediction of the automatic estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import multikernel as mk
from multikernel import MultiKernelClassifier, MultiKernelRegressor


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50), "c": rng.choice(["x", "y"], 50)})


def test_they_sum_to_the_decision_values(table, tmp_path):
    for classes in (2, 3):
        y = np.digitize(table["a"], [0.0, 0.7][: classes - 1])
        model = MultiKernelClassifier(random_state=0).fit(table, y)
        parts, values = model.contributions(table), model.decision_function(table)
        assert parts.shape == ((50, len(model.kernel_names_)) if classes == 2 else (50, len(model.kernel_names_), 3))
        np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, values, atol=1e-12)
    mk.save(model, tmp_path / "model.mk")
    again = mk.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.contributions(table), parts)
    assert list(again.kernel_names_) == list(model.kernel_names_)


def test_they_sum_to_predictions_in_the_units_of_the_target(table):
    y = 1e6 * (3.0 + table["a"].to_numpy() ** 2)
    for target in (y, np.c_[y, 1e-3 * y[::-1]], np.full(50, 7.0)):
        model = MultiKernelRegressor(random_state=0).fit(table, target)
        parts, values = model.contributions(table), model.predict(table)
        assert parts.shape == (50, len(model.kernel_names_), *target.shape[1:])
        np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, values, rtol=1e-12)


@pytest.mark.parametrize("cls", [MultiKernelClassifier, MultiKernelRegressor])
def test_a_model_that_is_not_fitted_says_so(cls, table):
    with pytest.raises(NotFittedError):
        cls().contributions(table)
    assert not hasattr(cls(), "intercept_")
