"""Figures of the scores of many targets: two models side by side, and the kernel that explains most of each target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel._arrays import unmasked
from multikernel._parameters import COUNT, FINITE
from multikernel._typing import Array
from multikernel.estimators.bars import GREY, INK, draw_bars
from multikernel.estimators.names import short_names


def plot_hist2d(
    scores_1: Any, scores_2: Any, *, labels: Sequence[str] = ("model 1", "model 2"), bins: int = 80, ax: Any = None
) -> Any:
    """Two models' scores of the same targets as a histogram of two dimensions; needs matplotlib.

    Targets above the diagonal are predicted better by the second model; a label shows their share. Colours count
    targets, on a logarithmic scale. Where the highest score is positive, scores below minus that one are drawn at the
    lower end. Targets with a NaN are left out.

    Parameters
    ----------
    scores_1 : array (t,), scores of the first model, on the horizontal axis
    scores_2 : array (t,), scores of the second model
    labels : the names of the models
    bins : int >= 1, default 80, on each axis
    ax : axes of matplotlib; new ones by default

    Returns
    -------
    The axes

    Raises
    ------
    ValueError : where the scores are not of the same targets, or no target has two scores
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    COUNT.check(bins, "plot_hist2d: bins")
    first, second = _scores(scores_1, scores_2)
    if ax is None:
        _, ax = plt.subplots(figsize=(5.4, 4.6), layout="compressed")
    both = np.concatenate([first, second])
    high = float(both.max())
    low = float(both.min())
    if high > 0.0:
        low = max(low, -high)
    margin = 0.02 * (high - low) or 0.5
    edges = np.linspace(low - margin, high + margin, bins + 1)
    _, _, _, image = ax.hist2d(
        np.maximum(first, low), np.maximum(second, low), bins=edges, cmin=1, norm=LogNorm(), cmap="viridis"
    )
    bar = ax.figure.colorbar(image, ax=ax, label="number of targets", fraction=0.045, pad=0.03)
    bar.ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    ax.plot(edges[[0, -1]], edges[[0, -1]], color=INK, lw=0.8)
    ax.axhline(0.0, color=GREY, lw=0.6, ls=":", zorder=0)
    ax.axvline(0.0, color=GREY, lw=0.6, ls=":", zorder=0)
    above, below = np.mean(second > first), np.mean(second < first)
    ax.annotate(f"{above:.0%} above", (0.03, 0.97), xycoords="axes fraction", va="top", fontsize="small", color=INK)
    ax.annotate(f"{below:.0%} below", (0.97, 0.03), xycoords="axes fraction", ha="right", fontsize="small", color=INK)
    ax.set(xlim=edges[[0, -1]], ylim=edges[[0, -1]], aspect="equal", xlabel=labels[0], ylabel=labels[1])
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_best_kernels(parts: Any, names: Sequence[Any], *, minimum: float = 0.0, ax: Any = None) -> Any:
    """For how many targets each kernel explains most; needs matplotlib. Returns the axes.

    Parameters
    ----------
    parts : array (m, t), what each kernel explains of each target, as ``score_split`` returns it, or ``weights_.T``
    names : of the m kernels, such as ``kernel_names_``
    minimum : float, default 0
        Only targets whose parts have a sum above this count: no kernel is the best for a target that none predicts.
    ax : axes of matplotlib; new ones by default

    Returns
    -------
    The axes

    Raises
    ------
    ValueError : where there are not as many names as rows of parts, or no target has a sum above the minimum
    """
    FINITE.check(minimum, "plot_best_kernels: minimum")
    values = np.asarray(unmasked(parts), dtype=float)
    if values.ndim != 2 or len(values) != len(names):
        raise ValueError(
            f"plot_best_kernels: parts must have a row for each of {len(names)} kernels and a column for each target, "
            f"got shape {values.shape}"
        )
    counted = values.sum(axis=0) > minimum  # never of NaN
    if not counted.any():
        raise ValueError(f"plot_best_kernels: no target has a score above {minimum:g}: give a smaller minimum")
    counts = np.bincount(values[:, counted].argmax(axis=0), minlength=len(values))
    label = f"targets of which the kernel explains most ({counted.sum():,} of {len(counted):,} counted)"
    return draw_bars(short_names([str(name) for name in names]), counts[None].astype(float), [""], label, ax)


def _scores(scores_1: Any, scores_2: Any) -> tuple[Array, Array]:
    """Both models' scores of the targets that have two finite ones."""
    first, second = (np.asarray(unmasked(scores), dtype=float) for scores in (scores_1, scores_2))
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"plot_hist2d: give two scores for each target, arrays (t,); got shapes {first.shape} and {second.shape}"
        )
    both_finite = np.isfinite(first) & np.isfinite(second)
    if not both_finite.any():
        raise ValueError("plot_hist2d: no target has two finite scores")
    return first[both_finite], second[both_finite]
