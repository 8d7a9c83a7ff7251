"""Warnings that point at the line of the user's code, through all code in between."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Message = tuple[str, type[Warning]]


def _folder(package: str) -> str:
    """The folder of a package, without importing it, which takes a second for scikit-learn."""
    spec = find_spec(package)
    assert spec is not None, package
    assert spec.origin is not None, package
    return str(Path(spec.origin).parent) + os.sep


# folders of code that is not the user's: this package, and packages that run its estimators
_BETWEEN = (
    str(Path(__file__).parent) + os.sep,
    _folder("joblib"),
    _folder("sklearn"),
    contextlib.__file__,
)
_KEPT: ContextVar[list[Message] | None] = ContextVar("multikernel_kept_warnings", default=None)


class PredictionWarning(UserWarning):
    """A fit is likely to predict badly; the message names the cause and the fix."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside this package, scikit-learn and joblib, or later where ``keeping`` collects."""
    messages = _KEPT.get()
    if messages is not None:
        messages.append((message, category))
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def keeping(function: Callable[[], T]) -> tuple[T, list[Message]]:
    """The result of a function and its warnings, which are collected for the thread that waits for it."""
    messages: list[Message] = []
    token = _KEPT.set(messages)
    try:
        return function(), messages
    finally:
        _KEPT.reset(token)


def warn_once(messages: Iterable[Message]) -> None:
    """Give collected warnings, each of them once."""
    for message, category in dict.fromkeys(messages):
        warn_user(message, category)


@contextlib.contextmanager
def each_warning_once() -> Iterator[None]:
    """A context whose warnings are given at its end, each once; after an error they are dropped."""
    messages: list[Message] = []
    token = _KEPT.set(messages)
    try:
        yield
    finally:
        _KEPT.reset(token)
    warn_once(messages)
