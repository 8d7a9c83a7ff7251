"""Every kernel keeps what kernels promise, and is its formula, written as a loop over pairs of samples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import zoo
from multikernel import kernels
from multikernel.kernels import RBF, Features, HomogeneousPolynomial, Kernel, Laplacian, Linear, Polynomial, monomials
from multikernel.kernels.algebra import Product, Sum
from multikernel.kernels.facts import PowerOf
from multikernel.testing import check_kernel
from zoo import KERNELS, concrete, samples

Array = Any
names = pytest.mark.parametrize("name", KERNELS)
FRAME = pd.DataFrame(samples()[0], columns=["age", "dose", "weight", "height"])


def assert_close(got: Array, want: Array, tol: float) -> None:
    assert got.shape == want.shape
    error = float(np.abs(got - want).max())
    assert error <= tol * max(1.0, float(np.abs(want).max()))


# -- values ------------------------------------------------------------------------------------------------------------


@names
def test_kernel_keeps_what_kernels_promise(name: str) -> None:
    check_kernel(KERNELS[name].kernel, KERNELS[name].samples[0])


@names
def test_matrix_is_the_formula(name: str) -> None:
    case, (X, new) = KERNELS[name], KERNELS[name].samples
    assert_close(case.kernel(X), case.truth.matrices(X, X)[0], 1e-12)
    assert_close(case.kernel(new, X), case.truth.matrices(new, X)[0], 1e-12)
    assert_close(case.kernel.diagonal(X), case.truth.self_values(X, X)[0], 1e-12)


def test_every_kernel_of_the_package_is_in_the_zoo() -> None:
    """Those that are part of others count."""
    found = {type(kernel) for case in KERNELS.values() for kernel in (case.kernel, *nested(case.kernel))}
    assert {kernel for kernel in concrete(Kernel) if kernel not in found} == set()


def nested(kernel: Kernel) -> list[Kernel]:
    values = [v for value in kernel.get_params().values() for v in (value if isinstance(value, tuple) else (value,))]
    return [v for v in values if isinstance(v, Kernel)]


def test_single_precision_stays_where_it_is_kept() -> None:
    X, new = (S.astype(np.float32) for S in samples())
    for kernel in (Linear(), Polynomial(2, 0.5, 0.7), RBF(0.3).on(1), 2.5 * RBF(0.3) + Linear() ** 2, kernels.ANOVA(2)):
        for form in (kernel, kernel.normalized(), kernel.centered()):
            assert {form(X).dtype, form(new, X).dtype, form.diagonal(X).dtype} == {np.dtype(np.float32)}


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


# -- broken promises ---------------------------------------------------------------------------------------------------


class Asymmetric(Linear):
    def __call__(self, X: Any, Z: Any = None) -> Array:
        K = super().__call__(X, Z)
        return K + 0.1 * np.arange(K.shape[1])


class Indefinite(Linear):
    def __call__(self, X: Any, Z: Any = None) -> Array:
        return -super().__call__(X, Z)


class WrongDiagonal(Linear):
    def diagonal(self, X: Any) -> Array:
        return np.sqrt(super().diagonal(X))


class WrongFact(Linear):
    def facts(self) -> tuple[Any, ...]:
        return (PowerOf(Linear(), 2),)


class WritesIntoSamples(Linear):
    def __call__(self, X: Any, Z: Any = None) -> Array:
        if not hasattr(X, "tocsr"):
            X[0, 0] += 1.0
        return super().__call__(X, Z)


class KeepsItsMatrix(Linear):
    """What it returned for these samples it returns again."""

    known: ClassVar[dict[tuple[int, int], Array]] = {}

    def __call__(self, X: Any, Z: Any = None) -> Array:
        key = (id(X), id(X if Z is None else Z))
        return self.known.setdefault(key, super().__call__(X, Z))


class CannotBeWritten(Linear):
    def __call__(self, X: Any, Z: Any = None) -> Array:
        K = super().__call__(X, Z)
        K.flags.writeable = False
        return K


class Overflows(Linear):
    def __call__(self, X: Any, Z: Any = None) -> Array:
        K = (X @ (X if Z is None else Z).T) * 1.0
        return np.asarray(K.toarray() if hasattr(K, "toarray") else K)


class WrongSlope(RBF):
    def slope(self, D: Array) -> Array:
        return 2.0 * super().slope(D)


class WrongPair(RBF):
    def profile_and_slope(self, D: Array) -> tuple[Array, Array]:
        profile, slope = super().profile_and_slope(D)
        return profile, -slope

    def slope(self, D: Array) -> Array:
        return super().profile_and_slope(D)[1]


class WrongDegree(RBF):
    degree = 1


class ForgetsItsParameter(RBF):
    def __init__(self, gamma: float = 1.0) -> None:
        super().__init__(2.0 * gamma)


BROKEN = {
    Asymmetric: "symmetry: an entry is off",
    Indefinite: "not positive semi-definite, it has an eigenvalue",
    WrongDiagonal: "diagonal: an entry is off",
    WrongFact: r"what PowerOf\(base=Linear\(\), degree=2\) states: an entry is off",
    WritesIntoSamples: "an entry is off|written into",
    KeepsItsMatrix: "a second call, after the first matrix was written into: an entry is off",
    CannotBeWritten: "the matrix cannot be written into",
    Overflows: "uint8 samples: an entry is off",
    WrongSlope: "slope: an entry is off",
    WrongPair: "slope of profile_and_slope: an entry is off",
    WrongDegree: "distances of samples times 2: an entry is off",
    ForgetsItsParameter: "its clone is another kernel|Cannot clone",
}


@pytest.mark.parametrize(("kind", "message"), BROKEN.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_suite_says_what_is_wrong(kind: type[Kernel], message: str) -> None:
    with pytest.raises((AssertionError, RuntimeError), match=message):
        check_kernel(kind(), samples()[0].copy())


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


def test_kernels_differ_by_kind_and_by_parameter() -> None:
    different = [case.kernel for case in KERNELS.values()]
    for i, kernel in enumerate(different):
        assert [j for j, other in enumerate(different) if other == kernel] == [i]


@names
def test_repr_is_what_makes_the_kernel(name: str) -> None:
    kernel = KERNELS[name].kernel
    assert eval(repr(kernel), vars(zoo) | vars(kernels) | vars(monomials)) == kernel


def test_repr_shows_plain_numbers() -> None:
    assert repr(RBF(np.float64(0.5))) == "RBF(gamma=0.5)"
    assert repr(np.float64(2.0) * Polynomial(np.int64(2))) == "2.0 * Polynomial(degree=2, coef0=1.0, gamma=1.0)"


def test_parameters_are_set_through_views() -> None:
    kernel = clone(2.0 * RBF(0.4).on([0, 1]).normalized())
    changed = kernel.set_params(factor=3.0, kernel__kernel__kernel__gamma=0.1)
    assert changed is kernel
    assert changed == 3.0 * RBF(0.1).on([0, 1]).normalized()
    assert changed.get_params()["kernel__kernel__kernel__gamma"] == 0.1


def test_a_part_and_what_is_in_it_are_set_together() -> None:
    """Whatever their order, the new part has the new parameter, as scikit-learn's own estimators do it."""
    given = {"kernel__kernel__gamma": 0.1, "kernel__kernel": Laplacian(5.0), "kernel": RBF(7.0).normalized()}
    for params in (given, dict(reversed(given.items()))):
        kernel = clone(2.0 * RBF(0.4).normalized())
        assert kernel.set_params(**params) == 2.0 * Laplacian(0.1).normalized()


