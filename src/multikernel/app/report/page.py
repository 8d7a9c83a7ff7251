"""A report as one HTML file that needs no other file and no network."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

LEARNED, BASELINE, OUTSIDE = "#4a7fe0", "#8d96a8", "#dd8a33"  # mid tones, to be seen on white and on black
_LIBRARIES = ("multikernel", "numpy", "scipy", "scikit-learn", "numba")


def page(template: str, functions: Mapping[str, Callable[..., Any]] | None = None, **values: Any) -> str:
    """A template filled in, as HTML text.

    Parameters
    ----------
    template : its name
    functions : what it may call
    values : what it shows, beside the versions, the machine and the time
    """
    environment = Environment(
        loader=PackageLoader("multikernel.app.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= dict(functions or {})
    return environment.get_template(template).render(
        versions={name: version(name) for name in _LIBRARIES},
        machine=f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        colors={"learned": LEARNED, "baseline": BASELINE, "outside": OUTSIDE},
        **values,
    )
