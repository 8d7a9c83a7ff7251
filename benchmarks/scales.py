"""Processor seconds, peak memory and error of learned scales as samples and features grow.

    python benchmarks/scales.py [--samples 250,500,1000,2000,5000] [--features 10,20,50,100,200] [--kept FILE]
    python benchmarks/scales.py --report [--kept FILE]

Four features matter, y = sin 2 x_1 + x_2 x_3 + |x_4| and noise of .2; the others are noise. Each fit runs in a process
of its own with one thread, after a small one that loads what is compiled. Samples grow with 20 features, features with
1000 samples; and 5000 samples have 50 features, once. Results are kept in a file of one line each, and those that are
there are not computed again. ``--report`` prints the table and draws the figure of the documentation.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

FIGURE = Path(__file__).parents[1] / "docs" / "images" / "learned_scales.png"
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def data(n: int, p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + 0.2 * rng.normal(size=n)


def measured(n: int, p: int) -> dict[str, Any]:
    """One fit in this process."""
    from multikernel import LearnedScalesRegressor

    LearnedScalesRegressor().fit(*data(60, 5))
    X, y = data(n + 1000, p)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    model = LearnedScalesRegressor().fit(X[:n], y[:n])
    seconds = time.process_time() - started
    memory = 1024.0 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (8.0 * n * n)
    scales = model.relative_scales_
    return {
        "n": n,
        "p": p,
        "seconds": seconds,
        "memory": memory,
        "score": float(model.score(X[n:], y[n:])),
        "equal": float(1.0 - model.cv_loss_equal_ / np.var(y[:n])),
        "others": float(scales[4:].max() / scales[:4].min()),
        "overfit": float(model.cv_loss_outer_ / model.cv_loss_),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", default="250,500,1000,2000,5000")
    parser.add_argument("--features", default="10,20,50,100,200")
    parser.add_argument("--kept", type=Path, default=Path("scales.jsonl"))
    parser.add_argument("--report", action="store_true", help="print and draw what is kept, and compute nothing")
    parser.add_argument("--one", type=int, nargs=2, metavar=("N", "P"), help="measure one fit in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(*options.one)))
        return
    samples, features = ([int(each) for each in given.split(",")] for given in (options.samples, options.features))
    sizes = sorted({(n, 20) for n in samples} | {(1000, p) for p in features} | {(n, 50) for n in samples if n == 5000})
    for n, p in () if options.report else sizes:
        if not any((row["n"], row["p"]) == (n, p) for row in kept(options.kept)):
            command = [sys.executable, __file__, "--one", str(n), str(p)]
            found = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | _ONE_THREAD)
            with options.kept.open("a") as file:
                file.write(found.stdout.splitlines()[-1] + "\n")
    report(sorted(kept(options.kept), key=lambda row: (row["n"], row["p"])))


def kept(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def report(rows: list[dict[str, Any]]) -> None:
    """The table in Markdown, and the figure."""
    told = "R^2 of new samples (equal scales: held-out)"
    print(f"| samples | features | processor time | memory | {told} | largest other scale |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        time_, memory = f"{row['seconds']:.2g} s", f"{row['memory']:.1f} n^2"
        score = f"{row['score']:.3f} ({row['equal']:.2f})"
        print(f"| {row['n']} | {row['p']} | {time_} | {memory} | {score} | {row['others']:.1g} |")
    draw(rows)


def draw(rows: list[dict[str, Any]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullLocator

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained", sharey=True)
    for ax, grows, fixed, label in (
        (left, "n", ("p", 20), "samples (20 features)"),
        (right, "p", ("n", 1000), "features (1000 samples)"),
    ):
        own = [row for row in rows if row[fixed[0]] == fixed[1]]
        ax.loglog([row[grows] for row in own], [row["seconds"] for row in own], "o-")
        many = np.array([row["n"] for row in own if row["n"] >= 1000], dtype=float)
        if grows == "n" and len(many):
            ax.loglog(many, own[-1]["seconds"] * (many / many[-1]) ** 3, "k:", label="the cube of the samples")
            ax.legend(frameon=False, fontsize="small")
        ax.set_xticks([row[grows] for row in own], [str(row[grows]) for row in own])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel(label)
        ax.grid(alpha=0.3)
    left.set_ylabel("seconds of one thread")
    figure.savefig(FIGURE, dpi=110)


if __name__ == "__main__":
    main()
