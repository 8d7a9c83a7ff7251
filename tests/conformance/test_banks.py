"""Every bank against its dense truth: the kernels evaluated two samples at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import reference as ref
from cases import one_in
from multikernel import KernelBank
from multikernel.testing import check_bank
from zoo import BANKS, bank, concrete, samples

Array = Any
names = pytest.mark.parametrize("name", BANKS)


def between(name: str, A: Array, B: Array, rows: Any = slice(None), columns: Any = slice(None)) -> Array:
    """The kernels of some rows of A, where some columns of B are the training sample."""
    return BANKS[name].truth.matrices(A[rows], B[columns])


@pytest.mark.parametrize("name", one_in(3, BANKS))
def test_bank_computes_what_its_matrices_say(name: str) -> None:
    case, (X, new) = BANKS[name], samples()
    check_bank(
        bank(name),
        partial(between, name, X, X) if case.centred else between(name, X, X),
        new=case.new(new, X),
        new_matrices=(lambda columns: between(name, new, X, columns=columns))
        if case.centred
        else between(name, new, X),
        self_values=None if case.given_as else case.truth.self_values(new, X),
    )


@names
def test_held_out_part_is_the_fold_against_new_samples(name: str) -> None:
    if BANKS[name].given_as:
        pytest.skip("new samples are known only against all training samples")
    if not BANKS[name].of_samples:
        pytest.skip("training samples have weights, and new samples have none")
    rows, fold = np.array([0, 5, 4]), np.array([16, 10, 3, 1, 7, 12])
    found = bank(name).block(fold, fold).cross(BANKS[name].given(samples()[0][rows]))
    np.testing.assert_allclose(found.matrices(), bank(name).block(rows, fold).matrices(), atol=1e-5)


@names
def test_wrappers_of_any_bank(name: str) -> None:
    case, (X, _) = BANKS[name], samples()
    factors, given = np.arange(len(bank(name))) + 0.5, bank(name)
    tol = 1e-10 if given.rounding <= 2.0**-53 else 1e-4
    for found, truth in (
        (given.scaled(factors), ref.multiplied(case.truth, factors)),
        (given.centered(), ref.centred(case.truth)),
    ):
        np.testing.assert_allclose(found.matrices(), truth.matrices(X, X), atol=tol, rtol=tol)


def test_self_values_of_precomputed_kernels_are_not_known() -> None:
    X, new = samples()
    with pytest.raises(ValueError, match="self-values are not known"):
        bank("precomputed").self_values(BANKS["precomputed"].new(new, X))


def test_brackets_take_rows_and_columns() -> None:
    with pytest.raises(TypeError, match="rows and columns"):
        bank("packed")[np.arange(3), np.arange(3), 0]
    with pytest.raises(ValueError, match="square"):
        bank("packed")[:2, :3][np.arange(2)]


@names
def test_rectangular_banks_have_no_forms_and_no_diagonal(name: str) -> None:
    """Also where there are as many new samples as training samples."""
    X, new = samples()
    given, again = bank(name), np.resize(np.arange(len(new)), len(X))
    crosses = [given.cross(BANKS[name].new(new[rows], X)) for rows in (slice(None), again)]
    for cross in (*crosses, given.block([0, 1, 2], [3, 4, 5])):
        A = np.ones((cross.shape[0], 2))
        forms = (partial(form, A) for form in (cross.quad, cross.quads, cross.pair_forms))
        for passes in (cross.diagonal, cross.traces, *forms):
            with pytest.raises(ValueError, match="this one holds new samples"):
                passes()


def test_every_bank_of_the_package_is_in_the_zoo() -> None:
    """Those that stand inside others count, and those that meet new samples."""
    found: set[type] = set()
    for name in BANKS:
        for given in (
            bank(name),
            bank(name).block([1, 2], [1, 2]),
            bank(name).cross(BANKS[name].new(*samples()[::-1])),
        ):
            collect(given, found)
    assert {kind for kind in concrete(KernelBank) if kind not in found} == set()


def collect(given: Any, found: set[type]) -> None:
    if isinstance(given, KernelBank):
        found.add(type(given))
        for value in vars(given).values():
            collect(value, found)
    elif isinstance(given, tuple):
        for value in given:
            collect(value, found)


# -- a bank from outside the package -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Gaussians(KernelBank):
    """exp(-gamma |x - z|^2): what a bank has to define, and nothing else."""

    X: Array
    Z: Array
    gammas: Array

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.X), len(self.Z)

    def __len__(self) -> int:
        return len(self.gammas)

    @property
    def square(self) -> bool:
        return self.X is self.Z

    def tiles(self, rows: Any) -> Iterator[Array]:
        D = ((self.X[rows][:, None] - self.Z) ** 2).sum(axis=2)
        return (np.exp(-gamma * D) for gamma in self.gammas)

    def block(self, rows: Any, columns: Any) -> Gaussians:
        Z = self.Z[columns]
        same = self.square and np.array_equal(np.arange(len(self.Z))[rows], np.arange(len(self.Z))[columns])
        return replace(self, X=Z if same else self.X[rows], Z=Z)

    def select(self, index: Any) -> Gaussians:
        return replace(self, gammas=self.gammas[index])

    def cross(self, X: Any) -> Gaussians:
        return replace(self, X=X)

    def self_values(self, X: Any) -> Array:
        return np.ones((len(self), len(X)))


class WrongPass(Gaussians):
    def inner(self, M: Array) -> Array:
        return super().inner(M) * 1.001


class WrongForm(Gaussians):
    def pair_forms(self, A: Array) -> Array:
        return self.pairs()


class WrongBlock(Gaussians):
    def block(self, rows: Any, columns: Any) -> Gaussians:
        every = np.arange(len(self.Z))
        return (
            super().block(np.sort(every[rows]), np.sort(every[columns]))
            if self.square
            else super().block(rows, columns)
        )


class WrongSelection(Gaussians):
    def select(self, index: Any) -> Gaussians:
        return replace(self, gammas=np.sort(self.gammas[index]))


class WrongReference(Gaussians):
    def reference(self, columns: Any = slice(None)) -> KernelBank:
        return self.block(np.arange(0), np.arange(len(self.Z))[columns][::-1])


class SaysThatItFollowsTheSample(Gaussians):
    local = False


class WrongSelfValues(Gaussians):
    def self_values(self, X: Any) -> Array:
        return np.zeros((len(self), len(X)))


class WrongHeldOut(Gaussians):
    def held_out_self_values(self, rows: Any, columns: Any) -> Array:
        return 2.0 * super().held_out_self_values(rows, columns)


class TooFewNames(Gaussians):
    @property
    def names(self) -> tuple[str, ...]:
        return ("one",)


class SaysDistances(Gaussians):
    of_distances = True


def checked(kind: type[Gaussians]) -> None:
    """By its formula, as its author would."""
    (X, new), gammas = samples(), np.array([0.2, 1.5])
    truth = ref.stack(*(ref.rbf(gamma) for gamma in gammas))
    K, across = truth.matrices(X, X), truth.matrices(new, X)
    check_bank(kind(X, X, gammas), K, new=new, new_matrices=across, self_values=truth.self_values(new, X))


def test_eight_members_make_a_bank() -> None:
    assert len(KernelBank.__abstractmethods__) == 8
    checked(Gaussians)


BROKEN = {
    WrongPass: "inner: an entry is off",
    WrongForm: "pair_forms of a matrix: an entry is off",
    WrongBlock: "a fold: matrices: an entry is off",
    WrongSelection: r"the kernels \[1, 0\]: matrices: an entry is off",
    WrongReference: "reference: new samples: an entry is off",
    SaysThatItFollowsTheSample: "it is not local",
    WrongHeldOut: "held_out_self_values",
    TooFewNames: "names are",
    SaysDistances: "of_distances is true",
    WrongSelfValues: "self_values of new samples: an entry is off",
}


def test_self_values_that_are_too_small_are_found_without_their_truth() -> None:
    X, new = samples()
    with pytest.raises(AssertionError, match="cross or self_values is wrong"):
        check_bank(WrongSelfValues(X, X, np.array([0.2, 1.5])), new=new)


@pytest.mark.parametrize(("kind", "message"), BROKEN.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_suite_says_what_is_wrong(kind: type[Gaussians], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        checked(kind)
