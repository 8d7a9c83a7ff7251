"""The entry point of the ``multikernel`` command: checks that the libraries of the extra are there, then hands over."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "jinja2", "matplotlib", "pandas")


def main() -> None:
    """Run the command line; exit status 0, 1 (the job failed) or 2 (bad usage)."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"error: the command line needs {', '.join(missing)}: install multikernel[app], "
            "for example with: pip install 'multikernel[app]'\n"
        )
        raise SystemExit(1)
    from multikernel.app.cli.commands import app

    app(prog_name="multikernel")


if __name__ == "__main__":
    main()
