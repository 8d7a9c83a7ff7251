"""Whether intervals hold the part of new observations that they say: the table of docs/uncertainty.md.

    MULTIKERNEL_DATA=DIR python benchmarks/uncertainty.py [--splits 25]

A random 70 % of the samples, 300 at most, are for training; features are standardised on these. Percent of at most 500
others inside intervals of 50, 80 and 95 %: of the Gaussian ones, and of ``predict_interval``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_diabetes, load_wine
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from multikernel import datasets

Array = Any
NAMES = ("abalone", "auto_mpg", "cpu", "housing_boston", "kin8nm", "servo", "prostate")
PARTS = np.array([0.5, 0.8, 0.95])
MODELS = {
    "evidence": lambda: mk.MultipleKernelRidgeCV(criterion="evidence"),
    "held-out error": mk.MultipleKernelRidgeCV,
    "average": mk.AverageMKLRegressor,
    "RLS2": lambda: mk.RLS2Regressor(mk.AverageMKLRegressor()._default_kernels()),
}


def sets() -> Iterator[tuple[str, Array, Array]]:
    """Ten sets with a real target."""
    for name in NAMES:
        data = datasets.load(name)
        X = np.asarray(data.X, dtype=float)
        numeric = [j for j in range(X.shape[1]) if name != "cpu" or len(np.unique(X[:, j])) > 2]
        yield name, X[:, numeric], np.asarray(data.y, dtype=float)
    yield ("diabetes", *load_diabetes(return_X_y=True))
    liver, wine = np.asarray(datasets.load("liver_bupa").X, dtype=float), load_wine().data
    yield "liver (drinks)", liver[:, :5], liver[:, 5]
    yield "wine (alcohol)", wine[:, 1:], wine[:, 0]


def inside(make: Any, X: Array, y: Array, rng: np.random.Generator) -> Array:
    """The percent inside of both kinds of intervals, shape (2, 3)."""
    order = rng.permutation(len(y))
    n = min(int(0.7 * len(y)), 300)
    train, test = order[:n], order[n : n + 500]
    scaler = StandardScaler().fit(X[train])
    model, new, truth = make().fit(scaler.transform(X[train]), y[train]), scaler.transform(X[test]), y[test]
    mean, deviation = model.predict(new, return_std=True)
    gaussian = [np.abs(truth - mean) <= norm.ppf(0.5 + part / 2.0) * deviation for part in PARTS]
    ends = [model.predict_interval(new, part) for part in PARTS]
    own = [(lower <= truth) & (truth <= upper) for lower, upper in ends]
    return 100.0 * np.array([[np.mean(each) for each in kind] for kind in (gaussian, own)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=25)
    splits = parser.parse_args().splits
    warnings.simplefilter("ignore")
    for label, make in MODELS.items():
        held = 0
        for name, X, y in sets():
            rng = np.random.default_rng(0)
            count = splits if len(y) > 150 else 2 * splits
            gaussian, own = np.mean([inside(make, X, y, rng) for _ in range(count)], axis=0)
            held += int((np.abs(own - 100.0 * PARTS) <= 3.0).all())
            print(f"{label:16s} {name:16s} Gaussian {gaussian.round(1)}  intervals {own.round(1)}", flush=True)
        print(f"{label}: within 3 points on {held} of 10")


if __name__ == "__main__":
    main()
