"""``multikernel app``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multikernel.app.cli.console import one_line_failures

_MEGABYTE = 1 << 20


def app(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 8765,
    home: Annotated[
        Path | None, typer.Option(help="Folder of the data sets and runs [default: that of this platform].")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    read_only: Annotated[bool, typer.Option("--read-only", help="Show what is there; refuse every change.")] = False,
    root_path: Annotated[str, typer.Option(help="What stands before the addresses behind a proxy: /kernels.")] = "",
    host_name: Annotated[
        list[str] | None, typer.Option(help="A name under which a proxy asks for this server, repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Megabytes of an upload at most.")] = 64,
    memory: Annotated[int, typer.Option(min=256, help="Megabytes that a run may take.")] = 4096,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds that a run may take.")] = 3600.0,
) -> None:
    """Open the browser application on this computer.

    It loads a table, learns, shows what was learned, and exports the model and the code. It listens on 127.0.0.1 alone;
    nothing leaves this computer. Ctrl-C ends it; data sets and runs stay.
    """
    with one_line_failures():
        from multikernel.app.web.server import serve
        from multikernel.app.web.settings import Settings, default_home

        defaults = Settings(home or default_home())
        settings = Settings(
            home=defaults.home.expanduser().resolve(),
            hosts=(*defaults.hosts, *(host_name or [])),
            root_path=root_path.rstrip("/")
            if root_path.startswith("/") or not root_path
            else f"/{root_path.strip('/')}",
            read_only=read_only,
            upload_limit=limit * _MEGABYTE,
            unpacked_limit=4 * limit * _MEGABYTE,
            run_seconds=seconds,
            run_memory=memory * _MEGABYTE,
        )
        serve(settings, port, browser=browser, tell=typer.echo)
