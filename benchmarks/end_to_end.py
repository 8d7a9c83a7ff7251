"""Whole tables of 20,000 to 50,000 rows, end to end: ours beside what scikit-learn's users would write, and others.

    python benchmarks/end_to_end.py DATA [--sets letter,a9a,protein] [--methods ...] [--threads 1] [--limit 3600]
                                    [--peer-path DIR] [--out FILE]

From the table to scores of a fifth of the rows that no method sees (a9a: its own test rows); R2 for protein, the part
of right labels for letter (26 letters) and a9a. Columns are standardised but for indicators. Methods:

    MultiKernel     the automatic estimator as it is
    RLS2            Gaussians of five widths about the median distance, Nystroem's approximation of rank 512, alpha
                    "auto": nothing tuned by hand; the 26 letters share the weights
    RLS2-ovr        the same with weights for each class
    Nystroem        scikit-learn's with 512 landmarks and a ridge, gamma and regularisation by three folds out of five
                    widths and five ridges; the landmarks of a width are computed once for all ridges
    boosting        HistGradientBoosting as it is
    xrfm            as it is with a fifth of the training rows to stop by, and gradients of 1000 rows at a time, where
                    it can be imported, or in --peer-path; it holds a matrix of all rows, which only letter has the
                    memory for

Each run is a process of its own; processor seconds are those of fit and prediction.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

SETS = ("letter", "a9a", "protein")
METHODS = ("MultiKernel", "RLS2", "RLS2-ovr", "Nystroem", "boosting", "xrfm")
WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # times one over the squared median distance
RIDGES = tuple(10.0 ** np.arange(-4.0, 1.0))
Array = Any


def data(folder: Path, name: str) -> tuple[Array, Array, Array]:
    """Features, targets, and which rows are for training."""
    import pandas as pd
    from scipy import sparse

    if name == "a9a":
        held = np.load(folder / "a9a.npz")
        X = sparse.csr_matrix((held["data"], held["indices"], held["indptr"]), shape=held["shape"]).toarray()
        return X.astype(float), held["target"], ~held["is_test"]
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    X = frame.drop(columns="target").to_numpy(float)
    train = np.random.default_rng(0).permutation(len(X)) < 0.8 * len(X)
    return (X - X[train].mean(axis=0)) / X[train].std(axis=0), frame["target"].to_numpy(), train


class Tuned:
    """Nystroem's features and a ridge, the width and the ridge of the best score over three folds."""

    def __init__(self, classes: bool) -> None:
        self.classes = classes

    def fit(self, X: Array, y: Array) -> Tuned:
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge, RidgeClassifier
        from sklearn.metrics import pairwise_distances
        from sklearn.model_selection import KFold

        few = X[np.random.default_rng(0).choice(len(X), 1000, replace=False)]
        unit = 1.0 / np.median(pairwise_distances(few)[np.triu_indices(1000, 1)]) ** 2
        ridge = RidgeClassifier if self.classes else Ridge
        scores = np.zeros((len(WIDTHS), len(RIDGES)))
        for train, test in KFold(3, shuffle=True, random_state=0).split(X):
            for w, times in enumerate(WIDTHS):
                map = Nystroem(gamma=times * unit, n_components=512, random_state=0).fit(X[train])
                F, G = map.transform(X[train]), map.transform(X[test])
                for r, alpha in enumerate(RIDGES):
                    scores[w, r] += ridge(alpha=alpha).fit(F, y[train]).score(G, y[test])
        w, r = np.unravel_index(scores.argmax(), scores.shape)
        self.map = Nystroem(gamma=WIDTHS[w] * unit, n_components=512, random_state=0).fit(X)
        self.model = ridge(alpha=RIDGES[r]).fit(self.map.transform(X), y)
        return self

    def predict(self, X: Array) -> Array:
        return self.model.predict(self.map.transform(X))


class Features:
    """xrfm as it is; labels are numbers inside."""

    def __init__(self, classes: bool) -> None:
        self.classes = classes

    def fit(self, X: Array, y: Array) -> Features:
        import torch
        from xrfm import xRFM

        self.labels, codes = np.unique(y, return_inverse=True) if self.classes else (None, y)
        order = np.random.default_rng(0).permutation(len(y))
        held, rest = order[: len(y) // 5], order[len(y) // 5 :]
        samples = torch.tensor(X, dtype=torch.float32)
        target = torch.tensor(codes) if self.classes else torch.tensor(codes, dtype=torch.float32)[:, None]
        metric = "accuracy" if self.classes else "mse"
        self.model = xRFM(device=torch.device("cpu"), tuning_metric=metric, verbose=False)
        self.model.rfm_params["fit"]["M_batch_size"] = 1000  # its own choice takes two arrays of 13 GB for 26 classes
        self.model.fit(samples[rest], target[rest], samples[held], target[held])
        return self

    def predict(self, X: Array) -> Array:
        import torch

        found = np.asarray(self.model.predict(torch.tensor(X, dtype=torch.float32)))
        if self.labels is None:
            return found.ravel()
        return self.labels[
            found.argmax(axis=1) if found.ndim == 2 and found.shape[1] > 1 else found.ravel().astype(int)
        ]


def made(method: str, classes: bool) -> Any:
    """A model."""
    if method == "Nystroem":
        return Tuned(classes)
    if method == "xrfm":
        return Features(classes)
    if method == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        return (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(random_state=0)
    import multikernel as mk
    from multikernel.kernels import RBF, Width

    if method == "MultiKernel":
        return (mk.MultiKernelClassifier if classes else mk.MultiKernelRegressor)(random_state=0)
    family = [RBF(Width("median", times)) for times in WIDTHS]
    known: dict[str, Any] = {"approximation": "nystroem", "rank": 512}
    if not classes:
        return mk.RLS2Regressor(family, **known)
    return mk.RLS2Classifier(family, multiclass="ovr" if method == "RLS2-ovr" else "shared", **known)


def measured(folder: Path, name: str, method: str) -> dict[str, Any]:
    """One run in this process."""
    from sklearn.metrics import accuracy_score, r2_score

    warnings.simplefilter("ignore")
    X, y, train = data(folder, name)
    classes = name != "protein"
    model = made(method, classes)
    start, used = time.perf_counter(), time.process_time()
    said = model.fit(X[train], y[train]).predict(X[~train])
    seconds, used = time.perf_counter() - start, time.process_time() - used
    score = accuracy_score(y[~train], said) if classes else r2_score(y[~train], said)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"score": float(score), "processor_seconds": used, "seconds": seconds, "peak_gb": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=3600, help="seconds of one run")
    parser.add_argument("--peer-path", help="a directory with xrfm")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measured(args.data, *args.measure)))
        return
    threads = {f"{name}_NUM_THREADS": str(args.threads) for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
    for name in args.sets.split(","):
        for method in args.methods.split(","):
            row: dict[str, Any] = {"set": name, "method": method}
            env = os.environ | threads
            if method == "xrfm" and args.peer_path:
                env["PYTHONPATH"] = os.pathsep.join([args.peer_path, env.get("PYTHONPATH", "")])
            words = [sys.executable, __file__, str(args.data), "--measure", name, method]
            try:
                done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=args.limit)
                row |= (
                    json.loads(done.stdout.splitlines()[-1]) if not done.returncode else {"failed": done.stderr[-300:]}
                )
            except subprocess.TimeoutExpired:
                row["failed"] = f"more than {args.limit:g} s"
            print(json.dumps(row), flush=True)
            if args.out is not None:
                with args.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
