"""Tables as people have them: answers without tuning beside what their owners pick, on the same folds.

    python benchmarks/tables.py --data DIR [--sets ... | --half chosen] [--methods ...] [--folds 5] [--limit 2000]
                                [--only FOLD ...] [--kept FILE] [--report]

``MultiKernel`` and CatBoost get the tables as they are, with strings and missing cells; the others get numbers
standardised, with medians where they miss, and categories one-hot encoded. xrfm (ten trials on a held-out fifth) and
CatBoost take part where they are installed. Scores are R^2 or the part of right labels, on held-out folds. A cell is a
set, a method and a fold; with --kept it is kept in a file of lines and not computed again, and several processes may
write to one file. The defaults were chosen on the sets of the first half; the second half confirms them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
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
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import multikernel as mk
from multikernel import kernels

CHOSEN_ON = (
    "diabetes",
    "servo",
    "auto_mpg",
    "housing_boston",
    "cpu",
    "ionosphere",
    "heart_statlog",
    "wine",
    "adult",
    "wdbc",
    "spect_heart",
    "pendigits",
)
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
    "splice",
    "letter",
)
CODES = ("splice",)  # whose numbers are names of categories
Array = Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("MULTIKERNEL_DATA"))
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--half", choices=("chosen", "confirmed", "both"), default="both")
    parser.add_argument("--methods", nargs="+", help="beginnings of names")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=int, nargs="+", help="numbers of folds; all by default")
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--kept", type=Path, help="a file of finished cells; none are kept by default")
    parser.add_argument("--report", action="store_true", help="print what is kept, and compute nothing")
    options = parser.parse_args()
    if options.report and options.kept is None:
        parser.error("--report prints what is kept: name the file by --kept")
    options.kept = options.kept or Path(tempfile.mkdtemp()) / "tables.jsonl"
    warnings.simplefilter("ignore")
    halves = {"chosen": CHOSEN_ON, "confirmed": CONFIRMED_ON, "both": (*CHOSEN_ON, *CONFIRMED_ON)}
    sets = options.sets or halves[options.half]
    for name in () if options.report else sets:
        X, y, classes = load(name, options.data, options.limit)
        for method, make in methods(classes).items():
            if not options.methods or method.startswith(tuple(options.methods)):
                for fold in options.only or range(options.folds):
                    fill_cell(options, name, method, make, (X, y, classes), fold)
    report([row for row in kept(options.kept).values() if row["folds"] == options.folds], sets, options.limit)


def fill_cell(
    options: argparse.Namespace, name: str, method: str, make: Callable[[], Any], data: Any, fold: int
) -> None:
    X, y, classes = data
    key = f"{name} {method} {fold}/{options.folds} {len(y)}"
    if key in kept(options.kept):
        return
    score, seconds, work = measured(make, X, y, classes, options.folds, fold)
    row = {"key": key, "set": name, "method": method, "fold": fold, "folds": options.folds, "n": len(y)}
    with options.kept.open("a") as file:
        file.write(json.dumps(row | {"limit": options.limit, "score": score, "seconds": seconds, "cpu": work}) + "\n")
    print(f"{name:20} {method:20} fold {fold}: {score:.4f} in {seconds:.2f} s", flush=True)


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
    if name in CODES:
        X = X.astype(str)
    return X, (np.unique(y, return_inverse=True)[1] if classes else y.astype(float)), classes


def measured(
    make: Callable[[], Any], X: pd.DataFrame, y: Array, classes: bool, folds: int, fold: int
) -> tuple[float, float, float]:
    splitter = (StratifiedKFold if classes else KFold)(folds, shuffle=True, random_state=0)
    train, test = list(splitter.split(X, y))[fold]
    mean, spread = (0.0, 1.0) if classes else (y[train].mean(), y[train].std())
    target = y[train] if classes else (y[train] - mean) / spread
    start, worked = time.perf_counter(), time.process_time()
    predicted = np.ravel(make().fit(X.iloc[train], target).predict(X.iloc[test]))
    seconds, work = time.perf_counter() - start, time.process_time() - worked
    truth = y[test]
    if classes:
        return float((predicted == truth).mean()), seconds, work
    residual = truth - mean - spread * predicted
    return float(1.0 - (residual**2).sum() / ((truth - truth.mean()) ** 2).sum()), seconds, work


# -- methods -----------------------------------------------------------------------------------------------------------


def methods(classes: bool) -> dict[str, Callable[[], Any]]:
    return dict(ours(classes)) | dict(others(classes))


def ours(classes: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    if classes:
        yield "MultiKernel", lambda: mk.MultiKernelClassifier(random_state=0)
        yield "learned scales", lambda: filled(mk.LearnedScalesClassifier())
        yield "L1MKL", lambda: encoded(mk.L1MKLClassifier(rich(), C=1.0))
    else:
        yield "MultiKernel", lambda: mk.MultiKernelRegressor(random_state=0)
        yield "learned scales", lambda: filled(mk.LearnedScalesRegressor())
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
        yield "CatBoost", lambda: filled(Boosted(model))
    with contextlib.suppress(ImportError):
        import xrfm  # noqa: F401

        yield "xrfm", lambda: encoded(FeatureLearning(classes))


def encoded(model: Any) -> Any:
    """Numbers standardised, categories as indicators; missing cells are medians, or a category."""
    encoder = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), strings),
    )
    return make_pipeline(FunctionTransformer(named), encoder, model)


def filled(model: Any) -> Any:
    """Numbers and categories as they are; missing cells are medians, or a category."""
    filler = make_column_transformer(
        (SimpleImputer(strategy="median"), numbers), ("passthrough", strings), verbose_feature_names_out=False
    )
    return make_pipeline(FunctionTransformer(named), filler.set_output(transform="pandas"), model)


def named(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as strings, one of which says that the cell is missing."""
    X = X.copy()
    X[strings(X)] = X[strings(X)].fillna("missing").astype(str)
    return X


