"""Answers without tuning on 1,000 to 100,000 rows, beside boosting, forests and a tuned Nystroem machine.

    python benchmarks/rows.py --data DIR [--sets ...] [--rows 5000,20000,100000] [--methods ...]
                              [--kept FILE] [--report]

Public sets are read from DIR; the made ones are drawn by a seed and have names of what they are like. Every method is
fitted to the same rows and scored on the same 5000 others, a quarter of the set where it is smaller: R^2, or the part
of right labels. A set of fewer rows than asked for gives all it has. ``MultiKernel`` and CatBoost get tables as they
are; LightGBM and scikit-learn's boosting get categories as such, the forest gets them as numbers, and the Nystroem
machine (1000 landmarks; widths and penalties by three folds of at most 5000 rows) and xrfm (ten trials on a held-out
fifth, as in ``tables.py``) get them one-hot. Learned scales
through centres, and the same with a full metric, get them as strings. Dates are given to the others as hour, weekday,
day of the year and time.

A cell is a set, a number of rows and a method, in a process of its own, which tells its processor seconds for fit and
for the prediction of 10,000 rows, and its peak memory. With --kept it is kept in a file of lines and not computed
again; --report prints the tables.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, r2_score

TEST = 5000
PUBLIC = {"protein": False, "kin8nm": False, "letter": True, "pendigits": True, "adult": True}  # whether of classes


# -- made sets ---------------------------------------------------------------------------------------------------------


def friedman(n: int) -> tuple[Any, Any]:
    """Friedman's first function, of five of twenty columns."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 20))
    smooth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, smooth + rng.normal(size=n)


def six_of_twenty(n: int) -> tuple[Any, Any]:
    """Two classes by six of twenty columns."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 20))
    value = 2 * np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 - 1 + 1.5 * np.abs(X[:, 3]) * np.sign(X[:, 4]) + X[:, 5]
    return X, (value + 0.5 * rng.normal(size=n) > 0).astype(int)


def clusters(n: int) -> tuple[Any, Any]:
    """Two classes of two clusters each in six of twenty columns, and wrong labels."""
    from sklearn.datasets import make_classification

    how = {"n_informative": 6, "n_redundant": 0, "class_sep": 0.5, "flip_y": 0.02}
    return make_classification(n, 20, random_state=0, **how)


def directions(n: int) -> tuple[Any, Any]:
    """Numbers that depend on three directions in fifteen columns."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 15))
    Z = X @ rng.normal(size=(15, 3)) / np.sqrt(15)
    return X, np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.3 * rng.normal(size=n)


def hours(n: int) -> tuple[Any, Any]:
    """Sales of twelve stores by the hour: a date, categories, numbers, and noise in proportion."""
    rng = np.random.default_rng(2)
    when = pd.DatetimeIndex(pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 3 * 365 * 24, n), unit="h"))
    hour, day = when.hour.to_numpy(), when.dayofweek.to_numpy()
    warm = 15 + 10 * np.sin((when.day_of_year.to_numpy() - 100) / 365 * 2 * np.pi) + 4 * rng.normal(size=n)
    store = rng.integers(0, 12, n)
    weather = rng.choice(["clear", "rain", "snow", "fog"], n, p=[0.6, 0.25, 0.05, 0.1])
    rush = np.exp(-((hour - 8) ** 2) / 4.0) + np.exp(-((hour - 17.5) ** 2) / 6.0)
    sizes = np.array([1, 0.8, 1.2, 0.5, 1.5, 0.9, 1.1, 0.7, 1.3, 0.6, 1, 0.95])
    by_weather = np.select([weather == "clear", weather == "rain", weather == "snow"], [1, 0.6, 0.3], 0.9)
    weekly = 1 + 3 * rush * (day < 5) + 2 * np.exp(-((hour - 14) ** 2) / 18.0) * (day >= 5)
    mean = sizes[store] * weekly * (1 + 0.03 * warm - 0.001 * (warm - 20) ** 2) * by_weather
    X = pd.DataFrame(
        {
            "when": when,
            "hour": hour,
            "weekday": np.array(["mo", "tu", "we", "th", "fr", "sa", "su"])[day],
            "temperature": warm,
            "store": np.char.add("s", store.astype(str)),
            "weather": weather,
            "noise": rng.normal(size=n),
        }
    )
    return X, np.asarray(mean * np.exp(0.35 * rng.normal(size=n)))


