"""What the rule for samples that lack a source is worth: sources deleted from real data, five folds.

A part of the samples loses one source each, or every source of a sample is lost with that chance. Compared are

    completed      the other sources give the features of what is missing (multikernel/sources/completion.py)
    zero           kernels that are 0 there
    mean           the mean of all samples that have the source, in feature space
    nearest        the mean of the five most similar samples
    columns        missing cells filled in by the means of their columns
    complete rows  only samples with every source are trained on

each with a support vector machine on the mean of the sources' kernels, a Gaussian of standardised columns of median
width, C chosen by inner folds. ``python benchmarks/missing_sources.py FOLDER``, where FOLDER holds the several sources
of ``digits`` and ``nutrimouse`` as CSV files with a column ``row``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from multikernel.sources.completion import Regression

Array = Any
RULES = ("completed", "zero", "mean", "nearest", "columns", "complete rows", "nothing missing")
NEAREST = 5


def digits(folder: Path, names: str, n: int = 300) -> tuple[list[Array], Array]:
    """Some of the six sources of handwritten digits, of some of the samples."""
    frames = [pd.read_csv(folder / f"digits_{name}.csv.gz") for name in names.split()]
    rows = np.random.default_rng(0).permutation(len(frames[0]))[:n]
    label = frames[0]["digit"].to_numpy()[rows]
    return [frame.drop(columns=["row", "digit"]).to_numpy(float)[rows] for frame in frames], label


def nutrimouse(folder: Path) -> tuple[list[Array], Array]:
    """Genes and lipids of 40 mice, and their diets."""
    parts = [pd.read_csv(folder / f"nutrimouse_{name}.csv.gz") for name in ("gene", "lipid", "diet")]
    label = np.unique(parts[2].iloc[:, -1], return_inverse=True)[1]
    return [part.drop(columns="row").to_numpy(float) for part in parts[:2]], label


def deleted(n: int, sources: int, how: str, seed: int) -> Array:
    """Which samples have which sources, bool array (sources, n)."""
    rng = np.random.default_rng(seed)
    if how == "one source of a third":
        present = np.ones((sources, n), dtype=bool)
        some = rng.random(n) < 1.0 / 3.0
        present[rng.integers(sources, size=n)[some], np.flatnonzero(some)] = False
        return present
    present = rng.random((sources, n)) > 1.0 / 3.0
    none = np.flatnonzero(~present.any(axis=0))
    present[rng.integers(sources, size=len(none)), none] = True
    return present


def gaussian(X: Array, train: Array) -> Array:
    """A Gaussian of columns of spread 1, of median width, both those of the training samples that have it."""
    spread = X[train].std(axis=0)
    Z = (X - X[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    squares = cdist(Z, Z, "sqeuclidean")
    return np.exp(-squares / np.median(squares[np.ix_(train, train)]))


def weights(rule: str, place: int, kernels: list[Array], present: Array, train: Array) -> Array:
    """All samples as weighted sums of samples in one source, array (n, n)."""
    has = present[place]
    W = np.diag(has.astype(float))
    own, lacking = train[has[train]], np.flatnonzero(~has)
    others = [u for u in range(len(kernels)) if u != place]
    g = sum(np.outer(present[u], present[u]) * kernels[u] for u in others) / len(others)
    at = np.ix_(lacking, own)
    if rule == "mean":
        W[at] = 1.0 / len(own)
    elif rule == "nearest":
        nearest = np.argsort(-g[at], axis=1)[:, :NEAREST]
        W[lacking[:, None], own[nearest]] = 1.0 / NEAREST
    elif rule == "completed":
        square = np.ix_(own, own)
        W[at] = Regression.of(g[square], kernels[place][square]).weights(g[at])
    return W


def kernel(rule: str, sources: list[Array], present: Array, train: Array) -> Array:
    """The mean of the sources' kernels between all samples."""
    own = [train[has[train]] for has in present]
    if rule == "columns":
        filled = [
            np.where(has[:, None], X, X[rows].mean(axis=0)) for X, has, rows in zip(sources, present, own, strict=True)
        ]
        return np.mean([gaussian(X, train) for X in filled], axis=0)
    kernels = [gaussian(X, rows) for X, rows in zip(sources, own, strict=True)]
    if rule == "nothing missing":
        return np.mean(kernels, axis=0)
    inner = "zero" if rule == "complete rows" else rule
    mixed = [weights(inner, place, kernels, present, train) for place in range(len(kernels))]
    return np.mean([W @ K @ W.T for W, K in zip(mixed, kernels, strict=True)], axis=0)


def accuracy(rule: str, sources: list[Array], label: Array, present: Array, seed: int) -> Iterator[float]:
    """The part of right labels in each of five folds."""
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(label, label):
        K = kernel(rule, sources, present, train)
        rows = train[present.all(axis=0)[train]] if rule == "complete rows" else train
        folds = max(2, min(3, int(np.bincount(label[rows])[np.unique(label[rows])].min())))
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": [1, 10, 100, 1000]}, cv=folds)
        yield search.fit(K[np.ix_(rows, rows)], label[rows]).score(K[np.ix_(test, rows)], label[test])


def main() -> None:
    folder = Path(sys.argv[1])
    sets = {
        "digits, six sources": digits(folder, "fac fou kar mor pix zer"),
        "digits, fou zer kar": digits(folder, "fou zer kar"),
        "digits, fou mor": digits(folder, "fou mor"),
        "nutrimouse, genes and lipids": nutrimouse(folder),
    }
    print(f"{'':<32}{'deleted':<26}" + "".join(f"{rule:>17}" for rule in RULES))
    for name, (sources, label) in sets.items():
        for how in ("one source of a third", "a third of each source"):
            cells = []
            for rule in RULES:
                every = [
                    value
                    for seed in range(4)
                    for value in accuracy(rule, sources, label, deleted(len(label), len(sources), how, seed), seed)
                ]
                cells.append(f"{np.mean(every):>17.3f}")
            print(f"{name:<32}{how:<26}{''.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
