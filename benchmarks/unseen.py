"""Ten made tables that had no part in building the automatic estimators, beside the methods of ``rows.py``.

    python benchmarks/unseen.py --kept FILE [--report]

They were written after the last change of what is fitted, once, and measured once: claims of an insurance (a lognormal
target), a rare class, a column of 500 levels with missing values beside it, steps of single columns among noise, sales
by date and shop, places with a fine local structure, ratings by many yes-or-no columns, signs of hidden factors, counts
with additional zeros, and credit with mixed columns and missing values. 10,000 rows are learned from, 5000 others are
scored: R^2 of numbers, log loss of classes. Dates are given to the others as in ``rows.py``, missing categories as a
category.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, r2_score

from rows import METHODS, TEST, known_cells, measured_apart, plain

ROWS = 10_000
Array = Any
Drawn = tuple[pd.DataFrame, Array]


def sigmoid(z: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-z))


def numbered(X: Array, letter: str) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"{letter}{i}" for i in range(X.shape[1])])


def claims(rng: np.random.Generator, n: int) -> Drawn:
    regions = [f"R{i}" for i in range(22)]
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "power": rng.gamma(3, 30, n),
            "region": rng.choice(regions, n, p=rng.dirichlet(np.ones(22))),
            "brand": rng.choice(list("ABCDEFGH"), n),
            "km": rng.lognormal(9.5, 0.6, n),
            "bonus": np.minimum(230, 50 + rng.exponential(15, n)),
        }
    )
    effect = dict(zip(regions, rng.normal(0, 0.3, 22), strict=True))
    f = 0.8 * np.exp(-(((X["age"] - 20) / 12.0) ** 2)) + 0.1 * np.log1p(X["power"]) + X["region"].map(effect)
    f += 0.4 * X["brand"].isin(["A", "F"]) * (X["km"] > 15000) + 0.01 * (X["bonus"] - 50)
    return X, np.exp(f + 0.5 * rng.normal(size=n)).to_numpy()


def rare(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.normal(size=(n, 15))
    s = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.7 * np.maximum(X[:, 3], 0) * X[:, 4] - 4.3
    return numbered(X, "v"), (rng.random(n) < sigmoid(1.6 * s)).astype(int)


def levels(rng: np.random.Generator, n: int) -> Drawn:
    level = rng.integers(0, 500, n)
    mean = rng.normal(0, 1, 500)
    X = rng.normal(size=(n, 6))
    slope = rng.normal(0, 0.7, 500)
    y = mean[level] + slope[level] * X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=n)
    table = pd.DataFrame(X, columns=list("abcdef"))
    table.loc[rng.random(n) < 0.4 * sigmoid(X[:, 1]), "b"] = np.nan
    table["shop"] = [f"s{i}" for i in level]
    table["kind"] = rng.choice(["x", "y", "z"], n)
    return table, y


def steps(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.random((n, 30))
    y = 2.0 * (X[:, 0] > 0.5) + 1.5 * (X[:, 1] > 0.3) * (X[:, 2] < 0.6) + (X[:, 3] * 4).astype(int) % 2
    return numbered(X, "c"), y + 3 * (X[:, 4] > 0.9) + 0.5 * rng.normal(size=n)


def sales(rng: np.random.Generator, n: int) -> Drawn:
    date = pd.to_datetime("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    shop = rng.integers(0, 40, n)
    base = rng.gamma(4, 10, 40)
    more = rng.random(40)
    promoted = rng.random(n) < 0.2
    weekday = date.dayofweek.to_numpy()
    day = date.dayofyear.to_numpy()
    season = 0.3 * (weekday >= 5) * more[shop] + 0.2 * np.sin(2 * np.pi * day / 365) + 0.5 * promoted * (weekday < 5)
    y = base[shop] * (1 + season) + 0.02 * (date - date.min()).days.to_numpy() + 4 * rng.normal(size=n)
    columns = {"store": [f"st{i}" for i in shop], "promo": np.where(promoted, "yes", "no"), "price": rng.gamma(5, 2, n)}
    return pd.DataFrame({"date": date} | columns), y


def places(rng: np.random.Generator, n: int) -> Drawn:
    at = rng.random((n, 2)) * 10
    centres = rng.random((60, 2)) * 10
    height = rng.normal(0, 1, 60)
    width = rng.uniform(0.2, 1.2, 60)
    squares = ((at[:, None] - centres) ** 2).sum(axis=2)
    f = np.exp(-squares / 2 / width**2) @ height
    rooms = rng.integers(1, 7, n)
    age = rng.uniform(0, 100, n)
    columns = {"rooms": rooms, "year": 2020 - age, "area": rooms * 25 + rng.gamma(3, 8, n)}
    y = f + 0.3 * np.log(rooms) - 0.004 * age + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"lat": at[:, 0], "lon": at[:, 1]} | columns), y


def ratings(rng: np.random.Generator, n: int) -> Drawn:
    X = (rng.random((n, 60)) < rng.beta(1, 4, 60)).astype(int)
    z = X @ (rng.normal(0, 0.5, 60) * (rng.random(60) < 0.3)) + 1.5 * (X[:, 0] & X[:, 1]) - (X[:, 2] & (1 - X[:, 3]))
    return numbered(X, "has_"), np.clip(np.round(3 + z + 0.7 * rng.normal(size=n)), 1, 5)


def signs(rng: np.random.Generator, n: int) -> Drawn:
    F = rng.normal(size=(n, 4))
    M = rng.normal(size=(4, 50))
    X = F @ M + 0.5 * rng.normal(size=(n, 50))
    y = (F[:, 0] * F[:, 1] > 0).astype(int) + (F[:, 2] > 0.8)
    wrong = rng.random(n) < 0.05
    y[wrong] = rng.integers(0, 3, wrong.sum())
    return numbered(X, "m"), y


def counts(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.normal(size=(n, 10))
    rate = np.exp(0.6 * X[:, 0] + 0.4 * X[:, 1] * X[:, 2] - 0.3 * X[:, 3] ** 2 + 0.8)
    return numbered(X, "e"), (rng.poisson(rate) * (rng.random(n) < sigmoid(1 + X[:, 4]))).astype(float)


def credit(rng: np.random.Generator, n: int) -> Drawn:
    income = rng.lognormal(10, 0.7, n)
    debt = income * rng.beta(2, 5, n)
    job = rng.choice(["clerk", "nurse", "cook", "none", "boss", "driver"], n)
    age = rng.integers(18, 80, n)
    late = rng.poisson(0.4, n)
    of_job = np.where(job == "none", 1.0, np.where(job == "boss", -0.8, 0.0))
    s = -1.5 + 3 * debt / income + 0.6 * late - 0.02 * (age - 40) + of_job - 0.4 * np.log(income / 2e4) * (age > 30)
    numbers = {"income": income, "debt": debt, "job": job, "age": age, "late": late, "since": rng.exponential(5, n)}
    X = pd.DataFrame(numbers)
    X.loc[rng.random(n) < 0.15, "income"] = np.nan
    X.loc[rng.random(n) < 0.1, "job"] = None
    return X, (rng.random(n) < sigmoid(s)).astype(int)


SETS = {each.__name__: each for each in (claims, rare, levels, steps, sales, places, ratings, signs, counts, credit)}
OF_CLASSES = ("rare", "signs", "credit")


def measured(name: str, method: str) -> dict[str, Any]:
    """One cell."""
    X, y = SETS[name](np.random.default_rng([1, list(SETS).index(name)]), ROWS + TEST)
    classes = name in OF_CLASSES
    new = X.iloc[ROWS:]
    X, y, truth = X.iloc[:ROWS], y[:ROWS], y[ROWS:]
    model = METHODS[method](classes, X)
    if method != "multikernel":
        (X, strings), new = plain(X), plain(new)[0]
        if method in ("lightgbm", "boosting"):
            for column in strings:
                values = sorted(set(X[column]) | set(new[column]))
                X[column], new[column] = (pd.Categorical(each[column], categories=values) for each in (X, new))
                if method == "boosting" and len(values) > 255:  # which it refuses as categories
                    X[column], new[column] = X[column].cat.codes, new[column].cat.codes
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    if classes:
        score = -float(log_loss(truth, model.predict_proba(new)))
    else:
        score = float(r2_score(truth, np.ravel(model.predict(new))))
    return {"set": name, "method": method, "score": score, "fit": round(seconds, 2)}


def report(cells: list[dict[str, Any]]) -> str:
    """A line for each set; log losses are those of classes, without their sign."""
    table = pd.DataFrame(cells)
    methods = [method for method in METHODS if method in set(table["method"])]
    scores = table.pivot(index="set", columns="method", values="score").loc[list(SETS), methods]
    lines = [f"| | {' | '.join(methods)} |", "|" + "---|" * (len(methods) + 1)]
    for name, own in scores.iterrows():
        words = [f"**{abs(value):.4f}**" if value == own.max() else f"{abs(value):.4f}" for value in own]
        lines.append(f"| {name}, {'log loss' if name in OF_CLASSES else '$R^2$'} | {' | '.join(words)} |")
    ranks, seconds = scores.rank(axis=1, ascending=False).mean(), table.groupby("method")["fit"].median()
    lines.append("| mean rank | " + " | ".join(f"{ranks[method]:.2f}" for method in methods) + " |")
    lines.append("| processor seconds (median) | " + " | ".join(f"{seconds[method]:.1f}" for method in methods) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure the cells that are missing, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=["multikernel", "catboost", "lightgbm", "boosting", "forest"])
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only is not None:
        warnings.simplefilter("ignore")
        print(json.dumps(measured(args.only, args.methods[0])))
        return
    cells = known_cells(args.kept)
    known = {(cell["set"], cell["method"]) for cell in cells}
    for name in SETS:
        for method in args.methods:
            if (name, method) not in known:
                words = [sys.executable, sys.argv[0], "--kept", str(args.kept), "--only", name, "--methods", method]
                cells += measured_apart(words, args.kept)
    if args.report:
        print(report(cells))


if __name__ == "__main__":
    main()
