"""Matrices that the user computed: what is taken, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel import bind, precomputed
from multikernel.kernels import RBF, Laplacian

X = np.random.default_rng(0).normal(size=(8, 3))
STACK = np.array([(K + K.T) / 2.0 for K in (RBF(0.3)(X), Laplacian(0.2)(X))])
GAUSSIAN = RBF(0.01)(np.random.default_rng(2).normal(size=(60, 2)))


def changed(*entries: tuple[int, int, int, float]) -> np.ndarray:
    """The stack with some entries (kernel, row, column) set."""
    K = STACK.copy()
    for k, i, j, value in entries:
        K[k, i, j] = value
    return K


def with_eigenvalue(value: float) -> np.ndarray:
    """A matrix of trace about 1 whose smallest eigenvalue is this."""
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    K = (Q * np.array([value, *[1.0 / 7.0] * 7])) @ Q.T
    return np.asarray((K + K.T) / 2.0)


@pytest.mark.parametrize(
    "form", [np.asarray, list, tuple, np.ndarray.tolist], ids=["array", "list", "tuple", "numbers"]
)
def test_arrays_and_lists_of_matrices_are_taken(form: Any) -> None:
    bank = precomputed(form(STACK))
    assert (len(bank), bank.shape, bank.square) == (2, (8, 8), True)
    np.testing.assert_array_equal(bank.matrices(), STACK)


def test_float32_is_kept() -> None:
    """The matrices are the kernels, in half the memory; their sums are not rounded."""
    single = STACK.astype(np.float32)
    bank = precomputed(single)
    assert bank.packed.dtype == np.float32
    assert bank.unrounded() is bank
    np.testing.assert_allclose(
        bank.combine([0.1, 0.7]).dense(), np.tensordot([0.1, 0.7], single.astype(float), 1), 1e-15
    )
    assert precomputed([single[0], STACK[1]]).packed.dtype == np.float64


def test_whole_numbers_become_floats() -> None:
    bank = precomputed(np.array([np.eye(3, dtype=int)]))
    assert bank.combine(np.array([0.5])).dense()[0, 0] == 0.5


def test_a_bank_is_taken_as_it_is() -> None:
    bank = bind([RBF(0.3)], X)
    assert precomputed(bank) is bank


def test_a_bank_takes_no_other_names() -> None:
    with pytest.raises(ValueError, match="give names with matrices"):
        precomputed(precomputed(STACK), names=["first", "second"])


def test_the_matrices_given_are_not_shared() -> None:
    K = STACK.copy()
    bank = precomputed(K)
    K[:] = 0.0
    np.testing.assert_array_equal(bank.matrices(), STACK)


def test_rounding_is_tolerated() -> None:
    precomputed([with_eigenvalue(-1e-13), with_eigenvalue(0.0)])
    precomputed(with_eigenvalue(-1e-13).astype(np.float32)[None])
    precomputed(changed((0, 1, 2, STACK[0, 1, 2] + 1e-12)))
    precomputed(np.zeros((1, 4, 4)))
    precomputed(np.ones((1, 1, 1)))


REFUSED = {
    "one-row": (STACK[0, 0], "or a list or dict of matrices, got shape"),
    "no-matrix": ([], "at least one matrix is needed"),
    "not-square": ([STACK[0], STACK[1][:, :5]], r"kernel 1 has shape \(8, 5\); .* square, here \(8, 8\)"),
    "first-not-square": ([STACK[0][:, :5]], r"kernel 0 has shape \(8, 5\)"),
    "different-sizes": ([STACK[0], STACK[1][:5, :5]], r"kernel 1 has shape \(5, 5\); .* \(8, 8\)"),
    "different-sizes-with-gaps": ([np.full((8, 8), np.nan), STACK[1][:5, :5]], r"kernel 1 has shape \(5, 5\)"),
    "vectors": ([np.ones(3)], r"kernel 0 is not a matrix: it has shape \(3,\)"),
    "nan": (changed((1, 3, 2, np.nan)), "kernel 1 has a NaN or infinity at row 3, column 2"),
    "all nan": ([STACK[0], np.full((8, 8), np.nan)], "kernel 1 is NaN at every entry"),
    "all nan by name": ({"a": STACK[0], "b": np.full((8, 8), np.nan)}, "kernel 'b' is NaN at every entry"),
    "huge": ([STACK[0], 1e308 * (np.eye(8) + 0.5)], "kernel 1 has a trace beyond double precision, .* up to 1.5e.308"),
    "infinite": (changed((0, 7, 0, np.inf)), "kernel 0 has a NaN or infinity at row 7, column 0"),
    "asymmetric": (changed((1, 2, 5, 9.0)), r"kernel 1 is not symmetric: entry \((2, 5|5, 2)\) is .* and entry"),
    "indefinite": (
        [STACK[0], with_eigenvalue(-0.25)],
        "kernel 1 is not positive semi-definite: .* eigenvalue is -0.25",
    ),
    "slightly-indefinite": ([with_eigenvalue(-1e-8)], "smallest eigenvalue is -1e-08"),
    "negative": ([-np.eye(3)], "smallest eigenvalue is -1"),
    "complex": ([STACK[0], STACK[1] + 0j], "kernel 1 holds complex numbers, and kernels are real"),
    "complex numbers as objects": ([(STACK[0] + 0j).astype(object)], "kernel 0 holds complex numbers"),
    "strings": ([STACK[0].astype(str)], "kernel 0 holds strings, not numbers"),
    "strings as objects": ([STACK[0].astype(str).astype(object)], "kernel 0 holds strings, not numbers"),
    "dates": ([np.zeros((2, 2), "datetime64[s]")], "kernel 0 holds dates or times, not numbers"),
}


@pytest.mark.parametrize(("K", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_with_the_kernel_and_the_entry(K: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        precomputed(K)


def test_new_samples_that_are_not_real_are_refused() -> None:
    with pytest.raises(ValueError, match="kernel 1 holds complex numbers"):
        precomputed(STACK).cross([np.ones((2, 8)), np.ones((2, 8)) + 0j])


def test_numbers_of_single_precision_are_known_in_double() -> None:
    """A kernel that was stored in single precision is as indefinite, and as asymmetric, as it was there."""
    single = STACK[0].astype(np.float32).astype(float)
    assert np.linalg.eigvalsh(GAUSSIAN.astype(np.float32).astype(float))[0] < -1e-10 * len(GAUSSIAN)
    precomputed([GAUSSIAN.astype(np.float32).astype(float)])
    single[0, 1] = np.nextafter(np.float32(single[0, 1]), np.float32(1.0))
    precomputed([single])
    with pytest.raises(
        ValueError, match=r"precomputed\(K, psd=\.\.\.\) takes more than 1e-10 of the trace for rounding"
    ):
        precomputed([GAUSSIAN - 1e-8 * len(GAUSSIAN) * np.eye(len(GAUSSIAN))])


def test_psd_is_the_share_of_the_trace_that_counts_as_rounding() -> None:
    K = with_eigenvalue(-1e-3)
    share = 1e-3 / np.trace(K)
    np.testing.assert_array_equal(precomputed([K], psd=1.01 * share).matrices()[0], K)
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0.001 .* takes more than"):
        precomputed([K], psd=0.99 * share)
    with pytest.raises(ValueError, match="takes more than 1e-20 of the trace"):
        precomputed([with_eigenvalue(-1e-13)], psd=1e-20)
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"psd must be a finite number > 0 \(a share of the trace\)"):
            precomputed([K], psd=wrong)


def test_clipped_kernels_are_named_and_are_the_nearest_ones() -> None:
    K = with_eigenvalue(-1e-3)
    values, vectors = np.linalg.eigh(K)
    moved = 1e-3 / np.linalg.norm(K)
    with pytest.warns(
        UserWarning, match=rf"of 1 of 3 kernels \(1\) .* up to {moved:.2g} of their norm \(kernel 1\)"
    ) as told:
        bank = precomputed([STACK[0], K, STACK[1]], clip=True)
    assert told[0].filename == __file__
    np.testing.assert_allclose(bank.matrices()[1], vectors * np.maximum(values, 0.0) @ vectors.T, atol=1e-14)
    np.testing.assert_array_equal(bank.matrices()[[0, 2]], STACK)
    assert precomputed(STACK, clip=True).packed.dtype == np.float64


def test_new_samples_come_as_matrices() -> None:
    new = np.array([RBF(0.3)(X[:3] + 1.0, X), Laplacian(0.2)(X[:3] + 1.0, X)])
    cross = precomputed(STACK).cross(new)
    assert cross.shape == (3, 8)
    np.testing.assert_array_equal(cross.matrices(), new)
    assert precomputed(STACK).cross(cross) is cross


MISMATCHED = {
    "kernels": np.ones((3, 4, 8)),
    "columns": np.ones((2, 4, 7)),
    "transposed": np.ones((2, 8, 4)),
    "rows-differ": [np.ones((4, 8)), np.ones((5, 8))],
}


@pytest.mark.parametrize("new", MISMATCHED.values(), ids=MISMATCHED)
def test_matrices_of_new_samples_that_do_not_fit(new: Any) -> None:
    with pytest.raises(ValueError, match=r"expected precomputed kernels of shape \(2, n_new, 8\)"):
        precomputed(STACK).cross(new)


def test_a_matrix_of_new_samples_is_called_by_its_name() -> None:
    new = {"one": np.ones((2, 8)), "two": np.where(np.eye(2, 8) > 0, np.inf, 1.0)}
    with pytest.raises(ValueError, match="kernel 'two' has a NaN or infinity at row 0, column 0"):
        precomputed({"one": STACK[0], "two": STACK[1]}).cross(new)


def test_names_may_be_numbers() -> None:
    new = {2: np.full((1, 8), 0.5), 1: np.ones((1, 8))}
    np.testing.assert_array_equal(precomputed(STACK, names=[1, 2]).cross(new).matrices(), [new[1], new[2]])


def test_bank_of_new_samples_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="expected 2 kernels against 8 training samples, got 1 against 8"):
        precomputed(STACK).cross(bind([RBF(0.3)], X))


def test_new_samples_cannot_be_normalised() -> None:
    bank = precomputed(STACK).normalized()
    np.testing.assert_allclose(bank.matrices(), STACK, atol=1e-14)
    with pytest.raises(ValueError, match="self-values are not known"):
        bank.cross(np.ones((2, 3, 8)))


WRONG = {
    "None": ({"K": None}, "must be a matrix .* got None"),
    "a number": ({"K": 3.0}, "must be a matrix .* got 3.0"),
    "psd a word": ({"psd": "x"}, "precomputed: psd must be a finite number > 0 .*, got 'x'"),
    "psd NaN": ({"psd": float("nan")}, "precomputed: psd must be a finite number > 0"),
    "psd of several": ({"psd": [0.1]}, "precomputed: psd must be a finite number > 0"),
    "clip a word": ({"clip": "yes"}, "precomputed: clip must be True or False"),
    "names twice": ({"names": ["a", "a"]}, "two kernels have the name 'a'"),
    "names of a dict twice": ({"K": {1: STACK[0], "1": STACK[1]}}, "two kernels have the name '1'"),
    "a word as names": ({"names": "ab"}, "names must be a list of names"),
    "a number as names": ({"names": 2}, "names must be a list of names"),
}


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_bank_of_matrices_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        precomputed(**{"K": STACK, **given})


@pytest.mark.parametrize("factors", [[1.0], [np.nan, 1.0], [-1.0, 1.0], [np.inf, 1.0], 2.0, [[1.0, 1.0]], "ab", None])
def test_factors_are_a_finite_number_for_each_kernel(factors: Any) -> None:
    with pytest.raises(ValueError, match="scaled: factors must be a finite number >= 0 for each of the 2 kernels"):
        precomputed(STACK).scaled(factors)
    np.testing.assert_array_equal(precomputed(STACK).scaled([0, 2]).matrices(), [0.0 * STACK[0], 2.0 * STACK[1]])
