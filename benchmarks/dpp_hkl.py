"""Hierarchical kernel learning beside EasyMKL on dot-product polynomials: Table 4 of Donini and Aiolli (2017).

    python benchmarks/dpp_hkl.py --data-dir DIR [--results results/dpp_hkl.jsonl] [Haberman Liver ...]
    python benchmarks/dpp_hkl.py --data-dir DIR --speed

Ten stratified test folds; on the other samples three stratified folds choose C of 1e-3..1e3 by the mean area under
the curve (the smallest C of the best), for rho = 1.1, 1.5 and 2, with d_v = 2^|v|; EasyMKL on the degrees 0..10 has the
same folds and chooses lam (dpp_protocol.py). The paper does not tell which kernels gHKL was given; two ways are run:

    products    k_i(x, z) = x_i z_i on the inputs that EasyMKL has: features in [0, 1], samples of unit length
    Gaussians   k_i(x, z) = exp(-(x_i - z_i)^2) on features of mean 0 and deviation 1; EasyMKL has these as well,
                but with samples of unit length

The folds that choose are solved to a relative duality gap of 1e-2, the model that is tested to 1e-3. The table has the
median C, the mean number of selected products, by how much the value of the tested model is below that of a constant
predictor (median), and, of the tested and of the choosing models, the worst gap and the median processor seconds a fit.
Finished folds are kept in the results file; with ``--table`` they are printed, and nothing is run.

``--speed`` fits single models: the data sets of the table, all samples, C = 1 and 10; and 20 features, a million
products, of German (500 samples) and Ionosphere (351), in a process each so that peak memory is its own.
"""

from __future__ import annotations

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

from dpp_protocol import LAMS, area_under_curve, folds, load, nested, parser, powers, scaled
from kept import Kept
from multikernel import HKLClassifier, KernelBank, bind, kernels, path

SETS = ("Haberman", "Liver", "Diabetes", "Australian")
RHOS = (1.1, 1.5, 2.0)
GAUSSIAN = kernels.per_feature(kernels.RBF(1.0))
COSTS = tuple(10.0**e for e in range(-3, 4))
DEGREE = 10
INNER, OUTER = 1e-2, 1e-3  # relative duality gaps
PRODUCTS, GAUSSIANS = "products", "Gaussians"
SCALING = {PRODUCTS: "unit interval", GAUSSIANS: "standardised"}
EASY = "EasyMKL, K_10"
METHODS = (EASY, *RHOS)
PUBLISHED = {  # area under the curve and its deviation
    "Haberman": {EASY: (0.716, 0.014), 1.1: (0.617, 0.166), 1.5: (0.518, 0.110), 2.0: (0.556, 0.070)},
    "Liver": {EASY: (0.689, 0.056), 1.1: (0.565, 0.109), 1.5: (0.583, 0.110), 2.0: (0.623, 0.038)},
    "Diabetes": {EASY: (0.842, 0.027), 1.1: (0.636, 0.118), 1.5: (0.733, 0.058), 2.0: (0.766, 0.046)},
    "Australian": {EASY: (0.924, 0.081), 1.1: (0.923, 0.101), 1.5: (0.918, 0.049), 2.0: (0.920, 0.045)},
}
WIDE = {"German": 500, "Ionosphere": 351}  # data sets cut to 20 features, and to so many samples
FEATURES = 20


def base_kernels(X: Any, variant: str, train: Any = slice(None)) -> KernelBank:
    """A kernel for each feature, all samples, scaled by the training samples."""
    X = scaled(X, SCALING[variant], train)
    return bind(kernels.linear_features(), normalize(X)) if variant == PRODUCTS else bind(GAUSSIAN, X)


def hierarchical(bank: KernelBank, y: Any, train: Any, test: Any, rho: float) -> dict[str, Any]:
    """The area under the curve on the test samples, C chosen by inner folds, and what the fits cost."""
    areas, gaps, start = [], [], time.process_time()
    for own, held in folds(y, train, 3, 0):
        along = path(HKLClassifier(rho=rho, tol=INNER), bank.block(own, own), y[own], "C", COSTS)
        new = bank.block(held, own)
        areas.append([area_under_curve(y[held], model.decision_function(new)) for model in along.models])
        gaps.append(float(along.duality_gap.max()))
    mean = np.mean(areas, axis=0)
    C = min(C for C, area in zip(COSTS, mean, strict=True) if area >= mean.max() - 1e-12)
    chosen = time.process_time()
    model = HKLClassifier(C=C, rho=rho, tol=OUTER).fit(bank.block(train, train), y[train])
    last = time.process_time()
    constant = 2.0 * C * min((y[train] > 0).sum(), (y[train] < 0).sum())
    return {
        "auc": area_under_curve(y[test], model.decision_function(bank.block(test, train))),
        "C": C,
        "nodes": len(model.nodes_),
        "factors": max(map(len, model.nodes_)),
        "below": 1.0 - model.objective_ / constant,
        "gap": model.duality_gap_,
        "inner_gap": max(gaps),
        "areas": np.array(areas).tolist(),
        "seconds": last - chosen,
        "inner_seconds": (chosen - start) / (len(areas) * len(COSTS)),
    }


