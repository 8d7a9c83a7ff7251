"""What columns are declared to be, where their cells do not tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from multikernel._rules import Rule, listed

Declared = Literal["number", "date", "category", "text"]
_SHOWN = 10  # names that a sentence lists


@dataclass(frozen=True)
class Types(Rule):
    """The types of columns, by their names."""

    words = "a dict from names of columns to " + listed([repr(kind) for kind in get_args(Declared)])

    def accepts(self, value: Any) -> bool:
        kinds = get_args(Declared)
        return isinstance(value, Mapping) and all(
            isinstance(name, str) and isinstance(kind, str) and kind in kinds for name, kind in value.items()
        )


TYPES = Types()
ColumnTypes = Annotated[Any, TYPES] | None


def checked_types(types: Mapping[str, Declared] | None, names: Sequence[str]) -> Mapping[str, Declared]:
    """The declared types; ValueError where one is of a column that is not there."""
    for name in types or {}:
        if name not in names:
            has = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
            raise ValueError(f"types names the column {name!r}, and X has none of that name; it has {has}")
    return types or {}
