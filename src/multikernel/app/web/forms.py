"""Forms of estimators and families of kernels, made from their own signatures, rules and docstrings.

Nothing is listed a second time.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from sklearn.base import is_classifier, is_regressor

from multikernel import estimators
from multikernel.app.jobs.method_names import AUTOMATIC, NAMES, PlainName
from multikernel.app.jobs.methods import METHODS, check, parameters_of, summary
from multikernel.app.web.learning.families import FAMILIES, REGULARISES
from multikernel.app.web.learning.recipe import SCALES
from multikernel.datasets import Task
from multikernel.inspection import Parameter

_NOT_SHOWN = {"random_state", "n_jobs", "checkpoint"}
_NOT_ASKED_OF_KERNELS = {"X", "types", "kernel", "basis"}  # what follows from the columns, and what is a kernel itself
_NEEDS_MORE = {"transductive"}  # choices that ask for samples beside those of the table
_MOST_KERNELS = 500  # of one family
# What learns the same from linear kernels of the columns, whatever these hold; the word of that family.
_LINEAR = {"LinearRLS2Classifier": "RLS2Classifier", "LinearRLS2Regressor": "RLS2Regressor"}
_SLOPES = ("slopes",)


@dataclass(frozen=True)
class Field:
    """A parameter as a field of a form.

    Parameters
    ----------
    name, kind, value : its name, "number", "numbers", "choice", "flag" or "text", and its default as text
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
class MethodForm:
    """An estimator that can be chosen.

    Parameters
    ----------
    name, about : str, the class, and the first sentence of its docstring
    title, when : str, its plain name, and when it is used
    families : tuple of str, the words of the kernels that its form proposes; empty where it learns one of its own
    kind : the class itself
    fields : tuple of Field
    paths : tuple of str, the parameters that a path can follow
    several : bool, whether it takes several targets
    """

    name: str
    about: str
    kind: type
    fields: tuple[Field, ...]
    paths: tuple[str, ...]
    title: str = ""
    when: str = ""
    families: tuple[str, ...] = ("types",)
    several: bool = False


def plain_name(estimator: str) -> PlainName:
    """How the method of an estimator is called, and when it is used."""
    for name, method in METHODS.items():
        if estimator in (method.classifier, method.regressor):
            return NAMES[name]
    return AUTOMATIC


@cache
def methods(task: Task) -> dict[str, MethodForm]:
    """The estimators of a task by name."""
    fits = is_classifier if task == "classification" else is_regressor
    found = {}
    for name in estimators.__all__:
        kind = getattr(estimators, name)
        about = summary(kind)
        if name in _LINEAR:
            kind = getattr(estimators, _LINEAR[name])
        elif not hasattr(kind, "fit"):
            continue
        if any(each.name == "kernels" for each in fields(kind)) and fits(kind()):
            own = _fields(kind)
            paths = tuple(each.name for each in own if each.name in REGULARISES)
            words = plain_name(name)
            proposed: tuple[str, ...] = ("types",)
            if name in _LINEAR:
                proposed = _SLOPES
            elif name in SCALES:
                proposed = ()
            several = bool(kind().__sklearn_tags__().target_tags.multi_output)
            found[name] = MethodForm(name, about, kind, own, paths, words.title, words.when, proposed, several)
    return found


def methods_for(task: Task, several: bool) -> dict[str, MethodForm]:
    """The estimators of a task that take one target, or several.

    Parameters
    ----------
    task : what is learned
    several : whether there are several targets
    """
    return {name: method for name, method in methods(task).items() if method.several or not several}


@cache
def family_fields(word: str) -> tuple[Field, ...]:
    """The parameters of a family of kernels."""
    family = FAMILIES[word]
    if inspect.isfunction(family.maker):
        hints = get_type_hints(family.maker)
    else:
        hints = {}
    found = []
    for each in parameters_of(family.maker):
        if each.name in _NOT_ASKED_OF_KERNELS:
            continue
        value = family.preset.get(each.name, each.default)
        if _several(hints.get(each.name)):
            found.append(Field(each.name, "numbers", _listed(value), each.kind, each.about))
        else:
            found.append(_field(each, value))
    return tuple(found)


def _several(hint: Any) -> bool:
    """Whether an annotation is one of several values, or of these and others."""
    return any(get_origin(each) in (Iterable, Sequence) for each in (hint, *get_args(hint)))


def _listed(values: Sequence[Any] | None) -> str:
    if values is None:
        return ""
    return ", ".join(map(str, values))


def _fields(kind: Any) -> tuple[Field, ...]:
    return tuple(
        _field(each, each.default) for each in parameters_of(kind) if each.name not in _NOT_SHOWN and each.entry
    )


