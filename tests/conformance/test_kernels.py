"""Every kernel against its formula, written as a loop over pairs of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from multikernel import kernels
from multikernel.kernels import RBF, Features, HomogeneousPolynomial, Kernel, Laplacian, Linear, Polynomial
from zoo import KERNELS, samples

Array = Any
names = pytest.mark.parametrize("name", KERNELS)
FRAME = pd.DataFrame(samples()[0], columns=["age", "dose", "weight", "height"])


def assert_close(got: Array, want: Array, tol: float) -> None:
    assert got.shape == want.shape
    error = float(np.abs(got - want).max())
    assert error <= tol * max(1.0, float(np.abs(want).max()))


# -- values ------------------------------------------------------------------------------------------------------------


@names
def test_training_matrix_is_the_formula(name: str) -> None:
    X, case = samples()[0], KERNELS[name]
    want = case.truth.matrices(X, X)[0]
    assert_close(case.kernel(X), want, case.tol)
    assert_close(case.kernel(X, X), want, case.tol)
    assert_close(case.kernel(X, X.copy()), want, 1e3 * case.tol)


@names
def test_matrix_of_new_samples_is_the_formula(name: str) -> None:
    (X, new), case = samples(), KERNELS[name]
    assert_close(case.kernel(new, X), case.truth.matrices(new, X)[0], case.tol)


@names
def test_diagonal_is_that_of_the_matrix(name: str) -> None:
    X, case = samples()[0], KERNELS[name]
    assert_close(case.kernel.diagonal(X), np.diag(case.kernel(X)), case.tol)
    assert_close(case.kernel.diagonal(X), case.truth.self_values(X, X)[0], case.tol)


@names
def test_sparse_samples_give_the_same(name: str) -> None:
    (X, new), kernel = samples(), KERNELS[name].kernel
    for form in (sparse.csr_array, sparse.csr_matrix):
        assert_close(kernel(form(X)), kernel(X), 1e-12)
        assert_close(kernel(form(new), form(X)), kernel(new, X), 1e-12)
        assert_close(kernel.diagonal(form(X)), kernel.diagonal(X), 1e-12)


@names
def test_whole_numbers_give_the_same_as_floats(name: str) -> None:
    kernel = KERNELS[name].kernel
    X = np.random.default_rng(0).integers(0, 100, size=(6, 4))
    for dtype in (np.uint8, np.int64):
        assert_close(kernel(X.astype(dtype)), kernel(X.astype(float)), 1e-12)
        assert_close(kernel.diagonal(X.astype(dtype)), kernel.diagonal(X.astype(float)), 1e-12)


@names
def test_samples_are_not_written_into(name: str) -> None:
    X, new = (S.copy() for S in samples())
    KERNELS[name].kernel(X)
    KERNELS[name].kernel(new, X)
    assert all(np.array_equal(a, b) for a, b in zip((X, new), samples(), strict=True))


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(2, 0.5, 0.7),
        HomogeneousPolynomial(3),
        RBF(0.3),
        RBF(0.3).on(1),
        Linear().normalized(),
        RBF(0.3).centered(),
        2.5 * RBF(0.3),
        RBF(0.3) + Linear() ** 2,
        kernels.mean_polynomial(3),
        kernels.ANOVA(2),
        kernels.ANOVA(2, RBF(0.3)),
    ],
    ids=repr,
)
def test_float32_stays_float32(kernel: Kernel) -> None:
    X, new = (S.astype(np.float32) for S in samples())
    assert {kernel(X).dtype, kernel(new, X).dtype, kernel.diagonal(X).dtype} == {np.dtype(np.float32)}
    assert_close(kernel(X), kernel(X.astype(float)), 1e-5)


@names
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12))
def test_matrix_is_symmetric_and_positive_semi_definite(name: str, seed: int, n: int) -> None:
    X = np.abs(np.random.default_rng(seed).normal(size=(n, 4)))  # Tanimoto is a kernel for entries >= 0 only
    K = KERNELS[name].kernel(X)
    assert_close(K, K.T, 1e-14)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * max(np.trace(K), 1.0)


@given(seed=st.integers(0, 2**32 - 1), gamma=st.floats(1e-3, 1e3))
def test_values_of_a_gaussian_are_shares(seed: int, gamma: float) -> None:
    K = RBF(gamma)(np.random.default_rng(seed).normal(size=(8, 3)))
    assert K.min() >= 0.0
    assert K.max() <= 1.0
    assert (np.diag(K) == 1.0).all()


@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(0.01, 100))
def test_cosine_does_not_see_the_length_of_samples(seed: int, factor: float) -> None:
    X = np.random.default_rng(seed).normal(size=(6, 3))
    K = HomogeneousPolynomial(3).normalized()
    assert_close(K(factor * X), K(X), 1e-12)
    assert np.abs(K(X)).max() <= 1.0


@given(seed=st.integers(0, 2**32 - 1))
def test_centred_matrix_has_mean_zero(seed: int) -> None:
    K = Polynomial(2).centered()(np.random.default_rng(seed).normal(size=(7, 3)))
    assert np.abs(K.sum(axis=0)).max() <= 1e-10 * np.trace(K)


# -- columns by name ---------------------------------------------------------------------------------------------------


def test_columns_by_name_are_columns_by_position() -> None:
    named = RBF(0.4).on(["weight", "age"]).resolve(Features.of(FRAME))
    assert named == RBF(0.4).on([2, 0])
    assert_close(named(FRAME.to_numpy()), RBF(0.4).on([2, 0])(samples()[0]), 0.0)


def test_names_are_found_inside_sums_and_views() -> None:
    kernel = (2.0 * Linear().on("dose") + RBF(0.4).on(["age"])).normalized().on(["dose", "age"]).centered()
    resolved = kernel.resolve(Features.of(FRAME))
    assert resolved == (2.0 * Linear().on(0) + RBF(0.4).on([1])).normalized().on([1, 0]).centered()


def test_numbers_of_numpy_are_columns() -> None:
    assert Linear().on(np.int64(1)) == Linear().on(1)
    assert repr(Linear().on(np.array([0, 2]))) == "Linear().on([0, 2])"


# -- specifications ----------------------------------------------------------------------------------------------------


@names
def test_clone_is_equal_and_separate(name: str) -> None:
    kernel = KERNELS[name].kernel
    assert clone(kernel) == kernel
    assert clone(kernel) is not kernel
    assert type(kernel)(**kernel.get_params(deep=False)) == kernel


def test_kernels_differ_by_kind_and_by_parameter() -> None:
    different = [case.kernel for case in KERNELS.values()]
    for i, kernel in enumerate(different):
        assert [j for j, other in enumerate(different) if other == kernel] == [i]


@names
def test_repr_is_what_makes_the_kernel(name: str) -> None:
    kernel = KERNELS[name].kernel
    assert eval(repr(kernel), vars(kernels).copy()) == kernel


def test_repr_shows_plain_numbers() -> None:
    assert repr(RBF(np.float64(0.5))) == "RBF(gamma=0.5)"
    assert repr(np.float64(2.0) * Polynomial(np.int64(2))) == "2.0 * Polynomial(degree=2, coef0=1.0, gamma=1.0)"


def test_parameters_are_set_through_views() -> None:
    kernel = clone(2.0 * RBF(0.4).on([0, 1]).normalized())
    changed = kernel.set_params(factor=3.0, kernel__kernel__kernel__gamma=0.1)
    assert changed is kernel
    assert changed == 3.0 * RBF(0.1).on([0, 1]).normalized()
    assert changed.get_params()["kernel__kernel__kernel__gamma"] == 0.1


def test_sums_and_products_are_flat() -> None:
    a, b, c = RBF(1.0), Linear(), Laplacian(1.0)
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert len((a + b + c).get_params()["kernels"]) == 3


# -- mistakes ----------------------------------------------------------------------------------------------------------

MISTAKES = {
    "gamma-zero": (lambda: RBF(0.0), "RBF: gamma must be a finite number > 0, got 0.0"),
    "gamma-negative": (lambda: Laplacian(-1.0), "Laplacian: gamma must be a finite number > 0, got -1.0"),
    "gamma-nan": (lambda: RBF(float("nan")), "RBF: gamma must be .* got nan"),
    "gamma-infinite": (lambda: Polynomial(gamma=np.inf), "Polynomial: gamma must be .* got inf"),
    "degree-negative": (lambda: HomogeneousPolynomial(-1), "HomogeneousPolynomial: degree must be .* got -1"),
    "degree-fraction": (lambda: Polynomial(1.5), "Polynomial: degree must be a whole number >= 0, got 1.5"),
    "coef0-negative": (lambda: Polynomial(coef0=-0.1), "Polynomial: coef0 must be .* got -0.1"),
    "set-gamma": (lambda: clone(RBF(1.0)).set_params(gamma=-2.0), "RBF: gamma must be .* got -2.0"),
    "set-unknown": (lambda: clone(RBF(1.0)).set_params(width=2.0), "RBF has no parameter 'width'; it has gamma"),
    "set-nested": (lambda: clone(RBF(1.0)).set_params(gamma__x=2.0), "RBF has no parameter 'gamma__x'"),
    "power-negative": (lambda: RBF(1.0) ** -1, "power of a kernel must be a whole number >= 0, got -1"),
    "factor-negative": (lambda: -1.0 * RBF(1.0), "multiplied by a finite number >= 0 only, got -1.0"),
    "factor-nan": (lambda: float("nan") * RBF(1.0), "finite number >= 0 only, got nan"),
    "no-columns": (lambda: RBF(1.0).on([]), r"RBF\(gamma=1.0\).on\(...\) needs at least one column"),
    "unknown-column": (
        lambda: RBF(1.0).on("size").resolve(Features.of(FRAME)),
        "unknown column 'size'; the data have age, dose, weight, height",
    ),
    "column-without-names": (
        lambda: RBF(1.0).on("size").resolve(Features.of(samples()[0])),
        "unknown column 'size'; the data have no names",
    ),
    "column-by-name-unresolved": (lambda: RBF(1.0).on("age")(samples()[0]), r"on\('age'\) names its columns"),
    "column-out-of-range": (
        lambda: RBF(1.0).on([0, 4]).resolve(Features.of(FRAME)),
        "column 4 is out of range: the data have 4 columns",
    ),
    "centred-in-product": (
        lambda: RBF(1.0).centered() * Linear(),
        r"RBF\(gamma=1.0\).centered\(\) cannot be part of a product: centre the product instead",
    ),
    "centred-in-sum": (lambda: Linear() + 2.0 * Linear().centered(), "cannot be part of a sum"),
    "centred-in-power": (lambda: Linear().centered().on(0).normalized() ** 2, "cannot be part of a power"),
    "empty-family": (lambda: kernels.as_family([]), "at least one kernel, got none"),
    "empty-grid": (lambda: kernels.rbf_grid([]), "at least one kernel, got none"),
    "empty-groups": (lambda: kernels.column_groups({}, RBF(1.0)), "column_groups needs at least one group"),
    "monomials-grouping": (lambda: kernels.random_monomials(2, grouping="size"), "grouping must be .* got 'size'"),
    "monomials-degree": (lambda: kernels.random_monomials(-1), "max_degree >= 0"),
    "monomials-sparse": (
        lambda: list(kernels.random_monomials(2, 10).resolve(Features(2)))[2](sparse.csr_array(np.eye(2))),
        "need dense X",
    ),
}


@pytest.mark.parametrize(("make", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_refused_with_what_and_where(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


WRONG_TYPES = {
    "not-a-family": (lambda: kernels.as_family("rbf"), "got str 'rbf'"),
    "not-a-kernel": (lambda: kernels.as_family([RBF(1.0), 3]), r"kernels\[1\] is a int"),
    "plus-number": (lambda: RBF(1.0) + 1, "unsupported operand"),
    "times-word": (lambda: RBF(1.0) * "2", "unsupported operand|can't multiply"),
    "to-a-fraction": (lambda: RBF(1.0) ** 0.5, "unsupported operand"),
    "family-plus-kernel": (lambda: kernels.rbf_grid([1.0]) + RBF(1.0), "unsupported operand"),
    "len-before-data": (lambda: len(kernels.linear_features()), "depends on the number of features"),
    "names-before-data": (lambda: kernels.rls2_basis().names, "depends on the number of features"),
}


@pytest.mark.parametrize(("make", "message"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_type_is_refused(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()
