"""Area under the curve of EasyMKL on dot-product polynomials against fixed weights: Figures 3 to 5 of the paper.

    python benchmarks/dpp_auc.py --data-dir DIR [--results results/dpp_auc.jsonl] [Haberman Liver ...]

The protocol of Donini and Aiolli (2017, section 5.1), see dpp_protocol.py. K_MKL is EasyMKL on degrees 0..D, K_D the
degree D alone, K_sum the mean of all degrees, K_D,c the weights of (t + c)^D and K_RBF those of a Gaussian, cut off
at D; for the last two the parameter that is best on the test folds is told, as in the paper. A Gaussian is cut off at
20 at the latest: what lies beyond weighs less than 1e-7.

The paper has 10 x 10 folds and 11 values of lam. So it is here up to 400 samples and "unit interval"; what is run for
more samples and for "standardised" is ``plan``, and stands in the tables. ``--full`` runs all of it everywhere.
Finished folds are kept in the results file; with ``--table`` they are printed, and nothing is run.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dpp_protocol import (
    CONSTANTS,
    GAMMAS,
    LAMS,
    NAMES,
    SCALERS,
    fixed_weights,
    folds,
    load,
    nested,
    parser,
    powers,
    scaled,
)
from kept import Kept

KEY = ("data", "scaling", "plan", "seed", "fold", "D")
CUT = 20  # the largest degree of a Gaussian
LEARNED, FREE = "K_MKL", ("K_D,c", "K_RBF")  # the latter: best parameter on the test folds
ORDER = (LEARNED, "K_D", "K_sum", *FREE)


@dataclass(frozen=True)
class Plan:
    """What is run of the protocol: ``outer`` of the ten test folds, ``inner`` folds to choose lam."""

    name: str
    degrees: tuple[int, ...] = (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30)
    outer: int = 10
    inner: int = 10
    lams: tuple[float, ...] = LAMS
    constants: tuple[float, ...] = CONSTANTS
    gammas: tuple[float, ...] = GAMMAS

    def weights(self, D: int) -> dict[str, Any]:
        """The fixed weightings of degrees 0..D that are run."""
        names = ["K_D", "K_sum"] + [f"K_D,c {c:g}" for c in self.constants]
        names += [f"K_RBF {gamma:g}" for gamma in self.gammas] if D <= CUT else []
        every = fixed_weights(D)
        return {name: every[name] for name in names}


FULL = Plan("10 x 10 folds")
MEDIUM = Plan("10 x 3 folds, 5 D", (1, 3, 5, 10, 30), inner=3, gammas=(0.0625, 0.25, 1.0))
COARSE = Plan("10 x 3 folds, 6 D", (1, 2, 3, 10, 15, 30), inner=3, gammas=(0.0625, 0.25, 1.0))
LARGE = Plan(
    "3 of 10 x 3 folds, 4 D, 3 lam",
    (1, 3, 10, 30),
    outer=3,
    inner=3,
    lams=(0.1, 0.5, 0.9),
    constants=(0.5, 2.0),
    gammas=(0.25, 1.0),
)


def plan(n: int, scaling: str) -> Plan:
    """What fits into an hour and a half, all data sets together, on one core."""
    if n > 2000:
        return LARGE
    if scaling == "standardised":
        return COARSE
    return FULL if n <= 400 else MEDIUM


def fold(X: Any, y: Any, scaling: str, own: Plan, seed: int, number: int, D: int) -> dict[str, Any]:
    """Every method on one test fold with degrees 0..D."""
    start = time.perf_counter()
    train, test = folds(y, np.arange(len(y)), 10, seed)[number]
    bank = powers(scaled(X, scaling, train), D)
    learned = nested(bank, y, train, test, own.inner, seed, own.lams)
    runs = {LEARNED: learned}
    for name, weights in own.weights(D).items():
        runs[name] = nested(bank.combine(weights).dense(), y, train, test, own.inner, seed, own.lams)
    kept = {field: {name: run[field] for name, run in runs.items()} for field in ("auc", "lam", "gap", "inner_gap")}
    return {**kept, "weights": learned["weights"], "seconds": time.perf_counter() - start}


def summary(lines: list[dict[str, Any]], before: dict[str, Any]) -> dict[str, Any]:
    """For each method the areas over the folds; of K_D,c and K_RBF those of the best parameter, and its name.

    ``before`` is the summary of the next smaller D: the Gaussian where it is not run again.
    """
    areas = {name: np.array([line["auc"][name] for line in lines]) for name in lines[0]["auc"]}
    best = {name: (name, values) for name, values in areas.items() if not name.startswith(FREE)}
    for kind in FREE:
        own = [(name, values) for name, values in areas.items() if name.startswith(kind)]
        best[kind] = max(own, key=lambda pair: float(pair[1].mean())) if own else before[kind]
    return best


def summaries(
    kept: Kept, name: str, scaling: str, own: Plan
) -> Iterable[tuple[int, dict[str, Any], list[dict[str, Any]]]]:
    """D, the summary and the folds, for every D of which all folds are done."""
    last: dict[str, Any] = {}
    for D in own.degrees:
        lines = kept.where(data=name, scaling=scaling, plan=own.name, D=D)
        if len(lines) >= own.outer:
            last = summary(lines, last)
            yield D, last, lines


def told(kept: Kept, name: str, scaling: str, own: Plan) -> None:
    """A table of one data set, in Markdown."""
    rows = list(summaries(kept, name, scaling, own))
    if not rows:
        return
    print(
        f"\n{name}, {scaling}, {own.name}\n\n| D | K_MKL | K_D | K_sum | K_D,c | K_RBF | K_MKL - K_D | K_MKL - K_sum |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for D, best, _ in rows:
        cells = [f"{values.mean():.3f} ({values.std(ddof=1):.3f})" for _, values in (best[k] for k in ORDER)]
        for other in ("K_D", "K_sum"):
            difference = best[LEARNED][1] - best[other][1]
            cells.append(f"{difference.mean():+.3f} ± {difference.std(ddof=1) / np.sqrt(len(difference)):.3f}")
        print(f"| {D} | " + " | ".join(cells) + " |")
    lines = [line for _, _, lines in rows for line in lines]
    print(
        f"\nworst gap {max(max(line['gap'].values()) for line in lines):.0e}, of the folds that choose lam > 0 "
        f"{max(max(line['inner_gap'].values()) for line in lines):.0e}; {sum(line['seconds'] for line in lines):.0f} s"
    )


def compared(kept: Kept, sizes: dict[str, int], scaling: str, full: bool) -> None:
    """Over the data sets, at some D: how much K_MKL is above each other method; and what methods lose up to D = 30."""
    found = {
        name: {D: best for D, best, _ in summaries(kept, name, scaling, FULL if full else plan(n, scaling))}
        for name, n in sizes.items()
    }
    done = {name: by_degree for name, by_degree in found.items() if 30 in by_degree}
    if not done:
        return
    print(
        f"\n{scaling}: K_MKL minus another, mean over {len(done)} data sets [sets better, worse by two standard "
        "errors of the folds]\n"
    )
    print(f"| D | {' | '.join(ORDER[1:])} |\n|---|---|---|---|---|")
    for D in (3, 10, 30):
        cells = []
        for other in ORDER[1:]:
            rows = [by_degree[D][LEARNED][1] - by_degree[D][other][1] for by_degree in done.values()]
            error = np.array([2.0 * row.std(ddof=1) / np.sqrt(len(row)) for row in rows])
            mean = np.array([row.mean() for row in rows])
            cells.append(f"{mean.mean():+.3f} [{(mean > error).sum()}, {(mean < -error).sum()}]")
        print(f"| {D} | {' | '.join(cells)} |")
    for kind in ORDER[:3]:
        areas = [{D: best[kind][1].mean() for D, best in by_degree.items()} for by_degree in done.values()]
        losses = [max(values.values()) - values[30] for values in areas]
        print(f"\n{kind}: D = 30 below the best D by {np.mean(losses):.3f} on average, {max(losses):.3f} at most")


def main() -> None:
    options = parser(__doc__ or "", "dpp_auc.jsonl")
    options.add_argument("datasets", nargs="*", default=list(NAMES), metavar="DATASET", help=", ".join(NAMES))
    options.add_argument("--scaling", nargs="*", default=list(SCALERS), choices=list(SCALERS))
    options.add_argument("--seeds", type=int, default=1, help="repetitions with other folds")
    options.add_argument("--full", action="store_true", help="the whole protocol for every data set")
    options.add_argument("--table", action="store_true", help="print what is kept, run nothing")
    asked = options.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the worst gap stands in the table
    warnings.filterwarnings("ignore", message="EasyMKL: the hulls")
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    kept = Kept(asked.results, KEY)
    sets = sorted(((name, *load(name, asked.data_dir)) for name in asked.datasets), key=lambda entry: len(entry[1]))
    for scaling in asked.scaling:
        for name, X, y in sets:
            own = FULL if asked.full else plan(len(y), scaling)
            for seed, number, D in () if asked.table else tasks(own, asked.seeds):
                here = dict(zip(KEY, (name, scaling, own.name, seed, number, D), strict=True))
                if not kept.has(**here):
                    kept.add([{**here, **fold(X, y, scaling, own, seed, number, D)}])
            told(kept, name, scaling, own)
        compared(kept, {name: len(y) for name, _, y in sets}, scaling, asked.full)


def tasks(own: Plan, seeds: int) -> Iterable[tuple[int, int, int]]:
    """Seed, number of the test fold, D."""
    return ((seed, number, D) for seed in range(seeds) for D in own.degrees for number in range(own.outer))


if __name__ == "__main__":
    main()