def cover(n: int) -> tuple[Any, Any]:
    """Six classes by numbers, thresholds, and a category of twenty values."""
    rng = np.random.default_rng(3)
    height, slope, water = rng.normal(2500, 500, n), rng.gamma(2, 7, n), rng.exponential(250, n)
    road, aspect = rng.exponential(1500, n), rng.uniform(0, 360, n)
    soil, area = rng.integers(0, 20, n), rng.integers(0, 4, n)
    c, of_soil, of_area = rng.normal(size=(6, 4)), rng.normal(size=(6, 20)), rng.normal(size=(6, 4))
    z = [(height - 2500) / 500, np.log1p(slope) - 2.5, np.sqrt(water) / 8 - 1.5, np.log1p(road) - 7]
    z.append(np.sin(aspect / 57.3))
    values = np.stack(
        [
            2.5 * np.sin(1.7 * z[0] * (1 + 0.3 * j) + j)
            + c[j, 0] * z[1] * z[2]
            + c[j, 1] * (z[3] > c[j, 2]) * 2
            + of_soil[j, soil]
            + of_area[j, area] * (z[0] > 0) * 1.5
            + c[j, 3] * z[4]
            for j in range(6)
        ],
        axis=1,
    )
    X = pd.DataFrame({"height": height, "slope": slope, "water": water, "road": road, "aspect": aspect})
    X["soil"], X["area"] = np.char.add("t", soil.astype(str)), np.char.add("a", area.astype(str))
    return X, (values + rng.gumbel(size=values.shape)).argmax(axis=1)


def digits(n: int) -> tuple[Any, Any]:
    """The 1797 images of scikit-learn's digits, 64 columns, whatever n is."""
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


MADE: dict[str, tuple[Callable[[int], tuple[Any, Any]], bool]] = {
    "friedman": (friedman, False),
    "six_of_twenty": (six_of_twenty, True),
    "clusters": (clusters, True),
    "digits": (digits, True),
    "directions": (directions, False),
    "hours": (hours, False),
    "cover": (cover, True),
}
SETS = [*PUBLIC, *MADE]


