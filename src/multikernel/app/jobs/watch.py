"""Who watches a job: the command line shows a bar or lines, the browser application a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Observe = Callable[[str], None]


class Watch(Protocol):
    """What a job tells of its progress."""

    def steps(self, total: int, title: str) -> AbstractContextManager[Observe]:
        """A part of ``total`` steps: what is yielded is called after each step, with a word about it."""
        ...

    def fitting(self, title: str) -> AbstractContextManager[None]:
        """A fit, whose steps are heard by ``multikernel.observer.listening``."""
        ...


class Unwatched:
    """Nobody watches."""

    @contextmanager
    def steps(self, total: int, title: str) -> Iterator[Observe]:
        """Nothing is shown of a part."""
        yield lambda what: None

    @contextmanager
    def fitting(self, title: str) -> Iterator[None]:
        """Nothing is shown of a fit."""
        yield
