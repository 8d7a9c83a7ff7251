"""Every estimator at its defaults, beside its own best regularisation and width.

    python benchmarks/defaults.py --data DIR [--sets ...] [--estimators ...] [--limit 300] [--kept FILE]

Three folds, the same for all. Defaults are scored on the features as they are ("raw") and after a scaler
("standardised"). The tuned score of an estimator is that of the best of its regularisation and of the scale of the
features (as they are, standardised, and standardised divided by 3) on the same folds. The distance is
what the defaults lose of it, in R^2 or in the part of right labels; a star says that the fit warned.
Numeric features only. Results are kept in a file of lines, and what is in it is not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from tables import load, table

CLASSES = ("ionosphere", "sonar", "breast_cancer", "heart_statlog", "wine")
NUMBERS = ("diabetes", "housing_boston", "auto_mpg", "kin8nm", "prostate")
MORE = ("diabetes_pima", "parkinsons", "liver_bupa", "cpu", "abalone", "protein")  # no default was chosen on these
FOLDS = 3
Array = Any

RIDGE = {"alpha": np.logspace(-3, 3, 7)}
SMALL = {"alpha": np.logspace(-6, 0, 7)}  # of kernels whose trace is 1
LOSS = {"C": np.logspace(-1, 3, 5)}
GRIDS: dict[str, dict[str, Any]] = {
    "AlignmentMKLClassifier": LOSS,
    "AverageMKLClassifier": LOSS,
    "BestKernelClassifier": LOSS | {"random_state": [0]},
    "ProportionalMKLClassifier": LOSS | {"random_state": [0]},
    "EasyMKLClassifier": {"lam": [0.0, 0.01, 0.1, 0.3, 0.6, 0.9, 1.0]},
    "GMKLClassifier": LOSS,
    "HKLClassifier": LOSS | {"beta": [4.0]},
    "L1MKLClassifier": LOSS,
    "LearnedScalesClassifier": {"penalty": [0.1, 1.0, 10.0]},
    "LinearRLS2Classifier": SMALL,
    "LpMKLClassifier": LOSS,
    "PolynomialMKLClassifier": {"alpha": np.logspace(-3, 5, 9)},
    "RLS2Classifier": SMALL,
    "SMKLClassifier": LOSS,
    "AlignmentMKLRegressor": RIDGE,
    "AverageMKLRegressor": RIDGE,
    "BestKernelRegressor": RIDGE | {"random_state": [0]},
    "ProportionalMKLRegressor": RIDGE | {"random_state": [0]},
    "GMKLRegressor": {"alpha": np.logspace(-2, 4, 7)},
    "HKLRegressor": LOSS | {"beta": [4.0]},
    "L1MKLRegressor": LOSS | {"epsilon": [0.1]},
    "SMKLRegressor": LOSS | {"epsilon": [0.1]},
    "GMKLSupportRegressor": LOSS | {"epsilon": [0.1]},
    "LearnedScalesRegressor": {"penalty": [0.1, 1.0, 10.0]},
    "LinearRLS2Regressor": SMALL,
    "LpMKLRegressor": LOSS | {"epsilon": [0.1]},
    "MultipleKernelRidgeCV": {"cv": [5, 10]},
    "PolynomialMKLRegressor": {"alpha": np.logspace(-3, 5, 9)},
    "RLS2Regressor": SMALL,
}
UNIT = ("L1MKLRegressor", "LpMKLRegressor", "GMKLRegressor", "HKLRegressor")  # tuned on a target of spread 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("MULTIKERNEL_DATA"))
    parser.add_argument("--sets", nargs="+", default=[*CLASSES, *NUMBERS])
    parser.add_argument("--estimators", nargs="+", default=list(GRIDS), help="beginnings of names")
    parser.add_argument("--only", nargs="+", default=["raw", "standardised", "tuned"])
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--kept", type=Path, default=Path("defaults.jsonl"))
    options = parser.parse_args()
    for name in options.sets:
        X, y, classes = samples(name, options.data, options.limit)
        for estimator in GRIDS:
            if estimator.endswith("Classifier") == classes and estimator.startswith(tuple(options.estimators)):
                for how in options.only:
                    if (name, estimator, how) not in kept(options.kept):
                        row = measured(estimator, how, X, y, classes)
                        with options.kept.open("a") as file:
                            file.write(json.dumps({"set": name, "estimator": estimator, "how": how} | row) + "\n")
    report(kept(options.kept), options.sets)


def kept(path: Path) -> dict[tuple[str, str, str], Any]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {(row["set"], row["estimator"], row["how"]): row for row in map(json.loads, lines)}


def samples(name: str, directory: Path | None, limit: int) -> tuple[Array, Array, bool]:
    """The numeric features, the target, and whether that is of classes; at most ``limit`` samples."""
    frame, y, classes = load(name, directory, 10**6)
    rows = np.random.default_rng(0).permutation(len(y))[:limit]
    return frame.select_dtypes("number").to_numpy(float)[rows], y[rows], classes


def measured(estimator: str, how: str, X: Array, y: Array, classes: bool) -> dict[str, Any]:
    """The scores on the folds, the seconds of a fit, and what it warned of."""
    folds = list((StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0).split(X, y))
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = (
            tuned(estimator, X, y, folds)
            if how == "tuned"
            else [defaults(estimator, how, X, y, train, test) for train, test in folds]
        )
    seconds = (time.perf_counter() - start) / FOLDS
    return {
        "score": scores,
        "seconds": seconds,
        "warned": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
    }


def defaults(estimator: str, how: str, X: Array, y: Array, train: Array, test: Array) -> float:
    A, B = X[train], X[test]
    if how == "standardised":
        scaler = StandardScaler().fit(A)
        A, B = scaler.transform(A), scaler.transform(B)
    return float(getattr(mk, estimator)().fit(A, y[train]).score(B, y[test]))


def tuned(estimator: str, X: Array, y: Array, folds: list[tuple[Array, Array]]) -> list[float]:
    """The scores on the folds of the regularisation and the scale of the features that do best on them."""
    y = (y - y.mean()) / y.std() if estimator in UNIT else y
    grid = {name: list(values) for name, values in GRIDS[estimator].items()}
    Z, found = StandardScaler().fit_transform(X), []
    for scaled in (X, Z, Z / 3.0):
        try:
            search = mk.BankSearchCV(getattr(mk, estimator)(), grid, cv=folds).fit(scaled, y)
        except ValueError:  # numbers that overflow, of features as they are
            continue
        results, best = search.cv_results_, search.best_index_
        found.append((search.best_score_, [results[f"split{f}_test_score"][best] for f in range(FOLDS)]))
    return max(found)[1]


# -- report ------------------------------------------------------------------------------------------------------------


def report(rows: dict[tuple[str, str, str], Any], sets: list[str]) -> None:
    """What the defaults lose of the tuned score, by estimator and set: raw / standardised; in Markdown."""
    frame = pd.DataFrame([row for row in rows.values() if row["set"] in sets])
    frame["mean"] = frame["score"].map(np.mean)
    for classes in (True, False):
        own = frame[frame["estimator"].str.endswith("Classifier") == classes]
        if len(own):
            print(f"\n{'part of right labels' if classes else 'R^2'}: tuned, then lost by raw / standardised\n")
            print(table(cells(own, sets)))


def cells(own: pd.DataFrame, sets: list[str]) -> pd.DataFrame:
    found: dict[str, dict[str, str]] = {}
    for (estimator, name), group in own.groupby(["estimator", "set"]):
        mean, warned = group.set_index("how")["mean"], group.set_index("how")["warned"]
        best = mean.get("tuned", np.nan)
        lost = [
            f"{best - mean[how]:+.2f}{'*' if warned[how] else ''}"
            for how in ("raw", "standardised")
            if how in mean.index
        ]
        found.setdefault(str(estimator), {})[str(name)] = f"{best:.2f}: {' / '.join(lost)}"
    return pd.DataFrame(found).T[[name for name in sets if name in set(own["set"])]].fillna("")


if __name__ == "__main__":
    main()
