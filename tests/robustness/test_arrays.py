"""Numbers of every type, layout and size: banks, machines and domains say the same, or a sentence.

Samples of small integers are exact in every type, so the answers have to be those of doubles row by row in memory. A
few examples run with the other tests; ``make study`` runs many, others in every run.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from scipy import sparse

from multikernel import EasyMKLClassifier, bind, kernels, precomputed
from multikernel.banks import DenseGram
from multikernel.machines import MarginMachine, RidgeMachine
from zoo_problems import DOMAINS, MACHINES

_SENTENCE = 20  # characters of the shortest
FEW, MANY = 10, int(os.environ.get("MULTIKERNEL_FUZZ_CASES", "3000"))
SEED = int(os.environ.get("MULTIKERNEL_FUZZ_SEED", random.randrange(10**6)))


def runs(check: Callable[..., None], number: int, chosen: int | None) -> None:
    """A property on so many examples, the same in every run unless a seed is chosen."""
    quiet = settings(
        max_examples=number,
        derandomize=chosen is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )(check)
    (quiet if chosen is None else seed(chosen)(quiet))()


def read_only(X: Any) -> Any:
    X = X.copy()
    X.setflags(write=False)
    return X


def mapped(X: Any) -> Any:
    """The numbers in a file of their own, read where they are asked for."""
    with tempfile.NamedTemporaryFile(suffix=".npy", delete=False) as file:
        np.save(file, X)
    found = np.load(file.name, mmap_mode="r")
    Path(file.name).unlink()
    return found


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "columns": np.asfortranarray,
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read only": read_only,
    "mapped": mapped,
    "single": lambda X: X.astype(np.float32),
    "half": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "bytes": lambda X: X.astype(np.int8),
    "integers": lambda X: X.astype(np.int64),
    "big-endian": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "csr": sparse.csr_array,
    "csc matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
}
FAMILIES = {
    "features": kernels.linear_features(),
    "powers": kernels.homogeneous_polynomials(4),
    "grid": kernels.rbf_grid([0.01, 0.1, 1.0]),
    "anova": kernels.anova(2),
    "mixed": kernels.Kernels(
        (kernels.RBF(0.1), kernels.Polynomial(2), kernels.Linear().on([0]), kernels.Laplacian(0.1))
    ),
    "centred": kernels.Kernels((kernels.RBF(0.1).centered(), kernels.Linear().normalized())),
}


def layouts_agree(number: int, chosen: int | None) -> None:
    @given(
        st.sampled_from(sorted(FAMILIES)), st.sampled_from(sorted(LAYOUTS)), st.integers(0, 10**6), st.integers(2, 12)
    )
    def check(family: str, layout: str, drawn: int, n: int) -> None:
        X = np.random.default_rng(drawn).integers(-3, 4, (n, 3)).astype(float)
        X[:, 0] += X[:, 0] == 0.0  # no row is zero, which normalised kernels refuse
        y = np.arange(n) % 2
        other = LAYOUTS[layout](X)
        truth = EasyMKLClassifier(FAMILIES[family], lam=0.3).fit(X, y)
        found = EasyMKLClassifier(FAMILIES[family], lam=0.3).fit(other, y)
        close = {"rtol": 1e-4, "atol": 1e-4} if layout in ("single", "half") else {"rtol": 1e-8, "atol": 1e-8}
        size = np.abs(truth.decision_function(X)).max()
        np.testing.assert_allclose(found.decision_function(other) / size, truth.decision_function(X) / size, **close)

    runs(check, number, chosen)


def machines_keep_their_word(number: int, chosen: int | None) -> None:
    """A solution of a matrix of any size and rank has a certificate; refusals say what is wrong."""

    @given(
        st.sampled_from(sorted(MACHINES)),
        st.floats(-150.0, 150.0),
        st.integers(1, 8),
        st.integers(0, 6),
        st.booleans(),
        st.integers(0, 10**6),
    )
    def check(name: str, exponent: float, n: int, rank: int, duplicated: bool, drawn: int) -> None:
        rng = np.random.default_rng(drawn)
        F = rng.normal(size=(n, rank))
        if duplicated:
            F = F[rng.integers(0, n, n)]
        K = 10.0**exponent * (F @ F.T)
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        try:
            with np.errstate(all="ignore"):
                found = MACHINES[name].solve(DenseGram(K), y)
        except (ValueError, ArithmeticError) as error:
            if len(str(error)) < _SENTENCE:
                raise
            return
        assert found.gap >= 0.0
        if found.converged:
            assert np.isfinite(found.coef).all()
            assert np.isfinite([found.value, found.upper]).all()
            slack = 1e-9 * max(abs(found.value), abs(found.upper), 1e-300)
            assert found.value <= found.upper + slack

    runs(check, number, chosen)


def domains_project(number: int, chosen: int | None) -> None:
    """A projection is of the domain, and is its own projection, for points of any size."""

    @given(
        st.sampled_from(sorted(DOMAINS)),
        st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
        st.floats(-150.0, 150.0),
    )
    def check(name: str, direction: list[float], exponent: float) -> None:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            once = DOMAINS[name].project(10.0**exponent * np.array(direction))
            twice = DOMAINS[name].project(once)
        assert np.isfinite(once).all()
        assert (once >= 0.0).all()
        np.testing.assert_allclose(twice, once, rtol=1e-6, atol=1e-9 * max(1.0, np.abs(once).max()))

    runs(check, number, chosen)


PROPERTIES = [layouts_agree, machines_keep_their_word, domains_project]


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
@pytest.mark.parametrize("holds", PROPERTIES)
def test_a_few_arrays(holds: Callable[[int, int | None], None]) -> None:
    holds(FEW, None)


@pytest.mark.study
@pytest.mark.parametrize("holds", PROPERTIES)
def test_many_arrays(holds: Callable[[int, int | None], None]) -> None:
    print(f"seed {SEED}, {MANY} examples")
    holds(MANY, SEED)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_matrices_of_extreme_sizes_are_learned_like_those_of_size_one(size: float) -> None:
    """A hard margin and the class means do not depend on the unit of the kernels."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = X[:, 0] > 0
    K = bind(kernels.rbf_grid([0.1, 1.0]), X).matrices()
    truth = EasyMKLClassifier(lam=1.0).fit(precomputed(K), y)
    found = EasyMKLClassifier(lam=1.0).fit(precomputed(size * K), y)
    np.testing.assert_array_equal(found.predict(size * K), truth.predict(K))
    np.testing.assert_allclose(found.weights_, truth.weights_, rtol=1e-8)


@pytest.mark.parametrize("machine", [RidgeMachine(alpha=1.0), MarginMachine(lam=0.5)])
def test_a_zero_matrix_is_solved(machine: Any) -> None:
    found = machine.solve(DenseGram(np.zeros((4, 4))), np.array([1.0, -1.0, 1.0, -1.0]))
    assert found.gap <= 1e-12