def test_sums_and_products_are_flat() -> None:
    a, b, c = RBF(1.0), Linear(), Laplacian(1.0)
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert len((a + b + c).get_params()["kernels"]) == 3


# -- mistakes ----------------------------------------------------------------------------------------------------------

MISTAKES = {
    "gamma-several": (lambda: RBF([0.1, 1.0]), r"several widths are a list of kernels, \[RBF\(gamma\) for gamma in"),
    "gamma-zero": (lambda: RBF(0.0), "RBF: gamma must be a finite number > 0, 'scale' or 'median', got 0.0"),
    "gamma-negative": (lambda: Laplacian(-1.0), "Laplacian: gamma must be a finite number > 0, .*, got -1.0"),
    "gamma-nan": (lambda: RBF(float("nan")), "RBF: gamma must be .* got nan"),
    "gamma-infinite": (lambda: Polynomial(gamma=np.inf), "Polynomial: gamma must be .* got inf"),
    "degree-negative": (lambda: HomogeneousPolynomial(-1), "HomogeneousPolynomial: degree must be .* got -1"),
    "degree-fraction": (lambda: Polynomial(1.5), "Polynomial: degree must be an integer in .*, got 1.5"),
    "coef0-negative": (lambda: Polynomial(coef0=-0.1), "Polynomial: coef0 must be .* got -0.1"),
    "set-gamma": (lambda: clone(RBF(1.0)).set_params(gamma=-2.0), "RBF: gamma must be .* got -2.0"),
    "set-unknown": (lambda: clone(RBF(1.0)).set_params(width=2.0), "RBF has no parameter 'width'; it has gamma"),
    "set-nested": (lambda: clone(RBF(1.0)).set_params(gamma__x=2.0), "RBF has no parameter 'gamma__x'"),
    "power-negative": (lambda: RBF(1.0) ** -1, "Power: degree must be an integer in .*, got -1"),
    "factor-negative": (lambda: -1.0 * RBF(1.0), "Scaled: factor must be a finite number >= 0, got -1.0"),
    "factor-nan": (lambda: float("nan") * RBF(1.0), "finite number >= 0, got nan"),
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
    "centred-in-sets": (lambda: kernels.VectorSets(RBF(1.0).centered()), "cannot be part of a kernel of sets"),
    "no-kernel-in-sum": (lambda: Sum((RBF(1.0), 3)), "each of the kernels of a sum must be a kernel such as"),
    "no-kernels-in-product": (lambda: Product(3), "the kernels of a product must be a list, .* got 3"),
    "dates-in-several-columns": (
        lambda: kernels.DateParts("year").resolve(Features(2)),
        "DateParts takes one column of dates, got 2 columns",
    ),
    "texts-that-are-numbers": (lambda: kernels.Grams().learned(np.eye(2)), "NGrams compares texts, and got numbers"),
    "empty-family": (lambda: kernels.as_family([]), r"kernels must be .* got \[\]"),
    "empty-grid": (lambda: kernels.rbf_grid([]), r"one or more kernels, got \(\)"),
    "empty-groups": (lambda: kernels.column_groups({}, RBF(1.0)), "groups must be a dict of one or more"),
    "monomials-grouping": (lambda: kernels.random_monomials(2, grouping="size"), "grouping must be .* got 'size'"),
    "monomials-degree": (
        lambda: kernels.random_monomials(-1),
        "RandomMonomials: max_degree must be an integer in .*, got -1",
    ),
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
    "not-a-family": (lambda: kernels.as_family(3), "KernelFamily or 'precomputed', got 3"),
    "not-a-kernel": (lambda: kernels.as_family([RBF(1.0), 3]), r"kernels\[1\] is of type int"),
    "plus-number": (lambda: RBF(1.0) + 1, "unsupported operand"),
    "times-word": (lambda: RBF(1.0) * "2", "unsupported operand|can't multiply"),
    "to-a-fraction": (lambda: RBF(1.0) ** 0.5, "unsupported operand"),
    "family-plus-number": (lambda: kernels.rbf_grid([1.0]) + 1, "unsupported operand"),
    "len-before-data": (lambda: len(kernels.linear_features()), "depends on the number of features"),
    "names-before-data": (lambda: kernels.rls2_basis().names, "depends on the number of features"),
}


@pytest.mark.parametrize(("make", "message"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_type_is_refused(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()
