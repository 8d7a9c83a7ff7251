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
    """A parameter with its default, description and rule.

    Parameters
    ----------
    name : str
    default : its default value
    kind : str, the values that it may have, in the words of the docstring
    about : str, its effect
    rule : Rule that checks its values; None where the estimator checks it only together with other parameters
    """

    name: str
    default: Any
    kind: str
    about: str
    rule: Rule | None = field(default=None, repr=False)

    @property
    def entry(self) -> Entry:
        """The entry in a form: "flag", "choice", "number" or "text"; empty where no rule is known."""
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
        """All values that the parameter may have, None among them, where there are few; else None."""
        options = self.rule.rules if isinstance(self.rule, AnyOf) else (self.rule,)
        choices: list[Any] = []
        for option in options:
            if isinstance(option, Choice):
                choices += option.values
            elif isinstance(option, Flag):
                choices += (True, False)
            elif isinstance(option, Nothing):
                choices.append(None)
            else:
                return None
        return tuple(choices)

    def check(self, value: Any, what: str) -> None:
        """Refuse a value that the parameter may not have.

        Parameters
        ----------
        value : as a user gave it
        what : the name of the parameter in a message, such as "RBF: gamma"

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
    >>> p = next(parameter for parameter in parameters_of(LpMKLClassifier) if parameter.name == "p")
    >>> p.entry, p.default
    ('number', 2.0)
    """
    defaults = {name: parameter.default for name, parameter in inspect.signature(maker).parameters.items()}
    words = _descriptions(maker)
    rules_of_parameters = rules(maker) if isinstance(maker, type) else rules_of_arguments(maker)
    ordered = [*(name for name in words if name in defaults), *(name for name in defaults if name not in words)]
    return tuple(
        Parameter(name, defaults[name], *words.get(name, ("", "")), rules_of_parameters.get(name)) for name in ordered
    )


def _descriptions(maker: Any, names: frozenset[str] | None = None) -> dict[str, tuple[str, str]]:
    """The kind and the effect of each parameter of the docstring; "as in X" is replaced by the entry of X."""
    descriptions: dict[str, tuple[str, str]] = {}
    for heads, kind, about in _entries(maker):
        described_names = [name for name in heads if names is None or name in names]
        text = f"{kind} {about}".strip()
        other = re.match(r"as in (\w+)[;, ]*", text)
        if other and described_names:
            addition = text[other.end() :].strip()
            referenced = _descriptions(getattr(import_module("multikernel"), other[1]), frozenset(described_names))
            descriptions |= {
                name: (referenced_kind, f"{referenced_about} {addition}".strip())
                for name, (referenced_kind, referenced_about) in referenced.items()
            }
        else:
            descriptions |= dict.fromkeys(described_names, (kind, about))
    return descriptions


def _entries(maker: Any) -> list[tuple[list[str], str, str]]:
    """The entries under "Parameters": their names, the text after the colon, and the text below."""
    headings_and_texts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(maker) or "", flags=re.MULTILINE)
    section = dict(zip(headings_and_texts[1::2], headings_and_texts[2::2], strict=True)).get("Parameters", "")
    entries = re.findall(r"^(\w[\w, \n]*?) ?:(?: |$)(.*(?:\n .*)*)", section, flags=re.MULTILINE)
    return [
        (re.split(r"[,\s]+", heads), kind.strip(), " ".join(about.split()))
        for heads, kind, about in ((heads, *text.partition("\n")[::2]) for heads, text in entries)
    ]
