"""Where EasyMKL puts its weight as labels become noise: Figure 9 of Donini and Aiolli (2017).

    python benchmarks/dpp_noise.py [--results results/dpp_noise.jsonl]

500 samples of two features, one of them informative, two clusters (scikit-learn's make_classification, whose other
options the paper does not tell), brought to unit length; homogeneous polynomials of degrees 0..10, Lambda = 0.01. A
percentage of the samples is drawn with replacement, and each draw swaps a label: a sample drawn twice is as before, so
that 100 % of draws leave 43 % of labels wrong. W is the mean degree of the weights as a share of the largest.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification

from dpp_protocol import OUTER, parser, powers
from kept import Kept
from multikernel import diagnostics
from multikernel.procedures import easymkl

DEGREE, LAMBDA, SAMPLES = 10, 0.01, 500
PERCENTAGES = (*range(11), *range(20, 101, 10))


def mass(seed: int, percent: int) -> dict[str, float]:
    """The centre of mass of the weights, and the share of labels that are wrong."""
    X, labels = make_classification(
        SAMPLES, n_features=2, n_informative=1, n_redundant=0, n_clusters_per_class=1, random_state=seed
    )
    y = np.where(labels == 1, 1.0, -1.0)
    drawn = np.random.default_rng(seed).integers(SAMPLES, size=round(SAMPLES * percent / 100))
    swapped = np.where(np.bincount(drawn, minlength=SAMPLES) % 2 == 1, -y, y)
    machine = OUTER.machine(LAMBDA / (1 + LAMBDA), SAMPLES)
    learned = easymkl(powers(X, DEGREE), swapped, machine)
    return {
        "mass": diagnostics.center_of_mass(learned.values),
        "wrong": float((swapped != y).mean()),
        "gap": learned.gap,
    }


def main() -> None:
    options = parser(__doc__ or "", "dpp_noise.jsonl")
    options.add_argument("--repetitions", type=int, default=10)
    asked = options.parse_args()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    kept = Kept(asked.results, ("seed", "percent"))
    print("| swapped, % | labels wrong, % | W |\n|---|---|---|")
    for percent in PERCENTAGES:
        for seed in range(asked.repetitions):
            if not kept.has(seed=seed, percent=percent):
                kept.add([{"seed": seed, "percent": percent, **mass(seed, percent)}])
        lines = kept.where(percent=percent)
        W, wrong = (np.array([line[field] for line in lines]) for field in ("mass", "wrong"))
        print(f"| {percent} | {100 * wrong.mean():.1f} | {W.mean():.3f} ({W.std(ddof=1):.3f}) |", flush=True)
    print(f"\nworst gap {max(line['gap'] for line in kept.lines):.0e}")


if __name__ == "__main__":
    main()
