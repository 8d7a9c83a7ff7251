"""Even against odd digits of MNIST over the degree of the polynomials: error of three kernels, each with an SVM.

    python benchmarks/dpp_mnist_parity.py [--train 10000] [--degrees 1 2 3 ...] [--out FILE] [--plot FILE.png]

Figure 10 of Donini and Aiolli (2017): even digits are +1; K_MKL is EasyMKL on degrees 0..D (lam = 0.01, the paper does
not say which), K_D the degree D alone, K_sum the mean of all degrees. The C of the support vector machine is chosen
from 1, 2, 4, 8, 16 by the error on the last 10,000 training digits (the paper does not say how). What is reported is
fitted on the first ``--train`` of the others, or with ``--train 60000`` on all. Samples have unit length.

Each result is kept in FILE, so a study that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kept import Kept
from multikernel import KernelBank, bind, datasets, kernels
from multikernel.app.console import steps
from multikernel.machines import HingeMachine, MarginMachine
from multikernel.procedures import easymkl

LAM, PENALTIES = 0.01, (1.0, 2.0, 4.0, 8.0, 16.0)
DEGREES = (1, 2, 3, 4, 5, *range(10, 41, 5))
METHODS = ("K_MKL", "K_D", "K_sum")


@dataclass(frozen=True)
class Part:
    """A training bank with its targets, and the samples that are predicted from it with theirs."""

    bank: KernelBank
    target: np.ndarray
    new: np.ndarray
    truth: np.ndarray


def weights(method, part, tol):
    """The weights of degrees 0..D, and the gap that certifies them."""
    m = len(part.bank)
    if method == "K_MKL":
        found = easymkl(part.bank, part.target, MarginMachine(LAM, tol))
        return found.values, found.gap
    return (np.eye(m)[-1] if method == "K_D" else np.full(m, 1.0 / m)), 0.0


def machines(part, w, penalties):
    """Error in percent and gap of the machine of each C, and how many support vectors; each starts from the last."""
    gram, warm, facts = part.bank.combine(w), None, []
    for C in penalties:
        found = HingeMachine(C).solve(gram, part.target, warm)
        warm, S = found.warm, np.flatnonzero(found.coef)
        f = part.bank.reference(S).cross(part.new).combine(w).multiply(found.coef[S]) + found.intercept
        facts.append((100.0 * float(np.mean((f >= 0) != (part.truth > 0))), found.gap, len(S)))
    return facts


def study(method, D, choice, final, options):
    """One line of results."""
    start, cpu = time.perf_counter(), time.process_time()
    choice, final = (replace(part, bank=part.bank.select(slice(0, D + 1))) for part in (choice, final))
    w, _ = weights(method, choice, options.tol)
    held_out = [error for error, _, _ in machines(choice, w, PENALTIES)]
    C = PENALTIES[int(np.argmin(held_out))]
    w, weights_gap = weights(method, final, options.tol)
    error, gap, support = machines(final, w, (C,))[0]
    return {
        "method": method,
        "D": D,
        "train": options.train,
        "error": error,
        "C": C,
        "held_out": held_out,
        "support": support,
        "gap": max(gap, weights_gap),
        "mean_degree": float(w @ np.arange(D + 1)),
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def parts(options):
    """What C is chosen on, and what is reported."""
    data = datasets.load("mnist", options.data_dir)
    y, test = np.where(data.y % 2 == 0, 1.0, -1.0), np.flatnonzero(data.split == "test")
    own = np.flatnonzero(data.split == "train")
    fit, held_out = own[: -options.held_out][: options.train], own[-options.held_out :]
    whole = bind(kernels.homogeneous_polynomials(max(options.degrees)), data.X[own])
    bank = whole.block(fit, fit).compact()  # stored if it is small enough
    choice, final = (Part(bank, y[fit], data.X[new], y[new]) for new in (held_out, test))
    return choice, Part(whole, y[own], final.new, final.truth) if options.train >= len(own) else final


def plot(lines, file):
    """The error over D, a curve for each kernel."""
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for method, colour in zip(METHODS, ("#2f6fde", "#dd8a33", "#3b9b6d"), strict=True):
        own = sorted((line["D"], line["error"]) for line in lines if line["method"] == method)
        ax.plot(*zip(*own, strict=True), marker="o", markersize=4, color=colour, label=method)
    ax.set(xlabel="largest degree D", ylabel=f"error in %, {lines[0]['train']} training digits")
    if all(line["error"] > 0 for line in lines):
        ax.set_yscale("log")
        ax.set_yticks([2, 3, 5, 10, 20, 30], labels=["2", "3", "5", "10", "20", "30"])
        ax.minorticks_off()
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    fig.savefig(file, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("dpp_mnist_parity.jsonl"), help="file of results")
    parser.add_argument("--train", type=int, default=10_000, help="how many training digits; 60000 for all")
    parser.add_argument("--held-out", type=int, default=10_000, help="how many of the last ones choose C")
    parser.add_argument("--degrees", type=int, nargs="+", default=list(DEGREES))
    parser.add_argument("--tol", type=float, default=1e-4, help="relative duality gap of the weights")
    parser.add_argument("--plot", type=Path, help="file of a figure")
    parser.add_argument("--data-dir", default=os.environ.get("MULTIKERNEL_DATA", "../shared/data"))
    options = parser.parse_args()
    results = Kept(options.out, key=("method", "D", "train"))
    tasks = [(method, D) for D in options.degrees for method in METHODS]
    left = [(method, D) for method, D in tasks if not results.has(method=method, D=D, train=options.train)]
    choice, final = parts(options) if left else (None, None)
    with steps(len(left), "MNIST, even against odd") as observe:
        for k, (method, D) in enumerate(left):
            results.add([study(method, D, choice, final, options)])
            observe(f"{method} D = {D}, {k + 1}")
    lines = results.where(train=options.train)
    print(f"\nMNIST, even against odd, {options.train} training digits: error in % (C chosen)")
    for D in options.degrees:
        own = {line["method"]: line for line in lines if line["D"] == D}
        print(f"  D = {D:2d}  " + "  ".join(f"{m} {own[m]['error']:.2f} ({own[m]['C']:g})" for m in METHODS))
    print(
        f"  worst gap {max(line['gap'] for line in lines):.0e}, {sum(line['seconds'] for line in lines):.0f} s,", end=""
    )
    print(f" peak memory {max(line['peak'] for line in lines):.2f} GiB", flush=True)
    if options.plot:
        plot(lines, options.plot)


if __name__ == "__main__":
    main()
