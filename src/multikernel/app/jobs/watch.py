"""How a job reports its progress: the command line shows a bar or lines, the browser application a page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

Observe = Callable[[str], None]


class Watch(Protocol):
    """What a job reports of its progress."""

    def steps(self, total: int, title: str) -> AbstractContextManager[Observe]:
        """A part of ``total`` steps; the yielded function is to be called after each step, with a word about it."""
        ...

    def expecting(self, sentence: str) -> None:
        """Report the forecast of a large fit, before it begins."""
        ...

    def fitting(self, title: str) -> AbstractContextManager[None]:
        """A fit, whose progress is received by ``multikernel.observer.listening``."""
        ...