def _field(parameter: Parameter, default: Any) -> Field:
    """The field of a parameter, with a default of its own."""
    value = "" if default is None else f"{default}"
    if parameter.name == "class_weight":  # a dict of weights is nothing to type
        return Field(parameter.name, "choice", value, "none or balanced", parameter.about, ("", "balanced"))
    choices = parameter.choices or ()
    words = [str(choice) for choice in choices if choice is not None]
    if parameter.entry == "choice" and None in choices:
        words = ["", *words]
    offered = tuple(word for word in words if word not in _NEEDS_MORE)
    listed = offered if parameter.entry == "choice" else ()
    form = _in_words(parameter.kind, "none" if listed else "empty")
    return Field(parameter.name, parameter.entry or "text", value, form, parameter.about, listed)


def _in_words(kind: str, nothing: str) -> str:
    """What a docstring says that a parameter may be, without the signs of Python; ``nothing`` stands for None."""
    kind = re.sub(r"\{([^}]*)\}", lambda found: found[1].replace(", ", " or "), kind)
    return re.sub(r"\bNone\b", nothing, kind).replace('"', "")


def parameters(method: MethodForm, given: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that were changed, as values; ValueError where one is not what it may be.

    Parameters
    ----------
    method : the estimator
    given : the fields of the form as text
    """
    found = _changed(method.fields, given)
    method.kind(**found).check_parameters()
    return found


def family_parameters(word: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The same of a family of kernels.

    Parameters
    ----------
    word : of ``FAMILIES``
    given : the fields of the form as text
    """
    found = _changed(family_fields(word), given)
    check_family(word, found)
    return found


def check_family(word: str, changed: Mapping[str, Any]) -> None:
    """ValueError where the family has no such parameters, or these are not what they may be, or make many kernels."""
    family = FAMILIES[word]
    known = {each.name for each in family_fields(word)}
    for name in changed:
        if name not in known:
            raise ValueError(f"{word} has no parameter {name!r}; it has {', '.join(sorted(known)) or 'none'}")
    if family.by_type:
        check(family.maker, dict(changed))
        return
    count = len(family.made(changed))
    if count > _MOST_KERNELS:
        raise ValueError(f"{family.label}: these would be {count} kernels; ask for {_MOST_KERNELS} at most.")


def _changed(fields: Sequence[Field], given: Mapping[str, str]) -> dict[str, Any]:
    """The values of those fields whose text is not that of their default."""
    found = {}
    for each in fields:
        text = given.get(each.name, "false" if each.kind == "flag" and given else each.value).strip()
        if text.lower() == each.value.lower():
            continue
        if each.choices and text not in each.choices:
            raise ValueError(f"{each.name} must be one of {', '.join(filter(None, each.choices))}, got {text[:60]!r}")
        if each.kind == "numbers":
            found[each.name] = _values(text)
        else:
            found[each.name] = _value(text)
    return found


def filled(
    fields: Sequence[Field], prefix: str, typed: Mapping[str, str], proposed: Mapping[str, str] | None = None
) -> list[Field]:
    """The fields with what a person has typed into them; with their defaults where nothing of the form was sent.

    Parameters
    ----------
    fields : of a method or of a family of kernels
    prefix : before their names in the form
    typed : the fields that were sent, by name
    proposed : values in place of defaults, by name without the prefix
    """
    if not any(name.startswith(prefix) for name in typed):
        return [replace(each, value=(proposed or {}).get(each.name, each.value)) for each in fields]
    found = []
    for each in fields:
        if each.kind == "flag":
            value = str(f"{prefix}{each.name}" in typed)
        else:
            value = typed.get(f"{prefix}{each.name}", each.value)
        found.append(replace(each, value=value))
    return found


def as_typed(fields: Sequence[Field], prefix: str, changed: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a form as it would be sent, with these values: what ``filled`` reads.

    Parameters
    ----------
    fields : of a method or of a family of kernels
    prefix : before their names in the form
    changed : the values that differ from the defaults, by name
    """
    found = {}
    for each in fields:
        value = _text(changed[each.name]) if each.name in changed else each.value
        if each.kind != "flag":
            found[f"{prefix}{each.name}"] = value
        elif value.lower() == "true":
            found[f"{prefix}{each.name}"] = "true"
    return found


def _text(value: Any) -> str:
    """A value as a person types it."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if value is None:
        return ""
    return str(value)


def _values(text: str) -> Any:
    """Numbers with commas between them; None for none."""
    parts = text.strip("[]() ").split(",")
    return [_value(part.strip()) for part in parts if part.strip()] or None


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
