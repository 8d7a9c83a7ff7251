"""The ten digits of MNIST, each against each: EasyMKL on dot-product polynomials, then a support vector machine.

    python benchmarks/dpp_mnist.py [--out DIR] [--images raw deskewed] [--shifted] [--train 60000] [--data-dir DIR]

The protocol of Donini and Aiolli (2017, table 5): pixels / 255, samples of unit length, polynomials of degree 0..8,
lam = 0.01 (Lambda = 0.01 / 0.99), C = 4, 45 pairs of digits, each with weights of its own; the digit with most votes,
among equals the largest sum of decision values. The paper does not say how digits are set upright; here by their
second moments (``datasets.deskew``). ``--shifted`` is not in the paper: each pair is learned once more from its support
vectors and these moved by a pixel up, down, left and right (virtual support vectors, Schoelkopf and others 1996).

Each pair's model is kept in DIR, whole or not at all, so a run that was stopped goes on where it was; the errors are
appended to DIR/dpp_mnist.jsonl. Kernel values are made when they are asked for, so their time is part of each step's.
Seconds are those of the wall, added up over the pairs, whichever run made them.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import resource
import time
from itertools import combinations
from pathlib import Path

import numpy as np

import multikernel
from kept import Kept
from multikernel import EasyMKLClassifier, bind, datasets, kernels
from multikernel.app.console import steps
from multikernel.estimators.multiclass import join
from multikernel.persistence import read

DEGREE, LAM, C = 8, 0.01, 4.0
PUBLISHED = {"raw": 0.9, "deskewed": 0.8}
PARTS = ("weights", "svm", "prediction")


def digits(data_dir, way, train):
    """Pixels and labels of the training part (its first ``train``) and of the test part."""
    data = datasets.load("mnist", data_dir)
    X = data.X
    if way == "deskewed":
        X = datasets.deskew(X.reshape(-1, 28, 28)).reshape(X.shape)
    own, test = np.flatnonzero(data.split == "train")[:train], data.split == "test"
    return X[own], data.y[own], X[test], data.y[test]


def fit(bank, y, tol):
    """A model of one pair, and what it took."""
    model = EasyMKLClassifier(kernels.homogeneous_polynomials(DEGREE), lam=LAM, learner="svc", C=C, tol=tol)
    start, cpu = time.perf_counter(), time.process_time()
    profile = cProfile.Profile()
    profile.runcall(model.fit, bank, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    weights = pstats.Stats(profile).get_stats_profile().func_profiles["easymkl"].cumtime
    return model, {
        "weights": weights,
        "svm": seconds - weights,
        "cpu": cpu,
        "samples": len(y),
        "support": int(np.count_nonzero(model.dual_coef_)),
    }


def moved(X):
    """The images, and each moved by a pixel to the four sides."""
    images = X.reshape(-1, 28, 28)
    sides = [np.roll(images, step, axis) for axis in (1, 2) for step in (-1, 1)]
    return np.concatenate([images, *sides]).reshape(-1, X.shape[1])


def fit_shifted(X, bank, y, tol):
    """A model of one pair on its support vectors and these moved by a pixel, and what the two fits took."""
    first, before = fit(bank, y, tol)
    own = np.flatnonzero(first.dual_coef_)
    model, facts = fit(bind(first.kernels, moved(X[own])), np.tile(y[own], 5), tol)
    return model, facts | {name: facts[name] + before[name] for name in ("weights", "svm", "cpu")}


def kept_model(file, X, bank, y, options):
    """The model of a pair and what it took: from the file where an earlier run with these options left it."""
    asked = {"train": options.train, "tol": options.tol}
    if file.exists():
        model, facts = read(file)
        if {name: facts.get(name) for name in asked} == asked:
            return model, facts, "kept"
    model, facts = fit_shifted(X, bank, y, options.tol) if options.shifted else fit(bank, y, options.tol)
    multikernel.save(model, file, asked | facts)
    return model, asked | facts, "fitted"


def study(way, options):
    """One line of results: the errors of the vote, what it took, and what was learned."""
    X, y, X_test, y_test = digits(options.data_dir, way, options.train)
    bank = bind(kernels.homogeneous_polynomials(DEGREE), X)
    pairs = list(combinations(range(10), 2))
    decisions, facts, models = np.empty((len(y_test), len(pairs))), [], []
    with steps(len(pairs), f"MNIST {way}") as observe:
        for p, (a, b) in enumerate(pairs):
            rows = np.flatnonzero((y == a) | (y == b))
            target = np.where(y[rows] == a, 1, -1)
            file = options.out / f"{way}-{'shifted-' * options.shifted}{a}{b}.model"
            model, fact, how = kept_model(file, X[rows], bank.block(rows, rows), target, options)
            start = time.perf_counter()
            decisions[:, p] = model.decision_function(X_test)
            facts.append(fact | {"prediction": time.perf_counter() - start})
            models.append(model)
            observe(f"pair {a}-{b} {how}, {p + 1}")
    wrong = join(decisions, 10, "ovo").argmax(axis=1) != y_test
    return {
        "images": way,
        "shifted": options.shifted,
        "train": len(y),
        "wrong": int(wrong.sum()),
        "error": 100.0 * float(wrong.mean()),
        "seconds": {part: sum(fact[part] for fact in facts) for part in PARTS},
        "cpu": sum(fact["cpu"] for fact in facts),
        "support": float(np.mean([fact["support"] for fact in facts])),
        "samples": float(np.mean([fact["samples"] for fact in facts])),
        "weights": np.mean([model.weights_ for model in models], axis=0).tolist(),
        "gap": max(model.duality_gap_ for model in models),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,  # Linux tells kilobytes
    }


def show(line):
    published = f" (published {PUBLISHED[line['images']]})" if line["train"] == 60_000 else ""
    seconds = ", ".join(f"{part} {value:.0f}" for part, value in line["seconds"].items())
    way = line["images"] + ", shifted" * line["shifted"]
    print(f"\n{way}, {line['train']} digits: {line['wrong']} wrong, {line['error']:.2f} %{published}")
    print(f"  seconds: {seconds}, in all {sum(line['seconds'].values()):.0f}; processor seconds {line['cpu']:.0f}")
    print(f"  support vectors of a pair {line['support']:.0f} of {line['samples']:.0f}, worst gap {line['gap']:.0e}")
    print("  mean weights of degrees 0..8: " + " ".join(f"{w:.3f}" for w in line["weights"]))
    print(f"  peak memory {line['peak']:.2f} GiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("dpp_mnist"), help="the models and results")
    parser.add_argument("--images", nargs="+", choices=list(PUBLISHED), default=list(PUBLISHED))
    parser.add_argument("--shifted", action="store_true", help="learn again from the support vectors, also moved")
    parser.add_argument("--train", type=int, default=60_000, help="how many training digits, the first ones")
    parser.add_argument("--tol", type=float, default=1e-4, help="relative duality gap of the weights")
    parser.add_argument("--data-dir", default=os.environ.get("MULTIKERNEL_DATA", "../shared/data"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    results = Kept(options.out / "dpp_mnist.jsonl", key=("images", "shifted", "train"))
    for way in options.images:
        line = study(way, options)
        results.add([line])
        show(line)


if __name__ == "__main__":
    main()
