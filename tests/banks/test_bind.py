"""Which bank a family gets, and that no choice changes the kernels or their order."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multikernel import KernelBank, bind, kernels, precomputed
from multikernel.banks.centered import CenteredBank
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.factor import FactorBank
from multikernel.banks.gram import DenseGram
from multikernel.banks.lazy import LazyBank
from multikernel.banks.mixed import MixedBank
from multikernel.banks.packed import PackedBank
from multikernel.banks.powers import PowersBank
from multikernel.banks.profiles import ProfilesBank
from multikernel.banks.self_valued import NormalizedBank
from multikernel.banks.subset_rbf import SubsetRBFBank
from multikernel.banks.weighted import WeightedBank
from multikernel.kernels import RBF, HomogeneousPolynomial, Laplacian, Linear, Polynomial
from multikernel.kernels.base import Kernel

X = np.random.default_rng(0).normal(size=(24, 3))
LARGE = np.random.default_rng(1).normal(size=(1500, 2))
WIDTHS = np.geomspace(0.01, 1.0, 32)  # 32 packed matrices of 1500 samples are more than a pass should move

CHOICES: dict[str, tuple[Any, Any, type[KernelBank]]] = {
    "powers": (kernels.homogeneous_polynomials(10), X, PowersBank),
    "powers-raw": (kernels.homogeneous_polynomials(10, normalize=False), X, PowersBank),
    "powers-with-constant": (kernels.polynomials([1, 2, 3, 4], 0.5), X, PowersBank),
    "powers-on-columns": ([Polynomial(d).on([0, 1]) for d in range(1, 5)], X, PowersBank),
    "powers-of-powers": ([RBF(0.3) ** d for d in (1, 2, 3, 4)], X, PowersBank),
    "few-powers": (kernels.polynomials([1, 2, 3]), X, PackedBank),
    "features": (kernels.linear_features(), X, FactorBank),
    "features-sparse": (kernels.linear_features(), sparse.csr_array(X), FactorBank),
    "feature-groups": (kernels.column_groups({"a": [0], "b": [1, 2]}, Linear()), X, FactorBank),
    "more-features-than-samples": ([Linear()], X[:3], PackedBank),
    "widths": (kernels.rbf_grid(WIDTHS), X, PackedBank),
    "widths-of-many-samples": (kernels.rbf_grid(WIDTHS), LARGE, ProfilesBank),
    "widths-of-many-samples-on-columns": ([RBF(g).on([1]) for g in WIDTHS], LARGE, ProfilesBank),
    "unrelated": ([Laplacian(0.1), RBF(0.1)], X, PackedBank),
    "scaled": ([2.0 * Laplacian(0.1)], X, WeightedBank),
    "centered": ([Laplacian(0.1).centered()], X, CenteredBank),
    "normalized-centered": ([Laplacian(0.1).centered().normalized()], X, NormalizedBank),
    "mixture": ([Laplacian(0.1), *kernels.homogeneous_polynomials(4), Linear()], X, ConcatenatedBank),
}


@pytest.mark.parametrize(("family", "samples", "kind"), CHOICES.values(), ids=CHOICES)
def test_bank_is_chosen_by_what_the_kernels_state(family: Any, samples: Any, kind: type[KernelBank]) -> None:
    bank = bind(family, samples)
    assert type(bank) is kind
    assert bank.shape == (samples.shape[0], samples.shape[0])
    assert bank.square


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        (kernels.homogeneous_polynomials(5), PowersBank),
        (kernels.smkl_basis(), LazyBank),
        ([Linear()], FactorBank),
    ],
    ids=["powers", "stack", "linear"],
)
def test_beyond_the_memory_kernels_are_made_on_demand(family: Any, kind: type[KernelBank]) -> None:
    stored, lazy = bind(family, X), bind(family, X, memory=1)
    assert type(lazy) is kind
    assert not isinstance(lazy, PowersBank) or lazy.B.stored is None
    np.testing.assert_allclose(lazy.matrices(), stored.matrices(), atol=1e-12)


@pytest.mark.parametrize("family", [kernels.homogeneous_polynomials(1), [Polynomial(2, 1.0)]], ids=["few", "one"])
def test_few_powers_are_made_on_demand_where_one_matrix_fits_in_no_precision(
    family: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(bind(family, X, memory=1), LazyBank)
    monkeypatch.setattr(sys.modules["multikernel.banks.bind"], "MEMORY", 4 * len(X) ** 2 - 1)
    bank = bind(family, X, memory=1)
    assert isinstance(bank, PowersBank)
    assert bank.B.stored is None
    assert bank.B.dtype == np.float64
    np.testing.assert_allclose(bank.matrices(), bind(family, X).matrices(), atol=1e-12)


@pytest.mark.parametrize(
    ("family", "on_demand"),
    [(kernels.homogeneous_polynomials(5), PowersBank), (kernels.rbf_grid(WIDTHS), ProfilesBank)],
    ids=["powers", "widths"],
)
def test_one_matrix_that_does_not_fit_is_stored_in_float32(
    family: Any, on_demand: type[KernelBank], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["multikernel.banks.bind"], "KEPT_BYTES", 0)
    values = len(X) ** 2
    whole, half = bind(family, X, memory=8 * values), bind(family, X, memory=4 * values)
    assert type(half) is type(whole)
    w = np.full(len(whole), 1.0 / len(whole))
    assert (whole.rounding, half.rounding) == (2.0**-53, 2.0**-24)
    assert np.abs(half.combine(w).dense() - whole.combine(w).dense()).max() < 1e-5
    neither = bind(family, X, memory=4 * values - 1)
    assert type(neither) is on_demand
    assert neither.B.stored is None
    assert np.abs(neither.combine(w).dense() - whole.combine(w).dense()).max() < 1e-12


def test_memory_bounds_the_stack_of_all_kernels() -> None:
    stack = 2 * (24 * 25 // 2) * 8
    family = [Laplacian(0.1), RBF(0.1)]
    assert type(bind(family, X, memory=stack)) is PackedBank
    assert type(bind(family, X, memory=stack - 1)) is LazyBank
    assert type(bind(family, X.astype(np.float32), memory=stack // 2)) is PackedBank


def test_precision_of_the_samples_is_kept() -> None:
    for family in (kernels.homogeneous_polynomials(5), [Laplacian(0.1)], kernels.linear_features()):
        assert bind(family, X).rounding == 2.0**-53
    single = X.astype(np.float32)
    for family in (kernels.homogeneous_polynomials(5), [Laplacian(0.1)]):
        assert bind(family, single).rounding == 2.0**-24
    assert bind([Linear()], (10 * X).astype(int)).combine(np.ones(1)).dense().dtype == np.float64


def test_mixture_keeps_the_order_of_the_kernels() -> None:
    family = [
        HomogeneousPolynomial(3).normalized(),
        Laplacian(0.1),
        Linear().on([2]),
        HomogeneousPolynomial(1).normalized(),
        2.0 * RBF(0.2),
        RBF(0.3).centered(),
        HomogeneousPolynomial(2).normalized(),
        Linear().on([0, 1]),
        0.5 * Laplacian(0.3),
        HomogeneousPolynomial(4).normalized(),
        RBF(0.2).centered().normalized(),
    ]
    bank = bind(family, X)
    assert type(bank) is ConcatenatedBank
    for found, kernel in zip(bank.matrices(), family, strict=True):
        np.testing.assert_allclose(found, kernel(X), atol=1e-12)
    new = X[:4] + 0.5
    for found, kernel in zip(bank.cross(new).matrices(), family, strict=True):
        np.testing.assert_allclose(found, kernel(new, X), atol=1e-12)


def test_a_sum_of_several_banks_leaves_the_matrix_of_a_gram_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    K = np.eye(4)
    one, other = precomputed(K), precomputed(K)
    monkeypatch.setattr(PackedBank, "combine_all", lambda bank, W: [DenseGram(K)])
    gram = ConcatenatedBank((one, other), np.arange(2)).combine(np.ones(2))
    np.testing.assert_array_equal(gram.dense(), 2.0 * np.eye(4))
    np.testing.assert_array_equal(K, np.eye(4))


def test_self_values_by_features_are_sums_in_double_precision() -> None:
    bank = bind(Linear(), np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32))
    assert isinstance(bank, FactorBank)
    F = bank.F.astype(float)
    np.testing.assert_allclose(bank.diagonal()[0], (F * F).sum(axis=1), rtol=1e-15)


def test_a_sample_has_no_distance_from_itself() -> None:
    X = 1e3 + np.random.default_rng(0).normal(size=(30, 3))
    for family in (kernels.linear_features(), [Linear(), Polynomial(2)]):
        bank = bind(family, X).distances()
        for D in (*bank.matrices(), bank.combine(np.arange(1.0, 1.0 + len(bank))).dense()):
            assert not np.diagonal(D).any()


def test_data_frame_with_named_columns() -> None:
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    family = [RBF(0.3).on(["weight", "age"]), Linear().on("dose"), RBF(0.1)]
    want = [RBF(0.3).on([2, 0])(X), Linear().on(1)(X), RBF(0.1)(X)]
    np.testing.assert_allclose(bind(family, frame).matrices(), want, atol=1e-12)
    with pytest.raises(ValueError, match="unknown column 'size'; the data have age, dose, weight"):
        bind([RBF(0.3).on("size")], frame)
    with pytest.raises(ValueError, match="no names: pass a data frame"):
        bind([RBF(0.3).on("age")], X)


def test_new_frames_have_the_columns_of_training() -> None:
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    bank = bind([RBF(0.3), Linear().on("dose")], frame)
    for part in (bank, bank.block(slice(5), slice(9)), bank.select([0]), bank.reference(), bank.cross(frame[:3])):
        with pytest.raises(ValueError, match="X has the columns weight, age, dose, and the training sample has age, d"):
            part.cross(frame[["weight", "age", "dose"]])
        with pytest.raises(ValueError, match="X has the columns age, dose, and the training sample has"):
            part.self_values(frame[["age", "dose"]])
    np.testing.assert_allclose(bank.cross(frame[:4]).matrices(), bank.matrices()[:, :4], atol=1e-12)
    np.testing.assert_allclose(bank.cross(X[:4]).matrices(), bank.matrices()[:, :4], atol=1e-12)


def test_columns_with_one_name_are_refused() -> None:
    frame = pd.DataFrame(X, columns=["age", "dose", "age"])
    for use in (lambda: bind(RBF(0.3), frame), lambda: kernels.for_columns(frame), lambda: RBF(0.3).on("age")(frame)):
        with pytest.raises(ValueError, match="two columns of X are named 'age': rename one of them"):
            use()


def test_data_frame_of_whole_numbers_and_floats() -> None:
    frame = pd.DataFrame({"count": [1, 2, 300], "size": [0.5, 1.5, 2.5]})
    np.testing.assert_allclose(bind([Linear()], frame).matrices()[0], frame.to_numpy() @ frame.to_numpy().T)


def test_lists_and_other_sparse_formats_are_taken() -> None:
    want = RBF(0.3)(X)
    np.testing.assert_allclose(bind(RBF(0.3), X.tolist()).matrices()[0], want, atol=1e-12)
    np.testing.assert_allclose(bind(RBF(0.3), sparse.csc_array(X)).matrices()[0], want, atol=1e-12)


BAD_SAMPLES = {
    "nan": (np.array([[1.0, np.nan]]), "NaN"),
    "infinite": (np.array([[1.0, np.inf]]), "infinity"),
    "empty": (np.empty((0, 2)), "0 sample"),
    "no-features": (np.empty((2, 0)), "0 feature"),
    "words": (np.array([["a", "b"]]), "takes numbers, but column 0 of X holds strings"),
}


@pytest.mark.parametrize(("samples", "message"), BAD_SAMPLES.values(), ids=BAD_SAMPLES)
def test_bad_samples_are_refused(samples: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bind([RBF(0.1)], samples)


def test_lists_and_frames_are_samples_too():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(12, 3)), rng.normal(size=(4, 3))
    for family in (kernels.homogeneous_polynomials(4), kernels.linear_features(), kernels.RBF(0.5)):
        bank = bind(family, X.tolist())
        wanted = bind(family, X).cross(new).matrices()
        np.testing.assert_allclose(bank.cross(new.tolist()).matrices(), wanted)
        np.testing.assert_allclose(bank.cross(pd.DataFrame(new)).matrices(), wanted)
    with pytest.raises(ValueError, match="Expected 2D array"):
        bind(kernels.RBF(), [1, 2, 3])


@dataclass
class Complex(Kernel):
    """A kernel as somebody may write it: its values are complex."""

    def __call__(self, X: Any, Z: Any = None) -> Any:
        return X @ (X if Z is None else Z).T * (1.0 + 0.0j)

    def diagonal(self, X: Any) -> Any:
        return (X * X).sum(axis=1)


def test_complex_values_of_a_kernel_are_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"Complex\(\) holds complex numbers, and kernels are real"):
        bind([RBF(0.1), Complex()], X)
    on_demand = bind([RBF(0.1), Complex()], X, memory=1)
    with pytest.raises(ValueError, match=r"Complex\(\) holds complex numbers, and kernels are real"):
        on_demand.combine(np.ones(2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaussians_on_several_columns_are_made_of_the_same_differences(
    dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored, and on demand beyond the memory, in several pieces; what is rounded is known without rounding."""
    monkeypatch.setattr(sys.modules["multikernel.banks.bind"], "STACK_TINY", 0)
    monkeypatch.setattr(sys.modules["multikernel.banks.subset_rbf"], "PIECE_VALUES", 1 << 15)
    rng = np.random.default_rng(2)
    Z, c = rng.normal(size=(150, 10)), rng.normal(size=(150, 2))
    family = [*(RBF(g) for g in np.geomspace(0.01, 1.0, 8)), *(RBF(0.5).on([j]) for j in range(10))]
    K = np.stack([*(RBF(g)(Z) for g in np.geomspace(0.01, 1.0, 8)), *(RBF(0.5)(Z[:, [j]]) for j in range(10))])
    stored, on_demand = bind(family, Z, dtype=dtype), bind(family, Z, dtype=dtype, memory=1)
    assert isinstance(stored, PackedBank)
    assert isinstance(on_demand, SubsetRBFBank)
    assert isinstance(stored.unrounded(), SubsetRBFBank if dtype == np.float32 else PackedBank)
    few = np.where(np.arange(150)[:, None] < 30, c, 0.0)
    for bank, atol in (
        (stored, 1e-10 if dtype == np.float64 else 1e-4),
        (on_demand, 1e-10 if dtype == np.float64 else 1e-4),
        (stored.unrounded(), 1e-10),
        (on_demand.unrounded(), 1e-10),
    ):
        np.testing.assert_allclose(bank.apply(c), K @ c, atol=atol)
        np.testing.assert_allclose(bank.apply(few), K @ few, atol=atol)
        np.testing.assert_allclose(
            bank.combine(np.arange(18.0)).dense(), np.tensordot(np.arange(18.0), K, 1), atol=atol
        )
    np.testing.assert_allclose(stored.cross(Z[:5]).matrices(), K[:, :5], atol=1e-12)


