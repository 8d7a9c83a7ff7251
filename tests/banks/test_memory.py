"""What binding, summing and quadratic forms take at their peak, measured in a process of its own.

NumPy reports what it allocates to tracemalloc, so the peak is the same in every run; libraries, compiled code and
threads are not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json
import sys
import tracemalloc
import numpy as np
from scipy import sparse
from multikernel import bind, kernels

def work(family, X):
    bank = bind(family, X)
    gram = bank.combine(np.full(len(bank), 1.0 / len(bank)))
    u = np.cos(np.arange(X.shape[0]))
    return bank.quad(u), gram.multiply(u)

def samples(n, p):
    return np.random.default_rng(0).normal(size=(n, p))

def sparse_samples(n, p):
    return sparse.random_array((n, p), density=0.002, format="csr", rng=np.random.default_rng(0))

def peak(family, X):
    work(family, X)  # compiled code and threads are there from now on
    tracemalloc.start()
    work(family, X)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found

def single(X):
    bank = bind(kernels.rls2_basis(), X, dtype=np.float32)
    a = np.cos(np.arange(len(X)))
    return bank.combine(np.ones(len(bank))), bank.quad(a), bank.quads(X[:, :2]), bank.apply(X[:, :1])

def peak_of_single(X):
    single(X)
    tracemalloc.start()
    single(X)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found

for module in ("bind", "kinds"):  # the banks of large stacks
    sys.modules[f"multikernel.banks.{module}"].KEPT_BYTES = 100 << 20
print(json.dumps({
    "stack": peak(kernels.rls2_basis(), samples(400, 7)),
    "single": peak_of_single(samples(400, 7)),
    "powers": peak(kernels.homogeneous_polynomials(10), samples(1200, 3)),
    "rbf": peak(kernels.rbf_grid(np.geomspace(0.01, 1, 20)), samples(1200, 3)),
    "sparse": peak(kernels.linear_features(), sparse_samples(3000, 2000)),
    "subsets": peak(kernels.rbf_subsets(2, [0.1, 0.3, 1.0]), samples(800, 5)),
}))
"""


@pytest.fixture(scope="module")
def peaks() -> dict[str, int]:
    """Bytes, beyond the samples themselves."""
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def test_stack_is_stored_once(peaks: dict[str, int]) -> None:
    n, p = 400, 7
    stored = 13 * (p + 1) * n * (n + 1) // 2 * 8
    assert stored <= peaks["stack"] <= 1.1 * stored + (1 << 20)


def test_single_precision_halves_the_memory_of_everything(peaks: dict[str, int]) -> None:
    stored, matrix = 13 * 8 * (400 * 401 // 2) * 4, 400 * 400 * 8
    assert stored <= peaks["single"] <= stored + 2 * 4 * matrix


@pytest.mark.parametrize("family", ["powers", "rbf"])
def test_fused_bank_takes_three_matrices_however_many_kernels(family: str, peaks: dict[str, int]) -> None:
    matrix = 1200**2 * 8
    assert matrix <= peaks[family] <= 3 * matrix


def test_features_of_sparse_samples_are_never_a_matrix_of_samples(peaks: dict[str, int]) -> None:
    assert peaks["sparse"] <= 3000**2  # an eighth of one matrix


def test_gaussians_that_are_not_stored_take_their_sum_and_no_more(peaks: dict[str, int]) -> None:
    """Neither a packed sum beside the whole one nor products of coefficients for every pair of samples."""
    matrix = 800**2 * 8
    assert matrix <= peaks["subsets"] <= 1.5 * matrix
