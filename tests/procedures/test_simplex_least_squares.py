"""Least squares over the simplex against Clarabel and the optimality conditions."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from multikernel import simplex_least_squares
from multikernel.procedures.simplex_least_squares import _Face

Array = Any


def gap(V: Array, u: Array, d: Array) -> float:
    """How far |V d - u|^2 may be above the optimum."""
    g = V.T @ (V @ d - u)
    return float(2.0 * (d @ g - g.min()))


def conic(V: Array, u: Array) -> float:
    d = cp.Variable(V.shape[1], nonneg=True)
    ref.conic(cp.Problem(cp.Minimize(cp.sum_squares(V @ d - u)), [cp.sum(d) == 1]))
    d = np.maximum(d.value, 0.0)
    return float(np.sum((V @ (d / d.sum()) - u) ** 2))


def is_solution(V: Array, u: Array, d: Array, accuracy: float = 1e-13) -> None:
    """On the simplex, and optimal to rounding: relative to the longest distance that the weights mix."""
    assert (d >= 0).all()
    assert abs(d.sum() - 1.0) < 1e-14 * len(d)
    lengths = np.linalg.norm(V - u[:, None], axis=0)
    assert gap(V, u, d) <= accuracy * max(float(d @ lengths) * lengths.max(), np.finfo(float).tiny)


def cases() -> dict[str, tuple[Array, Array]]:
    rng = np.random.default_rng(0)
    wide, tall = rng.normal(size=(5, 40)), rng.normal(size=(60, 12))
    positive = np.abs(rng.normal(size=(50, 80)))
    smooth = np.exp(-(np.subtract.outer(np.linspace(0, 1, 60), np.linspace(0, 1, 90)) ** 2))
    scaled = positive * 10.0 ** rng.uniform(-4, 4, 80)
    return {
        "wide": (wide, rng.normal(size=5)),
        "tall": (tall, rng.normal(size=60)),
        "inside": (positive, positive[:, :20].mean(axis=1)),
        "beyond": (positive, 3.0 * positive[:, :20].mean(axis=1)),
        "noisy": (positive, positive[:, :20].mean(axis=1) + 0.3 * rng.normal(size=50)),
        "duplicates": (np.tile(positive, 2), positive[:, :20].mean(axis=1) + 0.3 * rng.normal(size=50)),
        "zero columns": (positive * (np.arange(80) % 3 > 0), 0.2 * positive[:, 0]),
        "low rank": (positive[:, :3] @ positive[:3], positive[:, 4]),
        "smooth": (smooth, smooth @ rng.dirichlet(np.ones(90)) + 1e-3 * rng.normal(size=60)),
        "scaled": (scaled, np.median(scaled, axis=1)),
        "one column": (positive[:, :1], positive[:, 1]),
        "one row": (np.array([[1.0, -2.0, 3.0]]), np.array([0.5])),
        "equal columns": (np.ones((4, 5)), np.zeros(4)),
        "nothing": (np.zeros((4, 5)), np.zeros(4)),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_optimal(name):
    V, u = CASES[name]
    is_solution(V, u, simplex_least_squares(V, u))


@pytest.mark.parametrize("name", CASES)
def test_optimal_from_any_start(name, rng):
    V, u = CASES[name]
    m = V.shape[1]
    for start in (np.ones(m), np.eye(m)[m // 2], rng.exponential(size=m), simplex_least_squares(V, u), np.zeros(m)):
        is_solution(V, u, simplex_least_squares(V, u, start))


@pytest.mark.parametrize("name", ["wide", "tall", "beyond", "noisy", "duplicates", "zero columns", "low rank"])
def test_no_worse_than_a_conic_solver(name):
    V, u = CASES[name]
    d = simplex_least_squares(V, u)
    scale = float(np.sum((V - u[:, None]) ** 2, axis=0).max())
    assert np.sum((V @ d - u) ** 2) <= conic(V, u) + 1e-10 * scale
    assert np.sum((V @ d - u) ** 2) >= conic(V, u) - 1e-10 * scale - gap(V, u, d) - 1e-9


@given(st.integers(1, 8), st.integers(1, 12), st.integers(0, 10_000))
def test_optimal_on_lattices(n, m, seed):
    """Small whole numbers: ties, duplicates and dependent columns everywhere."""
    rng = np.random.default_rng(seed)
    V, u = rng.integers(-2, 3, (n, m)).astype(float), rng.integers(-2, 3, n).astype(float)
    is_solution(V, u, simplex_least_squares(V, u))
    is_solution(V, u, simplex_least_squares(V, u, rng.integers(0, 2, m).astype(float)))


@pytest.mark.parametrize("seed", [167, 297, 325])
def test_optimal_among_numbers_of_many_sizes(seed):
    """Small weights of long columns need digits of their own."""
    rng = np.random.default_rng(seed)
    V, u = rng.normal(size=(1, 30)) * 10.0 ** rng.integers(-4, 5, 30), rng.normal(size=1)
    is_solution(V, u, simplex_least_squares(V, u, rng.exponential(size=30)))


def test_many_columns_few_of_them_used(rng):
    V = np.abs(rng.normal(size=(300, 500)))
    u = V[:, :10].mean(axis=1) + 0.5 * rng.normal(size=300)
    d = simplex_least_squares(V, u)
    is_solution(V, u, d)
    assert np.count_nonzero(d) < 100


def test_an_optimal_start_among_equals_is_kept():
    V = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    start = np.array([0.25, 0.75, 0.0])
    assert set(np.flatnonzero(simplex_least_squares(V, np.zeros(2), start))) <= {0, 1}


def test_weights_of_columns_that_hardly_differ():
    """The products of columns of Hilbert's matrix have lost the digits that tell the weights; the columns have them."""
    V = 1.0 / (np.arange(12)[:, None] + np.arange(6) + 1.0)
    weights = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.2])
    np.testing.assert_allclose(simplex_least_squares(V, V @ weights, np.ones(6)), weights, atol=1e-7)


