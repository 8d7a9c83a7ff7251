"""Distances of columns: categories differ by 1, groups add up, other shapes are refused."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel.banks.columns import ColumnDistancesBank

TABLE = np.array([["a", 1.0, "x"], ["b", 3.0, "x"], ["c", 3.5, "y"], ["a", 0.0, "y"]], dtype=object)


@pytest.mark.parametrize("degree", [1, 2])
def test_categories_are_the_same_or_differ_by_one(degree: int) -> None:
    bank = ColumnDistancesBank.of(TABLE, degree)
    numbers = TABLE[:, 1].astype(float)
    want = [
        TABLE[:, 0, None] != TABLE[:, 0],
        np.abs(numbers[:, None] - numbers) ** degree,
        TABLE[:, 2, None] != TABLE[:, 2],
    ]
    np.testing.assert_allclose(bank.matrices(), want, atol=1e-14)
    new = np.array([["b", 2.0, "never seen"]], dtype=object)
    got = bank.cross(new).matrices()
    np.testing.assert_allclose(got[0], [[1, 0, 1, 1]], atol=1e-14)
    np.testing.assert_allclose(got[2], [[1, 1, 1, 1]], atol=1e-14)


def test_groups_of_features_add_up() -> None:
    alone, grouped = ColumnDistancesBank.of(TABLE), ColumnDistancesBank.of(TABLE, 2, np.array([0, 1, 0]))
    np.testing.assert_allclose(grouped.matrices()[0], alone.matrices()[0] + alone.matrices()[2], atol=1e-14)
    np.testing.assert_array_equal(grouped.by_feature(np.array([5.0, 7.0])), [5.0, 7.0, 5.0])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="degree 1 or 2, got 3"):
        ColumnDistancesBank.of(np.eye(3), 3)
    with pytest.raises(ValueError, match="each of 3 features"):
        ColumnDistancesBank.of(np.eye(3), 2, np.zeros(2))
    with pytest.raises(ValueError, match="strings in columns 0, 2"):
        ColumnDistancesBank.of(TABLE).cross(np.eye(3))


@pytest.mark.parametrize("degree", [1, 2])
def test_quadratic_forms_need_no_matrix(degree: int) -> None:
    """They are those of the matrices, also far from zero and with groups."""
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(30, 4)) + 1e6, rng.normal(size=(30, 3))
    bank = ColumnDistancesBank.of(X, degree, np.array([0, 1, 0, -1]))
    D = np.abs(X[:, None] - X) ** degree
    want = np.einsum("it,ilj,lt->jt", A, D, A)
    np.testing.assert_allclose(bank.quads(A), [want[0] + want[2], want[1]], rtol=1e-9, atol=1e-9)
