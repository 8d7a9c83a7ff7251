"""Figures 3 to 6 of Donini and Aiolli: draws docs/images/dpp_*.png, and prints the tables of the page on them.

    python docs/figures/dot_product_polynomials.py docs/_extra/reproduced/cells.jsonl

The file has the finished cells of ``multikernel reproduce dpp``. Of each data set the whole protocol is used where all
of its cells are finished, and otherwise the part of it that a usual run measures.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from multikernel.reproduce.dpp import curves, structure
from multikernel.reproduce.dpp.protocol import NAMES
from multikernel.reproduce.experiment import Cell

IMAGES = Path(__file__).parent.parent / "images"
COLOURS = {"K_MKL": "C0", "K_D": "C1", "K_sum": "C2", "K_D,c": "C3", "K_RBF": "0.6"}
SCALINGS = {"stated": "dpp_auc.png", "standardised": "dpp_auc_standardised.png"}
SHOWN = (3, 10, 30)

Areas = dict[int, dict[str, np.ndarray]]  # by D and method, of each fold


def main() -> None:
    found: dict[str, dict[frozenset, dict]] = defaultdict(dict)
    for line in Path(sys.argv[1]).read_text().splitlines():
        cell = json.loads(line)
        found[cell["experiment"]][frozenset(cell["fields"].items())] = cell["found"]
    for scaling, image in SCALINGS.items():
        areas = {name: _areas(found["dpp/curves"], source, scaling) for name, source in NAMES.items()}
        _draw_areas(areas, IMAGES / image)
        _print_areas(areas, scaling)
    _structure(found["dpp/structure"])


def _finished(found: dict[frozenset, dict], plans: list[list[Cell]]) -> list[tuple[Cell, dict]]:
    """The cells, with what was measured, of the first plan that is finished."""
    for cells in plans:
        if all(frozenset(cell.fields) in found for cell in cells):
            return [(cell, found[frozenset(cell.fields)]) for cell in cells]
    raise ValueError("no plan is finished: run `multikernel reproduce dpp` first")


def _areas(found: dict[frozenset, dict], source: str, scaling: str) -> Areas:
    """The area of each test fold; of K_D,c and K_RBF with the parameter that is best on the test folds."""
    planned = dict.fromkeys([*curves._whole(), *curves._cells(False)])
    cells = [cell for cell in planned if (cell["data"], cell["variant"]) == (source, scaling)]
    plans = list(dict.fromkeys(cell["plan"] for cell in cells))
    finished = _finished(found, [[cell for cell in cells if cell["plan"] == plan] for plan in plans])
    folds: dict[int, list[dict[str, float]]] = defaultdict(list)
    for cell, measurement in finished:
        folds[cell["D"]].append(measurement["auc"])
    areas: Areas = {}
    for D, of_folds in folds.items():
        all_methods = {name: np.array([fold[name] for fold in of_folds]) for name in of_folds[0]}
        areas[D] = {}
        for method in COLOURS:
            of_method = [values for name, values in all_methods.items() if name.split(" ")[0] == method]
            if of_method:
                areas[D][method] = max(of_method, key=np.mean)
    last = max(D for D in areas if "K_RBF" in areas[D])
    for D in areas:  # weights of a Gaussian at higher degrees are nearly 0
        areas[D].setdefault("K_RBF", areas[last]["K_RBF"])
    return areas


def _draw_areas(areas_of_data: dict[str, Areas], image: Path) -> None:
    figure, panels = plt.subplots(3, 4, figsize=(11, 7.6), layout="constrained")
    for axes, (name, areas) in zip(panels.flat, areas_of_data.items(), strict=True):
        degrees = sorted(areas)
        mean, spread = (
            np.array([of(areas[D]["K_MKL"]) for D in degrees]) for of in (np.mean, lambda a: np.std(a, ddof=1))
        )
        axes.fill_between(degrees, mean - spread, np.minimum(mean + spread, 1.0), color="C0", alpha=0.12, linewidth=0)
        for method, colour in reversed(COLOURS.items()):
            heights = [areas[D][method].mean() for D in degrees]
            axes.plot(degrees, heights, "o-", markersize=3, linewidth=1.3, color=colour, label=method)
        axes.set_title(name, loc="left", fontsize=11)
        axes.set_xticks([1, 10, 20, 30])
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.15)
    figure.supxlabel("largest degree D", fontsize=11)
    figure.supylabel("area under the ROC curve", fontsize=11)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=5, frameon=False)
    figure.savefig(image, dpi=150)


def _print_areas(areas_of_data: dict[str, Areas], scaling: str) -> None:
    methods = [method for method in COLOURS if method != "K_MKL"]
    print(f"\n{scaling}\n\n| D | {' | '.join(methods)} |\n|{'---|' * (len(methods) + 1)}")
    for D in SHOWN:
        entries = []
        for method in methods:
            differences = [areas[D]["K_MKL"] - areas[D][method] for areas in areas_of_data.values()]
            errors = [2 * d.std(ddof=1) / np.sqrt(len(d)) for d in differences]
            better = sum(d.mean() > e for d, e in zip(differences, errors, strict=True))
            worse = sum(d.mean() < -e for d, e in zip(differences, errors, strict=True))
            entries.append(f"{np.mean([d.mean() for d in differences]):+.3f} [{better}, {worse}]")
        print(f"| {D} | {' | '.join(entries)} |")
    for method in ("K_MKL", "K_D", "K_sum"):
        losses = {}
        for name, areas in areas_of_data.items():
            means = {D: areas[D][method].mean() for D in areas}
            losses[name] = max(means.values()) - means[max(means)]
        print(f"{method} loses {np.mean(list(losses.values())):.3f} from its best D to the last, at most ", end="")
        worst = max(losses, key=losses.__getitem__)
        print(f"{losses[worst]:.3f} ({worst})")
    for name, areas in areas_of_data.items():
        means = {D: areas[D]["K_MKL"].mean() - areas[D]["K_D"].mean() for D in SHOWN}
        print(name, f"{len(next(iter(areas.values()))['K_MKL'])} folds, K_MKL - K_D:", end=" ")
        print(", ".join(f"{value:+.3f} at {D}" for D, value in means.items()), end="; K_MKL at 10: ")
        print(f"{areas[10]['K_MKL'].mean():.3f} ({areas[10]['K_MKL'].std(ddof=1):.3f})")


def _structure(found: dict[frozenset, dict]) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for axes, name in zip(panels, structure.DEGREES, strict=True):
        plans = [
            [cell for cell in each if cell["data"] == name] for each in (structure._whole(), structure._cells(False))
        ]
        finished = _finished(found, plans)
        print(f"\n{name}, {len(finished)} cells\n")
        print("| D | Q_D | zero kernels | evenness | R_D | zero kernels | evenness | Q_D - R_D |")
        print("|---|---|---|---|---|---|---|---|")
        means: dict[str, list[float]] = defaultdict(list)
        for D in structure.DEGREES[name]:
            row = []
            of_folds = {}
            for family in structure.FAMILIES:
                cells = [m for cell, m in finished if (cell["D"], cell["family"]) == (D, family)]
                area = of_folds[family] = np.concatenate([m["auc"] for m in cells])
                means[family].append(area.mean())
                zero, even = (np.mean([np.mean(m[key]) for m in cells]) for key in ("zero", "even"))
                row.append(f"{area.mean():.3f} ({area.std(ddof=1):.3f}) | {zero:.1f} of {D + 1} | {even:.2f}")
            difference = of_folds["Q_D"] - of_folds["R_D"]
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            print(f"| {D} | {' | '.join(row)} | {difference.mean():+.4f} ± {error:.4f} |")
        for family, heights in means.items():
            axes.plot(structure.DEGREES[name], heights, "o-", markersize=4, label=family)
        axes.set(title=next(key for key, value in NAMES.items() if value == name), xlabel="largest degree D")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.15)
    panels[0].set_ylabel("area under the ROC curve")
    panels[1].legend(frameon=False)
    figure.savefig(IMAGES / "dpp_structure.png", dpi=150)


if __name__ == "__main__":
    main()
