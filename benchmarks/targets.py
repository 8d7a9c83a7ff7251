"""Weights for each of many targets, beside himalaya in one run: processor seconds, held-out R2, memory.

    python benchmarks/targets.py [--rows 400x1000 "3000x1000:100" ...] [--methods ...] [--jobs 1] [--keep FILE] [--page]

A row is samples x targets, with a colon and a number only the first of these targets. Simulated, as no public responses
of this size are at hand: three feature spaces of 100, 250 and 500 normal features (of n / 4, n / 1.6 and 1.25 n for
more samples), targets that use none, one, two or all of them, half of their variance noise; kernels are linear,
computed beforehand, in double precision for everybody. Each measurement is a process of its own, with one thread of
BLAS, one after the other. Held-out R2 is the mean over 200 new samples, of targets that use a space, and of those that
use none ("null"). Memory is the largest that the fit took, less what was held before and the answer (coefficients of
all targets). multikernel gets the kernels as a bank, which is half of himalaya's array; that it is made counts as
seconds. (Elsewhere than on Linux what making the data took counts as held.)

himalaya (0.4.11, with torch, or NumPy) is measured where it is installed. "exact" are weights of the first targets,
each solved alone from two starts. Measurements go to the file ``--keep``, one a line, and are not repeated where they
are there already; ``--page`` writes the table of docs/results/targets.md from that file.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "results" / "targets.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
CALLED = {
    "weights for each target": "weights for each target",
    "shared weights": "`shared_weights=True`, a ridge for each target",
    "exact": "the first targets alone, from two starts each",
    "one ridge": "himalaya, one kernel, a ridge for each target",
    "random search 4": "himalaya, random search of 4 candidates",
    "random search 20": "himalaya, random search of 20 candidates",
    "random search 100": "himalaya, random search of 100 candidates",
    "hyper gradient": "himalaya, hyper gradient",
}
METHODS = tuple(CALLED)
OURS = METHODS[:3]


def simulated(n, t, n_new=200, seed=0):
    """Kernels of training samples, of new ones, the targets of both, and whether a target uses a space."""
    import numpy as np

    rng = np.random.default_rng(seed)
    sizes = [int(n * part) for part in (0.25, 0.625, 1.25)]
    parts = [rng.normal(size=(n + n_new, p)) / np.sqrt(p) for p in sizes]
    used = np.zeros((t, 3), dtype=bool)
    for target in range(t):
        used[target, rng.permutation(3)[: target % 4]] = True
    signal = np.zeros((n + n_new, t))
    for k, X in enumerate(parts):
        share = np.sqrt(rng.uniform(0.3, 1.0, size=t)) * used[:, k]
        signal += (X @ rng.normal(size=(sizes[k], t))) * share
    deviations = signal.std(axis=0)
    deviations[deviations == 0] = 1.0
    Y = signal / deviations + rng.normal(size=signal.shape)
    Y -= Y[:n].mean(axis=0)
    K = np.stack([X[:n] @ X[:n].T for X in parts])
    K_new = np.stack([X[n:] @ X[:n].T for X in parts])
    return K, K_new, Y[:n].copy(), Y[n:].copy(), used.any(axis=1)


def ours(bank, Y, options, shared=False):
    from multikernel import MultipleKernelRidgeCV

    model = MultipleKernelRidgeCV(
        "precomputed",
        fit_intercept=False,
        shared_weights=shared,
        standard_errors=options.standard_errors,
        n_jobs=options.jobs,
    )
    model.fit(bank, Y)
    return model.predict, float(model.cv_loss_[: options.exact].mean()), model.dual_coef_.nbytes, model.stationarity_


def peer(solver, K, Y, backend, **parameters):
    import numpy as np
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    backend = set_backend(backend)
    model = MultipleKernelRidgeCV(
        "precomputed",
        solver=solver,
        solver_params={"progress_bar": False, **parameters},
        cv=5,
        random_state=0,
    )
    model.fit(backend.asarray(K), backend.asarray(Y))

    def predict(K_new):
        return np.asarray(backend.to_numpy(model.predict(backend.asarray(K_new))))

    return predict, float("nan"), 8 * Y.size, float("nan")


def as_given(name, K):
    """The kernels in the form in which a method takes them: a bank has the halves of the matrices."""
    from multikernel import precomputed

    return precomputed(K) if name in OURS else K


def held(key):
    """Kilobytes that this process holds ("VmRSS"), or held at most since ``forget_peak`` ("VmHWM")."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(key))


def forget_peak():
    """From now on the largest that the process holds is counted anew, where the system can."""
    refs = Path("/proc/self/clear_refs")
    if refs.exists():
        refs.write_text("5")


def one_ridge(K, Y, options):
    """One kernel, the sum, and the best of its ridges for each target, by himalaya."""
    import numpy as np
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import KernelRidgeCV

    backend = set_backend(options.backend)
    model = KernelRidgeCV(alphas=np.logspace(-4, 4, 17), kernel="precomputed", cv=5)
    model.fit(backend.asarray(K.sum(axis=0)), backend.asarray(Y))

    def predict(K_new):
        return np.asarray(backend.to_numpy(model.predict(backend.asarray(K_new.sum(axis=0)))))

    return predict, float("nan"), 8 * Y.size, float("nan")


def exact(bank, Y, options):
    """Each of the first targets alone, from two starts."""
    import numpy as np

    from multikernel import MultipleKernelRidgeCV

    models = [
        MultipleKernelRidgeCV("precomputed", fit_intercept=False, n_init=2).fit(bank, y) for y in Y.T[: options.exact]
    ]

    def predict(K_new):
        found = np.full((K_new.shape[1], Y.shape[1]), np.nan)
        for t, model in enumerate(models):
            found[:, t] = model.predict(K_new)
        return found

    return predict, float(np.mean([model.cv_loss_ for model in models])), 0, max(m.stationarity_ for m in models)


