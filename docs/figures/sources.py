"""Draws docs/images/sources.png: three descriptions of digits alone and together, for docs/guide/views.md.

python docs/figures/sources.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score

from multikernel import LpMKLClassifier, MultiKernelClassifier, views

OUT = Path(__file__).parents[1] / "images" / "sources.png"
ALONE, TOGETHER = "#9db7d5", "#2f7ed8"


def main() -> None:
    pixels, digit = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(digit))[:300]
    image, digit = pixels[rows].reshape(-1, 8, 8), digit[rows]
    sources = {
        "profile": np.hstack([image.sum(1), image.sum(2)]),
        "waves": np.abs(np.fft.fft2(image))[:, :5, :5].reshape(len(image), -1),
        "edges": np.hstack([np.abs(np.diff(image, axis=a)).mean(axis=b) for a in (1, 2) for b in (1, 2)]),
    }
    tried = {f"{name} alone": (LpMKLClassifier("rbf"), {name: source}) for name, source in sources.items()}
    tried |= {
        "all, LpMKLClassifier": (LpMKLClassifier("rbf"), sources),
        "all, MultiKernelClassifier": (MultiKernelClassifier(random_state=0), sources),
    }
    scores = {name: cross_val_score(model, views(own), digit, cv=5) for name, (model, own) in tried.items()}
    figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    for place, (name, score) in enumerate(scores.items()):
        error = score.std(ddof=1) / np.sqrt(len(score))
        colour = TOGETHER if name.startswith("all") else ALONE
        axes.barh(place, score.mean(), color=colour, xerr=error, error_kw={"ecolor": "0.35", "elinewidth": 1})
        axes.annotate(f"{score.mean():.3f}", (0.61, place), va="center", color="white", fontweight="bold")
    axes.set(yticks=range(len(scores)), yticklabels=list(scores), xlim=(0.6, 1.0), xlabel="part of right labels")
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(OUT, dpi=150)


if __name__ == "__main__":
    main()
