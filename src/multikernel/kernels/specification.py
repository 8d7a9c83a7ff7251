"""Parameters as scikit-learn handles them (clone, grid search), for a dataclass."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Self

import numpy as np

from multikernel._parameters import check_parameters


class Specification:
    """Parameters as scikit-learn handles them (clone, grid search), for a dataclass.

    Specifications should not change, but ``set_params`` of scikit-learn changes a (cloned) object in place; so they are
    dataclasses that are compared by value, and cannot be hashed.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, those of nested specifications as ``part__name``."""
        if not is_dataclass(self):
            raise TypeError(f"{type(self).__name__} needs @dataclass above it: its fields are its parameters")
        params = {f.name: getattr(self, f.name) for f in fields(self)}
        if deep:
            nested = {k: v for k, v in params.items() if _has_parameters(v)}
            for name, value in nested.items():
                params |= {f"{name}__{k}": v for k, v in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place; ValueError for a name that does not exist."""
        current = self.get_params(deep=False)
        for key, value in sorted(params.items(), key=lambda item: item[0].count("__")):  # outer parameters first
            name, _, inner_key = key.partition("__")
            if name not in current or (inner_key and not _has_parameters(current[name])):
                raise ValueError(
                    f"{type(self).__name__} has no parameter {key!r}; it has {', '.join(current) or 'none'}"
                )
            if inner_key:
                current[name].set_params(**{inner_key: value})
            else:
                setattr(self, name, value)
                current[name] = value
        self.__post_init__()
        return self

    def __post_init__(self) -> None:
        """Check the parameters against their annotations; subclasses may add checks after calling this."""
        if is_dataclass(self):
            check_parameters(self)

    def __repr__(self) -> str:
        """The call that makes it, with numbers of NumPy as plain numbers."""
        parameters = (f"{name}={plain(value)!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({', '.join(parameters)})"


def _has_parameters(value: Any) -> bool:
    """Whether a value has parameters itself: a specification, or a kernel of another package."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def plain(value: Any) -> Any:
    """A number of NumPy as a number of Python; other values unchanged."""
    if isinstance(value, np.generic):
        return value.item()
    return value