def run(X: Any, y: Any, variant: str, method: Any, number: int) -> dict[str, Any]:
    """One method on one test fold."""
    train, test = folds(y, np.arange(len(y)), 10, 0)[number]
    if method != EASY:
        return hierarchical(base_kernels(X, variant, train), y, train, test, method)
    start = time.perf_counter()
    found = nested(powers(scaled(X, SCALING[variant], train), DEGREE), y, train, test, 3, 0, LAMS)
    return {**found, "seconds": time.perf_counter() - start}


def told(kept: Kept, name: str, variant: str) -> None:
    """A line for each method of which all folds are done."""
    for method in METHODS:
        lines = kept.where(data=name, variant=variant, method=method)
        if len(lines) < 10:
            continue
        area, (paper, spread) = np.array([line["auc"] for line in lines]), PUBLISHED[name][method]
        cells = [name, f"{variant}, rho = {method:g}" if method != EASY else f"{EASY}, {SCALING[variant]}"]
        cells += [f"{area.mean():.3f} ± {area.std(ddof=1):.3f}", f"{paper:.3f} ± {spread:.3f}"]
        if method == EASY:
            cells += ["", "", "", f"{max(line['gap'] for line in lines):.0e}", ""]
        else:
            nodes = np.array([line["nodes"] for line in lines])
            worst = (max(line[field] for line in lines) for field in ("gap", "inner_gap"))
            cells += [f"{np.median([line['C'] for line in lines]):g}", f"{nodes.mean():.1f}"]
            cells += [f"{100 * np.median([line['below'] for line in lines]):.2g} %"]
            cells += [", ".join(f"{gap:.0e}" for gap in worst)]
            seconds = (np.median([line[field] for line in lines]) for field in ("seconds", "inner_seconds"))
            cells += [", ".join(f"{value:.2f}" for value in seconds)]
        print(f"| {' | '.join(cells)} |", flush=True)


def study(asked: Any) -> None:
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    kept = Kept(asked.results, ("data", "variant", "method", "fold"))
    if not asked.table:
        for variant in asked.variant:
            for name in asked.datasets:
                X, y = load(name, asked.data_dir)
                for method in METHODS:
                    for number in range(10):
                        here = {"data": name, "variant": variant, "method": method, "fold": number}
                        if not kept.has(**here):
                            kept.add([{**here, **run(X, y, variant, method, number)}])
    print("| data | method | AUC | published | C | products | below constant | worst gaps | seconds a fit |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in asked.datasets:
        for variant in asked.variant:
            told(kept, name, variant)


# -- speed -------------------------------------------------------------------------------------------------------------


def wide(name: str, directory: Path | None) -> tuple[KernelBank, Any]:
    """A Gaussian on each of 20 features that are not constant, of mean 0 and deviation 1, of some samples."""
    X, y = load(name, directory)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[: WIDE[name]])
    X = X[rows]
    X = scaled(X[:, X.std(axis=0) > 0][:, :FEATURES], "standardised")
    return bind(kernels.per_feature(kernels.RBF(0.5)), X), y[rows]


def speed(name: str, variant: str, C: float, rho: float, directory: Path | None) -> None:
    """A single fit with its peak memory above that of the base kernels, as a line of JSON."""
    if name in WIDE:
        bank, y = wide(name, directory)
    else:
        X, y = load(name, directory)
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
    cases = [(name, variant) for name in SETS for variant in asked.variant] + [(name, GAUSSIANS) for name in WIDE]
    for name, variant in cases:
        for C in (1.0, 10.0):
            for rho in reversed(RHOS):
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
    options = parser(__doc__ or "", "dpp_hkl.jsonl")
    options.add_argument("datasets", nargs="*", default=list(SETS), metavar="DATASET", help=", ".join(SETS))
    options.add_argument("--variant", nargs="*", default=[PRODUCTS, GAUSSIANS], choices=[PRODUCTS, GAUSSIANS])
    options.add_argument("--table", action="store_true", help="print what is kept, run nothing")
    options.add_argument("--speed", action="store_true", help="single fits: seconds and memory")
    options.add_argument("--one", nargs=4, metavar=("DATASET", "VARIANT", "C", "RHO"), help="a single one of them")
    asked = options.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # gaps stand in the table
    warnings.filterwarnings("ignore", message="EasyMKL: the hulls")
    if asked.one:
        name, variant, C, rho = asked.one
        speed(name, variant, float(C), float(rho), asked.data_dir)
    elif asked.speed:
        speeds(asked)
    else:
        study(asked)


if __name__ == "__main__":
    main()
