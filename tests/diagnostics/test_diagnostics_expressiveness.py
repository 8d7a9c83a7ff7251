"""Expressiveness of dot-product polynomials: what is true of every sample, and what needs dot products >= 0."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cases import one_in
from multikernel import bind, datasets, diagnostics, kernels
from multikernel._typing import Array

_DIRECTORY = os.environ.get("MULTIKERNEL_DATA", "")
_THERE = bool(_DIRECTORY) and Path(_DIRECTORY, "manifest.csv").is_file()
_NUMERIC = [entry.name for entry in datasets.available(_DIRECTORY) if entry.d is not None] if _THERE else []
_DEGREES, _ROWS = 12, 400


def samples(lowest: float) -> st.SearchStrategy[Array]:
    """Two to twelve samples, none of them zero."""
    shapes = st.tuples(st.integers(2, 12), st.integers(1, 5))
    values = shapes.flatmap(lambda shape: arrays(float, shape, elements=st.integers(int(8 * lowest), 8).map(float)))
    return values.filter(lambda X: bool((np.abs(X).max(axis=1) > 0).all()))


def weightings(D: int) -> st.SearchStrategy[Array]:
    return arrays(float, D + 1, elements=st.floats(0.0, 1.0)).filter(lambda w: bool(w.sum() > 0.01))


def dense(X: Array, weights: Array) -> Array:
    """The mix of degrees by its definition, cosine by cosine."""
    G = X @ X.T / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(X, axis=1))
    return sum((w * G**d for d, w in enumerate(weights)), np.zeros_like(G))


@given(samples(-1.0))
def test_expressiveness_grows_with_the_degree_whatever_the_signs(X: Array) -> None:
    ratios = diagnostics.spectral_ratios(bind(kernels.homogeneous_polynomials(_DEGREES), X))
    assert ratios[0] == pytest.approx(1.0)
    assert (np.diff(ratios) >= -1e-9).all()
    assert ratios[-1] <= np.sqrt(len(X)) + 1e-9


@pytest.mark.skipif(not _NUMERIC, reason="no benchmark data: set MULTIKERNEL_DATA to a directory with a manifest.csv")
@pytest.mark.parametrize("name", one_in(3, _NUMERIC[::3] or ["none"]))
def test_expressiveness_grows_with_the_degree_on_real_data(name: str) -> None:
    X = datasets.load(name, _DIRECTORY).X[:_ROWS]
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    for rows in (X, X - X.mean(axis=0)):
        rows = rows[np.linalg.norm(rows, axis=1) > 0]
        ratios = diagnostics.spectral_ratios(bind(kernels.homogeneous_polynomials(_DEGREES), rows))
        assert (np.diff(ratios) >= -1e-9 * ratios[1:]).all()


@given(st.data(), samples(-1.0), st.integers(1, 8))
def test_norms_of_mixes_by_power_sums(data: st.DataObject, X: Array, D: int) -> None:
    """The Hankel form of |K_eta|_F against the mixes themselves."""
    weights = np.array([data.draw(weightings(D)), data.draw(weightings(D))])
    mixes = [dense(X, w) for w in weights]
    bank = bind(kernels.homogeneous_polynomials(D), X)
    squares = np.einsum("tj,jk,tk->t", weights, bank.pairs(), weights)
    np.testing.assert_allclose(squares, [np.linalg.norm(K) ** 2 for K in mixes], rtol=1e-9)
    for standardized in (False, True):
        one_by_one = [diagnostics.spectral_ratio(K, standardized) for K in mixes]
        many = diagnostics.spectral_ratios(bank, weights, standardized)
        np.testing.assert_allclose(many, one_by_one, rtol=1e-9, atol=1e-9)


@given(st.data(), samples(0.0), st.integers(1, 8))
def test_mixes_lie_between_the_constant_and_the_highest_degree_without_negative_products(
    data: st.DataObject, X: Array, D: int
) -> None:
    bank = bind(kernels.homogeneous_polynomials(D), X)
    lowest, highest = diagnostics.spectral_ratios(bank)[[0, D]]
    mix = diagnostics.spectral_ratios(bank, [data.draw(weightings(D))])[0]
    assert lowest - 1e-9 <= mix <= highest + 1e-9


@given(st.data(), samples(0.0), st.integers(2, 8))
def test_weight_moved_to_higher_degrees_makes_mixes_more_expressive_without_negative_products(
    data: st.DataObject, X: Array, D: int
) -> None:
    """Hence K_sum <= K_MKL wherever the learned weights grow with the degree; weights that fall can break it."""
    bank = bind(kernels.homogeneous_polynomials(D), X)
    growing = np.sort(data.draw(weightings(D)))
    even, learned = diagnostics.spectral_ratios(bank, [np.ones(D + 1), growing])
    assert even <= learned + 1e-9


def test_falling_weights_can_make_a_mix_more_general_than_the_mean() -> None:
    bank = bind(kernels.homogeneous_polynomials(30), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    falling = np.concatenate([[0.0], 0.5 ** np.arange(30)])
    even, learned, highest = diagnostics.spectral_ratios(bank, [np.ones(31), falling, np.eye(31)[30]])
    assert learned < even < highest


def test_without_the_sign_a_mix_can_be_more_expressive_than_its_highest_degree() -> None:
    """Erratum E-D4: for x and -x the mean of degrees 1 and 2 is the identity, degree 2 the matrix of ones."""
    bank = bind(kernels.homogeneous_polynomials(2), np.array([[1.0], [-1.0]]))
    ratios = diagnostics.spectral_ratios(bank, [[0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(ratios, [np.sqrt(2.0), 1.0])
    balls = [diagnostics.meb_radius(bank.matrix(d)).squared_radius for d in (1, 2)]
    np.testing.assert_allclose(balls, [1.0, 0.0], atol=1e-9)


@given(samples(0.0))
def test_the_enclosing_ball_grows_with_the_degree_without_negative_products(X: Array) -> None:
    bank = bind(kernels.homogeneous_polynomials(6), X)
    radii = [diagnostics.meb_radius(bank.matrix(d)).squared_radius for d in range(7)]
    assert (np.diff(radii) >= -1e-6).all()


def test_mixes_of_nothing_and_wrong_weights_are_told() -> None:
    bank = bind(kernels.homogeneous_polynomials(3), np.eye(3))
    with pytest.warns(RuntimeWarning, match="zero matrix"):
        ratios = diagnostics.spectral_ratios(bank, [[0.0] * 4, [0.0, 1.0, 0.0, 0.0]])
    assert np.isnan(ratios[0])
    assert ratios[1] == pytest.approx(np.sqrt(3.0))
    with pytest.raises(ValueError, match="a column for each of the 4 kernels"):
        diagnostics.spectral_ratios(bank, [0.5, 0.5])
    with pytest.raises(ValueError, match="non-negative"):
        diagnostics.spectral_ratios(bank, [[0.5, 0.5, -0.1, 0.1]])
    with pytest.raises(TypeError, match="takes a KernelBank"):
        diagnostics.spectral_ratios(np.eye(3))  # type: ignore[arg-type]
