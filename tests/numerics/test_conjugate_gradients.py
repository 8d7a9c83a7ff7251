"""Conjugate gradients beside the dense solution and SciPy's, which solves one column at a time."""

from itertools import islice

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, cg

from multikernel.numerics.conjugate_gradients import conjugate_gradients, preconditioned_steps

N = 12


@pytest.fixture
def system(rng):
    """A, M^{-1} and B, whose columns differ in size."""
    F = rng.normal(size=(N, N))
    G = F + 0.3 * rng.normal(size=(N, N))
    return F @ F.T + np.eye(N), np.linalg.inv(G @ G.T + np.eye(N)), rng.normal(size=(N, 3)) * [1.0, 1e-6, 1e6]


def test_columns_are_those_of_scipy_at_every_step(system):
    A, near, B = system
    X = np.zeros_like(B)
    for count, step in enumerate(islice(preconditioned_steps(lambda V: A @ V, lambda V: near @ V, B), 6), 1):
        X = X + step.change
        np.testing.assert_allclose(step.residual, B - A @ X, atol=1e-12 * np.abs(B).max())
        np.testing.assert_allclose(step.size, (step.residual * (near @ step.residual)).sum(axis=0), rtol=1e-12)
        for x, b in zip(X.T, B.T, strict=True):
            operator = LinearOperator((N, N), lambda v: near @ v, dtype=float)
            known = cg(A, b, rtol=0.0, atol=0.0, maxiter=count, M=operator)[0]
            np.testing.assert_allclose(x, known, atol=1e-9 * np.abs(known).max())


def test_as_many_steps_as_rows_solve_the_system(system):
    A, near, B = system
    steps = islice(preconditioned_steps(lambda V: A @ V, lambda V: near @ V, B), 2 * N)
    X = sum(step.change for step in steps)
    known = np.linalg.solve(A, B)
    np.testing.assert_allclose(X / np.abs(known).max(axis=0), known / np.abs(known).max(axis=0), atol=1e-10)
    together = conjugate_gradients(lambda V: A @ V, B, np.zeros_like(B), 1e-12 * np.linalg.norm(B), 100)
    assert np.linalg.norm(A @ together - B) <= 1e-11 * np.linalg.norm(B)


def test_a_solved_system_stays_solved(system):
    A, near, _ = system
    B = np.zeros((N, 1))
    for step in islice(preconditioned_steps(lambda V: A @ V, lambda V: near @ V, B), 3):
        assert not step.change.any()
        assert not step.residual.any()
