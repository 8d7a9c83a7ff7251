"""Several sources of the same samples: the automatic answer beside what their owners do, on the same folds.

    python benchmarks/sources.py --data DIR --sources DIR [--sets ...] [--methods ...] [--folds 5] [--only FOLD ...]
                                 [--kept FILE] [--report]

--data (MULTIKERNEL_DATA) holds ``views`` (UCI multiple features, nutrimouse) and the texts; --sources is the folder
that ``sources_data.py`` prepares; the digits of scikit-learn and two simulated sets need neither. ``MultiKernel`` and
the estimators of many kernels take ``views({...})`` as they are, with default parameters. The others get numbers
standardised, with medians where they miss, words weighted by how rare they are with rows of norm 1, and everything that
they tune by five folds of the training samples. A cell is a set, a method and a fold; with --kept it is kept in a file
of lines and not computed again, and several processes may write to one file. Scores are the part of right labels; of a
target of numbers, the part of the variance of the test samples that is explained, and the linear model is a ridge.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.metrics.pairwise import cosine_similarity, linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import multikernel as mk

Array = np.ndarray
Sources = dict[str, Any]

MOST = {
    "digits": 600,
    "bbc": 400,
    "news": 400,
    "reviews": 400,
    "pixels": 400,
    "solubility": 400,
}  # samples, drawn by a fixed seed
SPECIES = 20  # of the hundred of leaves
WORDS = 5000
TREES = 200  # of CatBoost
WIDE = 50  # columns beyond which it gets smaller trees of a tenth of the columns: five times as fast, and no worse
IN_FILES = (
    "rosmap",
    "breast",
    "drugs",
    "news3",
    "bbc",
    "webkb",
    "prokaryotic",
    "msrc",
    "leaves",
    "liver",
    "solubility",
)
COUNTS = ("news3_*", "bbc_*", "webkb_*", "solubility_runs")  # counts of words, links or runs: sparse matrices
NUMBERS = ("liver", "solubility")  # sets whose target is a number
SETS = ("digits", "diet", "genotype", *IN_FILES, "news", "reviews", "pixels", "one_of_three", "two_of_three")


# -- sets --------------------------------------------------------------------------------------------------------------


def load(name: str, options: argparse.Namespace) -> tuple[Sources, Array]:
    """Sources by name, and the labels of the samples."""
    if name in ("one_of_three", "two_of_three"):
        return simulated(two=name == "two_of_three")
    if name == "pixels":
        sources, y = _pixels()
    elif name in IN_FILES:
        sources, y = _of_files(name, options.sources)
    elif name in ("news", "reviews"):
        sources, y = {"news": _news, "reviews": _reviews}[name](options.data)
    else:
        sources, y = _of_views(name, options.data / "views")
    if name == "leaves":
        known = np.flatnonzero(y <= SPECIES)
        sources, y = {key: part.iloc[known] for key, part in sources.items()}, y[known]
    drawn = np.random.default_rng(0).permutation(len(y))[: MOST.get(name)]
    some = {key: _rows(part, drawn) for key, part in sources.items()}
    if name in NUMBERS:
        return some, y[drawn].astype(float)
    return some, np.unique(y[drawn], return_inverse=True)[1]


def _rows(part: Any, rows: Array) -> Any:
    return part.iloc[rows].reset_index(drop=True) if hasattr(part, "iloc") else part[rows]


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, index_col="row")


def _of_files(name: str, folder: Path | None) -> tuple[Sources, Array]:
    """A set that ``sources_data.py`` prepared."""
    if folder is None:
        raise SystemExit("sources: give the folder of sources_data.py by --sources")
    paths = sorted(folder.glob(f"{name}_*.csv.gz"))
    parts = {path.name.removeprefix(f"{name}_").removesuffix(".csv.gz"): _read(path) for path in paths}
    y = parts.pop("target")["target"].to_numpy()
    for key, part in parts.items():
        if any(fnmatch(f"{name}_{key}", pattern) for pattern in COUNTS):
            parts[key] = sparse.csr_matrix(part.to_numpy(float))
    return parts, y


def _of_views(name: str, folder: Path) -> tuple[Sources, Array]:
    """The six views of handwritten digits, and nutrimouse: genes and lipids of mice, by diet or genotype."""
    if name == "digits":
        parts = {key: _read(folder / f"digits_{key}.csv.gz") for key in ("fac", "fou", "kar", "mor", "pix", "zer")}
        y = parts["fac"]["digit"].to_numpy()
        return {key: part.drop(columns="digit") for key, part in parts.items()}, y
    parts = {key: _read(folder / f"nutrimouse_{key}.csv.gz") for key in ("gene", "lipid")}
    return parts, _read(folder / f"nutrimouse_{name}.csv.gz")[name].to_numpy()


def _lines(path: Path) -> pd.DataFrame:
    return pd.read_json(path, lines=True)


def _news(folder: Path) -> tuple[Sources, Array]:
    """Messages of two groups on sport: what they say, their subjects, who wrote them, how long they are."""
    found = _lines(folder / "news_baseball_hockey.jsonl.gz")
    whole = found["text"].str.partition("\n\n")

    def header(key: str) -> list[str]:
        lines = (re.search(rf"^{key}: *(.*)$", head, re.MULTILINE) for head in whole[0])
        return [line[1] if line else "" for line in lines]

    sources = {
        "body": whole[[2]].set_axis(["body"], axis=1),
        "subject": pd.DataFrame({"subject": header("Subject")}),
        "sender": pd.DataFrame({"sender": header("From"), "organization": header("Organization")}),
        "lengths": _lengths(whole[2]),
    }
    return sources, found["target"].to_numpy()


def _reviews(folder: Path) -> tuple[Sources, Array]:
    """Reviews of things for the kitchen: text, title, product, lengths."""
    found = _lines(folder / "sentiment_kitchen.jsonl.gz")
    sources = {name: found[[name]].fillna("") for name in ("text", "title", "product")}
    return sources | {"lengths": _lengths(found["text"])}, found["polarity"].to_numpy()


def _lengths(texts: pd.Series) -> pd.DataFrame:
    counts = {
        "characters": texts.str.len(),
        "words": texts.str.split().str.len(),
        "lines": texts.str.count("\n"),
        "exclamations": texts.str.count("!"),
        "capitals": texts.str.count("[A-Z]"),
    }
    return pd.DataFrame(counts).astype(float)


def _pixels() -> tuple[Sources, Array]:
    """Digits of scikit-learn: pixels, sums along rows and columns, moments, frequencies."""
    X, y = load_digits(return_X_y=True)
    images = X.reshape(-1, 8, 8)
    place = np.arange(8) - 3.5
    powers = [(a, b) for a in range(4) for b in range(4) if a + b <= 4]
    moments = [np.einsum("nij,i,j->n", images, place**a, place**b) for a, b in powers]
    sources = {
        "pixels": X,
        "sums": np.hstack([images.sum(axis=1), images.sum(axis=2)]),
        "moments": np.stack(moments, axis=1),
        "frequencies": np.abs(np.fft.rfft2(images)).reshape(len(X), -1),
    }
    return {name: pd.DataFrame(part) for name, part in sources.items()}, y


def simulated(two: bool, n: int = 300, seed: int = 0) -> tuple[Sources, Array]:
    """Sources of 2,000, 300 and 15 columns in units 1, 1e4 and 1e-3, all of twenty factors of their own and noise; the
    class follows a product and a sum of columns of the smallest, and with ``two`` also factors of the middle one."""
    rng = np.random.default_rng(seed)

    def source(p: int, factors: Array) -> Array:
        return factors @ rng.normal(size=(factors.shape[1], p)) / np.sqrt(factors.shape[1]) + rng.normal(size=(n, p))

    wide, middle = rng.normal(size=(n, 20)), rng.normal(size=(n, 20))
    small = rng.normal(size=(n, 15))
    score = 1.5 * small[:, 0] * small[:, 1] + small[:, 2] + 0.7 * small[:, 3]
    if two:
        score = score + middle[:, 0] + middle[:, 1]
    y = (score + 0.5 * rng.normal(size=n) > 0).astype(int)
    parts = {"wide": source(2000, wide), "middle": 1e4 * source(300, middle), "small": 1e-3 * small}
    return {name: pd.DataFrame(part).add_prefix("x") for name, part in parts.items()}, y


# -- sources as the others get them ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """A fold: training and test samples of every source as one matrix each, and the labels.

    Parameters
    ----------
    train, test : dict of arrays or CSR matrices
    y : array, labels of the training samples
    """

    train: dict[str, Any]
    test: dict[str, Any]
    y: Array

    @classmethod
    def of(cls, sources: Sources, y: Array, train: Array, test: Array) -> Split:
        both = {name: _prepared(_rows(part, train), _rows(part, test)) for name, part in sources.items()}
        return cls({name: each[0] for name, each in both.items()}, {name: each[1] for name, each in both.items()}, y)

    def together(self) -> tuple[Any, Any]:
        """All sources side by side."""
        stack = sparse.hstack if any(map(sparse.issparse, self.train.values())) else np.hstack
        return tuple(_csr(stack(list(part.values()))) for part in (self.train, self.test))

    @cached_property
    def machines(self) -> dict[str, Machine]:
        """A tuned machine for every source."""
        return {name: Machine().fit(X, self.y) for name, X in self.train.items()}


def _csr(X: Any) -> Any:
    return X.tocsr() if sparse.issparse(X) else X


def _prepared(train: Any, test: Any) -> tuple[Any, Any]:
    if sparse.issparse(train):
        weights = TfidfTransformer(sublinear_tf=True).fit(train)
        return weights.transform(train), weights.transform(test)
    texts = [name for name in train.columns if train[name].dtype == object or str(train[name].dtype).startswith("str")]
    if texts:
        found = [TfidfVectorizer(sublinear_tf=True, max_features=WORDS).fit(train[name]) for name in texts]
        parts = (
            [words.transform(part[name]) for words, name in zip(found, texts, strict=True)] for part in (train, test)
        )
        return tuple(sparse.hstack(each).tocsr() for each in parts)
    scaler = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    scaler.fit(train.to_numpy(float))
    return scaler.transform(train.to_numpy(float)), scaler.transform(test.to_numpy(float))


# -- methods -----------------------------------------------------------------------------------------------------------

SHUFFLED = {"n_splits": 5, "shuffle": True}


def numbers(y: Array) -> bool:
    """Whether the target is a number."""
    return y.dtype.kind == "f"


def folds(y: Array, seed: int, count: int = 5) -> list[tuple[Array, Array]]:
    """Training and test samples, classes in proportion."""
    split = KFold if numbers(y) else StratifiedKFold
    return list(split(count, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


class Machine:
    """A support vector machine of standardised columns, or of rows of norm 1, linear or Gaussian, tuned by matrices."""

    def fit(self, X: Any, y: Array) -> Machine:
        self.X = X
        squared = _norm(X)
        regularisation = np.array([0.1, 1.0, 10.0, 100.0])
        tried: list[tuple[Callable[[Any, Any], Array], Array]] = [(linear_kernel, regularisation / (10.0 * squared))]
        tried += [(partial(rbf_kernel, gamma=times / squared), regularisation) for times in (0.1, 0.5, 2.0)]
        machine = SVR(kernel="precomputed") if numbers(y) else SVC(kernel="precomputed")
        self.inner = folds(y, seed=1)
        grids = [GridSearchCV(machine, {"C": C}, cv=self.inner) for _, C in tried]
        matrices = [kernel(X, X) for kernel, _ in tried]
        found = [grid.fit(K, y) for grid, K in zip(grids, matrices, strict=True)]
        best = int(np.argmax([grid.best_score_ for grid in found]))
        self.kernel, self.K, self.found = tried[best][0], matrices[best], found[best]
        self.best_score_ = self.found.best_score_
        return self

    def held_out(self, y: Array) -> Array:
        """Decision values or predictions of training samples, of machines that were trained without them."""
        method = "predict" if numbers(y) else "decision_function"
        values = cross_val_predict(self.found.best_estimator_, self.K, y, cv=self.inner, method=method)
        return values.reshape(len(y), -1)

    def values(self, X: Any) -> Array:
        """Decision values, or predictions."""
        found = self.found.best_estimator_
        value = found.predict if isinstance(found, SVR) else found.decision_function
        return value(self.kernel(X, self.X)).reshape(X.shape[0], -1)

    def predict(self, X: Any) -> Array:
        return self.found.predict(self.kernel(X, self.X))


def _norm(X: Any) -> float:
    """The mean squared norm of the rows."""
    return float(X.multiply(X).sum() if sparse.issparse(X) else (X * X).sum()) / X.shape[0]


def predicted(make: Callable[[Any, bool], Any]) -> Callable[[Split], Array]:
    """By one model of all sources side by side."""

    def predict(split: Split) -> Array:
        train, test = split.together()
        return np.ravel(make(train, numbers(split.y)).fit(train, split.y).predict(test))

    return predict


def late_fusion(split: Split) -> Array:
    """A machine for every source; logistic or ridge regression on what they say of samples held out."""
    train = np.hstack([each.held_out(split.y) for each in split.machines.values()])
    test = np.hstack([each.values(split.test[name]) for name, each in split.machines.items()])
    scaler = StandardScaler().fit(train)
    model = linear(train, numbers(split.y)).fit(scaler.transform(train), split.y)
    return model.predict(scaler.transform(test))


def single(split: Split) -> dict[str, tuple[float, Array]]:
    """The machine of every source: its score on held-out training samples, and its predictions."""
    return {name: (each.best_score_, each.predict(split.test[name])) for name, each in split.machines.items()}


def mklpy(split: Split) -> Array:
    """MKLpy's EasyMKL at its default, of a linear kernel and two Gaussians for every source, all of self-value 1."""
    import torch
    from MKLpy.algorithms import EasyMKL

    train, test = [], []
    for name, X in split.train.items():
        gamma = np.array([0.1, 0.5]) / _norm(X)
        for kernel in (cosine_similarity, *(partial(rbf_kernel, gamma=each) for each in gamma)):
            train.append(torch.tensor(kernel(X)))
            test.append(torch.tensor(kernel(split.test[name], X)))
    return np.asarray(EasyMKL().fit(train, split.y).predict(test))


