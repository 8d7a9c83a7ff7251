"""Draws docs/images/source_values.png: the figure of the first block of docs/guide/source_values.md.

python docs/figures/source_values.py
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

DOCS = Path(__file__).parents[1]


def main() -> None:
    page = (DOCS / "guide" / "source_values.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert block is not None
    exec(block[1], {})
    plt.gcf().savefig(DOCS / "images" / "source_values.png", dpi=120)


if __name__ == "__main__":
    main()
