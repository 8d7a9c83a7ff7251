"""Kernels of a distance: their slopes, and their counterparts in scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

from multikernel import kernels

X = np.random.default_rng(0).normal(size=(9, 3))
KERNELS = [
    kernels.RBF(0.7),
    kernels.Laplacian(0.7),
    kernels.Matern(0.7, nu=0.5),
    kernels.Matern(0.7, nu=1.5),
    kernels.Matern(0.7, nu=2.5),
    kernels.RationalQuadratic(0.7, alpha=0.4),
    kernels.ExponentialPower(0.7, power=0.6),
    kernels.ExponentialPower(0.7, power=2.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_slope_is_the_derivative_of_the_profile(kernel: kernels.DistanceKernel) -> None:
    D = np.geomspace(1e-2, 30.0, 40)
    step = 1e-5 * D
    differences = (kernel.profile(D + step) - kernel.profile(D - step)) / (2.0 * step)
    np.testing.assert_allclose(kernel.slope(D), differences, rtol=1e-6, atol=1e-12)
    assert np.isfinite(kernel.slope(np.zeros(3))).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_a_sample_whose_distance_overflows_is_like_no_other(kernel: kernels.DistanceKernel, precision: type) -> None:
    far = np.array([0.0, np.finfo(precision).max / 16, np.inf], dtype=precision)
    np.testing.assert_allclose(kernel.profile(far), [1.0, 0.0, 0.0], atol=1e-10)
    np.testing.assert_allclose(kernel.slope(far)[1:], 0.0, atol=1e-10)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_is_that_of_scikit_learn(nu: float) -> None:
    np.testing.assert_allclose(kernels.Matern(0.25, nu=nu)(X), gp.Matern(2.0, nu=nu)(X), atol=1e-7)


def test_rational_quadratic_is_that_of_scikit_learn() -> None:
    theirs = gp.RationalQuadratic(2.0, alpha=0.7)  # 1 + d^2 / (2 alpha l^2)
    np.testing.assert_allclose(kernels.RationalQuadratic(0.125, alpha=0.7)(X), theirs(X), atol=1e-12)


@pytest.mark.parametrize("alpha", [1e6, 1e12, 1e300])
def test_rational_quadratic_of_a_large_alpha_is_the_gaussian(alpha: float) -> None:
    kernel = kernels.RationalQuadratic(0.7, alpha=alpha)
    D = np.geomspace(1e-2, 10.0, 40)
    np.testing.assert_allclose(kernel.profile(D), kernels.RBF(0.7).profile(D), rtol=50.0 / alpha + 1e-14)
    np.testing.assert_allclose(kernel.slope(D), kernels.RBF(0.7).slope(D), rtol=50.0 / alpha + 1e-14)


def test_bad_parameters_are_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"nu must be 0\.5, 1\.5 or 2\.5, got 1"):
        kernels.Matern(nu=1)
    with pytest.raises(ValueError, match=r"power must be a number in \(0, 2\], got 3"):
        kernels.ExponentialPower(power=3)
    with pytest.raises(ValueError, match="RationalQuadratic: alpha"):
        kernels.RationalQuadratic(alpha=0)
    with pytest.raises(ValueError, match="scales must be a vector of finite numbers >= 0"):
        kernels.Anisotropic(kernels.RBF(), (1.0, -1.0))
    with pytest.raises(TypeError, match="kernel of a distance"):
        kernels.Anisotropic(kernels.Linear(), (1.0,))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 scales, and the samples have 3 features"):
        kernels.Anisotropic(kernels.RBF(), (1.0, 1.0))(X)
    for factor in ((1.0, 2.0), ((1.0,), (1.0, 2.0)), (), (("a",),), ((float("nan"),),), None):
        with pytest.raises(ValueError, match="factor must be a matrix of finite numbers"):
            kernels.Mahalanobis(kernels.RBF(), factor)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="squared Euclidean distance"):
        kernels.Mahalanobis(kernels.Laplacian(), ((1.0,),))
    with pytest.raises(ValueError, match="rows of 2 entries, and the samples have 3 features"):
        kernels.Mahalanobis(kernels.RBF(), np.eye(2))(X)  # type: ignore[arg-type]


def test_a_kernel_without_a_slope_says_so() -> None:
    class Tent(kernels.DistanceKernel):
        def profile(self, D: np.ndarray) -> np.ndarray:
            return np.maximum(1.0 - D, 0.0)

    with pytest.raises(NotImplementedError, match="Tent has no slope written out"):
        Tent().slope(np.ones(2))
