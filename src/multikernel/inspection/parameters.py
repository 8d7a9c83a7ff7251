"""The parameters of an estimator or a function, read from its signature, its docstring and its rules."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from multikernel._parameters import rules, rules_of_arguments
from multikernel._rules import AnyOf, Choice, Flag, Nothing, Number, Rule, Whole

Entry = Literal["flag", "choice", "number", "text", ""]


@dataclass(frozen=True)
class Parameter:
    """A parameter, and what there is to know about it.

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
    rule: Rule | None = field(default=None, repr=False)

    @property
    def entry(self) -> Entry:
        """How a form asks for it: "flag", "choice", "number" or "text"; empty where no rule is known."""
        if self.rule is None:
            return ""
        if isinstance(self.rule, Flag):
            return "flag"
        if self.choices is not None:
            return "choice"
        if isinstance(self.rule, Number | Whole):
            return "number"
        return "text"

    @property
    def choices(self) -> tuple[Any, ...] | None:
        """All values that it may have, where these are few, None among them; else None."""
        options = self.rule.rules if isinstance(self.rule, AnyOf) else (self.rule,)
        found: list[Any] = []
        for option in options:
            if isinstance(option, Choice):
                found += option.values
            elif isinstance(option, Flag):
                found += (True, False)
            elif isinstance(option, Nothing):
                found.append(None)
            else:
                return None
        return tuple(found)

    def check(self, value: Any, what: str) -> None:
        """Refuse a value that the parameter may not have.

        Parameters
        ----------
        value : as a user gave it
        what : how a sentence calls the parameter, such as "RBF: gamma"

        Raises
        ------
        ValueError : where the rule does not accept the value
        """
        if self.rule is not None:
            self.rule.check(value, what)


def parameters_of(maker: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of an estimator's class or of a function, in the order of its docstring.

    Parameters
    ----------
    maker : the class or the function

    Examples
    --------
    >>> from multikernel import LpMKLClassifier
    >>> from multikernel.inspection import parameters_of
    >>> p = next(each for each in parameters_of(LpMKLClassifier) if each.name == "p")
    >>> p.entry, p.default
    ('number', 2.0)
    """
    defaults = {name: given.default for name, given in inspect.signature(maker).parameters.items()}
    words = _described(maker)
    known = rules(maker) if isinstance(maker, type) else rules_of_arguments(maker)
    ordered = [*(name for name in words if name in defaults), *(name for name in defaults if name not in words)]
    return tuple(Parameter(name, defaults[name], *words.get(name, ("", "")), known.get(name)) for name in ordered)


def _described(maker: Any, names: frozenset[str] | None = None) -> dict[str, tuple[str, str]]:
    """For each parameter of the docstring what it may be and what it does; "as in X" is looked up there."""
    found: dict[str, tuple[str, str]] = {}
    for heads, kind, about in _entries(maker):
        wanted = [name for name in heads if names is None or name in names]
        text = f"{kind} {about}".strip()
        other = re.match(r"as in (\w+)[;, ]*", text)
        if other and wanted:
            more = text[other.end() :].strip()
            there = _described(getattr(import_module("multikernel"), other[1]), frozenset(wanted))
            found |= {name: (what, f"{does} {more}".strip()) for name, (what, does) in there.items()}
        else:
            found |= dict.fromkeys(wanted, (kind, about))
    return found


def _entries(maker: Any) -> list[tuple[list[str], str, str]]:
    """The entries under "Parameters": their names, what stands after the colon, and the text below."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(maker) or "", flags=re.MULTILINE)
    section = dict(zip(parts[1::2], parts[2::2], strict=True)).get("Parameters", "")
    entries = re.findall(r"^(\w[\w, \n]*?) ?:(?: |$)(.*(?:\n .*)*)", section, flags=re.MULTILINE)
    return [
        (re.split(r"[,\s]+", heads), kind.strip(), " ".join(about.split()))
        for heads, kind, about in ((heads, *text.partition("\n")[::2]) for heads, text in entries)
    ]
