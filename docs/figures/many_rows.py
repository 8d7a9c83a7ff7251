"""Scores and seconds against rows and centres: draws docs/images/many_rows.png from what two benchmarks have kept.

    python docs/figures/many_rows.py

Left against rows, by 1000 centres (``benchmarks/centres.py``): whole fits of learned scales. Right against centres, of
up to 20,000 rows and the kernel of all of them (``benchmarks/full_kernel.py``): the last step, with three ridges.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
KEPT = HERE.parent.parent / "benchmarks"


def cells(name: str) -> list[dict[str, Any]]:
    """What a benchmark has kept."""
    return [json.loads(line) for line in (KEPT / name).read_text().splitlines()]


def slope(x: Any, y: Any) -> float:
    """Of a line through logarithms."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def main() -> None:
    figure, axes = plt.subplots(2, 2, figsize=(9.0, 6.4), layout="constrained", sharex="col")
    rows = [cell for cell in cells("centres.jsonl") if cell["part"] == "rows"]
    kernels = cells("full_kernel.jsonl")
    for k, name in enumerate(("friedman", "clusters", "letter", "protein")):
        style = {"color": f"C{k}", "marker": "os^D"[k]}
        own = sorted((cell for cell in rows if cell["set"] == name), key=lambda cell: cell["rows"])
        if own:
            n, seconds = [cell["rows"] for cell in own], [cell["seconds"] for cell in own]
            axes[0, 0].semilogx(n, [cell["score"] for cell in own], label=name, **style)
            late = [(x, y) for x, y in zip(n, seconds, strict=True) if x >= 16_000]
            axes[1, 0].loglog(
                n, seconds, label=f"{name}, slope {slope(*zip(*late, strict=True)):.2f} at the end", **style
            )
        own = [cell for cell in kernels if cell["set"] == name and cell["method"] == "centres"]
        if not own:
            continue
        M, seconds = [cell["M"] for cell in own], [cell["seconds"] for cell in own]
        axes[0, 1].semilogx(M, [cell["score"] for cell in own], label=name, **style)
        axes[1, 1].loglog(M, seconds, label=f"{name}, slope {slope(M[1:], seconds[1:]):.2f} at the end", **style)
        whole = [cell for cell in kernels if cell["set"] == name and cell["method"] == "exact"]
        for cell in whole:
            count = 13_500 if name == "letter" else 18_000
            axes[0, 1].plot(count, cell["score"], **(style | {"marker": "*", "markersize": 14}))
            axes[1, 1].plot(count, cell["seconds"], **(style | {"marker": "*", "markersize": 14}))
    axes[0, 0].set(title="learned scales, 1000 centres", ylabel="$R^2$, or part of right labels")
    axes[0, 1].set(title="the last step; stars: the kernel of all rows")
    axes[1, 0].set(xlabel="rows", ylabel="processor seconds of one thread")
    axes[1, 1].set(xlabel="centres")
    for each in axes.ravel():
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.3)
        each.legend(frameon=False, fontsize="small")
    figure.savefig(HERE.parent / "images" / "many_rows.png", dpi=150)


if __name__ == "__main__":
    main()