@pytest.mark.parametrize("memory", ["x", "2GB", -1, float("nan"), float("inf"), None, True, [1]])
def test_memory_is_a_number_of_bytes(memory: Any) -> None:
    with pytest.raises(ValueError, match="bind: memory must be a finite number >= 0"):
        bind([RBF(0.1)], X, memory=memory)
    np.testing.assert_allclose(bind([RBF(0.1)], X, memory=0).matrices(), bind([RBF(0.1)], X).matrices(), atol=1e-14)


def test_columns_of_a_kernel_are_no_dict() -> None:
    with pytest.raises(TypeError, match="on: columns must be names, numbers, a slice or a mask, got the dict"):
        RBF(0.1).on({"a": 1})  # type: ignore[arg-type]


def test_a_number_is_one_sample() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    bank = bind([RBF(0.5), Linear()], X)
    np.testing.assert_array_equal(bank[2].rows, [2])
    np.testing.assert_array_equal(bank[-1].rows, [5])
    assert bank[2, 4].shape == (1, 1)
    np.testing.assert_allclose(bank[2, :].matrices(), bank.matrices()[:, [2]])
    with pytest.raises(TypeError, match="samples are taken by numbers, a slice or a mask"):
        bank[np.array([[0, 1], [2, 3]])]


def test_sums_of_centred_samples_refuse_what_they_do_not_know_of_another_centre() -> None:
    """A fold has a centre of its own, about which a held-out sum has other values than about that of all samples."""
    halves = sparse.csr_array(np.vstack([np.eye(24)[:12], 0.5 * (np.eye(24)[12:18] + np.eye(24)[18:])]))
    bank = MixedBank.of(bind([RBF(0.5)], X).centered(), halves, halves)
    rows, fold = np.array([0, 15]), np.arange(1, 12)
    np.testing.assert_allclose(bank.held_out_self_values(rows, slice(None)), bank.diagonal()[:, rows])
    for form in (bank.normalized(), bank.distances()):
        with pytest.raises(ValueError, match="self-values of held-out samples that are weighted sums of others"):
            form.block(rows, fold)
