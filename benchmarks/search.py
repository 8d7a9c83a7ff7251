"""Searches, paths, resamples and shuffles on one bank, beside scikit-learn's tools on the same estimators.

    python benchmarks/search.py [--parts pipelines folds stability costly importance budget] [--rounds 3]

pipelines   BankSearchCV and GridSearchCV of a pipeline with a scaler: ten values, five folds
folds       BankSearchCV over twenty values and five folds, beside one path along them; and the most memory taken beside
            the bank, as a part of its size
stability   weights on ten halves of the sample: ``weight_stability`` and fits to each half
costly      the same where kernels take long to evaluate: Gaussians of 5000 features, and subsequences of strings
importance  what the score loses by shuffling a feature's kernels: ``kernel_importance`` and ``permutation_importance``
budget      fits that are stopped after 1, 5 and 20 seconds: seconds used, and the gap reached

Seconds are of the processor, medians over the rounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tracemalloc
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils import check_random_state

import multikernel as mk
from multikernel import kernels

WIDTHS = kernels.rbf_grid(np.logspace(-3, 0, 8))
FEATURES = kernels.per_feature(kernels.rbf_grid([0.03, 0.3, 3.0]))
CASES: dict[str, tuple[type, dict[str, Any], str, tuple[float, float]]] = {
    "EasyMKL": (mk.EasyMKLClassifier, {"lam": 0.1}, "lam", (-2.0, 0.0)),
    "L1": (mk.L1MKLClassifier, {}, "C", (-2.0, 2.0)),
    "Lp": (mk.LpMKLClassifier, {}, "C", (-2.0, 2.0)),
    "GMKL": (mk.GMKLClassifier, {}, "C", (-1.0, 1.0)),
    "Average": (mk.AverageMKLClassifier, {"C": 1.0}, "C", (-2.0, 2.0)),
    "RLS2": (mk.RLS2Regressor, {"alpha": 1e-3}, "alpha", (-4.0, 1.0)),
    "L1 numbers": (mk.L1MKLRegressor, {"C": 10.0}, "C", (-1.0, 2.0)),
    "Average numbers": (mk.AverageMKLRegressor, {"alpha": 1e-2}, "alpha", (-4.0, 1.0)),
}


def processor_seconds() -> float:
    times = os.times()
    return times.user + times.system


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = processor_seconds()
    found = work()
    return processor_seconds() - start, found


def alternating(rounds: int, *works: Callable[[], Any]) -> tuple[list[float], list[Any]]:
    """The median seconds of each, and what each found last; a first round is not counted, unless it is the only one."""
    seconds: list[list[float]] = []
    for _ in range(rounds + 1):
        each, found = zip(*map(timed, works), strict=True)
        seconds.append(list(each))
    return [statistics.median(column) for column in zip(*(seconds[1:] or seconds), strict=True)], list(found)


def sample(model: Any) -> tuple[Any, Any]:
    return (load_breast_cancer if is_classifier(model) else load_diabetes)(return_X_y=True)


def grid(name: str, count: int) -> tuple[str, Any]:
    _, _, parameter, (low, high) = CASES[name]
    return parameter, np.minimum(np.logspace(low, high, count), 0.95 if parameter == "lam" else np.inf)


def estimator(name: str, family: Any) -> Any:
    cls, fixed, _, _ = CASES[name]
    return cls(family, **fixed)


def pipelines(name: str, options: Any) -> None:
    for label, family in (("8 widths", WIDTHS), ("90 of features", FEATURES)):
        searched(label, name, make_pipeline(StandardScaler(), estimator(name, family)), options.rounds)


def searched(label: str, name: str, pipeline: Any, rounds: int) -> None:
    parameter, values = grid(name, 10)
    candidates = {f"{pipeline.steps[-1][0]}__{parameter}": values}
    X, y = sample(pipeline)
    (ours, theirs), (bank, each) = alternating(
        rounds,
        lambda: mk.BankSearchCV(pipeline, candidates, cv=5).fit(X, y),
        lambda: GridSearchCV(pipeline, candidates, cv=5).fit(X, y),
    )
    score = [found.cv_results_["mean_test_score"] for found in (bank, each)]
    print(
        f"{label:15} {name:16} bank {ours:6.2f} s  grid {theirs:6.2f} s  grid / bank {theirs / ours:5.1f}  "
        f"scores differ by {np.abs(score[0] - score[1]).max():.0e}",
        flush=True,
    )


def folds(name: str, options: Any) -> None:
    model = estimator(name, FEATURES)
    parameter, values = grid(name, 20)
    X, y = sample(model)
    bank, target = model.bind(scale(X), y)

    def search() -> Any:
        return mk.BankSearchCV(model, {parameter: values}, cv=5).fit(bank, target)

    (ours, path), _ = alternating(options.rounds, search, lambda: mk.path(model, bank, target, parameter, values))
    tracemalloc.start()
    search()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n, m = bank.shape[0], len(bank)
    print(
        f"{name:16} search {ours:6.2f} s  path {path:6.2f} s  search / path {ours / path:4.1f}  "
        f"memory beside the stack {peak / (4 * m * n * (n + 1)):.2f} of it",
        flush=True,
    )


def stability(name: str, options: Any) -> None:
    model = estimator(name, FEATURES)
    X, y = sample(model)
    weighed(name, model, scale(X), y, options.rounds)


def costly(name: str, options: Any) -> None:
    if not is_classifier(estimator(name, WIDTHS)):
        return
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 5000)) + 0.05 * y[:, None]
    words = ["".join(rng.choice(list("acgt"), 60)) for _ in range(120)]
    words = [word.replace("ac", "gt") if label else word for word, label in zip(words, y[:120], strict=True)]
    for label, family, samples in (
        ("20 widths, 5000 features", kernels.rbf_grid(np.logspace(-6, -2, 20)), X),
        ("gapped subsequences", kernels.gapped_subsequences(6), words),
    ):
        weighed(f"{name}, {label}", estimator(name, family), samples, y[: len(samples)], options.rounds)


def weighed(label: str, model: Any, X: Any, y: Any, rounds: int) -> None:
    """Weights on ten halves, on the bank and by fits to each half."""
    seed = check_random_state(0).randint(np.iinfo(np.int32).max)
    kind = StratifiedShuffleSplit if is_classifier(model) else ShuffleSplit
    halves = [np.sort(rows) for rows, _ in kind(10, train_size=0.5, random_state=seed).split(np.empty((len(y), 1)), y)]

    def taken(rows: Any) -> Any:
        return [X[row] for row in rows] if isinstance(X, list) else X[rows]

    (ours, theirs), (found, refitted) = alternating(
        rounds,
        lambda: mk.weight_stability(model, X, y, n_resamples=10, random_state=0).weights,
        lambda: [clone(model).fit(taken(rows), y[rows]).weights_ for rows in halves],
    )
    differ = np.abs(found - np.array(refitted).reshape(found.shape)).max()
    print(
        f"{label:42} on the bank {ours:6.2f} s  fits {theirs:6.2f} s  fits / bank {theirs / ours:5.1f}  "
        f"weights differ by {differ:.0e}",
        flush=True,
    )


def importance(name: str, options: Any) -> None:
    model = estimator(name, FEATURES)
    X, y = sample(model)
    X = scale(X)
    model.fit(X[::2], y[::2])
    names = [str(kernel) for kernel in model.kernel_names_]
    groups = {str(j): [k for k, own in enumerate(names) if own.endswith(f".on({j})")] for j in range(X.shape[1])}
    (ours, theirs), (found, shuffled) = alternating(
        options.rounds,
        lambda: mk.kernel_importance(model, X[1::2], y[1::2], groups=groups, random_state=0),
        lambda: permutation_importance(model, X[1::2], y[1::2], random_state=0),
    )
    print(
        f"{name:16} on the bank {ours:6.3f} s  scikit-learn {theirs:6.2f} s  ratio {theirs / ours:5.0f}  "
        f"differ by {np.abs(found.importances - shuffled.importances).max():.0e}",
        flush=True,
    )


BUDGETED: dict[str, Callable[[Any], Any]] = {
    "EasyMKL": lambda f: mk.EasyMKLClassifier(f, lam=1e-3),
    "L1": lambda f: mk.L1MKLClassifier(f, C=100.0, tol=1e-8),
    "L1 level": lambda f: mk.L1MKLClassifier(f, C=100.0, tol=1e-8, solver="level"),
    "Lp": lambda f: mk.LpMKLClassifier(f, C=100.0, tol=1e-8),
    "SMKL": lambda f: mk.SMKLClassifier(f, C=100.0, tol=1e-8),
    "GMKL": lambda f: mk.GMKLClassifier(f, C=100.0, tol=1e-8),
    "GMKL product": lambda f: mk.GMKLClassifier(combination="rbf_product", C=100.0, tol=1e-8),
    "RLS2": lambda f: mk.RLS2Classifier(f, alpha=1e-4, tol=1e-10),
    "LinearRLS2": lambda f: mk.LinearRLS2Classifier(alpha=1e-4, tol=1e-10),
    "PolynomialMKL": lambda f: mk.PolynomialMKLClassifier(f, alpha=1e-3, tol=1e-10),
    "RidgeCV": lambda f: mk.MultipleKernelRidgeCV(f, tol=1e-10),
    "HKL": lambda f: mk.HKLClassifier(C=10.0, tol=1e-8),
    "OneClass": lambda f: mk.OneClassMKL(f),
    "Average": lambda f: mk.AverageMKLClassifier(f, C=100.0),
    "Best": lambda f: mk.BestKernelClassifier(f, C=100.0),
    "two layers": lambda f: mk.TwoLayerRegressor(f),
    "automatic": lambda f: mk.MultiKernelClassifier(random_state=0),
}


def budget(name: str, options: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.samples, 10))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=len(X)) > 0).astype(int)
    family = kernels.per_feature([kernels.RBF(0.1), kernels.RBF(1.0), kernels.RBF(10.0)])
    BUDGETED[name](family).fit(X[:150], y[:150])
    for seconds in options.seconds:
        model = BUDGETED[name](family).set_params(time_budget=seconds)
        clock, start = perf_counter(), processor_seconds()
        model.fit(X, y)
        used, cpu = perf_counter() - clock, processor_seconds() - start
        kind = "duality_gap_" if hasattr(model, "duality_gap_") else "stationarity_"
        print(
            f"{name:16} budget {seconds:4.0f} s  used {used:5.1f} s, processor {cpu:5.1f} s  "
            f"{kind[:-1]} {getattr(model, kind, np.nan):.0e}  converged {getattr(model, 'converged_', '-')}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts: dict[str, Callable[[str, Any], None]] = {
        "pipelines": pipelines,
        "folds": folds,
        "stability": stability,
        "costly": costly,
        "importance": importance,
        "budget": budget,
    }
    parser.add_argument("--parts", nargs="+", default=list(parts), choices=list(parts))
    parser.add_argument("--names", nargs="+", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=2000, help="of the fits that are stopped")
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 5.0, 20.0])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts:
        print(part)
        for name in options.names or (BUDGETED if part == "budget" else CASES):
            parts[part](name, options)


if __name__ == "__main__":
    main()
