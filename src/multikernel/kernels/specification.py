"""Parameters as scikit-learn handles them (clone, grid search), for a dataclass."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Self

import numpy as np

from multikernel._parameters import check_parameters


class Specification:
    """Parameters as scikit-learn handles them (clone, grid search), for a dataclass.

    Values are meant to be frozen, but ``set_params`` of scikit-learn changes its (cloned) object in place; hence
    dataclasses that are compared by value and not hashed.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, those of nested specifications as ``part__name``."""
        if not is_dataclass(self):
            raise TypeError(f"{type(self).__name__} needs @dataclass above it: its fields are its parameters")
        params = {f.name: getattr(self, f.name) for f in fields(self)}
        if deep:
            nested = {k: v for k, v in params.items() if _has_parameters(v)}
            for name, part in nested.items():
                params |= {f"{name}__{k}": v for k, v in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place; ValueError for a name that does not exist."""
        own = self.get_params(deep=False)
        for key, value in sorted(params.items(), key=lambda item: item[0].count("__")):  # a part before what is in it
            name, _, rest = key.partition("__")
            if name not in own or (rest and not _has_parameters(own[name])):
                raise ValueError(f"{type(self).__name__} has no parameter {key!r}; it has {', '.join(own) or 'none'}")
            if rest:
                own[name].set_params(**{rest: value})
            else:
                setattr(self, name, value)
                own[name] = value
        self.__post_init__()
        return self

    def __post_init__(self) -> None:
        """Hold the parameters to their annotations; a specification with more to check does so after this."""
        if is_dataclass(self):
            check_parameters(self)

    def __repr__(self) -> str:
        """As a user would write it, with plain numbers for those of numpy."""
        parameters = (f"{name}={plain(value)!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({', '.join(parameters)})"


def _has_parameters(value: Any) -> bool:
    """Whether a value has parameters of its own: a specification, or a kernel of another package."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def plain(value: Any) -> Any:
    """A number of numpy as a number of Python; anything else as it is."""
    if isinstance(value, np.generic):
        return value.item()
    return value
