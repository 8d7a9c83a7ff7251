"""Seconds and memory of single fits of hierarchical kernel learning.

    python benchmarks/hkl.py --data-dir DIR

Haberman, Liver, Diabetes and Australian, all samples, with products of features and with Gaussians, C = 1 and 10; and
20 features, a million products, of German (500 samples) and Ionosphere (351). Each fit has a process of its own, so
that peak memory is its own. Relative duality gap 1e-3, d_v = 2^|v|.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from multikernel import HKLClassifier, KernelBank, bind, kernels
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp.protocol import NAMES, SCALINGS, load
from multikernel.reproduce.dpp.table4 import OUTER, RHOS, SETS

PRODUCTS, GAUSSIANS = "products", "Gaussians"
WIDE = {"German": 500, "Ionosphere": 351}  # data sets cut to 20 features, and to so many samples
FEATURES = 20


def base_kernels(X: Any, variant: str) -> KernelBank:
    """A kernel for each feature."""
    if variant == PRODUCTS:
        return bind(kernels.linear_features(), normalize(SCALINGS["stated"](X)))
    return bind(kernels.per_feature(kernels.RBF(1.0)), SCALINGS["standardised"](X))


def wide(name: str, directory: Path | None) -> tuple[KernelBank, Any]:
    """A Gaussian on each of 20 features that are not constant, of mean 0 and deviation 1, of some samples."""
    X, y = load(DataSource(directory), NAMES[name])
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[: WIDE[name]])
    X = SCALINGS["standardised"](X[rows])[:, :FEATURES]
    return bind(kernels.per_feature(kernels.RBF(0.5)), X), y[rows]


def speed(name: str, variant: str, C: float, rho: float, directory: Path | None) -> None:
    """A single fit with its peak memory above that of the base kernels, as a line of JSON."""
    if name in WIDE:
        bank, y = wide(name, directory)
    else:
        X, y = load(DataSource(directory), NAMES[name])
        bank = base_kernels(X, variant)
    few = np.r_[np.flatnonzero(y > 0)[:30], np.flatnonzero(y < 0)[:30]]
    HKLClassifier(tol=0.1, rho=1.5).fit(bank.block(few, few), y[few])  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, processor = time.perf_counter(), time.process_time()
    model = HKLClassifier(C=C, rho=rho, tol=OUTER).fit(bank, y)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({
        "n": len(y), "p": len(bank), "seconds": seconds, "processor": processor,
        "megabytes": (peak - before) / 1024, "gap": model.duality_gap_, "nodes": len(model.nodes_),
        "factors": max(map(len, model.nodes_)), "searched": model.n_nodes_searched_,
    }))  # fmt: skip


def speeds(asked: Any) -> None:
    print("| data | n | features | C | rho | seconds | processor | MB | gap | products | factors | looked at |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    cases = [(name, variant) for name in SETS for variant in (PRODUCTS, GAUSSIANS)] + [
        (name, GAUSSIANS) for name in WIDE
    ]
    for name, variant in cases:
        for C in (1.0, 10.0):
            for rho in reversed(RHOS.values()):
                one = ["--one", name, variant, str(C), str(rho)]
                more = ["--data-dir", str(asked.data_dir)] if asked.data_dir else []
                done = subprocess.run([sys.executable, __file__, *one, *more], capture_output=True, text=True)
                if done.returncode:
                    raise SystemExit(done.stderr)
                found = json.loads(done.stdout)
                cells = [f"{name}, {variant}", found["n"], found["p"], f"{C:g}", f"{rho:g}", f"{found['seconds']:.2f}"]
                cells += [f"{found['processor']:.2f}", f"{found['megabytes']:.0f}", f"{found['gap']:.0e}"]
                cells += [found[field] for field in ("nodes", "factors", "searched")]
                print(f"| {' | '.join(map(str, cells))} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data-dir", type=Path)
    options.add_argument("--one", nargs=4, metavar=("DATASET", "VARIANT", "C", "RHO"), help="a single one of them")
    asked = options.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # gaps stand in the table
    if asked.one:
        name, variant, C, rho = asked.one
        speed(name, variant, float(C), float(rho), asked.data_dir)
    else:
        speeds(asked)


if __name__ == "__main__":
    main()
