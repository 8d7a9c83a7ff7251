"""The entry point of the ``multikernel`` command: checks that its libraries are installed, then runs it."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec
from typing import Any

_NEEDED = ("typer", "rich", "jinja2", "matplotlib", "pandas", "starlette", "uvicorn", "python_multipart")


def main() -> None:
    """Run the command line; exit status 0, 1 (the job failed) or 2 (bad usage)."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"error: the command line needs {', '.join(missing)}: install multikernel[app], "
            "for example with: pip install 'multikernel[app]'\n"
        )
        raise SystemExit(1)
    signal.signal(signal.SIGTERM, _stop)
    try:
        from multikernel.app.cli.program import app

        app(prog_name="multikernel")
    except KeyboardInterrupt:  # before a command has begun, or after it
        sys.stderr.write("error: stopped before the end\n")
        raise SystemExit(1) from None


def _stop(*_: Any) -> None:
    """End as by Ctrl-C, so that incomplete files are removed."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