@pytest.mark.parametrize(
    ("V", "u", "start", "word"),
    [
        (np.ones((3, 2)), np.ones(2), None, "shape"),
        (np.ones((3, 0)), np.ones(3), None, "shape"),
        (np.ones((0, 3)), np.ones(0), None, "shape"),
        (np.array([[np.nan, 1.0]]), np.ones(1), None, "NaN"),
        (np.ones((3, 2)), np.ones(3), -np.ones(2), "start"),
        (np.ones((3, 2)), np.ones(3), np.ones(3), "start"),
    ],
)
def test_refuses(V, u, start, word):
    with pytest.raises(ValueError, match=word):
        simplex_least_squares(V, u, start)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
def test_weights_have_no_unit(rng, size):
    """Squares of these leave the range of numbers."""
    V, u = rng.normal(size=(6, 4)), rng.normal(size=6)
    known = simplex_least_squares(V, u)
    is_solution(V, u, known)
    is_solution(V, u, simplex_least_squares(V, u, np.full(4, 1e8 * size)))
    np.testing.assert_allclose(simplex_least_squares(size * V, size * u), known, atol=1e-12)


def test_the_direction_of_dependent_columns_leads_nowhere(rng):
    """The third column lies on the line through the first two: along the direction the point stays."""
    Z = rng.normal(size=(4, 3))
    Z[:, 2] = Z[:, :2] @ [-29.0, 30.0]
    direction = _Face(np.arange(3), np.full(3, 1.0 / 3.0), Z, Z.T @ Z)._direction()
    np.testing.assert_allclose(direction, [-29.0, 30.0, -1.0], rtol=1e-10)


def test_a_column_enters_the_face_without_weight(rng):
    Z = rng.normal(size=(4, 3))
    face = _Face(np.arange(2), np.array([0.25, 0.75]), Z[:, :2], Z[:, :2].T @ Z[:, :2])
    grown = face.grown(2, Z[:, 2])
    np.testing.assert_allclose(grown.Q, Z.T @ Z)
    assert grown.squared_norm == pytest.approx(face.squared_norm, rel=1e-12)
    assert grown.S.tolist() == [0, 1, 2]
