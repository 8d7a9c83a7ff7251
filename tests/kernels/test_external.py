"""Kernels of other packages: what is taken, what is refused, and what becomes of similarities that are no kernel."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel

from multikernel import bind, kernels
from multikernel.kernels.reference import Reference
from multikernel.tables.objects import Objects, as_objects
from packages import Commons, common, furthest, share_of_first

Array = Any
SETS = [set("abc"), set("ab"), set("cd"), set("abcd"), set("e"), set("ae")]
NEW = [set("ad"), set("x")]
X = np.random.default_rng(0).normal(size=(12, 3))


def overlaps(rows: list[set[str]], columns: list[set[str]]) -> Array:
    return np.array([[common(x, z) for z in columns] for x in rows])


# -- what is taken -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.external(common, pairwise=True),
        kernels.external(overlaps),
        kernels.external(lambda rows, columns: sparse.csr_array(overlaps(rows, columns))),
        kernels.external(lambda rows, columns: overlaps(rows, columns).tolist()),
        kernels.external(Commons()),
    ],
    ids=["pairwise", "matrix", "sparse", "list", "estimator"],
)
def test_forms_of_one_kernel_agree(kernel: kernels.Kernel) -> None:
    bank = bind(kernel, SETS)
    assert np.array_equal(bank.matrix(0), overlaps(SETS, SETS))
    assert np.array_equal(bank.cross(NEW).matrix(0), overlaps(NEW, SETS))
    assert np.array_equal(bank.block(slice(0, 2), slice(2, 6)).matrix(0), overlaps(SETS[:2], SETS[2:]))
    assert np.array_equal(bank.self_values(NEW)[0], [2.0, 1.0])


def test_kernels_of_gaussian_processes_are_evaluated_as_they_are() -> None:
    given = 2.0 * gp.RBF(0.7) * gp.ExpSineSquared(periodicity=3.0) + gp.WhiteKernel(0.1)
    kernel = kernels.external(given)
    assert np.allclose(kernel(X), given(X), atol=0, rtol=1e-14)  # with the noise on the diagonal
    assert np.allclose(kernel(X[:3], X), given(X[:3], X), atol=0, rtol=1e-14)
    assert np.array_equal(kernel.diagonal(X), given.diag(X))


def test_functions_with_parameters_and_single_precision() -> None:
    kernel = kernels.external(partial(rbf_kernel, gamma=0.3))
    assert np.allclose(kernel(X), kernels.RBF(0.3)(X))
    assert kernel(X.astype(np.float32)).dtype == np.float32
    assert np.allclose(kernel(sparse.csr_array(X)), kernel(X))


def test_sums_products_and_views_of_external_kernels() -> None:
    one = kernels.external(common, pairwise=True)
    other = kernels.external(Commons(2.0))
    K = overlaps(SETS, SETS)
    for kernel, want in (
        (one + other, 3.0 * K),
        (one * other, 2.0 * K**2),
        (0.5 * one**2, 0.5 * K**2),
        (other.normalized(), K / np.sqrt(np.outer(np.diag(K), np.diag(K)))),
        (one.centered(), K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()),
    ):
        assert kernel.takes_objects
        bank = bind(kernel, SETS)
        assert np.allclose(bank.matrix(0), want)
        assert np.allclose(bank.cross(SETS[:2]).matrix(0), want[:2])


def test_powers_of_functions_that_are_written_alike_are_kept_apart() -> None:
    plain, shifted = (lambda x, z: float(x @ z)), (lambda x, z: float(x @ z) + 1.0)
    family = [kernels.external(f, pairwise=True) ** d for f in (plain, shifted) for d in (1, 2)]
    bank = bind(family, X)
    for k, kernel in enumerate(family):
        assert np.allclose(bank.matrix(k), kernel(X))


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_many_powers_are_evaluated_on_new_objects(memory: int) -> None:
    family = [kernels.external(common, pairwise=True) ** d for d in (1, 2, 3, 4)]
    bank = bind(family, SETS, memory=memory)
    want = np.array([[common(x, z) for z in SETS] for x in NEW])
    np.testing.assert_allclose(bank.cross(NEW).matrices(), [want**d for d in (1, 2, 3, 4)])
    np.testing.assert_allclose(bank.reference([0, 3]).cross(NEW).matrix(2), want[:, [0, 3]] ** 3)
    np.testing.assert_allclose(bank.self_values(as_objects(NEW)), [[len(x) ** d for x in NEW] for d in (1, 2, 3, 4)])


def test_a_clone_of_an_estimator_is_fitted_and_a_normalized_one_has_self_values_one() -> None:
    given = Commons(normalize=True)
    bank = bind(kernels.external(given), SETS)
    assert not hasattr(given, "samples_")
    assert np.array_equal(bank.self_values(NEW)[0], [1.0, 1.0])
    assert np.allclose(bank.cross(SETS[2:4]).matrix(0), bank.matrix(0)[2:4])


def test_an_estimator_without_self_values_compares_samples_with_themselves() -> None:
    class Plain:
        def fit(self, rows: list[set[str]]) -> Plain:
            self.rows = rows
            return self

        def fit_transform(self, rows: list[set[str]]) -> Array:
            return self.fit(rows).transform(rows)

        def transform(self, rows: list[set[str]]) -> Array:
            return overlaps(rows, self.rows)

    bank = bind(kernels.external(Plain()), SETS)
    assert np.array_equal(bank.self_values(NEW)[0], [2.0, 1.0])


def test_parameters_inside_are_read_and_set() -> None:
    kernel = clone(kernels.external(gp.RBF(0.5)))
    assert kernel.get_params()["obj__length_scale"] == 0.5
    assert kernel.set_params(obj__length_scale=2.0) == kernels.external(gp.RBF(2.0))
    assert kernel != kernels.external(gp.RBF(0.5))


def test_what_cannot_be_copied_is_shared() -> None:
    class Compiled:
        def __call__(self, x: Any, z: Any) -> float:
            return common(x, z)

        def __reduce_ex__(self, protocol: Any) -> Any:
            raise TypeError("cannot pickle this")

    kernel = kernels.external(Compiled(), pairwise=True)
    assert deepcopy(kernel) == clone(kernel) == kernel


# -- similarities that are no kernel -----------------------------------------------------------------------------------


@pytest.mark.parametrize("psd", ["clip", "flip", "square"])
def test_what_is_made_of_similarities_is_a_kernel_of_training_and_new_samples(psd: Any) -> None:
    kernel = kernels.external(furthest, pairwise=True, psd=psd)
    assert repr(kernel) == f"external(furthest, pairwise=True, psd={psd!r})"
    bank = bind(kernel, SETS)
    K, new, own = bank.matrix(0), bank.cross(NEW).matrix(0), bank.self_values(NEW)[0]
    both = np.block([[K, new.T], [new, np.diag(own)]])
    both[-1, -2] = both[-2, -1] = 0.0
    for i in range(len(NEW)):  # each new sample beside the training samples
        index = [*range(len(SETS)), len(SETS) + i]
        assert np.linalg.eigvalsh(both[np.ix_(index, index)])[0] > -1e-10
    assert np.allclose(bank.cross(SETS[1:3]).matrix(0), K[1:3])


def test_clipping_leaves_a_kernel_as_it_is() -> None:
    clipped = bind(kernels.external(common, pairwise=True, psd="clip"), SETS)
    plain = bind(kernels.external(common, pairwise=True), SETS)
    assert np.allclose(clipped.matrix(0), plain.matrix(0))
    assert np.allclose(clipped.cross(SETS[:3]).matrix(0), plain.cross(SETS[:3]).matrix(0))


def test_training_samples_are_compared_once() -> None:
    calls = []

    def counted(x: set[str], z: set[str]) -> float:
        calls.append(1)
        return furthest(x, z)

    bind([kernels.external(counted, pairwise=True, psd="clip")], SETS)
    n = len(SETS)
    assert len(calls) <= n * (n + 1) // 2 + 2 * n  # the pairs, and a few of them in the other order


def test_similarities_without_any_value_have_no_features() -> None:
    K = bind(kernels.external(lambda x, z: 0.0, pairwise=True, psd="clip"), SETS).matrix(0)
    assert np.array_equal(K, np.zeros((6, 6)))


# -- mistakes ----------------------------------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[Any, str]] = {
    "no-kernel": (lambda: kernels.external(3), r"external: obj must be a function k\(X, Z\) .*, got 3"),
    "a-class": (lambda: kernels.external(Commons), "obj must be a function .*, got <class"),
    "own-kernel": (lambda: kernels.external(kernels.RBF(1.0)), r"obj must be a function .*, got RBF\(gamma=1.0\)"),
    "psd": (lambda: kernels.external(common, psd="shift"), "psd must be 'clip', 'flip' or 'square', got 'shift'"),
    "pairwise": (lambda: kernels.external(common, pairwise=1), "pairwise must be True or False, got 1"),
    "of-two": (
        lambda: bind(kernels.external(lambda x, z: 1.0), SETS),
        r"returned a single number for 6 and 6 samples.*external\(..., pairwise=True\)",
    ),
    "fails": (lambda: bind(kernels.external(common), SETS), r"and failed, TypeError: .* pairwise=True"),
    "of-all": (
        lambda: bind(kernels.external(lambda x, z: np.ones((2, 2)), pairwise=True), SETS),
        "pairwise=True needs a number; if it compares all samples at a time, leave pairwise=True out",
    ),
    "shape": (lambda: bind(kernels.external(lambda x, z: np.ones((2, 2))), SETS), r"of shape \(2, 2\) for 6 and 6"),
    "strings": (lambda: bind(kernels.external(lambda x, z: [["a"] * 6] * 6), SETS), "an array of <U1 of shape"),
    "nan": (lambda: bind(kernels.external(lambda x, z: np.nan, pairwise=True), SETS), "NaN or infinite for samples 0"),
    "asymmetric": (
        lambda: bind(kernels.external(share_of_first, pairwise=True), SETS),
        r"is not symmetric: it is .* for samples \d and \d, and .* psd='square'",
    ),
    "indefinite": (
        lambda: bind(kernels.external(furthest, pairwise=True), SETS),
        r"is not positive semi-definite: the smallest eigenvalue .* is -.* psd='clip'",
    ),
    "sigmoid": (lambda: bind(kernels.external(sigmoid_kernel), 3.0 * X), "external.sigmoid_kernel. is not positive"),
    "missing": (
        lambda: bind(kernels.external(common, pairwise=True), [*SETS, None]),
        "X contains NaN or None, first at row 6: leave the sample out, or give the objects as a view",
    ),
    "cells": (lambda: bind(kernels.external(rbf_kernel), np.array([["a", 1.0]] * 6, object)), "takes numbers, but"),
}


@pytest.mark.parametrize(("make", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_refused_in_a_sentence(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# -- samples -----------------------------------------------------------------------------------------------------------


def test_objects_are_never_taken_apart() -> None:
    rows = [[1.0, 2.0], [3.0, 4.0]]
    objects = as_objects(rows)
    assert objects is not None
    assert objects.values[0] is rows[0]
    assert objects.shape == (2, 1)
    assert objects[np.array([1])].values[0] is rows[1]
    assert as_objects(X) is None
    assert as_objects(np.zeros((4, 5, 2))).shape == (4, 1)  # type: ignore[union-attr]


def test_places_are_found_by_identity_or_by_what_samples_hold() -> None:
    objects = Objects.of(SETS)
    assert Reference(objects).places(objects[[3, 1]]).tolist() == [3, 1]  # type: ignore[union-attr]
    assert Reference(objects).places(Objects.of([set("abc")])) is None
    assert Reference(Objects.of(["ab", "c"])).places(Objects.of(["".join(["a", "b"])])).tolist() == [0]  # type: ignore[union-attr]
    assert Reference(X).places(X[[4, 2]].astype(float)).tolist() == [4, 2]  # type: ignore[union-attr]
    copied = deepcopy((Reference(objects), objects))
    assert copied[0].places(copied[1][[2]]).tolist() == [2]  # type: ignore[union-attr]
    assert copied[0].places(objects) is None
    thin = sparse.csr_array(X)
    assert Reference(thin).places(thin[[4, 2]]).tolist() == [4, 2]  # type: ignore[union-attr]
