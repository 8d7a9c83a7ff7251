"""Pages that are one HTML file each, and their figures: SVG in the text colour of the page, light or dark."""

from __future__ import annotations

import io
import os
import platform
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INK = "#010203"  # a placeholder, which is replaced by the text colour of the page
STYLE = {
    "svg.fonttype": "none",  # text stays text: the page's font, selectable, small
    "font.size": 10.5,
    "font.family": "DejaVu Sans",
    "grid.alpha": 0.15,
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), _INK
    ),
}


_LIBRARIES = ("multikernel", "numpy", "scipy", "scikit-learn", "numba")


def templates(package: str) -> Environment:
    """The templates of a package; text is escaped, and a value that is missing is an error.

    Parameters
    ----------
    package : its dotted name
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def provenance() -> dict[str, Any]:
    """The time, the machine and the versions of libraries of a page: "made", "machine" and "versions"."""
    system = f"{platform.system()} {platform.machine()}"
    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"Python {platform.python_version()}, {system}, {os.cpu_count()} CPUs",
        "versions": {name: version(name) for name in _LIBRARIES},
    }


def inline_svg(plot: Callable[[Any], None], title: str, size: tuple[float, float]) -> str:
    """A figure that fills its place on the page, in the page's font and colour, without references to other files.

    Parameters
    ----------
    plot : called with the axes
    title : str, the text for screen readers
    size : width and height in inches, which set the proportions and the size of the text
    """
    import matplotlib as mpl  # imported here, as it takes long and most pages have no figure of matplotlib
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        plot(figure.subplots())
        return svg_of(figure, title)


def svg_of(figure: Figure, title: str) -> str:
    """A figure of matplotlib, drawn in ``STYLE``, as an element of a page."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": title}):  # so that equal figures have equal bytes
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' (width|height)="[\d.]+pt"| xmlns(:\w+)?="[^"]*"', "", text, count=4)
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # ids would repeat from figure to figure on the page
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
    return text.replace(_INK, "currentColor").replace("'DejaVu Sans'", "system-ui")
