"""A report as one HTML file that needs no other file and no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from multikernel.reproduce.pages.html import provenance, templates

LEARNED, BASELINE, OUTSIDE = "#4a7fe0", "#8d96a8", "#dd8a33"  # mid tones, to be seen on white and on black


def page(template: str, functions: Mapping[str, Callable[..., Any]] | None = None, **values: Any) -> str:
    """A template filled in, as HTML text.

    Parameters
    ----------
    template : its name
    functions : what it may call
    values : what it shows, beside the versions, the machine and the time
    """
    environment = templates("multikernel.app.report")
    environment.globals |= dict(functions or {})
    return environment.get_template(template).render(
        **provenance(),
        colors={"learned": LEARNED, "baseline": BASELINE, "outside": OUTSIDE},
        **values,
    )
