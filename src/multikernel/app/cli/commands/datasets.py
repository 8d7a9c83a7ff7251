"""``multikernel datasets``."""

from __future__ import annotations

from multikernel.app.cli import options
from multikernel.app.cli.console import one_line_failures, show_json, show_table


def datasets(data_dir: options.DataDir = None, as_json: options.Json = False) -> None:
    """List the data sets that can be loaded by name."""
    with one_line_failures():
        from multikernel.datasets import available

        found = available(data_dir)
        if as_json:
            keys = [
                {"name": e.name, "task": e.task, "from": e.origin, "rows": e.n, "features": e.d} for e in found
            ]  # features: null for texts
            show_json("datasets", {"datasets": keys})
            return
        rows = [[e.name, e.task, e.origin, str(e.n), "text" if e.d is None else str(e.d)] for e in found]
        show_table("Data sets", ["name", "task", "from", "rows", "features"], rows, text=(0, 1, 2))
