"""Weights of groups of samples beside those of all, and beside one Gaussian: for docs/results/beyond_the_papers.md.

    MULTIKERNEL_DATA=DIR python benchmarks/localized.py [--folds 5] [--limit 800] [--sets NAME ...]

R^2 or the part of right labels, in percent, on five folds; features are standardised on the training samples of each.
The kernels are Gaussians on each feature and of five widths on all. C is chosen by held-out error on the training
samples in every column, the norm is 2; the one Gaussian has its width chosen as well. Beside each mean stands the
standard error of its difference from Lp-MKL, over the folds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import multikernel as mk
from multikernel import datasets, kernels

Array = Any
NAMES = ("heart_statlog", "ionosphere", "sonar", "liver_bupa", "diabetes_pima", "fourclass")
NUMBERS = ("auto_mpg", "housing_boston", "kin8nm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=800)
    parser.add_argument("--sets", nargs="+", help="names; all by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data | " + " | ".join(models(True, 1)) + " |\n" + "|---" * 7 + "|")
    for name, X, y, classes in sets(options.limit):
        if options.sets and name not in options.sets:
            continue
        splitter: Any = StratifiedKFold if classes else KFold
        folds = list(splitter(options.folds, shuffle=True, random_state=0).split(X, y))
        scores = np.array(
            [[scored(make, X, y, fold) for fold in folds] for make in models(classes, X.shape[1]).values()]
        )
        error = (scores - scores[0]).std(axis=1, ddof=1) / np.sqrt(len(folds))
        cells = (f"{mean:.1f} ± {each:.1f}" for mean, each in zip(scores.mean(axis=1)[1:], error[1:], strict=True))
        print(f"| {name} | {scores[0].mean():.1f} | " + " | ".join(cells) + " |", flush=True)


def sets(limit: int) -> Iterator[tuple[str, Array, Array, bool]]:
    """Features, the target, and whether that is of classes; a random part of large sets."""
    for name in (*NAMES, *NUMBERS):
        data = datasets.load(name)
        rows = np.random.default_rng(0).permutation(len(data.y))[:limit]
        yield name, np.asarray(data.X, dtype=float)[rows], np.asarray(data.y)[rows], name in NAMES
    yield ("breast_cancer", *load_breast_cancer(return_X_y=True), True)
    yield ("diabetes", *load_diabetes(return_X_y=True), False)


def models(classes: bool, p: int) -> dict[str, Callable[[], Any]]:
    family = kernels.per_feature(kernels.RBF(0.3)) + kernels.rbf_grid(np.logspace(-2, 0, 5) / p)
    local: Any = mk.LocalizedMKLClassifier if classes else mk.LocalizedMKLRegressor
    whole: Any = mk.LpMKLClassifier if classes else mk.LpMKLRegressor
    widths = {"gamma": np.logspace(-2, 1, 7) / p, "C": np.logspace(-1, 3, 9)}
    return {
        "Lp-MKL": lambda: whole(family, C="auto"),
        "2 groups": lambda: local(family, C="auto", random_state=0),
        "4 groups": lambda: local(family, C="auto", n_clusters=4, random_state=0),
        "2 soft groups": lambda: local(family, C="auto", temperature=0.3, random_state=0),
        "4 soft groups": lambda: local(family, C="auto", n_clusters=4, temperature=0.3, random_state=0),
        "one Gaussian": lambda: GridSearchCV(SVC() if classes else SVR(), widths),
    }


def scored(make: Callable[[], Any], X: Array, y: Array, fold: tuple[Array, Array]) -> float:
    """Percent of what the test fold could have; numbers are brought to mean 0 and standard deviation 1."""
    train, test = fold
    if y.dtype.kind == "f":
        y = (y - y[train].mean()) / y[train].std()
    scaler = StandardScaler().fit(X[train])
    return 100.0 * float(make().fit(scaler.transform(X[train]), y[train]).score(scaler.transform(X[test]), y[test]))


if __name__ == "__main__":
    main()
