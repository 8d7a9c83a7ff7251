"""Estimators made ready for tests that fit them many times."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


def searched(model: Any) -> list[str]:
    """The parameters whose default is searched for in ten fits and more."""
    given = model.get_params(deep=False)
    found = [name for name, value in given.items() if isinstance(value, str) and value == "auto" and name != "solver"]
    along_a_path = "shared_scales" in given and given["penalty"] is None
    return [*found, "penalty"] if along_a_path else found


def numbered(model: Any) -> Any:
    """The model with values for those."""
    values = {"alpha": 10.0, "second": "linear"}
    return clone(model).set_params(**{name: values.get(name, 1.0) for name in searched(model)})
