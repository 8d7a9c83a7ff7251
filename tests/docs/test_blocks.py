"""Every Python block of the documentation runs as it stands: long pages with the studies, or as the site is built."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pytest
from page_blocks import Page, blocks, missing

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if blocks(page.read_text()))
LONG = {
    "tutorial",
    "coming_from_himalaya",
    "extend/bank",
    "extend/machine",
    "guide/command_line",
    "guide/large",
    "guide/mixed_models",
    "guide/selection",
    "guide/source_values",
    "guide/text",
    "guide/views",
    "guide/understanding",
    "methods/automatic",
    "methods/baselines",
    "methods/hkl",
    "methods/l1",
    "methods/learned_scales",
    "methods/ridge_cv",
    "methods/smkl",
    "methods/two_layers",
    "results/dot_product_polynomials",
    "results/mnist",
}


def parameters() -> list[object]:
    names = [page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES]
    assert set(names) >= LONG, "a page that is named here has no blocks"
    marks = [[pytest.mark.study] if name in LONG else [] for name in names]
    return [pytest.param(page, id=name, marks=mark) for page, name, mark in zip(PAGES, names, marks, strict=True)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", parameters())
def test_blocks_run(path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    page = Page(path.stem)
    for code in blocks(path.read_text()):
        if absent := missing(code):
            pytest.skip(f"{absent} is not at hand")
        page.run(code)
        plt.close("all")