def linear(X: Any, of_numbers: bool) -> Any:
    if of_numbers:
        return GridSearchCV(Ridge(), {"alpha": np.geomspace(0.1, 1e5, 7)}, cv=KFold(**SHUFFLED, random_state=1))
    inner = StratifiedKFold(**SHUFFLED, random_state=1)
    return GridSearchCV(LogisticRegression(max_iter=2000), {"C": [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]}, cv=inner)


def forest(X: Any, of_numbers: bool) -> Any:
    if of_numbers:
        return RandomForestRegressor(300, max_features=1 / 3, random_state=0)
    return RandomForestClassifier(300, random_state=0)


def catboost(X: Any, of_numbers: bool) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    options = {"verbose": 0, "random_state": 0, "allow_writing_files": False, "thread_count": 1}
    if X.shape[1] > WIDE:
        options |= {"depth": 4, "rsm": 0.1}
    return (CatBoostRegressor if of_numbers else CatBoostClassifier)(TREES, **options)


def ours(of_numbers: bool) -> dict[str, Callable[[], Any]]:
    if of_numbers:
        return {
            "MultiKernel": lambda: mk.MultiKernelRegressor(random_state=0),
            "L1MKL": mk.L1MKLRegressor,
            "LpMKL": mk.LpMKLRegressor,
            "RLS2": mk.RLS2Regressor,
        }
    return {
        "MultiKernel": lambda: mk.MultiKernelClassifier(random_state=0),
        "L1MKL": mk.L1MKLClassifier,
        "LpMKL": mk.LpMKLClassifier,
        "EasyMKL": mk.EasyMKLClassifier,
        "RLS2": mk.RLS2Classifier,
    }


