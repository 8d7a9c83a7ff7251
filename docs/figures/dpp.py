"""Draws docs/images/dpp_*.png from the results that the studies of dot-product polynomials have kept.

    python docs/figures/dpp.py [--results results]

The studies are benchmarks/dpp_auc.py, dpp_structure.py, dpp_expressiveness.py and dpp_noise.py; a figure whose results
are not there is left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

OUT = Path(__file__).parents[1] / "images"
INK = "#30343c"
COLOURS = {"K_MKL": "#2f6fde", "K_D": "#dd8a33", "K_sum": "#3b9b6d", "K_D,c": "#b0568f", "K_RBF": "#8d96a8"}
LABELS = {
    "K_MKL": "$K_{MKL}$",
    "K_D": "$K_D$",
    "K_sum": "$K_{sum}$",
    "K_D,c": "$K_{D,c}$, best c",
    "K_RBF": "$K_{RBF}$, best γ",
}
WAYS = {"unit interval": "#2f6fde", "standardised": "#dd8a33"}
SETS = (
    "Haberman", "Liver", "Diabetes", "Abalone", "Australian", "Pendigits",
    "Heart", "German", "Ionosphere", "Splice", "Sonar", "Colon",
)  # fmt: skip
RATIOS = ("Haberman", "Liver", "Diabetes", "Heart", "Ionosphere", "Splice")


def lines(file: Path, **fields: Any) -> list[dict[str, Any]]:
    """The results with these values."""
    every = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [line for line in every if all(line.get(name) == value for name, value in fields.items())]


def save(figure: Any, name: str) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT / f"dpp_{name}.png", dpi=150)
    plt.close(figure)


def by_degree(found: list[dict[str, Any]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    for D in sorted({line["D"] for line in found}):
        yield D, [line for line in found if line["D"] == D]


def curves(found: list[dict[str, Any]]) -> dict[str, Any]:
    """For each method an array of D, mean and deviation; the best parameter of K_D,c and K_RBF at each D."""
    kept: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in COLOURS}
    for D, here in by_degree(found):
        areas = {name: np.array([line["auc"][name] for line in here]) for name in here[0]["auc"]}
        for kind in COLOURS:
            own = [v for name, v in areas.items() if name == kind or name.startswith(kind + " ")]
            if own:
                best = max(own, key=lambda v: float(v.mean()))
                kept[kind].append((D, best.mean(), best.std(ddof=1)))
            elif kept[kind]:  # a Gaussian changes no more
                kept[kind].append((D, *kept[kind][-1][1:]))
    return {kind: np.array(points) for kind, points in kept.items()}


def areas(file: Path, scaling: str, name: str) -> None:
    """Figures 3 to 5: a panel for each data set."""
    shown = [data for data in SETS if len(lines(file, data=data, scaling=scaling, D=30)) > 1]
    if not shown:
        return
    columns = 4
    rows = -(-len(shown) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(11, 2.35 * rows + 0.5), layout="constrained", squeeze=False)
    for ax, data in zip(axes.flat, shown, strict=False):
        drawn = curves(lines(file, data=data, scaling=scaling))
        for kind in reversed(COLOURS):
            D, mean, deviation = drawn[kind].T
            ax.plot(
                D,
                mean,
                "o-",
                color=COLOURS[kind],
                markersize=2.6,
                linewidth=1.8 if kind == "K_MKL" else 1.2,
                label=LABELS[kind],
            )
            if kind == "K_MKL":
                ax.fill_between(D, mean - deviation, mean + deviation, color=COLOURS[kind], alpha=0.13, linewidth=0)
        low = min(float(points[:, 1].min()) for points in drawn.values())
        D, mean, deviation = drawn["K_MKL"].T
        ax.set_ylim(
            max(0.4, min(low, float((mean - deviation).min())) - 0.01),
            min(1.005, float((mean + deviation).max()) + 0.01),
        )
        ax.set_title(data, loc="left", fontsize=10.5)
        ax.set_xticks((1, 10, 20, 30))
    for ax in axes.flat[len(shown) :]:
        ax.set_visible(False)
    figure.supxlabel("largest degree D", fontsize=10)
    figure.supylabel("area under the curve", fontsize=10)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=5, frameon=False)
    save(figure, name)


def structure(file: Path) -> None:
    """Figure 6."""
    if not lines(file):
        return
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, data in zip(axes, ("Ionosphere", "Abalone"), strict=True):
        for family, colour, label in (
            ("R_D", COLOURS["K_RBF"], "$R_D$, monomials shared out at random"),
            ("Q_D", COLOURS["K_MKL"], "$Q_D$, a kernel for each degree"),
        ):
            points = np.array(
                [
                    (D, np.mean([line["auc"] for line in here]), np.std([line["auc"] for line in here], ddof=1))
                    for D, here in by_degree(lines(file, data=data, family=family))
                ]
            )
            D, mean, deviation = points.T
            ax.plot(D, mean, "o-", color=colour, markersize=3, label=label)
            ax.fill_between(D, mean - deviation, mean + deviation, color=colour, alpha=0.15, linewidth=0)
        ax.set_title(data, loc="left", fontsize=10.5)
        ax.set(xlabel="largest degree D", xticks=(1, 10, 20, 30), ylim=(None, min(1.0, ax.get_ylim()[1])))
    axes[0].set_ylabel("area under the curve")
    axes[0].legend(loc="lower right", frameon=False)
    save(figure, "structure")


def ratios(file: Path) -> None:
    """Figure 7: a row for each way of scaling."""
    if not lines(file, what="ratio"):
        return
    figure, axes = plt.subplots(2, 6, figsize=(13, 4.8), layout="constrained", sharex=True)
    for row, scaling in zip(axes, WAYS, strict=True):
        for ax, data in zip(row, RATIOS, strict=True):
            here = sorted(lines(file, data=data, scaling=scaling, what="ratio"), key=lambda line: line["D"])
            for kind in ("K_sum", "K_D", "K_MKL"):
                values = [line["ratio"][kind] for line in here]
                ax.plot(
                    [line["D"] for line in here], values, "o-", color=COLOURS[kind], markersize=2.6, label=LABELS[kind]
                )
            ax.set_title(data, loc="left", fontsize=10.5)
            ax.set_ylim(bottom=0.8)
            ax.set_xticks((1, 10, 20, 30))
        row[0].set_ylabel(f"{scaling}\nspectral ratio")
    figure.supxlabel("largest degree D", fontsize=10)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=3, frameon=False)
    save(figure, "ratios")


def weights(file: Path) -> None:
    """Figure 8."""
    if not lines(file, what="ratio"):
        return
    figure, axes = plt.subplots(
        2, 3, figsize=(9.5, 4.6), layout="constrained", gridspec_kw={"width_ratios": (4, 6, 11)}
    )
    for row, data in zip(axes, ("Heart", "Splice"), strict=True):
        for ax, D in zip(row, (3, 5, 10), strict=True):
            for shift, (scaling, colour) in zip((-0.2, 0.2), WAYS.items(), strict=True):
                (line,) = lines(file, data=data, scaling=scaling, what="ratio", D=D)
                ax.bar(np.arange(D + 1) + shift, line["weights"], 0.4, color=colour, label=scaling)
            ax.set_title(f"{data}, D = {D}", loc="left", fontsize=10.5)
            ax.set_xticks(range(D + 1))
            ax.grid(False, axis="x")
        row[0].set_ylabel("weight")
    figure.supxlabel("degree", fontsize=10)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    save(figure, "weights")


def balls(file: Path) -> None:
    """Figure 1."""
    if not lines(file, what="ball"):
        return
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, data in zip(axes, ("Heart", "Splice"), strict=True):
        for scaling, colour in WAYS.items():
            here = sorted(lines(file, data=data, scaling=scaling, what="ball"), key=lambda line: line["D"])
            degrees = [line["D"] for line in here]
            ax.plot(
                degrees, [line["squared_radius"] for line in here], color=colour, label=f"{scaling}: squared radius"
            )
            ax.plot(
                degrees,
                [line["average"] for line in here],
                "--",
                color=colour,
                linewidth=1.2,
                label=f"{scaling}: 1 - mean of K",
            )
        ax.set_title(data, loc="left", fontsize=10.5)
        ax.set(xlabel="degree", xticks=(1, 10, 20, 30))
    axes[1].legend(loc="lower right", frameon=False)
    save(figure, "balls")


def noise(file: Path) -> None:
    """Figure 9."""
    if not lines(file):
        return
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for ax, shown in zip(axes, (range(0, 101, 10), range(11)), strict=True):
        values = [np.array([line["mass"] for line in lines(file, percent=percent)]) for percent in shown]
        mean, deviation = np.array([(v.mean(), v.std(ddof=1)) for v in values]).T
        ax.plot(shown, mean, "o-", color=COLOURS["K_MKL"], markersize=3.5)
        ax.fill_between(shown, mean - deviation, mean + deviation, color=COLOURS["K_MKL"], alpha=0.15, linewidth=0)
        ax.set(xlabel="labels swapped, % of the samples, drawn with replacement")
    axes[0].set_ylabel("centre of mass of the weights")
    save(figure, "noise")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--results", type=Path, default=Path("results"), help="the directory of the kept results")
    directory = options.parse_args().results
    style = {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.2}
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), INK)
    with plt.rc_context({**style, **ink, "axes.axisbelow": True, "font.size": 9.5}):
        areas(directory / "dpp_auc.jsonl", "unit interval", "auc")
        areas(directory / "dpp_auc.jsonl", "standardised", "auc_standardised")
        structure(directory / "dpp_structure.jsonl")
        ratios(directory / "dpp_expressiveness.jsonl")
        weights(directory / "dpp_expressiveness.jsonl")
        balls(directory / "dpp_expressiveness.jsonl")
        noise(directory / "dpp_noise.jsonl")


if __name__ == "__main__":
    main()
