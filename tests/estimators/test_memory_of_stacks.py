"""What a fit takes beside a stored stack of kernels: some matrices, whatever the number of kernels."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import multikernel as mk
from cases import one_in
from multikernel import _memory
from multikernel.banks import precomputed

N, M = 200, 250
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 10))
Z = np.sin(X[:, 0]) - 0.6 * X[:, 1] * X[:, 2] + 0.3 * RANDOM.normal(size=N)
Y = np.where(Z > 0.0, 1, -1)
STACK = 8 * M * N * (N + 1) // 2  # bytes: 40 MB

MODELS: dict[str, tuple[Callable[[], Any], np.ndarray]] = {
    "L1": (lambda: mk.L1MKLClassifier("precomputed", C=10.0), Y),
    "Lp": (lambda: mk.LpMKLClassifier("precomputed", C=10.0), Y),
    "smoothed": (lambda: mk.SMKLClassifier("precomputed"), Y),
    "generalised": (lambda: mk.GMKLRegressor("precomputed", alpha=1.0, penalty=1.0), Z),
    "EasyMKL": (lambda: mk.EasyMKLClassifier("precomputed", lam=0.1), Y),
    "polynomial": (lambda: mk.PolynomialMKLRegressor("precomputed", alpha=1.0, degree=1), Z),
    "two layers": (lambda: mk.RLS2Regressor("precomputed", alpha=1e-2), Z),
    "held-out errors": (lambda: mk.MultipleKernelRidgeCV("precomputed", max_iter=5), Z),
    "average": (lambda: mk.AverageMKLRegressor("precomputed", alpha=1.0), Z),
}


@pytest.fixture(scope="module")
def bank() -> Any:
    differences = X.T[:, :, None] - X.T[:, None, :]
    return precomputed([np.exp(-g * D**2) for D in differences for g in np.geomspace(0.01, 10.0, M // 10)])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", one_in(3, MODELS))
def test_a_fit_takes_a_fifth_of_the_stack(name: str, bank: Any) -> None:
    make, target = MODELS[name]
    few = np.arange(40)
    make().fit(bank[few, few], target[few])  # imports and compiled code are there from now on
    tracemalloc.start()
    make().fit(bank, target)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * STACK, f"{peak / STACK:.2f} of the stack"


@pytest.mark.parametrize(
    "name", one_in(2, ["RLS2Regressor", "L1MKLRegressor", "MultipleKernelRidgeCV", "PolynomialMKLRegressor"])
)
def test_a_matrix_beyond_the_memory_is_refused_in_a_sentence(name, monkeypatch):
    """Before anything of the size of the samples' matrix is made."""
    monkeypatch.setattr(_memory, "total_memory", lambda: 6e7)
    samples = np.random.default_rng(0).normal(size=(3_000, 2))
    model = getattr(mk, name)()
    for parameter in {"alpha", "C"} & model.get_params().keys():
        model.set_params(**{parameter: 1.0})
    with pytest.raises(MemoryError, match=r"kernels to 3,000 samples.* takes .* 0[.]06 GB are available: take at most"):
        model.fit(samples, samples[:, 0])
