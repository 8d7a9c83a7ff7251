"""The Python blocks of a page of Markdown, and how they are run: in order, sharing their names.

A block that begins with ``# needs NAME`` reads the data set NAME; where that is not at hand, it and the blocks after it
are not run.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
from types import ModuleType

from multikernel.datasets import available


def blocks(text: str) -> list[str]:
    """The Python blocks of a page, in order."""
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def missing(code: str) -> str | None:
    """The data set that a block needs and that is not at hand."""
    needed = re.match(r"# needs (\S+)", code)
    at_hand = {entry.name for entry in available()} if needed else set()
    return needed[1] if needed and needed[1] not in at_hand else None


class Page:
    """Runs blocks in a module of their own, so that what they define can be pickled and its source be found."""

    def __init__(self, name: str) -> None:
        self.name, self.count = name, 0
        self.module = sys.modules["page_of_blocks"] = ModuleType("page_of_blocks")

    def run(self, code: str) -> str:
        """Run a block; what it prints."""
        self.count += 1
        source = f"<{self.name}, block {self.count}>"
        linecache.cache[source] = (len(code), None, code.splitlines(keepends=True), source)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, source, "exec"), vars(self.module))
        return printed.getvalue()
