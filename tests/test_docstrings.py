"""Docstrings say what a user has to know: every parameter of every public class and function, and what is raised."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from sklearn.base import BaseEstimator

import multikernel
from multikernel import combinations, datasets, diagnostics, domains, kernels, machines, optimizers, testing
from multikernel.inspection import parameters_of

ROOMS = (multikernel, kernels, combinations, domains, machines, optimizers, diagnostics, datasets, testing)


def public() -> Iterator[tuple[str, Any]]:
    """Every public class and function by its name."""
    seen = set()
    for room in ROOMS:
        for name in room.__all__:
            thing = getattr(room, name)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing not in seen:
                seen.add(thing)
                yield f"{room.__name__}.{name}", thing


CLASSES = {name: thing for name, thing in public() if inspect.isclass(thing)}
FUNCTIONS = {name: thing for name, thing in public() if inspect.isfunction(thing)}
ESTIMATORS = {name: cls for name, cls in CLASSES.items() if issubclass(cls, BaseEstimator)}


def sections(thing: Any) -> dict[str, str]:
    """The docstring's parts by their headings, underlined as in numpydoc."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def listed(text: str) -> set[str]:
    """The names that a section describes: what stands before " : " at the margin, several with commas between them."""
    heads = re.findall(r"^((?:\w+, ?\n?\s*)*\w+) ?:", text, flags=re.MULTILINE)
    return {name for head in heads for name in re.split(r"[,\s]+", head)}


def parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_of_a_class_is_described(name: str) -> None:
    cls = CLASSES[name]
    if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False) or issubclass(cls, tuple | Exception):
        pytest.skip("cannot be made")
    missing = set(parameters(cls)) - listed(sections(cls).get("Parameters", ""))
    assert not missing, f"the docstring of {name} does not describe {sorted(missing)}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_of_a_function_is_described(name: str) -> None:
    """Of a function of one or two parameters a sentence that names them is enough."""
    function = FUNCTIONS[name]
    wanted = set(parameters(function)) - {"args", "kwargs"}
    missing = wanted - listed(sections(function).get("Parameters", ""))
    if len(wanted) <= 2:
        missing = {each for each in missing if not re.search(rf"\b{each}\b", inspect.getdoc(function) or "")}
    assert not missing, f"the docstring of {name} does not describe {sorted(missing)}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_raises(name: str) -> None:
    function = FUNCTIONS[name]
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = {
        node.exc.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
    }
    missing = {error for error in raised if error not in (inspect.getdoc(function) or "")}
    assert not missing, f"{name} raises {sorted(missing)}, which its docstring does not say"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_methods_of_estimators_describe_their_parameters(name: str) -> None:
    for method in ("fit", "predict", "decision_function", "score_samples"):
        function = getattr(ESTIMATORS[name], method, None)
        if function is not None and function.__module__.startswith("multikernel"):
            doc = inspect.getdoc(function) or ""
            missing = {each for each in parameters(function) if not re.search(rf"\b{each}\b", doc)}
            assert not missing, f"{name}.{method} does not describe {sorted(missing)}"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_each_parameter_has_words_of_its_own(name: str) -> None:
    """A list of parameters without a colon would run into the next one, and have its description."""
    about = [(each.kind, each.about) for each in parameters_of(ESTIMATORS[name])]
    assert len(set(about)) == len(about)
    assert ("", "") not in about


@pytest.mark.parametrize("name", ["approximation", "rank", "probability", "checkpoint"])
def test_a_parameter_of_many_estimators_is_described_alike(name: str) -> None:
    """Every class lists what its parameters mean, so the same words stand in many places; learned scales add a few."""
    own = ("LearnedScalesClassifier", "LearnedScalesRegressor", "BankSearchCV")
    others = [cls for cls in ESTIMATORS.values() if cls.__name__ not in own]
    assert len({each.about for cls in others for each in parameters_of(cls) if each.name == name}) == 1


def test_parameters_with_the_same_values_state_them_alike() -> None:
    """Where annotation and default are the same; kernels, which take anything, have defaults that only words tell."""
    stated: dict[Any, set[str]] = {}
    for cls in ESTIMATORS.values():
        if not (is_dataclass(cls) and cls.__module__.startswith("multikernel.estimators")):
            continue
        hints = get_type_hints(cls, include_extras=True)
        for each in parameters_of(cls):
            if each.name != "kernels":
                values = each.name, str(hints[each.name]), repr(cls.__dataclass_fields__[each.name].default)
                stated.setdefault(values, set()).add(each.kind.partition(", of ")[0])
    assert [(name, kinds) for (name, *_), kinds in stated.items() if len(kinds) > 1] == []


def test_files_that_a_docstring_names_exist() -> None:
    folder = Path(multikernel.__file__).parent
    files = {path.name for path in folder.rglob("*.py")}
    missing = {
        f"{path.relative_to(folder)} names {name}"
        for path in folder.rglob("*.py")
        for name in re.findall(r"(?<![\w/.])[a-z_]+\.py\b", ast.get_docstring(ast.parse(path.read_text())) or "")
        if name not in files and name != "run.py"  # which a run of the application offers
    }
    assert not missing, sorted(missing)
