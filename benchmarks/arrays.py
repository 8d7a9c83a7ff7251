"""Multiple-kernel ridge regression on an accelerator, beside himalaya on the same device and NumPy on the processor.

    python benchmarks/arrays.py [--device cuda] [--rounds 3] [--sizes 2000x10 5000x10 10000x10]

Gaussians of several widths on 20 features. Ours gets samples as a tensor on the device, and evaluates the kernels
there; himalaya (0.4.11 was compared) gets the matrices, made there and not timed, and 20 random candidates. Times are
medians of warm fits, with the device waited for; the packages alternate. Without an accelerator nothing is measured,
and that is said; --device cpu runs everything on the processor.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
import warnings

SEARCH = 20  # random candidates of himalaya


def device_of(asked):
    """The device to measure; None where there is none."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    if asked is not None:
        return asked
    return "cuda" if torch.cuda.is_available() else None


def data(n):
    """Samples and standardised targets."""
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n, 20, noise=0.5, random_state=0)
    return X, (y - y.mean()) / y.std()


def ours(X, y, gammas):
    from multikernel import MultipleKernelRidgeCV, kernels

    model = MultipleKernelRidgeCV(kernels.rbf_grid(gammas), cv=5, fit_intercept=False)
    return lambda: float(model.fit(X, y).cv_loss_)


def himalaya(X, y, gammas, device):
    """On matrices of the device, in double precision."""
    import numpy as np
    import torch
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    set_backend("torch_cuda" if device.startswith("cuda") else "torch")
    D = torch.cdist(X, X) ** 2
    K, Y = torch.stack([torch.exp(-gamma * D) for gamma in gammas]), torch.as_tensor(y, device=X.device)[:, None]
    parameters = {"n_iter": SEARCH, "alphas": np.logspace(-4, 2, 10), "progress_bar": False}
    model = MultipleKernelRidgeCV("precomputed", solver="random_search", solver_params=parameters, cv=5, random_state=0)

    def fit():
        model.fit(K, Y)
        return float("nan")

    return fit


def timed(fit, device):
    """Seconds of one fit, and what it tells."""
    import torch

    start = time.perf_counter()
    told = fit()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter() - start, told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", nargs="+", default=["2000x10", "5000x10", "10000x10"])
    args = parser.parse_args()
    device = device_of(args.device)
    if device is None:
        print("skipped: torch sees no accelerator here (--device cpu measures the processor)")
        return
    import numpy as np
    import torch

    warnings.filterwarnings("ignore")
    print(f"device {torch.cuda.get_device_name() if device.startswith('cuda') else device}, torch {torch.__version__}")
    for size in args.sizes:
        n, m = map(int, size.split("x"))
        X, y = data(n)
        there, gammas = torch.as_tensor(X, device=device), np.logspace(-2, 1, m)
        runs = {"ours, there": ours(there, y, gammas), "ours, NumPy": ours(X, y, gammas)}
        if importlib.util.find_spec("himalaya"):
            runs["himalaya, there"] = himalaya(there, y, gammas, device)
        for fit in runs.values():
            timed(fit, device)  # compile, import late modules, load the device's kernels
        found = {name: [] for name in runs}
        for _ in range(args.rounds):
            for name, fit in runs.items():
                found[name].append(timed(fit, device))
        base = statistics.median(seconds for seconds, _ in found["ours, there"])
        print(f"{n} samples, {m} kernels")
        for name, each in found.items():
            seconds = statistics.median(second for second, _ in each)
            error = "" if np.isnan(each[0][1]) else f"  held-out error {each[0][1]:.5f}"
            print(f"  {name:16s} {seconds:8.3f} s   ({seconds / base:6.1f} x ours){error}")


if __name__ == "__main__":
    main()