def split(name: str, n: int, data: Path) -> tuple[Any, Any, Any, Any, bool]:
    """Training rows, test rows, and whether targets are classes."""
    if name in MADE:
        make, classes = MADE[name]
        X, y = make(n + TEST)
    else:
        classes = PUBLIC[name]
        table = pd.read_csv(data / f"{name}.csv.gz")
        X, y = table.drop(columns="target"), table["target"].to_numpy()
    order = np.random.default_rng(0).permutation(len(y))
    test = order[: min(TEST, len(y) // 4)]
    train = order[len(test) : len(test) + n]

    def rows(index: Any) -> Any:
        return X.iloc[index].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[index]

    return rows(train), y[train], rows(test), y[test], classes


# -- methods -----------------------------------------------------------------------------------------------------------


def plain(X: Any) -> tuple[pd.DataFrame, list[str]]:
    """Columns of numbers and of strings without gaps, and the names of the latter."""
    table = pd.DataFrame(X).copy()
    for name in list(table.columns):
        if str(table[name].dtype).startswith("datetime"):
            when = pd.DatetimeIndex(table[name])
            table[f"{name} hour"], table[f"{name} weekday"] = when.hour, when.dayofweek
            table[f"{name} day"], table[f"{name} time"] = when.day_of_year, when.asi8 / 1e18
            table = table.drop(columns=name)
    strings = [name for name in table.columns if table[name].dtype.kind not in "fiub"]
    for name in strings:
        table[name] = table[name].astype(object).where(table[name].notna(), "missing").astype(str)
    table.columns = [str(name) for name in table.columns]
    return table, [str(name) for name in strings]


def multikernel(classes: bool, X: Any) -> Any:
    import multikernel as mk

    return mk.MultiKernelClassifier(random_state=0) if classes else mk.MultiKernelRegressor(random_state=0)


def scales(classes: bool, X: Any) -> Any:
    import multikernel as mk

    return (mk.LearnedScalesClassifier if classes else mk.LearnedScalesRegressor)(approximation="nystroem")


def metric(classes: bool, X: Any) -> Any:
    return scales(classes, X).set_params(metric="full")


def catboost(classes: bool, X: Any) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    how = {"verbose": 0, "random_state": 0, "thread_count": 2, "allow_writing_files": False}
    return (CatBoostClassifier if classes else CatBoostRegressor)(cat_features=plain(X)[1], **how)


def lightgbm(classes: bool, X: Any) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    return (LGBMClassifier if classes else LGBMRegressor)(verbose=-1, n_jobs=2)


def boosting(classes: bool, X: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    model = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return model(random_state=0, categorical_features="from_dtype")


def xrfm(classes: bool, X: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    from tables import FeatureLearning

    return make_pipeline(one_hot(X), FeatureLearning(classes))


def forest(classes: bool, X: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    model = (RandomForestClassifier if classes else RandomForestRegressor)(random_state=0, n_jobs=2)
    return make_pipeline(make_column_transformer((codes, plain(X)[1]), remainder="passthrough"), model)


def nystroem(classes: bool, X: Any) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    last = LogisticRegression(max_iter=300) if classes else Ridge()
    return make_pipeline(one_hot(X), Nystroem(n_components=1000, random_state=0), last)


def one_hot(X: Any) -> Any:
    """Numbers standardised, with medians where they miss, and categories as indicators."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((encoder, plain(X)[1]), remainder=numbers)


def tuned(model: Any, X: Any, y: Any) -> Any:
    """The Nystroem machine, with the width and the penalty of least error on at most 5000 rows."""
    from sklearn.model_selection import GridSearchCV

    few = np.random.default_rng(0).permutation(len(y))[:5000]
    p = model[:1].fit_transform(X).shape[1]
    last = model.steps[-1][0]
    strength = {f"{last}__C": [1.0, 10.0, 100.0]} if "logistic" in last else {f"{last}__alpha": [0.01, 0.1, 1.0]}
    grid = {"nystroem__gamma": [0.1 / p, 0.3 / p, 1.0 / p, 3.0 / p], **strength}
    found = GridSearchCV(model, grid, cv=3).fit(X.iloc[few], y[few])
    return model.set_params(**found.best_params_)


METHODS = {
    each.__name__: each for each in (multikernel, catboost, lightgbm, xrfm, boosting, forest, nystroem, scales, metric)
}


def measured(name: str, n: int, method: str, data: Path) -> dict[str, Any]:
    """One cell."""
    X, y, X_test, y_test, classes = split(name, n, data)
    if classes:  # numbers from 0 on, which all methods take
        y, y_test = np.split(np.unique(np.append(y, y_test), return_inverse=True)[1], [len(y)])
    model = METHODS[method](classes, X)
    if method != "multikernel":
        X, strings = plain(X)
        X_test = plain(X_test)[0]
        if method in ("lightgbm", "boosting"):
            for column in strings:
                values = sorted(set(X[column]) | set(X_test[column]))
                X[column], X_test[column] = (pd.Categorical(each[column], categories=values) for each in (X, X_test))
    start, wall = time.process_time(), time.perf_counter()
    if method == "nystroem":
        model = tuned(model, X, y)
    model.fit(X, y)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    predicted = np.ravel(model.predict(X_test))
    score = float((accuracy_score if classes else r2_score)(y_test, predicted))
    many = np.arange(10_000) % len(y_test)
    new = X_test.iloc[many] if isinstance(X_test, pd.DataFrame) else X_test[many]
    start = time.process_time()
    model.predict(new)
    return {
        "set": name,
        "rows": len(y),
        "asked": n,
        "method": method,
        "score": score,
        "fit": round(seconds, 2),
        "wall": round(wall, 2),
        "predict": round(time.process_time() - start, 3),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
    }


def known_cells(kept: Path | None) -> list[dict[str, Any]]:
    """Those of a file of lines, where there is one."""
    if kept is None or not kept.exists():
        return []
    return [json.loads(line) for line in kept.read_text().splitlines()]


def measured_apart(words: list[str], kept: Path | None) -> list[dict[str, Any]]:
    """The cell that a command prints in a process of its own, added to a file; none where the command fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        print(*words[2:], done.stderr.splitlines()[-1:], file=sys.stderr)
        return []
    cell = json.loads(done.stdout.splitlines()[-1])
    print(cell, flush=True)
    if kept is not None:
        with kept.open("a") as file:
            file.write(json.dumps(cell) + "\n")
    return [cell]


# -- the report --------------------------------------------------------------------------------------------------------


def report(cells: list[dict[str, Any]]) -> str:
    """A table for each number of rows: scores, and below them ranks, seconds and memory."""
    table = pd.DataFrame(cells)
    lines = []
    for asked, own in table.groupby("asked"):
        methods = [method for method in METHODS if method in set(own["method"])]
        scores = own.pivot(index="set", columns="method", values="score")[methods]
        rows = own.groupby("set")["rows"].first()
        lines += ["", f"| {asked:,} rows | n | {' | '.join(methods)} |", "|" + "---|" * (len(methods) + 2)]
        for name in [each for each in SETS if each in scores.index]:
            best = scores.loc[name].max()
            words = [
                "" if np.isnan(value) else f"**{value:.4f}**" if value == best else f"{value:.4f}"
                for value in scores.loc[name]
            ]
            lines.append(f"| {name} | {rows[name]:,} | {' | '.join(words)} |")
        ranks = scores.rank(axis=1, ascending=False).mean()
        lines.append("| mean rank | | " + " | ".join(f"{ranks[m]:.2f}" for m in methods) + " |")
        for label, what, digits in (
            ("processor seconds, fit (median)", "fit", 1),
            ("processor seconds, 10,000 predictions", "predict", 2),
            ("peak MB", "peak_mb", 0),
        ):
            middle = own.groupby("method")[what].median()
            lines.append(f"| {label} | | " + " | ".join(f"{middle[m]:.{digits}f}" for m in methods) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure the cells that are missing, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", default="5000,20000,100000")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--only", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    sizes = [int(n) for n in args.rows.split(",")]
    if args.only:
        warnings.simplefilter("ignore")
        print(json.dumps(measured(args.sets[0], sizes[0], args.methods[0], args.data)))
        return
    cells = known_cells(args.kept)
    known = {(cell["set"], cell["asked"], cell["method"]) for cell in cells}
    own = {name: len(pd.read_csv(args.data / f"{name}.csv.gz")) for name in PUBLIC if name in args.sets}
    own["digits"] = len(digits(0)[1])
    for n in sizes:
        for name in args.sets:
            before = [size for size in sizes if size < n]
            if name in own and before and own[name] < before[-1] + TEST:
                continue  # all of its rows were measured under the number before
            for method in args.methods:
                if (name, n, method) in known:
                    continue
                words = [sys.executable, sys.argv[0], "--data", str(args.data), "--only"]
                words += ["--sets", name, "--rows", str(n), "--methods", method]
                cells += measured_apart(words, args.kept)
    if args.report:
        print(report(cells))


if __name__ == "__main__":
    main()
