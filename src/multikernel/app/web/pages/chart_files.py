"""A chart as a file of its own, in light colours, and what pages load as text."""

from __future__ import annotations

from importlib.resources import files

from starlette.responses import Response


def static_text(name: str) -> str:
    """The text of a file that pages load."""
    return (files("multikernel.app.web") / "static" / name).read_text()


def svg_file(chart: object, name: str) -> Response:
    """A chart as an SVG file.

    Parameters
    ----------
    chart : the element of a page
    name : of the file, without its ending
    """
    style = static_text("chart.css").partition("@media")[0]
    head = '<svg xmlns="http://www.w3.org/2000/svg" style="background: #fff"'
    text = str(chart).replace("<svg", head, 1).replace(">", f"><style>{style}</style>", 1)
    headers = {"Content-Disposition": f'attachment; filename="{name}.svg"'}
    return Response(text, media_type="image/svg+xml", headers=headers)
