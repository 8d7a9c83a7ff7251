"""Spectral ratio, alignment and centre of mass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multikernel import diagnostics, kernels, precomputed
from multikernel._typing import Array

SAMPLES = st.tuples(st.integers(2, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-10.0, 10.0).map(lambda v: round(v, 3)))
)


def powers(X: Array, highest: int) -> list[Array]:
    return [kernels.HomogeneousPolynomial(d).normalized()(X) for d in range(1, highest + 1)]


@pytest.mark.parametrize("n", [2, 9, 100])
def test_spectral_ratio_of_known_matrices(n: int) -> None:
    v = np.arange(1.0, n + 1.0)
    assert diagnostics.spectral_ratio(np.eye(n)) == pytest.approx(np.sqrt(n))
    assert diagnostics.spectral_ratio(np.eye(n), standardized=True) == pytest.approx(1.0)
    for rank_one in (np.ones((n, n)), np.outer(v, v)):
        assert diagnostics.spectral_ratio(rank_one) == pytest.approx(1.0)
        assert diagnostics.spectral_ratio(rank_one, standardized=True) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_spectral_ratio_does_not_depend_on_scale(scale: float) -> None:
    K = np.diag([1.0, 2.0, 3.0])
    assert diagnostics.spectral_ratio(scale * K) == pytest.approx(6.0 / np.sqrt(14.0))


def test_spectral_ratio_of_one_sample_and_of_nothing() -> None:
    assert diagnostics.spectral_ratio([[4.0]], standardized=True) == 0.0
    with pytest.warns(RuntimeWarning, match="zero matrix"):
        assert np.isnan(diagnostics.spectral_ratio(np.zeros((3, 3))))


@given(SAMPLES)
def test_spectral_ratio_is_at_most_the_root_of_the_rank_and_grows_with_the_degree(X: Array) -> None:
    X = X[np.linalg.norm(X, axis=1) > 0.1]
    if len(X) < 2:
        return
    matrices = powers(X, 6)
    ratios = [diagnostics.spectral_ratio(K) for K in matrices]
    assert ratios[0] >= 1.0 - 1e-12
    assert ratios[0] <= np.sqrt(np.linalg.matrix_rank(matrices[0])) + 1e-6
    assert (np.diff(ratios) >= -1e-12).all()


def test_spectral_ratio_grows_with_the_degree_on_real_data(cancer: tuple[Array, Array]) -> None:
    ratios = [diagnostics.spectral_ratio(K, standardized=True) for K in powers(cancer[0], 8)]
    assert (np.diff(ratios) > 0).all()
    assert 0.0 < ratios[0] < ratios[-1] < 1.0


def test_frobenius_norm_of_a_mix_can_be_below_that_of_the_highest_degree() -> None:
    """Erratum E-D4: |K_D| <= |K_eta| needs dot products >= 0. For x, -x the mix (K_1 + K_2)/2 is the identity."""
    one, two = powers(np.array([[1.0], [-1.0]]), 2)
    assert np.linalg.norm(0.5 * (one + two)) ** 2 == pytest.approx(2.0)
    assert np.linalg.norm(two) ** 2 == pytest.approx(4.0)


def test_alignment_of_the_ideal_kernel_of_the_identity_and_of_another_kernel() -> None:
    rng = np.random.default_rng(1)
    y, noise = np.repeat([-1.0, 1.0], 10), rng.normal(size=20)
    ideal = np.outer(y, y)
    for centered in (True, False):
        assert diagnostics.alignment(3.0 * ideal, y, centered) == pytest.approx(1.0)
        assert diagnostics.alignment(np.eye(20), ideal, centered) == pytest.approx(
            diagnostics.alignment(np.eye(20), y, centered)
        )
    assert diagnostics.alignment(np.eye(20), y, centered=False) == pytest.approx(1 / np.sqrt(20))
    assert diagnostics.alignment(np.eye(20), y) == pytest.approx(1 / np.sqrt(19))
    J, K = np.eye(20) - 1 / 20, np.outer(noise, noise) + np.eye(20)
    truth = noise @ J @ K @ J @ noise / (np.linalg.norm(J @ K @ J) * np.linalg.norm(J @ noise) ** 2)
    assert diagnostics.alignment(K, noise) == pytest.approx(truth)


@pytest.mark.parametrize("scale", [1e-310, 1.7e308])
def test_alignment_with_a_target_of_any_size(scale: float) -> None:
    y = np.array([1.0, 1.0, -1.0, -1.0])
    assert diagnostics.alignment(np.outer(y, y), scale * y) == pytest.approx(1.0)


def test_centred_alignment_forgets_constants() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    K = X @ X.T
    assert diagnostics.alignment(K + 50.0, y + 7.0) == pytest.approx(diagnostics.alignment(K, y))
    with pytest.warns(RuntimeWarning, match="constant: after centring nothing is left"):
        assert np.isnan(diagnostics.alignment(np.full((15, 15), 0.3), y))
    with pytest.warns(RuntimeWarning, match="is zero"):
        assert np.isnan(diagnostics.alignment(np.zeros((15, 15)), y, centered=False))


def test_centre_of_mass() -> None:
    assert diagnostics.center_of_mass([1, 0, 0, 0]) == 0.0
    assert diagnostics.center_of_mass([0, 0, 0, 7]) == 1.0
    assert diagnostics.center_of_mass(np.ones(11)) == pytest.approx(0.5)
    assert diagnostics.center_of_mass([0, 1e-320, 0, 0, 0]) == pytest.approx(0.25)
    assert diagnostics.center_of_mass([1, 3], degrees=[5, 10]) == pytest.approx(0.875)
    assert diagnostics.center_of_mass([2.0]) == 0.0


@pytest.mark.parametrize("scale", [1e160, 1e300, 1e-170])
def test_ratios_of_kernels_of_any_size(scale: float) -> None:
    X = np.random.default_rng(3).normal(size=(6, 3))
    K, other = X @ X.T, (X @ X.T) ** 2
    truth = diagnostics.spectral_ratio(K)
    bank = precomputed([scale * K, K, other])
    np.testing.assert_allclose(diagnostics.spectral_ratios(bank)[:2], truth, rtol=1e-12)
    sums = diagnostics.spectral_ratios(bank, [[1.0 / scale, 0.0, 1.0], [0.0, 1.0, 1.0]])
    np.testing.assert_allclose(sums, diagnostics.spectral_ratio(K + other), rtol=1e-12)
