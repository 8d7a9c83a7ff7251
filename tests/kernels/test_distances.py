"""Squared distances keep their digits where samples lie far from zero."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

from multikernel._arrays import host
from multikernel.kernels import RBF
from multikernel.kernels.distance import squared_distances


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
def test_samples_far_from_zero(shift, rng):
    """Distances of samples of size one, whose coordinates are numbers of twenty binary digits and a large one."""
    X, Z = (np.round(rng.normal(size=(n, 5)) * 2**20) / 2**20 for n in (20, 30))
    true = ((X[:, None] - Z) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(X + shift, Z + shift), true, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(squared_distances(Z + shift), squared_distances(Z), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(RBF(1.0)(X + shift, Z + shift), np.exp(-true), rtol=1e-11)


def on_torch(A):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.asarray(A)


def on_device(A):
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    return strict.asarray(A, device=strict.Device("device1"))


@pytest.mark.parametrize("put", [np.asarray, on_torch, on_device])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_single_far_sample_takes_no_digits_from_the_others(put, shift, rng):
    X = np.round(rng.normal(size=(12, 3)) * 2**20) / 2**20
    true = ((X[:, None] - X) ** 2).sum(axis=2)
    far = X + shift
    far[0] = 1e10 if shift == 0.0 else far[0]
    found = host(squared_distances(put(far)))
    np.testing.assert_allclose(found[1:, 1:], true[1:, 1:], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("rows", [1, 7])
def test_digits_are_those_of_scikit_learn(rows, rng):
    X, Z = rng.normal(size=(rows, 3)), rng.normal(size=(5, 3))
    for given in ((X,), (X, Z), (np.ma.masked_array(X, X > 1.0), Z), (np.asfortranarray(X), Z)):
        np.testing.assert_array_equal(
            squared_distances(*given), euclidean_distances(*map(np.asarray, given), squared=True)
        )


def test_samples_that_are_refused_are_refused_in_a_sentence(rng):
    X = rng.normal(size=(4, 3))
    holes = np.where(X[0, 0] == X, np.nan, X)
    for given, message in (
        ((holes,), "NaN"),
        ((X, np.where(X[0, 0] == X, np.inf, X)), "infinity"),
        ((X, X[:, :2]), "dimension"),
        ((X[:, :0],), "0 feature"),
    ):
        with pytest.raises(ValueError, match=message):
            squared_distances(*given)
    assert squared_distances(1e200 * X, X).max() == np.inf
