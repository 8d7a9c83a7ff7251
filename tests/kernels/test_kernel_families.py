"""Families: how many kernels, which, in what order, under what names."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import reference as ref
from multikernel import bind, kernels
from multikernel.kernels import RBF, Features, HomogeneousPolynomial, KernelFamily, Linear, Polynomial

X = 0.6 * np.random.default_rng(0).normal(size=(9, 3))
THREE = Features(3)
FAMILIES = {
    "homogeneous": kernels.homogeneous_polynomials(4),
    "homogeneous-raw": kernels.homogeneous_polynomials(4, normalize=False),
    "rbf-grid": kernels.rbf_grid([0.1, 1.0]),
    "polynomials": kernels.polynomials([1, 3], coef0=0.5),
    "per-feature": kernels.per_feature([RBF(0.1), Linear()]),
    "linear-features": kernels.linear_features(),
    "rls2": kernels.rls2_basis(),
    "smkl": kernels.smkl_basis(),
    "monomials": kernels.random_monomials(3, 50, random_state=0),
    "groups": kernels.column_groups({"first": [0], "rest": [1, 2]}, RBF(0.1)),
    "sum": kernels.rbf_grid([0.1]) + kernels.linear_features(),
}
SIZES = dict(zip(FAMILIES, (5, 5, 2, 2, 6, 3, 52, 39, 4, 2, 4), strict=True))
families = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@pytest.mark.parametrize(("name", "size"), SIZES.items(), ids=SIZES)
def test_resolved_family_has_as_many_kernels_as_names(name: str, size: int) -> None:
    resolved = FAMILIES[name].resolve(THREE)
    assert (len(resolved), len(resolved.names), len(list(resolved))) == (size, size, size)
    assert len(set(resolved.names)) == size


@families
def test_family_is_cloned_by_value(family: KernelFamily) -> None:
    assert clone(family) == family
    assert clone(family) is not family
    assert clone(family).resolve(THREE) == family.resolve(THREE)


def test_homogeneous_polynomials_are_powers_of_the_cosine() -> None:
    cosines = ref.gram(ref.cosine(ref.linear()), X, X)
    for d, kernel in enumerate(kernels.homogeneous_polynomials(6)):
        np.testing.assert_allclose(kernel(X), cosines**d, atol=1e-13)
    for d, kernel in enumerate(kernels.homogeneous_polynomials(6, normalize=False)):
        np.testing.assert_allclose(kernel(X), (X @ X.T) ** d, atol=1e-13)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_normalised_powers_have_no_unit(unit: float) -> None:
    for kernel in (HomogeneousPolynomial(3), Linear() ** 2, Polynomial(2, 0.0)):
        truth = kernel.normalized()(X)
        for given in (kernel.normalized(), kernel.normalized() + 0.0 * Linear().normalized()):
            np.testing.assert_allclose(given(unit * X), truth, atol=1e-12)
            np.testing.assert_allclose(bind(given, unit * X).matrix(0), truth, atol=1e-12)
            np.testing.assert_allclose(given.diagonal(unit * X), 1.0)


def test_per_feature_goes_feature_by_feature() -> None:
    resolved = kernels.per_feature([RBF(0.1), Linear()]).resolve(THREE)
    assert list(resolved) == [k.on(j) for j in range(3) for k in (RBF(0.1), Linear())]
    assert resolved.names[2:4] == ("RBF(gamma=0.1).on(1)", "Linear().on(1)")


def test_names_of_features_name_the_kernels() -> None:
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    resolved = kernels.linear_features().resolve(Features.of(frame))
    assert resolved.names == ("Linear().on('age')", "Linear().on('dose')", "Linear().on('weight')")
    assert list(resolved) == [Linear().on(j) for j in range(3)]
    view = kernels.column_groups({"body": ["weight", "age"]}, RBF(0.1)).resolve(Features.of(frame))
    assert (view.names, list(view)) == (("body",), [RBF(0.1).on([2, 0])])


def test_rls2_basis_is_thirteen_on_each_feature_and_thirteen_on_all() -> None:
    thirteen = [Polynomial(d) for d in (1, 2, 3)] + [RBF(float(g)) for g in np.logspace(-3, 3, 10)]
    want = [k.on(j) for j in range(3) for k in thirteen] + thirteen
    assert list(kernels.rls2_basis().resolve(THREE)) == want


def test_smkl_basis_is_thirteen_on_each_feature() -> None:
    widths = [2.0**s for s in range(-3, 7)]
    x, z = X[:, 1], X[:, 1]
    want = [np.exp(-((x[:, None] - z) ** 2) / (2.0 * s**2)) for s in widths]
    want += [(1.0 + np.outer(x, z)) ** d for d in (1, 2, 3)]
    found = list(kernels.smkl_basis().resolve(THREE))[13:26]
    for kernel, K in zip(found, want, strict=True):
        np.testing.assert_allclose(kernel(X), K, atol=1e-13)


def test_families_add_in_order() -> None:
    family = kernels.rbf_grid([0.1, 1.0]) + kernels.polynomials([2]) + kernels.rbf_grid([5.0])
    assert list(family) == [RBF(0.1), RBF(1.0), Polynomial(2), RBF(5.0)]
    assert len(family) == 4


def test_kernels_and_lists_are_families() -> None:
    assert list(kernels.as_family(RBF(0.1))) == [RBF(0.1)]
    assert list(kernels.as_family([Linear(), RBF(0.1)])) == [Linear(), RBF(0.1)]
    assert kernels.as_family(FAMILIES["rls2"]) is FAMILIES["rls2"]


def test_every_kernel_has_a_label_or_none_has() -> None:
    with pytest.raises(ValueError, match="Kernels: labels must be a list of 1, one for each kernel"):
        kernels.Kernels((RBF(0.1),), ("near", "far"))


# -- random monomials --------------------------------------------------------------------------------------------------


def _matrices(family: KernelFamily, Z: np.ndarray = X) -> np.ndarray:
    return np.array([kernel(Z) for kernel in family.resolve(Features.of(Z))])


def test_monomials_are_those_of_their_seed() -> None:
    def draw(seed: int) -> np.ndarray:
        return _matrices(kernels.random_monomials(3, 40, random_state=seed))

    assert np.array_equal(draw(1), draw(1))
    assert not np.allclose(draw(1), draw(2))


def test_monomials_of_two_variables_are_the_explicit_expansion() -> None:
    """Of degree 1 in two variables there are x_1 and x_2: the kernel is a x_1 z_1 + b x_2 z_2, a and b their counts."""
    Z = X[:, :2]
    K = _matrices(kernels.random_monomials(1, 31, random_state=0), Z)
    assert np.array_equal(K[0], np.ones((9, 9)))  # the empty product, normalised
    shares = {a / (a + b) for a, b in product(range(32), repeat=2) if 0 < a + b <= 31}
    errors = [np.abs(K[1] - _mix_of_two(Z, share)).max() for share in shares]
    assert min(errors) < 1e-12


def _mix_of_two(Z: np.ndarray, share: float) -> np.ndarray:
    K = share * np.outer(Z[:, 0], Z[:, 0]) + (1.0 - share) * np.outer(Z[:, 1], Z[:, 1])
    return K / np.sqrt(np.outer(np.diag(K), np.diag(K)))


def test_monomials_of_one_variable_are_powers() -> None:
    Z = np.abs(X[:, :1]) + 0.1
    K = _matrices(kernels.random_monomials(3, 200, random_state=0), Z)
    np.testing.assert_allclose(K, np.ones((4, 9, 9)), atol=1e-12)  # cosines of one positive feature


def test_many_monomials_come_near_the_homogeneous_polynomial() -> None:
    K = _matrices(kernels.random_monomials(2, 200_000, random_state=0))
    assert np.abs(K[2] - HomogeneousPolynomial(2).normalized()(X)).max() < 0.02


def test_degrees_that_were_not_drawn_stay_as_zero_kernels() -> None:
    Z = np.random.default_rng(1).normal(size=(6, 30))
    family = kernels.random_monomials(8, 20, random_state=0).resolve(Features.of(Z))
    K = _matrices(family, Z)
    assert len(family) == 9
    assert (K[:4] == 0.0).all()
    np.testing.assert_allclose(np.diagonal(K[8]), 1.0)
    assert np.isfinite(K).all()
    assert (family.kernels[0].diagonal(Z) == 0.0).all()


def test_random_grouping_spreads_the_monomials() -> None:
    Z = np.random.default_rng(1).normal(size=(6, 30))
    K = _matrices(kernels.random_monomials(3, 400, grouping="random", random_state=0), Z)
    np.testing.assert_allclose(np.diagonal(K, axis1=1, axis2=2), 1.0)
    by_degree = _matrices(kernels.random_monomials(3, 400, random_state=0), Z)
    assert np.abs(K[0] - by_degree[0]).max() > 0.1


# -- masks of columns --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [[True, False, True], np.array([True, False, True]), (np.True_, np.False_, np.True_)])
def test_a_mask_marks_columns(mask: Any) -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    expected = kernels.RBF(0.5)(X[:, [0, 2]])
    kernel = kernels.RBF(0.5).on(mask)
    for bank in (bind(kernel, X), bind(kernels.column_groups({"some": mask}, kernels.RBF(0.5)), X)):
        np.testing.assert_allclose(bank.matrices()[0], expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.ones(6))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([True, False], "the mask has 2 entries, and the samples have 3 columns"),
        ([True, 0, False], "takes columns or a mask of True and False, got both"),
        ([False, False, False], "needs at least one column"),
    ],
)
def test_a_mask_that_does_not_fit_is_told(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bind(kernels.RBF(0.5).on(columns), np.ones((4, 3)))


@pytest.mark.parametrize("columns", [[0.5], 0.5, None, [None], [[0]], [0, np.nan]])
def test_columns_that_are_no_columns_are_refused(columns):
    with pytest.raises(ValueError, match=r"on\(\.\.\.\) takes columns by position, a whole number, or by name, got"):
        kernels.column_groups({"a": columns}, kernels.RBF())


@pytest.mark.parametrize(
    ("columns", "name"), [(["a", "b", "a"], "column 'a'"), ([0, 0], "column 'a'"), ([1, -2], "column 'b'")]
)
def test_a_column_that_is_given_twice_is_refused(columns, name):
    X = np.random.default_rng(0).normal(size=(5, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    kernel = kernels.RBF(0.5).on(columns)
    for use in (
        lambda: bind(kernel, frame),
        lambda: bind(kernels.column_groups({"u": columns}, kernels.RBF(0.5)), frame),
        lambda: kernel(frame),
    ):
        with pytest.raises(ValueError, match=f"has {name} twice: give each column once"):
            use()
    with pytest.raises(ValueError, match=r"RBF\(gamma=0.5\).on\(\[0, -3\]\) has column 0 twice"):
        bind(kernels.RBF(0.5).on([0, -3]), X)


def test_tanimoto_is_a_kernel_of_vectors_with_negative_entries():
    """The value is the geometric series of s = x'z / (|x|^2 + |z|^2), whose powers are kernels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * rng.choice([0.1, 1.0, 10.0], size=(30, 1))
    squares = (X * X).sum(axis=1)
    s = X @ X.T / (squares[:, None] + squares)
    series = sum(s**power for power in range(1, 60))
    K = kernels.Tanimoto()(X)
    np.testing.assert_allclose(K, series, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_missing_numbers_are_a_category_of_their_own():
    K = kernels.Hamming()(np.array([[np.nan, 1.0], [2.0, 1.0], [np.nan, 3.0]]))
    np.testing.assert_array_equal(K, [[1.0, 0.5, 0.5], [0.5, 1.0, 0.0], [0.5, 0.0, 1.0]])


def test_strings_are_not_compared_with_numbers():
    words = np.array([["a", 1.0], ["b", 1.0]], dtype=object)
    for X, Z in ((words, np.ones((3, 2))), (np.ones((3, 2)), words)):
        with pytest.raises(ValueError, match="X has them in other columns than the training sample"):
            kernels.Hamming()(X, Z)


def test_a_column_that_is_not_there_is_told_with_few_of_those_that_are():
    frame = pd.DataFrame(np.zeros((4, 800)), columns=[f"gene{j}" for j in range(800)])
    with pytest.raises(ValueError, match=r"unknown column 'g'; the data have gene0, .*, gene9 and 790 more"):
        bind(kernels.RBF().on("g"), frame)
