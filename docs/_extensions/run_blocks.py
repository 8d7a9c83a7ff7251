"""Runs the Python blocks of a page while the site is built: what they print and draw stands beneath them.

Whatever goes wrong in a block is a warning, and so an error of the build. Figures are drawn without a background and in
the ink of the page, so that they are readable on light and on dark paper.
"""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from docutils import nodes
from matplotlib import pyplot as plt
from matplotlib.ticker import AutoLocator
from page_blocks import Page, missing
from sphinx.application import Sphinx
from sphinx.util import logging

from multikernel.html import STYLE as PAGE_STYLE
from multikernel.html import svg_of

LOGGER = logging.getLogger(__name__)
COLOURS = ["#2f7ed8", "#e8743b", "#19a979", "#945ecf", "#ed4a7b", "#8a8d93"]
STYLE = {**PAGE_STYLE, "figure.figsize": (7.0, 3.6), "axes.prop_cycle": mpl.cycler(color=COLOURS)}


def drawn() -> list[nodes.Node]:
    """What was drawn, as inline SVG."""
    found = []
    for number in plt.get_fignums():
        figure = plt.figure(number)
        figure.set_layout_engine("constrained")
        for axes in figure.axes:
            if isinstance(axes.xaxis.get_major_locator(), AutoLocator):
                axes.locator_params(axis="x", nbins=6)  # labels are larger here, beside the size of the figure
        title = next((axes.get_title() for axes in figure.axes if axes.get_title()), "what the code above draws")
        drawing = svg_of(figure, title).replace("#ffffff", "var(--pst-color-background)")  # white is the paper's
        found.append(nodes.raw("", f'<div class="figure-drawn">{drawing}</div>', format="html"))
    plt.close("all")
    return found


def run(page: Page, code: str) -> list[nodes.Node]:
    """The block's output and figures."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page.run(code).rstrip()
        shown: list[nodes.Node] = drawn()
    return [nodes.literal_block(text, text, language="text", classes=["printed"]), *shown] if text else shown


def run_page(app: Sphinx, doctree: nodes.document) -> None:
    """Run what a page of Markdown shows, and put what comes of it beneath."""
    name = app.env.docname
    if not app.config.run_blocks or not str(app.env.doc2path(name)).endswith(".md"):
        return
    page = Page(name)
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") != "python" or "source" in block:
            continue
        parent, code = block.parent, block.astext()
        if absent := missing(code):
            parent.insert(
                parent.index(block) + 1, nodes.paragraph("", f"Not run: the data set {absent} is not at hand.")
            )
            return
        try:
            shown = run(page, code)
        except Exception:
            LOGGER.warning("a block of %s fails:\n%s", name, traceback.format_exc(limit=-3), location=block)
            return
        parent.insert(parent.index(block) + 1, shown)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("run_blocks", True, "env")
    app.connect("doctree-read", run_page)
    return {"version": "1", "parallel_read_safe": True}