def method(name, K, Y, options):
    import numpy as np

    if name == "weights for each target":
        return ours(K, Y, options)
    if name == "shared weights":
        return ours(K, Y, options, shared=True)
    if name == "exact":
        return exact(K, Y, options)
    if name == "one ridge":
        return one_ridge(K, Y, options)
    if name == "hyper gradient":
        return peer("hyper_gradient", K, Y, options.backend)
    candidates = min(int(name.split()[-1]), options.most)
    return peer("random_search", K, Y, options.backend, n_iter=candidates, alphas=np.logspace(-4, 4, 17))


def sizes_of(row):
    """Samples, targets, and how many of these are solved."""
    whole, _, part = row.partition(":")
    n, t = map(int, whole.split("x"))
    return n, t, int(part or t)


def measure(name, row, options):
    """In a process of its own."""
    import warnings

    import numpy as np

    warnings.filterwarnings("ignore")
    n, t, part = sizes_of(row)
    K, K_new, Y, Y_new, signal = simulated(n, t)
    Y, Y_new, signal = Y[:, :part].copy(), Y_new[:, :part], signal[:part]
    small = argparse.Namespace(**{**vars(options), "exact": 2, "most": 2})
    method(name, as_given(name, K[:, :60, :60].copy()), Y[:60, :8].copy(), small)  # compile, import, start threads
    start = time.process_time(), time.perf_counter()
    K = as_given(name, K)
    forget_peak()
    before = held("VmRSS")
    predict, loss, answer, stationarity = method(name, K, Y, options)
    peak = held("VmHWM")
    seconds = time.process_time() - start[0], time.perf_counter() - start[1]
    residuals = ((Y_new - predict(K_new)) ** 2).sum(axis=0)
    r2 = 1.0 - residuals / ((Y_new - Y_new.mean(axis=0)) ** 2).sum(axis=0)
    told = {
        "row": row,
        "method": name,
        "jobs": options.jobs,
        "seconds": seconds[0],
        "wall": seconds[1],
        "megabytes": (peak - before) / 1024 - answer / 2**20,
        "r2": float(np.nanmean(r2[signal])),
        "null": float(np.nanmean(r2[~signal])) if (~signal).any() else float("nan"),
        "targets": [round(float(each), 4) for each in r2[:200]],
        "loss": loss,
        "stationarity": stationarity,
    }
    print(json.dumps(told))


def run(name, row, options):
    """What one process tells; None where it failed."""
    command = [sys.executable, __file__, "--measure", name, "--rows", row, "--backend", options.backend]
    for key in ("exact", "jobs", "standard_errors"):
        command += [f"--{key.replace('_', '-')}", str(getattr(options, key))]
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        print(f"  {name:24s} failed: {(done.stderr.strip() or 'killed').splitlines()[-1]}", flush=True)
        return None
    told = json.loads(done.stdout.splitlines()[-1])
    print(
        f"  {name:24s} {told['seconds']:8.1f} s ({told['wall']:.0f} s on the clock)  R2 {told['r2']:.4f}  "
        f"null {told['null']:.4f}  {told['megabytes']:5.0f} MB above the answer",
        flush=True,
    )
    return told


def known(path):
    """The measurements that are kept, by row and method; the last of each counts."""
    if path is None or not path.is_file():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(each["row"], each["method"]): each for each in lines}


def table(found):
    """The measurements as rows of Markdown, a heading for each of their sizes."""
    lines = ["| samples x targets | method | processor s | R2 | R2 of null targets | MB |", "|---|---|---|---|---|---|"]
    rows = sorted({row for row, _ in found}, key=sizes_of)
    for row in rows:
        n, t, part = sizes_of(row)
        size = f"{n:,} x {t:,}" if part == t else f"{n:,} x {t:,}, the first {part:,}"
        for name in (name for name in METHODS if (row, name) in found):
            each = found[row, name]
            r2, null = (f"{each[key]:.4f}".replace("0.", ".") for key in ("r2", "null"))
            called = CALLED[name] if each["jobs"] == 1 else f"{CALLED[name]}, {each['jobs']} threads"
            seconds, megabytes = f"{each['seconds']:,.1f}", f"{max(each['megabytes'], 0.0):,.0f}"
            lines.append(f"| {size} | {called} | {seconds} | {r2} | {null} | {megabytes} |")
            size = ""
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", default=["400x1000", "400x5000"])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--exact", type=int, default=50, help="targets that are solved alone")
    parser.add_argument("--backend", default="torch", choices=["torch", "torch_cuda", "numpy"], help="of himalaya")
    parser.add_argument("--standard-errors", type=float, default=1.0, help="that weights of a target have to gain")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="the file of measurements")
    parser.add_argument("--page", action="store_true", help="write the table of the documentation from that file")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.most = sys.maxsize
    if options.measure:
        measure(options.measure, options.rows[0], options)
        return
    found = known(options.keep)
    for row in [] if options.page else options.rows:
        print(f"n x targets = {row}", flush=True)
        for name in options.methods:
            told = None if (row, name) in found else run(name, row, options)
            if told is not None and options.keep is not None:
                with options.keep.open("a") as kept:
                    kept.write(json.dumps(told) + "\n")
    if options.page:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(before + BEGIN + table(found) + END + after)


if __name__ == "__main__":
    main()
