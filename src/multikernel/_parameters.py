"""The values that a parameter may have, stated in its annotation, and one message that refuses others.

    @dataclass
    class RBF(Kernel):
        gamma: Positive = 1.0                              RBF("a")  ->  RBF: gamma must be a finite number > 0, got 'a'

``check_parameters`` checks the fields of a dataclass by their annotations: ``Annotated`` types with a ``Rule``, the
frequent of which have names here, ``bool``, ``Literal``, and unions of these with None. The class itself checks fields
of other types. A function checks its arguments by the rules: ``POSITIVE.check(tol, "meb_radius: tol")``. True and False
do not count as numbers; numbers of NumPy do.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from multikernel._rules import (
    AnyOf,
    Choice,
    Flag,
    Folder,
    Generator,
    Jobs,
    Nothing,
    Number,
    Rule,
    Vector,
    Whole,
    abbreviated,
)
from multikernel._typing import Array

_LARGEST_DEGREE = 10_000  # higher powers of numbers that are not within 1e-3 of 1 are 0 or infinite


FINITE = Number()
POSITIVE = Number(above=0)
NON_NEGATIVE = Number(least=0)
WITHIN_ONE = Number(least=0, most=1)
PART = Number(above=0, most=1)
COUNT = Whole(1)
WHOLE = Whole(0)
DEGREE = Whole(0, _LARGEST_DEGREE)
POWER = Whole(1, _LARGEST_DEGREE)
FLAG = Flag()
VERBOSITY = AnyOf((WHOLE, FLAG))
FOLDER_OR_NONE = AnyOf((Folder(), Nothing()))
SEED = AnyOf((Whole(0, 2**32 - 1), Generator(), Nothing()))

Positive = Annotated[float, POSITIVE]
NonNegative = Annotated[float, NON_NEGATIVE]
WithinOne = Annotated[float, WITHIN_ONE]  # [0, 1]
Part = Annotated[float, PART]  # (0, 1]
Count = Annotated[int, COUNT]
Starts = Annotated[int, Whole(1, 10_000)]  # starting points, from each of which a problem is solved
Degree = Annotated[int, DEGREE]
Power = Annotated[int, POWER]
NonNegativeVector = Annotated[Array, Vector()]
Threads = Annotated[int, Jobs()] | None
Directory = Annotated[Any, FOLDER_OR_NONE]
Seed = Annotated[Any, SEED]
Verbosity = Annotated[Any, VERBOSITY]


def check_parameters(owner: object) -> None:
    """ValueError where a field of a dataclass has a value that its annotation does not allow."""
    cls: Any = type(owner)
    for name, rule in rules(cls).items():
        rule.check(getattr(owner, name), f"{cls.__name__}: {name}")


def check_each(rule: Rule, values: Any, name: str) -> list[Any]:
    """The values as a list; ValueError where they are no list, or the rule does not accept one of them."""
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise ValueError(f"{name} must be a list, each of it {rule.words}, got {abbreviated(values)}")
    return [rule.check(value, f"each of {name}") for value in values]


@cache
def rules(cls: Any) -> dict[str, Rule]:
    """The rules of the fields whose annotations state one; annotations that cannot be evaluated state none."""
    rules_of_fields: dict[str, Rule | None] = {}
    for base in reversed(cls.__mro__):
        rules_of_fields |= _stated_rules(base)
    return {f.name: rule for f in fields(cls) if (rule := rules_of_fields.get(f.name)) is not None}


def rules_of_arguments(function: Any) -> dict[str, Rule]:
    """The rules of the arguments of a function whose annotations state one."""
    return {name: rule for name, rule in _stated_rules(function).items() if rule is not None}


def _stated_rules(owner: Any) -> dict[str, Rule | None]:
    if owner.__module__ in sys.modules:
        scope = vars(sys.modules[owner.__module__])
    else:
        scope = {}
    return {name: _rule(_evaluated(hint, scope)) for name, hint in inspect.get_annotations(owner).items()}


def _evaluated(hint: Any, scope: dict[str, Any]) -> Any:
    """An annotation, which may be a string; Any where it uses a name that only type checkers import."""
    try:
        if isinstance(hint, str):
            return eval(hint, scope)
        return hint
    except NameError:
        return Any


def _rule(hint: Any) -> Rule | None:
    """The rule that an annotation states."""
    if hint is bool:
        return FLAG
    if hint in (None, type(None)):
        return Nothing()
    arguments, origin = get_args(hint), get_origin(hint)
    if origin is Annotated:
        return next((argument for argument in arguments[1:] if isinstance(argument, Rule)), None)
    if origin is Literal:
        return Choice(arguments)
    if origin in (Union, types.UnionType):
        rules = [_rule(argument) for argument in arguments]
        if not all(rules):
            return None
        return AnyOf(tuple(rule for rule in rules if rule))
    return None
