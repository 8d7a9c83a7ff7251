"""What binding, summing and quadratic forms take at their peak, measured in a process of its own.

NumPy reports what it allocates to tracemalloc, so the peak is the same in every run; libraries, compiled code and
threads are not counted.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
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

work({family}, {samples}(40, 3))  # compiled code and threads are there from now on
X = {samples}({n}, {p})
tracemalloc.start()
work({family}, X)
print(tracemalloc.get_traced_memory()[1])
"""


def peak(family: str, n: int, p: int, samples: str = "samples") -> int:
    """Bytes, beyond the samples themselves."""
    script = SCRIPT.format(family=family, n=n, p=p, samples=samples)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_stack_is_stored_once() -> None:
    n, p = 400, 7
    stored = 13 * (p + 1) * n * (n + 1) // 2 * 8
    assert stored <= peak("kernels.rls2_basis()", n, p) <= 1.1 * stored + (1 << 20)


@pytest.mark.parametrize(
    "family",
    ["kernels.homogeneous_polynomials(10)", "kernels.rbf_grid(np.geomspace(0.01, 1, 20))"],
    ids=["powers", "rbf"],
)
def test_fused_bank_takes_three_matrices_however_many_kernels(family: str) -> None:
    matrix = 2000**2 * 8
    assert matrix <= peak(family, 2000, 3) <= 3 * matrix


def test_features_of_sparse_samples_are_never_a_matrix_of_samples() -> None:
    n, p = 3000, 2000
    assert peak("kernels.linear_features()", n, p, "sparse_samples") <= n * n  # an eighth of one matrix


def test_gaussians_that_are_not_stored_take_their_sum_and_no_more() -> None:
    """Neither a packed sum beside the whole one nor products of coefficients for every pair of samples."""
    matrix = 1500**2 * 8
    assert matrix <= peak("kernels.rbf_subsets(2, [0.1, 0.3, 1.0])", 1500, 5) <= 1.5 * matrix
