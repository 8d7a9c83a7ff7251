"""Warnings that point at the line of the user's code, whatever lies between."""

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
    """Where a package is, without importing it, which takes a second for scikit-learn."""
    found = find_spec(package)
    assert found is not None, package
    assert found.origin is not None, package
    return str(Path(found.origin).parent) + os.sep


# folders of code that no user wrote: this package, and what runs its estimators
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
    """Warn at the innermost line outside this package, scikit-learn and joblib, or later where warnings are kept."""
    kept = _KEPT.get()
    if kept is not None:
        kept.append((message, category))
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def keeping(work: Callable[[], T]) -> tuple[T, list[Message]]:
    """The result of some work, and its warnings, which the thread that the user waits for is to give."""
    kept: list[Message] = []
    token = _KEPT.set(kept)
    try:
        return work(), kept
    finally:
        _KEPT.reset(token)


def warn_once(messages: Iterable[Message]) -> None:
    """Give warnings that were kept, each of them once."""
    for message, category in dict.fromkeys(messages):
        warn_user(message, category)


@contextlib.contextmanager
def each_warning_once() -> Iterator[None]:
    """Work whose warnings are given when it has ended, each of them once; those of work that fails are dropped."""
    kept: list[Message] = []
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)
    warn_once(kept)