def numbers(X: pd.DataFrame) -> list[str]:
    return list(X.select_dtypes("number").columns)


def strings(X: pd.DataFrame) -> list[str]:
    return [name for name in X.columns if name not in numbers(X)]


class Boosted(BaseEstimator):
    """CatBoost at its defaults, told which features are categories."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: Array) -> Boosted:
        options = {"verbose": 0, "random_state": 0, "allow_writing_files": False, "thread_count": 1}
        self.model_ = self.model(cat_features=strings(X), **options).fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> Array:
        return self.model_.predict(X)


_TRIAL_ROWS = 5000


class FeatureLearning(BaseEstimator):
    """xrfm at its defaults and with three kernels and three ridges, of which a held-out fifth chooses.

    Of more than 5000 rows the ten trials read 5000, and the chosen one is fitted once more to all, in leaves of at
    most 20,000 rows.
    """

    def __init__(self, classes: bool) -> None:
        self.classes = classes

    def fit(self, X: Array, y: Array) -> FeatureLearning:
        import torch

        order = np.random.default_rng(0).permutation(len(y))
        held, rest = order[: len(y) // 5], order[len(y) // 5 :]
        samples = torch.tensor(np.asarray(X), dtype=torch.float32)
        target = torch.tensor(y) if self.classes else torch.tensor(y, dtype=torch.float32)[:, None]
        best = -np.inf
        kernels = (("l2", 1.0), ("l1", 1.0), ("l2", 0.7))
        few, few_held = rest[: 4 * _TRIAL_ROWS // 5], held[: _TRIAL_ROWS // 5]
        for (kernel, exponent), ridge in [(("l2", 1.0), 1.0), *product(kernels, (1e-3, 1e-2, 1e-1))]:
            model = self._fitted(kernel, exponent, ridge, samples, target, few, few_held)
            value = self._value(model, samples[few_held], y[few_held])
            if value > best:
                best, self.model_ = value, model
                chosen = kernel, exponent, ridge
        if len(few) < len(rest):
            self.model_ = self._fitted(*chosen, samples, target, rest, held)
        return self

    def _fitted(self, kernel: str, exponent: float, ridge: float, X: Any, y: Any, rest: Array, held: Array) -> Any:
        import torch
        from xrfm import xRFM

        shape = {"kernel": kernel, "bandwidth": 10.0, "exponent": exponent, "diag": True, "bandwidth_mode": "adaptive"}
        parameters = {"model": shape, "fit": {"reg": ridge, "iters": 5, "verbose": False}}
        metric = "accuracy" if self.classes else "mse"
        with contextlib.redirect_stdout(io.StringIO()):
            device = torch.device("cpu")
            model = xRFM(parameters, max_leaf_size=20_000, device=device, tuning_metric=metric, verbose=False)
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


def report(rows: list[dict[str, Any]], sets: Sequence[str], limit: int) -> None:
    """Mean scores and seconds by set and method, and mean ranks over each half of the sets; in Markdown."""
    # processors' time is told where other work may run beside; cells kept without it have the time on the clock
    chosen = [{"cpu": row["seconds"]} | row for row in rows if row["limit"] == limit and row["set"] in sets]
    frame = pd.DataFrame(chosen)
    # the two estimators of many kernels are one column: one for numbers, one for classes
    frame["method"] = frame["method"].replace({"L1MKL": "many kernels", "ridge of many kernels": "many kernels"})
    cells = frame.pivot_table(index="set", columns="method", values=["score", "cpu"])
    count = frame.pivot_table(index="set", columns="method", values="score", aggfunc="count")
    scores, seconds = (cells[name].where(count == frame["folds"].max()) for name in ("score", "cpu"))
    for title, half in (("defaults chosen on these", CHOSEN_ON), ("untouched until the end", CONFIRMED_ON)):
        own = scores.loc[[name for name in half if name in scores.index]]
        if len(own):
            print(f"\n{title}\n")
            print(table(own.round(3)))
            print(f"\nmean rank on {len(own.dropna())} sets that all methods have:")
            print(own.dropna().rank(axis=1, ascending=False).mean().round(2).sort_values().to_dict())
            if {"MultiKernel", "tuned Gaussian"} <= set(own):
                behind = (own["tuned Gaussian"] - own["MultiKernel"]).dropna()
                print("more than .01 below the tuned Gaussian:", behind[behind > 0.01].round(3).to_dict() or "none")
    print("\nmean seconds of a fold, of all cores together\n")
    print(table(seconds.round(2)))


def table(frame: pd.DataFrame) -> str:
    head = f"| set | {' | '.join(frame.columns)} |\n|{'---|' * (len(frame.columns) + 1)}"
    lines = [
        f"| {name} | {' | '.join(map(str, row))} |" for name, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    return "\n".join([head, *lines])


if __name__ == "__main__":
    main()
