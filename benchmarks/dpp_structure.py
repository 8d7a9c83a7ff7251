"""Does it matter which monomials share a kernel? Q_D against R_D: Figure 6 of Donini and Aiolli (2017).

    python benchmarks/dpp_structure.py --data-dir DIR [--results results/dpp_structure.jsonl] [--draws 3]

50,000 random monomials of degrees up to D; in Q_D the kernel s collects those of degree s, in R_D each goes to a random
kernel. EasyMKL on both, by the nested folds of dpp_protocol.py, three inner ones; several draws, where the paper does
not say how many. A draw is bound once for all folds, so features are scaled to [0, 1] by all samples here. Abalone is
cut to 500 random samples and fewer degrees. Also told: kernels that are zero since no monomial of their degree was
drawn, and how even the weights are among the others: exp(entropy) as a share of their number, 1 for equal weights.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from dpp_protocol import folds, load, nested, parser, scaled
from kept import Kept
from multikernel import bind, kernels

DEGREES = {"Ionosphere": (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30), "Abalone": (1, 2, 3, 5, 10, 20, 30)}
INNER = 3
ROWS = 500
FAMILIES = {"Q_D": "degree", "R_D": "random"}


def sample(name: str, directory: Any) -> tuple[Any, Any]:
    """At most ``ROWS`` samples, of unit length: in R_D monomials of several degrees meet."""
    X, y = load(name, directory)
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS] if len(y) > ROWS else np.arange(len(y))
    return normalize(scaled(X[rows], "unit interval")), y[rows]


def evenness(weights: Any, there: Any) -> float:
    """exp(entropy) of the weights, as a share of the number of kernels that are there."""
    w = weights[weights > 0]
    return float(np.exp(-(w @ np.log(w))) / there.sum())


def run(X: Any, y: Any, family: str, D: int, draw: int) -> list[dict[str, Any]]:
    """All ten folds of one draw."""
    bank = bind(kernels.random_monomials(D, grouping=FAMILIES[family], random_state=draw), X)
    there = bank.traces() > 0
    lines = []
    for number, (train, test) in enumerate(folds(y, np.arange(len(y)), 10, 0)):
        found = nested(bank, y, train, test, INNER, 0)
        even = evenness(np.array(found["weights"]), there)
        lines.append({"fold": number, "zero": int((~there).sum()), "even": even, **found})
    return lines


def told(kept: Kept, name: str, D: int) -> None:
    cells = [str(D)]
    for family in FAMILIES:
        lines = kept.where(data=name, family=family, D=D)
        area = np.array([line["auc"] for line in lines])
        zero, even = (np.mean([line[field] for line in lines]) for field in ("zero", "even"))
        cells += [f"{area.mean():.3f} ({area.std(ddof=1):.3f})", f"{zero:.1f} of {D + 1}", f"{even:.2f}"]
    pairs = zip(*(kept.where(data=name, family=family, D=D) for family in FAMILIES), strict=True)
    difference = np.array([one["auc"] - other["auc"] for one, other in pairs])
    print(f"| {' | '.join(cells)} | {difference.mean():+.4f} |", flush=True)


def main() -> None:
    options = parser(__doc__ or "", "dpp_structure.jsonl")
    options.add_argument("datasets", nargs="*", default=list(DEGREES), metavar="DATASET", help=", ".join(DEGREES))
    options.add_argument("--draws", type=int, default=3)
    asked = options.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="EasyMKL: the hulls")
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    kept = Kept(asked.results, ("data", "D", "draw", "family"))
    for name in asked.datasets:
        X, y = sample(name, asked.data_dir)
        print(f"\n{name}, {len(y)} samples, 10 x {INNER} folds, {asked.draws} draws\n")
        print("| D | Q_D | zero kernels | evenness | R_D | zero kernels | evenness | Q_D - R_D |")
        print("|---|---|---|---|---|---|---|---|")
        for D in DEGREES[name]:
            for draw in range(asked.draws):
                for family in FAMILIES:
                    here = {"data": name, "D": D, "draw": draw, "family": family}
                    if not kept.has(**here):
                        kept.add([{**here, **line} for line in run(X, y, family, D, draw)])
            told(kept, name, D)


if __name__ == "__main__":
    main()
