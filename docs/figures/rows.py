"""Time and memory of one pass over the rows of a Parquet file: draws docs/images/rows.png.

    python benchmarks/large.py DATA --rows 10000,20000,100000,1000000,10000000 --rank 64 --memory 2GB --out rows.jsonl
    python docs/figures/rows.py rows.jsonl

RLS2 on twenty Gaussians of rank 64, one thread. Left the processor seconds with the line a + b n through all of them,
right the memory beside what the process has before, with the budget.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

BUDGET = 2048.0


def main() -> None:
    runs = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines() if line.startswith("{")]
    n = np.array([run["rows"] for run in runs], dtype=float)
    seconds = np.array([run["processor_seconds"] for run in runs])
    memory = np.array([run["beside_the_process_mb"] for run in runs])
    of_row, start = np.polyfit(n, seconds, 1, w=1.0 / seconds)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
    grid = np.geomspace(n.min(), n.max(), 100)
    left.loglog(grid, start + of_row * grid, color="0.6", label=f"{start:.1f} s + {1e6 * of_row:.0f} µs a row")
    left.loglog(n, seconds, "o", color="C0")
    left.set(xlabel="rows", ylabel="processor seconds")
    left.legend(frameon=False)
    right.semilogx(n, memory / 1000.0, "o-", color="C0")
    right.axhline(BUDGET / 1000.0, color="0.6", linestyle="--")
    right.annotate("budget", (n.min(), BUDGET / 1000.0), xytext=(0, -12), textcoords="offset points", color="0.4")
    right.set(xlabel="rows", ylabel="GB beside the process", ylim=(0.0, 1.1 * BUDGET / 1000.0))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).parent.parent / "images" / "rows.png", dpi=150)


if __name__ == "__main__":
    main()
