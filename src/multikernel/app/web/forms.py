"""Forms for the parameters of estimators and of families of kernels.

All fields are made from signatures, rules and docstrings, so that no parameter has to be listed here.
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
_NOT_ASKED_OF_KERNELS = {"X", "types", "kernel", "basis"}  # these follow from the columns, or are kernels themselves
_NEEDS_MORE = {"transductive"}  # choices that need further samples beside the table
_MOST_KERNELS = 500  # kernels of a family at most
# These estimators are fitted as another estimator with linear kernels of the columns; the word of this family.
_LINEAR = {"LinearRLS2Classifier": "RLS2Classifier", "LinearRLS2Regressor": "RLS2Regressor"}
_SLOPES = ("slopes",)


@dataclass(frozen=True)
class Field:
    """A parameter as a field of a form.

    Parameters
    ----------
    name, kind, value : its name, "number", "numbers", "choice", "flag" or "text", and its default as text
    form : str, the allowed values, from the docstring
    about : str, its meaning, from the docstring
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
    families : tuple of str, the words of the kernels that its form proposes; empty where it takes no kernels
    kind : the class itself
    fields : tuple of Field
    paths : tuple of str, the parameters that can be chosen along a path
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
    """The plain name of the method of an estimator, with a sentence about when it is used."""
    for name, method in METHODS.items():
        if estimator in (method.classifier, method.regressor):
            return NAMES[name]
    return AUTOMATIC


@cache
def methods(task: Task) -> dict[str, MethodForm]:
    """The estimators of a task by name."""
    fits = is_classifier if task == "classification" else is_regressor
    forms = {}
    for name in estimators.__all__:
        kind = getattr(estimators, name)
        about = summary(kind)
        if name in _LINEAR:
            kind = getattr(estimators, _LINEAR[name])
        elif not hasattr(kind, "fit"):
            continue
        if any(field.name == "kernels" for field in fields(kind)) and fits(kind()):
            form_fields = _fields(kind)
            paths = tuple(field.name for field in form_fields if field.name in REGULARISES)
            words = plain_name(name)
            default_families: tuple[str, ...] = ("types",)
            if name in _LINEAR:
                default_families = _SLOPES
            elif name in SCALES:
                default_families = ()
            several = bool(kind().__sklearn_tags__().target_tags.multi_output)
            forms[name] = MethodForm(
                name, about, kind, form_fields, paths, words.title, words.when, default_families, several
            )
    return forms


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
    form_fields = []
    for parameter in parameters_of(family.maker):
        if parameter.name in _NOT_ASKED_OF_KERNELS:
            continue
        value = family.preset.get(parameter.name, parameter.default)
        if _is_sequence(hints.get(parameter.name)):
            form_fields.append(
                Field(parameter.name, "numbers", _comma_separated(value), parameter.kind, parameter.about)
            )
        else:
            form_fields.append(_field(parameter, value))
    return tuple(form_fields)


def _is_sequence(hint: Any) -> bool:
    """Whether an annotation is, or includes, a sequence of values."""
    return any(get_origin(annotation) in (Iterable, Sequence) for annotation in (hint, *get_args(hint)))


def _comma_separated(values: Sequence[Any] | None) -> str:
    if values is None:
        return ""
    return ", ".join(map(str, values))


def _fields(kind: Any) -> tuple[Field, ...]:
    return tuple(
        _field(parameter, parameter.default)
        for parameter in parameters_of(kind)
        if parameter.name not in _NOT_SHOWN and parameter.entry
    )


def _field(parameter: Parameter, default: Any) -> Field:
    """The field of a parameter with this default."""
    value = "" if default is None else f"{default}"
    if parameter.name == "class_weight":  # a dict of weights cannot be typed into a form
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
    """The allowed values of a parameter from its docstring, without Python syntax; ``nothing`` is written for None."""
    kind = re.sub(r"\{([^}]*)\}", lambda match: match[1].replace(", ", " or "), kind)
    return re.sub(r"\bNone\b", nothing, kind).replace('"', "")


def parameters(method: MethodForm, field_texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of the changed parameters; ValueError where a value is not allowed.

    Parameters
    ----------
    method : the estimator
    field_texts : the fields of the form as text
    """
    values = _changed_values(method.fields, field_texts)
    method.kind(**values).check_parameters()
    return values


def family_parameters(word: str, field_texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of the changed parameters of a family of kernels; ValueError where a value is not allowed.

    Parameters
    ----------
    word : of ``FAMILIES``
    field_texts : the fields of the form as text
    """
    values = _changed_values(family_fields(word), field_texts)
    check_family(word, values)
    return values


def check_family(word: str, changed: Mapping[str, Any]) -> None:
    """ValueError where a parameter of a family is unknown or has a wrong value, or there would be too many kernels."""
    family = FAMILIES[word]
    names = {field.name for field in family_fields(word)}
    for name in changed:
        if name not in names:
            raise ValueError(f"{word} has no parameter {name!r}; it has {', '.join(sorted(names)) or 'none'}")
    if family.by_type:
        check(family.maker, dict(changed))
        return
    count = len(family.build(changed))
    if count > _MOST_KERNELS:
        raise ValueError(f"{family.label}: these would be {count} kernels; ask for {_MOST_KERNELS} at most.")


def _changed_values(fields: Sequence[Field], field_texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of the fields whose text differs from that of their default."""
    values = {}
    for field in fields:
        text = field_texts.get(field.name, "false" if field.kind == "flag" and field_texts else field.value).strip()
        if text.lower() == field.value.lower():
            continue
        if field.choices and text not in field.choices:
            raise ValueError(f"{field.name} must be one of {', '.join(filter(None, field.choices))}, got {text[:60]!r}")
        if field.kind == "numbers":
            values[field.name] = _values(text)
        else:
            values[field.name] = _value(text)
    return values


def fields_with_input(
    fields: Sequence[Field], prefix: str, typed: Mapping[str, str], proposed: Mapping[str, str] | None = None
) -> list[Field]:
    """The fields with the input of a person; with their defaults where no field of the form was sent.

    Parameters
    ----------
    fields : of a method or of a family of kernels
    prefix : the prefix of their names in the form
    typed : the texts of the fields that were sent, by name
    proposed : values in place of defaults, by name without the prefix
    """
    if not any(name.startswith(prefix) for name in typed):
        return [replace(field, value=(proposed or {}).get(field.name, field.value)) for field in fields]
    filled_fields = []
    for field in fields:
        if field.kind == "flag":
            value = str(f"{prefix}{field.name}" in typed)
        else:
            value = typed.get(f"{prefix}{field.name}", field.value)
        filled_fields.append(replace(field, value=value))
    return filled_fields


def as_typed(fields: Sequence[Field], prefix: str, changed: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a form with these values, as ``fields_with_input`` reads them.

    Parameters
    ----------
    fields : of a method or of a family of kernels
    prefix : the prefix of their names in the form
    changed : the values that differ from the defaults, by name
    """
    texts = {}
    for field in fields:
        value = _text(changed[field.name]) if field.name in changed else field.value
        if field.kind != "flag":
            texts[f"{prefix}{field.name}"] = value
        elif value.lower() == "true":
            texts[f"{prefix}{field.name}"] = "true"
    return texts


def _text(value: Any) -> str:
    """A value as a person types it."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if value is None:
        return ""
    return str(value)


def _values(text: str) -> Any:
    """Numbers with commas between them; None for none."""
    number_texts = text.strip("[]() ").split(",")
    return [_value(number_text.strip()) for number_text in number_texts if number_text.strip()] or None


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
