"""Forms of estimators, made from their own fields, rules and docstrings: nothing is listed a second time."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from sklearn.base import is_classifier, is_regressor

import multikernel as mk
from multikernel._rules import AnyOf, Choice, Flag, Number, Rule, Whole
from multikernel.app.jobs.parameters import parameters_of, summary
from multikernel.app.web.learning.estimators import REGULARISES
from multikernel.datasets.dataset import Task
from multikernel.estimators.base import KernelEstimator

_NOT_ASKED = {"random_state", "n_jobs", "class_weight", "checkpoint"}
_OWN_KERNELS = ("LinearRLS2", "LearnedScales")  # one for each feature, or of one distance: no families


@dataclass(frozen=True)
class Field:
    """A parameter as a field of a form.

    Parameters
    ----------
    name, kind, value : its name, "number", "choice", "flag" or "text", and its default as text
    form : str, what it may be, as the docstring says
    about : str, what it means
    choices : tuple of str
    """

    name: str
    kind: str
    value: str
    form: str
    about: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method:
    """An estimator that can be chosen.

    Parameters
    ----------
    name, about : str, the class, and the first sentence of its docstring
    fields : tuple of Field
    paths : tuple of str, the parameters that a path can follow
    """

    name: str
    about: str
    fields: tuple[Field, ...]
    paths: tuple[str, ...]


@cache
def methods(task: Task) -> dict[str, Method]:
    """The estimators of a task by name."""
    fits = is_classifier if task == "classification" else is_regressor
    found = {}
    for name in dir(mk):
        kind = getattr(mk, name)
        if not (inspect.isclass(kind) and issubclass(kind, KernelEstimator)) or name.startswith(_OWN_KERNELS):
            continue
        names = {f.name for f in fields(kind)}
        if "kernels" in names and fits(kind()):
            own = _fields(kind)
            paths = tuple(each.name for each in own if each.name in REGULARISES)
            found[name] = Method(name, summary(kind), own, paths)
    return found


def _fields(kind: Any) -> tuple[Field, ...]:
    return tuple(
        _field(each.name, each.default, each.rule, each.kind, each.about)
        for each in parameters_of(kind)
        if each.name not in _NOT_ASKED and each.rule is not None
    )


def _field(name: str, default: Any, rule: Rule, form: str, about: str) -> Field:
    options = rule.rules if isinstance(rule, AnyOf) else (rule,)
    value = "" if default is None else f"{default}"
    if isinstance(rule, Flag):
        return Field(name, "flag", value, form, about)
    if all(isinstance(option, Choice) or option.words == "None" for option in options):
        choices = [str(v) for option in options if isinstance(option, Choice) for v in option.values if v is not None]
        none = any(
            option.words == "None" or (isinstance(option, Choice) and None in option.values) for option in options
        )
        return Field(name, "choice", value, form, about, ("", *choices) if none else tuple(choices))
    kind = "number" if isinstance(rule, Number | Whole) else "text"
    return Field(name, kind, value, form, about)


def parameters(method: Method, given: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that were changed, as values; ValueError where one is not what it may be.

    Parameters
    ----------
    method : the estimator
    given : the fields of the form as text
    """
    found = {}
    for each in method.fields:
        text = given.get(each.name, "false" if each.kind == "flag" and given else each.value).strip()
        if text.lower() == each.value.lower():
            continue
        found[each.name] = _value(text)
    getattr(mk, method.name)(**found).check_parameters()
    return found


def _value(text: str) -> Any:
    if text.lower() in ("", "none"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