def others() -> dict[str, Callable[[Split], Array]]:
    found = {
        "late fusion": late_fusion,
        "SVM": predicted(lambda X, of_numbers: Machine()),
        "logistic": predicted(linear),
        "forest": predicted(forest),
    }
    with contextlib.suppress(ImportError):
        import catboost as _

        found["CatBoost"] = predicted(catboost)
    with contextlib.suppress(ImportError):
        import MKLpy.algorithms as _  # noqa: F401

        found["MKLpy EasyMKL"] = mklpy
    return found


SINGLE, ORACLE = "best source", "best source by test"
METHODS = (*ours(of_numbers=False), *others(), SINGLE)
OF_LABELS = ("EasyMKL", "MKLpy EasyMKL")  # methods that take no target of numbers


# -- cells -------------------------------------------------------------------------------------------------------------


def fill_fold(options: argparse.Namespace, name: str, data: tuple[Sources, Array], fold: int) -> None:
    """Measure the cells of a set and a fold that are not kept yet."""
    sources, y = data
    train, test = folds(y, options.seed, options.folds)[fold]
    split = Split.of(sources, y[train], train, test)
    suffix = f"{fold}/{options.folds} {len(y)}" + (f" {options.seed}" if options.seed else "")
    for method in options.methods:
        known = kept(options.kept)
        if f"{name} {method} {suffix}" in known or (numbers(y) and method in OF_LABELS):
            continue
        start, worked = time.perf_counter(), time.process_time()
        scores = measured(method, sources, y, train, test, split)
        spent = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - worked}
        rows = []
        for each, score in scores.items():
            row = {"key": f"{name} {each} {suffix}", "set": name, "method": each, "fold": fold, "folds": options.folds}
            row |= {"n": len(y), "seed": options.seed, "test": len(test), "score": score} | spent
            rows.append(json.dumps(row))
            print(f"{name:14} {each:20} fold {fold}: {score:.4f} in {spent['cpu']:.2f} s", flush=True)
        with options.kept.open("a") as file:
            file.write("".join(f"{row}\n" for row in rows))


