"""Tanimoto similarities of packed bits beside the product of matrices that the plain form needs.

    python benchmarks/packed_bits.py [--samples 8000] [--bits 2048] [--rounds 3] [--fit 0]

Processor seconds, the least of some rounds after one that loads what is compiled, best with OPENBLAS_NUM_THREADS=1:
of the matrix, and of the product of all pairs of bits in single precision, with its symmetry (B B') and without (B C').
With ``--fit n`` models of n samples are fitted, and the memory is reported that the process held at most.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from multikernel import AverageMKLClassifier, AverageMKLRegressor, L1MKLClassifier, kernels

PACKED = kernels.Tanimoto(packed=True)
FAMILIES, SHARED, KEPT, NOISE = 40, 0.05, 0.7, 0.01  # molecules of 40 families, each with most of its family's bits


def least(run: Callable[[], Any], rounds: int) -> float:
    """Processor seconds, the least of some rounds."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def molecules(n: int, bits: int) -> tuple[Any, Any]:
    """Packed fingerprints, and labels that follow the families."""
    rng = np.random.default_rng(0)
    family = rng.integers(0, FAMILIES, n)
    found = (rng.random((FAMILIES, bits)) < SHARED)[family] & (rng.random((n, bits)) < KEPT)
    found |= rng.random((n, bits)) < NOISE
    return np.packbits(found, axis=1), family % 2


def compare(n: int, bits: int, rounds: int) -> None:
    """The matrix and the products."""
    X, _ = molecules(n, bits)
    B = np.unpackbits(X, axis=1).astype(np.float32)
    C = B.copy()
    PACKED(X[:10])
    own = least(lambda: PACKED(X), rounds)
    for name, run in (("B B'", lambda: B @ B.T), ("B C'", lambda: B @ C.T)):
        product = least(run, rounds)
        print(f"{name}: {product:7.2f} s, {product / own:4.1f} times the {own:.2f} s of packed bits")


def fit(n: int, bits: int) -> None:
    """Models, and the memory that they need."""
    X, y = molecules(n, bits)
    for model in (L1MKLClassifier(PACKED), AverageMKLClassifier(PACKED), AverageMKLRegressor(PACKED, alpha=1.0)):
        start = time.process_time()
        model.fit(X, y)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{type(model).__name__}: {time.process_time() - start:.0f} s, at most {peak:.2f} GB")


def main() -> None:
    """The numbers asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("samples", 8000), ("bits", 2048), ("rounds", 3), ("fit", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    compare(given.samples, given.bits, given.rounds)
    if given.fit:
        fit(given.fit, given.bits)


if __name__ == "__main__":
    main()
