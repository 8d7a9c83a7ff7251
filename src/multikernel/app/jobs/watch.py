"""How a job reports its progress: the command line shows a bar or lines, the browser application a page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

Observe = Callable[[str], None]


class Watch(Protocol):
    """What a job reports of its progress."""

    def steps(self, total: int, title: str) -> AbstractContextManager[Observe]:
        """A part of ``total`` steps: what is yielded is called after each step, with a word about it."""
        ...

    def expecting(self, what: str) -> None:
        """What a fit of more than a moment will take is known, before it begins."""
        ...

    def fitting(self, title: str) -> AbstractContextManager[None]:
        """A fit, whose steps arrive by ``multikernel.observer.listening``."""
        ...
