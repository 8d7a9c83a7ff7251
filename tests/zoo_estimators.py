"""Estimators made ready for tests that fit them many times."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


def searched(model: Any) -> list[str]:
    """The parameters whose default is searched for in ten fits and more."""
    return [name for name, value in model.get_params(deep=False).items() if value == "auto" and name != "solver"]


def numbered(model: Any) -> Any:
    """The model with values for those."""
    values = {"alpha": 10.0, "second": "linear"}
    return clone(model).set_params(**{name: values.get(name, 1.0) for name in searched(model)})
