"""Draws docs/images/start.png: six views of a digit, what they are worth, and how the proof of it closes.

python docs/figures/start.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from multikernel import L1MKLClassifier, kernels

OUT = Path(__file__).parents[1] / "images" / "start.png"
BLUE, ORANGE = "#2f7ed8", "#e8743b"


def main() -> None:
    pixels, digit = load_digits(return_X_y=True)
    image = pixels.reshape(-1, 8, 8)
    noise = np.random.default_rng(0).normal(size=(len(digit), 8))
    views = {
        "upper half": image[:, :4],
        "lower half": image[:, 4:],
        "ink by row": image.sum(2),
        "ink by column": image.sum(1),
        "edges": np.diff(image, axis=2),
        "noise": noise,
    }
    fit, new = train_test_split(range(len(digit)), train_size=600, random_state=0)
    train, test = ({name: view[rows].reshape(len(rows), -1) for name, view in views.items()} for rows in (fit, new))
    odd = digit % 2
    model = L1MKLClassifier(kernels.RBF("median"), C=10).fit(train, odd[fit])
    alone = {
        name: L1MKLClassifier(kernels.RBF("median"), C=10).fit(train[name], odd[fit]).score(test[name], odd[new])
        for name in views
    }
    mpl.rcParams.update(
        {
            "font.size": 11,
            "axes.titlesize": 12,
            "figure.titlesize": 12,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    figure = plt.figure(figsize=(12.6, 3.5), layout="constrained")
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1.05, 1.25, 1.1])
    draw_views(left, {name: view[fit[3]] for name, view in views.items()})
    draw_weights(middle.subplots(), list(views), model.weights_, alone, model.score(test, odd[new]))
    draw_gap(right.subplots(), np.asarray(model.history_[0]), model.duality_gap_)
    figure.savefig(OUT, dpi=130, facecolor="white")


def draw_views(figure: mpl.figure.SubFigure, views: dict[str, np.ndarray]) -> None:
    figure.suptitle("Six views of a sample ...")
    for axes, (name, view) in zip(figure.subplots(2, 3).ravel(), views.items(), strict=True):
        axes.imshow(np.atleast_2d(view), cmap="gray_r", aspect="auto")
        axes.spines[:].set(visible=True, color="silver")
        axes.set_title(name, fontsize=9.5)
        axes.set_xticks([]), axes.set_yticks([])


def draw_weights(
    axes: mpl.axes.Axes, names: list[str], weights: np.ndarray, alone: dict[str, float], mix: float
) -> None:
    places = np.arange(len(names))
    axes.barh(places, weights, color=BLUE, height=0.62)
    for place, weight, name in zip(places, weights, names, strict=True):
        axes.text(weight + 0.006, place, f"alone {alone[name]:.1%}", va="center", fontsize=9, color="gray")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.42 * weights.max())
    axes.set(xlabel="learned weight", title=f"... weighed: together {mix:.1%} right")


def draw_gap(axes: mpl.axes.Axes, gaps: np.ndarray, reached: float) -> None:
    axes.semilogy(1 + np.arange(len(gaps)), gaps, "o-", color=ORANGE, markersize=4)
    axes.set(xlabel="step", title="... and proved: what a mix could gain")
    axes.annotate(
        f"{reached:.0e}\nof the value", (len(gaps), gaps[-1]), (-42, 6), textcoords="offset points", ha="right"
    )
    axes.grid(alpha=0.2)


if __name__ == "__main__":
    main()