def measured(method: str, sources: Sources, y: Array, train: Array, test: Array, split: Split) -> dict[str, float]:
    """The score on test samples; of the best source two, chosen on training and on test samples."""
    score = r2_score if numbers(y) else accuracy_score
    own = ours(numbers(y))
    if method in own:
        whole = mk.views(sources, features=[key for key, part in sources.items() if hasattr(part, "columns")])
        return {method: float(score(y[test], own[method]().fit(whole[train], y[train]).predict(whole[test])))}
    if method == SINGLE:
        found = single(split)
        right = {name: float(score(y[test], predicted)) for name, (_, predicted) in found.items()}
        chosen = max(found, key=lambda name: found[name][0])
        return {SINGLE: right[chosen], ORACLE: max(right.values())}
    return {method: float(score(y[test], others()[method](split)))}


def kept(path: Path) -> dict[str, Any]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {row["key"]: row for row in map(json.loads, lines)}


# -- report ------------------------------------------------------------------------------------------------------------


def report(rows: Sequence[dict[str, Any]], methods: Sequence[str], sets: Sequence[str]) -> None:
    """Scores with their standard errors over folds, seconds, mean ranks; in Markdown."""
    frame = pd.DataFrame([row for row in rows if row["set"] in sets])
    cells = frame.groupby(["set", "method"])
    complete = cells["score"].count() == frame["folds"].max()
    sizes = frame.groupby("set")["n"].first()

    def wide(values: pd.Series) -> pd.DataFrame:
        found = values.where(complete).unstack().reindex(index=[name for name in sets if name in sizes.index])
        return found[[name for name in (*methods, ORACLE) if name in found]]

    mean = wide(cells["score"].mean())
    error = wide(cells["score"].std() / np.sqrt(cells["score"].count()))
    print(table([f"{name} ({sizes[name]})" for name in mean.index], list(mean), list(_pairs(mean, error))))
    for kind, those in (
        ("classes", mean.drop(index=NUMBERS, errors="ignore")),
        ("numbers", mean.filter(NUMBERS, axis=0)),
    ):
        real = those.drop(columns=ORACLE, errors="ignore").dropna(axis=1, how="all").dropna()
        if real.size:
            print(f"\nmean rank on the {len(real)} sets of {kind} that all methods have:")
            print(real.rank(axis=1, ascending=False).mean().round(2).sort_values().to_dict())
            print("mean score on these:")
            print(real.mean().round(3).sort_values(ascending=False).to_dict())
    print("\nmean seconds of a fold, of all cores together\n")
    seconds = wide(cells["cpu"].mean()).drop(columns=ORACLE, errors="ignore").round(1)
    print(table(list(seconds.index), list(seconds), [list(map(str, row)) for row in seconds.to_numpy()]))


