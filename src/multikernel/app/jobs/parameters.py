"""The parameters of an estimator or a function, told by its signature, its docstring and its rules."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import multikernel
from multikernel._parameters import rules, rules_of_arguments
from multikernel._rules import Rule

# Kernels have a language of their own, and how far a fit is, each application shows in its own way.
_ELSEWHERE = frozenset({"kernels", "verbose"})


@dataclass(frozen=True)
class Parameter:
    """What a person may set, and what there is to know about it.

    Parameters
    ----------
    name : str
    default : its value where nobody sets it
    kind : str, what it may be, in the words of the docstring
    about : str, what it does
    rule : what it may be, to be checked; None where the estimator checks it only together with others
    """

    name: str
    default: Any
    kind: str
    about: str
    rule: Rule | None


def parameters_of(estimator: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of an estimator's class, but for its kernels, or of a function; in the order of its docstring."""
    defaults = {
        name: given.default for name, given in inspect.signature(estimator).parameters.items() if name not in _ELSEWHERE
    }
    words = _described(estimator)
    known = rules(estimator) if isinstance(estimator, type) else rules_of_arguments(estimator)
    ordered = [*(name for name in words if name in defaults), *(name for name in defaults if name not in words)]
    return tuple(Parameter(name, defaults[name], *words.get(name, ("", "")), known.get(name)) for name in ordered)


def summary(estimator: type) -> str:
    """The first sentence of the class's docstring."""
    return " ".join((inspect.getdoc(estimator) or "").split("\n\n")[0].split())


def check(estimator: Callable[..., Any], values: dict[str, Any]) -> None:
    """ValueError where the estimator has no such parameter, or its rule does not accept the value."""
    known = {parameter.name: parameter for parameter in parameters_of(estimator)}
    for name, value in values.items():
        if name in _ELSEWHERE:
            instead = "use --kernels" if name == "kernels" else "progress is shown anyway"
            raise ValueError(f"{name!r} cannot be set here; {instead}")
        if name not in known:
            close = get_close_matches(name, known, 1)
            guess = f"did you mean {close[0]!r}? " if close else ""
            raise ValueError(f"{estimator.__name__} has no parameter {name!r}; {guess}It has {', '.join(known)}")
        rule = known[name].rule
        if rule is not None:
            rule.check(value, f"{estimator.__name__}: {name}")


def _described(estimator: Any, names: frozenset[str] | None = None) -> dict[str, tuple[str, str]]:
    """For each parameter of the docstring what it may be and what it does; "as in X" is looked up there."""
    found: dict[str, tuple[str, str]] = {}
    for heads, kind, about in _entries(estimator):
        wanted = [name for name in heads if names is None or name in names]
        other = re.match(r"as in (\w+)[;, ]*", f"{kind} {about}")
        if other and wanted:
            more = f"{kind} {about}"[other.end() :].strip()
            there = _described(getattr(multikernel, other[1]), frozenset(wanted))
            found |= {name: (what, f"{does} {more}".strip()) for name, (what, does) in there.items()}
        else:
            found |= dict.fromkeys(wanted, (kind, about))
    return found


def _entries(estimator: Any) -> list[tuple[list[str], str, str]]:
    """The entries under "Parameters": their names, what stands after the colon, and the text below."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(estimator) or "", flags=re.MULTILINE)
    section = dict(zip(parts[1::2], parts[2::2], strict=True)).get("Parameters", "")
    entries = re.findall(r"^(\w[\w, \n]*?) ?: (.*(?:\n .*)*)", section, flags=re.MULTILINE)
    return [
        (re.split(r"[,\s]+", heads), kind.strip(), " ".join(about.split()))
        for heads, kind, about in ((heads, *text.partition("\n")[::2]) for heads, text in entries)
    ]
