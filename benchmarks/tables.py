"""Tables as people have them: learned scales beside what their owners pick, on the same folds.

    python benchmarks/tables.py --data DIR [--sets ...] [--folds 5] [--limit 5000] [--kept FILE]

Missing numbers are filled with medians for all methods. Learned scales get strings as they are; the others get
numbers standardised and categories one-hot encoded. xrfm (nine trials on a held-out fifth) and CatBoost take part where
they are installed. Scores are R^2 or the part of right labels, on held-out folds. Results are kept in a file of lines,
and what is in it is not computed again. The defaults were chosen on the sets of the first half; the second half
confirms them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import multikernel as mk
from multikernel import kernels

CHOSEN_ON = ("diabetes", "servo", "auto_mpg", "housing_boston", "cpu", "ionosphere", "heart_statlog", "wine")
CONFIRMED_ON = (
    "abalone",
    "kin8nm",
    "prostate",
    "protein",
    "sonar",
    "german_raw",
    "breast_ljubljana",
    "heart_cleveland",
    "parkinsons",
    "liver_bupa",
    "australian",
    "diabetes_pima",
)
Array = Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("MULTIKERNEL_DATA"))
    parser.add_argument("--sets", nargs="+", default=[*CHOSEN_ON, *CONFIRMED_ON])
    parser.add_argument("--methods", nargs="+", help="beginnings of names")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=5000)
    parser.add_argument("--kept", type=Path, default=Path("tables.jsonl"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        X, y, classes = load(name, options.data, options.limit)
        for method, make in methods(classes).items():
            if options.methods and not method.startswith(tuple(options.methods)):
                continue
            key = f"{name} {method} {options.folds} {len(y)}"
            if key not in kept(options.kept):
                scores, seconds = measured(make, X, y, classes, options.folds)
                row = {"key": key, "set": name, "method": method, "score": scores, "seconds": seconds}
                with options.kept.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    report(list(kept(options.kept).values()), options.sets)


def kept(path: Path) -> dict[str, Any]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {row["key"]: row for row in map(json.loads, lines)}


def load(name: str, directory: Path | None, limit: int) -> tuple[pd.DataFrame, Array, bool]:
    """A table, its target, and whether that is of classes."""
    bundled = {"diabetes": load_diabetes, "wine": load_wine, "breast_cancer": load_breast_cancer}
    if name in bundled:
        X, y = bundled[name](return_X_y=True, as_frame=True)
        return X, y.to_numpy(), name != "diabetes"
    if directory is None:
        raise SystemExit("tables: give the directory of the data sets by --data or MULTIKERNEL_DATA")
    manifest = pd.read_csv(directory / "manifest.csv").set_index("name")
    frame = pd.read_csv(directory / f"{name}.csv.gz")
    frame = frame[[c for c in frame.columns if not c.startswith("_")]].sample(frac=1, random_state=0)[:limit]
    classes = manifest.loc[name, "task"] == "classification"
    y = frame["target"].to_numpy()
    X = frame.drop(columns="target").reset_index(drop=True)
    numbers = X.select_dtypes("number").columns
    X[numbers] = X[numbers].fillna(X[numbers].median()).astype(float)
    others = X.columns.difference(numbers)
    X[others] = X[others].fillna("missing").astype(str)
    return X, (np.unique(y, return_inverse=True)[1] if classes else y.astype(float)), classes


def measured(
    make: Callable[[], Any], X: pd.DataFrame, y: Array, classes: bool, folds: int
) -> tuple[list[float], list[float]]:
    splitter = (StratifiedKFold if classes else KFold)(folds, shuffle=True, random_state=0)
    scores, seconds = [], []
    for train, test in splitter.split(X, y):
        mean, spread = (0.0, 1.0) if classes else (y[train].mean(), y[train].std())
        target = y[train] if classes else (y[train] - mean) / spread
        start = time.perf_counter()
        predicted = np.ravel(make().fit(X.iloc[train], target).predict(X.iloc[test]))
        seconds.append(time.perf_counter() - start)
        truth = y[test]
        if classes:
            scores.append(float((predicted == truth).mean()))
        else:
            residual = truth - mean - spread * predicted
            scores.append(float(1.0 - (residual**2).sum() / ((truth - truth.mean()) ** 2).sum()))
    return scores, seconds


# -- methods -----------------------------------------------------------------------------------------------------------


def methods(classes: bool) -> dict[str, Callable[[], Any]]:
    return dict(ours(classes)) | dict(others(classes))


def ours(classes: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    if classes:
        yield "learned scales", mk.LearnedScalesClassifier
        yield "L1MKL", lambda: encoded(mk.L1MKLClassifier(rich(), C=1.0))
    else:
        yield "learned scales", mk.LearnedScalesRegressor
        cv = KFold(5, shuffle=True, random_state=0)
        yield "ridge of many kernels", lambda: encoded(mk.MultipleKernelRidgeCV(rich(), cv=cv))


def rich() -> Any:
    gammas = np.geomspace(1e-3, 1, 7)
    return kernels.rbf_grid(gammas) + kernels.per_feature([kernels.RBF(0.1), kernels.RBF(1.0)])


def others(classes: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    seven = np.logspace(-4, 2, 7)
    if classes:
        grid = {"C": np.logspace(-2, 4, 7), "gamma": seven}
        yield "tuned Gaussian", lambda: encoded(GridSearchCV(SVC(), grid, cv=5))
        yield "boosting", lambda: encoded(HistGradientBoostingClassifier(random_state=0))
        yield "forest", lambda: encoded(RandomForestClassifier(random_state=0))
    else:
        grid = {"alpha": seven, "gamma": seven}
        yield "tuned Gaussian", lambda: encoded(GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5))
        yield "boosting", lambda: encoded(HistGradientBoostingRegressor(random_state=0))
        yield "forest", lambda: encoded(RandomForestRegressor(random_state=0))
    with contextlib.suppress(ImportError):
        import catboost

        model = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
        yield "CatBoost", lambda: encoded(model(verbose=0, random_state=0, allow_writing_files=False))
    with contextlib.suppress(ImportError):
        import xrfm  # noqa: F401

        yield "xrfm", lambda: encoded(FeatureLearning(classes))


def encoded(model: Any) -> Any:
    """Numbers standardised, categories as indicators."""
    numbers = partial(columns, numeric=True)
    strings = partial(columns, numeric=False)
    encoder = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), strings),
    )
    return make_pipeline(encoder, model)


def columns(X: pd.DataFrame, numeric: bool) -> pd.Index:
    numbers = X.select_dtypes("number").columns
    return numbers if numeric else X.columns.difference(numbers)


class FeatureLearning(BaseEstimator):
    """xrfm: three kernels and three ridges, of which a held-out fifth chooses."""

    def __init__(self, classes: bool) -> None:
        self.classes = classes

    def fit(self, X: Array, y: Array) -> FeatureLearning:
        import torch

        order = np.random.default_rng(0).permutation(len(y))
        held, rest = order[: len(y) // 5], order[len(y) // 5 :]
        samples = torch.tensor(np.asarray(X), dtype=torch.float32)
        target = torch.tensor(y) if self.classes else torch.tensor(y, dtype=torch.float32)[:, None]
        best = -np.inf
        for kernel, exponent in (("l2", 1.0), ("l1", 1.0), ("l2", 0.7)):
            for ridge in (1e-3, 1e-2, 1e-1):
                model = self._fitted(kernel, exponent, ridge, samples, target, rest, held)
                value = self._value(model, samples[held], y[held])
                if value > best:
                    best, self.model_ = value, model
        return self

    def _fitted(self, kernel: str, exponent: float, ridge: float, X: Any, y: Any, rest: Array, held: Array) -> Any:
        import torch
        from xrfm import xRFM

        shape = {"kernel": kernel, "bandwidth": 10.0, "exponent": exponent, "diag": True, "bandwidth_mode": "adaptive"}
        parameters = {"model": shape, "fit": {"reg": ridge, "iters": 5, "verbose": False}}
        metric = "accuracy" if self.classes else "mse"
        with contextlib.redirect_stdout(io.StringIO()):
            model = xRFM(parameters, device=torch.device("cpu"), tuning_metric=metric, verbose=False)
            model.fit(X[rest], y[rest], X[held], y[held])
        return model

    def _value(self, model: Any, X: Any, y: Array) -> float:
        predicted = self._labels(model.predict(X))
        return float((predicted == y).mean() if self.classes else -((predicted - y) ** 2).mean())

    def _labels(self, predicted: Any) -> Array:
        values = np.asarray(predicted)
        several = values.ndim == 2 and values.shape[1] > 1
        return values.argmax(axis=1) if self.classes and several else np.ravel(values)

    def predict(self, X: Array) -> Array:
        import torch

        return self._labels(self.model_.predict(torch.tensor(np.asarray(X), dtype=torch.float32)))


# -- report ------------------------------------------------------------------------------------------------------------


def report(rows: list[dict[str, Any]], sets: list[str]) -> None:
    """Mean scores by set and method, and mean ranks over each half of the sets; in Markdown."""
    frame = pd.DataFrame(rows)
    frame = frame[frame["set"].isin(sets)].assign(
        score=lambda f: f["score"].map(np.mean), seconds=lambda f: f["seconds"].map(np.mean)
    )
    # the two estimators of many kernels are one column: one for numbers, one for classes
    frame["method"] = frame["method"].replace({"L1MKL": "many kernels", "ridge of many kernels": "many kernels"})
    scores = frame.pivot_table(index="set", columns="method", values="score")
    seconds = frame.pivot_table(index="set", columns="method", values="seconds")
    for title, half in (("defaults chosen on these", CHOSEN_ON), ("untouched until the end", CONFIRMED_ON)):
        own = scores.loc[[name for name in half if name in scores.index]]
        if len(own):
            print(f"\n{title}\n")
            print(table(own.round(3)))
            print("\nmean rank:", own.dropna(axis=1).rank(axis=1, ascending=False).mean().round(2).to_dict())
    print("\nmean seconds of a fold\n")
    print(table(seconds.round(2)))


def table(frame: pd.DataFrame) -> str:
    head = f"| set | {' | '.join(frame.columns)} |\n|{'---|' * (len(frame.columns) + 1)}"
    lines = [
        f"| {name} | {' | '.join(map(str, row))} |" for name, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    return "\n".join([head, *lines])


if __name__ == "__main__":
    main()
