"""Processor seconds, wall-clock seconds and peak memory of fits over the number of samples, on classes with noise.

    python benchmarks/sizes.py [--samples 500,1000,2000,5000] [--models L1,Lp,SMKL,EasyMKL,RLS2,Average] [--out FILE]

The samples are scikit-learn's make_classification with 20 features, 8 of them informative, standardised; the kernels
ten widths of the Gaussian on all features and one Gaussian for each feature; C = 1, a gap of 1e-3, kernels included.
Each fit runs in a process of its own after a small one that loads what is compiled. Results are appended to a file of
one line each, and those that are there already are not computed again.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from multikernel import kernels

MODELS: dict[str, Any] = {
    "bind": None,
    "L1": lambda k: mk.L1MKLClassifier(k, C=1.0, tol=1e-3),
    "Lp": lambda k: mk.LpMKLClassifier(k, C=1.0, p=2.0, tol=1e-3),
    "SMKL": lambda k: mk.SMKLClassifier(k, C=1.0, tol=1e-3),
    "EasyMKL": lambda k: mk.EasyMKLClassifier(k),
    "RLS2": lambda k: mk.RLS2Classifier(k),
    "Average": lambda k: mk.AverageMKLClassifier(k, C=1.0),
}


def data(n: int) -> tuple[Any, Any]:
    """Noisy classes."""
    X, y = make_classification(
        n_samples=n, n_features=20, n_informative=8, n_redundant=4, flip_y=0.1, class_sep=0.8, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def family() -> kernels.KernelFamily:
    """Thirty Gaussians."""
    return kernels.rbf_grid(np.geomspace(1e-3, 1.0, 10)) + kernels.per_feature(kernels.RBF(0.5))


def measured(name: str, n: int) -> dict[str, Any]:
    """One fit in this process."""
    make = MODELS[name]

    def fit(n: int) -> Any:
        return mk.bind(family(), data(n)[0], dtype=np.float32) if make is None else make(family()).fit(*data(n))

    fit(300)
    processor, wall = time.process_time(), time.perf_counter()
    model = fit(n)
    return {
        "model": name,
        "samples": n,
        "processor": round(time.process_time() - processor, 2),
        "wall": round(time.perf_counter() - wall, 2),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "gap": getattr(model, "duality_gap_", None),
        "steps": len(model.history_[0]) if getattr(model, "history_", None) else None,
    }


def main() -> None:
    """All fits that are not in the file yet, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", default="500,1000,2000,5000")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--out", type=Path, default=Path("sizes.jsonl"))
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "SAMPLES"), help="one fit in this process")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one[0], int(given.one[1]))))
        return
    lines = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    known = {(line["model"], line["samples"]) for line in lines}
    for n in map(int, given.samples.split(",")):
        for name in given.models.split(","):
            if (name, n) in known:
                continue
            command = [sys.executable, __file__, "--one", name, str(n)]
            line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]
            with given.out.open("a") as out:
                out.write(line + "\n")
            print(line, flush=True)


if __name__ == "__main__":
    main()