def _pairs(mean: pd.DataFrame, error: pd.DataFrame) -> Iterator[list[str]]:
    for means, errors in zip(mean.to_numpy(), error.to_numpy(), strict=True):
        yield ["" if np.isnan(m) else f"{m:.3f} ± {e:.3f}" for m, e in zip(means, errors, strict=True)]


def table(index: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    head = f"| set | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
    return "\n".join([head, *(f"| {name} | {' | '.join(row)} |" for name, row in zip(index, cells, strict=True))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("MULTIKERNEL_DATA")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None)
    parser.add_argument("--sources", type=Path, help="the folder of sources_data.py")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", nargs="+", type=int, metavar="FOLD")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--kept", type=Path, help="file of lines; cells in it are not computed again")
    parser.add_argument("--report", action="store_true", help="print what is kept, and compute nothing")
    options = parser.parse_args()
    if options.report and options.kept is None:
        parser.error("--report prints what is kept: name the file by --kept")
    options.kept = options.kept or Path(tempfile.mkdtemp()) / "sources.jsonl"
    warnings.simplefilter("ignore")
    for name in () if options.report else options.sets:
        loaded = load(name, options)
        for fold in options.only or range(options.folds):
            fill_fold(options, name, loaded, fold)
    found = [
        row
        for row in kept(options.kept).values()
        if row["folds"] == options.folds and row.get("seed", 0) == options.seed
    ]
    report(found, [method for method in METHODS if method in options.methods], options.sets)


if __name__ == "__main__":
    main()
