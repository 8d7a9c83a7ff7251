"""Tanimoto similarities of packed bits: exact counts, and banks and models that do not store the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from multikernel import AverageMKLClassifier, AverageMKLRegressor, L1MKLClassifier, bind, kernels
from multikernel.banks.gram import DenseGram
from multikernel.banks.powers import PowersBank

PACKED = kernels.Tanimoto(packed=True)


def fingerprints(n: int, bits: int) -> tuple[Any, Any]:
    found = np.random.default_rng(bits).random((n, bits)) < 0.2
    found[n // 2] = False
    return found.astype(float), np.packbits(found, axis=1)


@pytest.mark.parametrize("bits", [1, 8, 60, 64, 65, 200, 2048])
def test_packed_bits_have_the_kernel_of_bits(bits: int) -> None:
    plain, packed = fingerprints(150, bits)
    assert np.array_equal(PACKED(packed), kernels.Tanimoto()(plain))
    assert np.array_equal(PACKED(packed[:70], packed), kernels.Tanimoto()(plain[:70], plain))
    assert np.array_equal(PACKED.diagonal(packed), kernels.Tanimoto().diagonal(plain))
    assert kernels.Tanimoto()(plain.astype(np.float32)).dtype == np.float32


def test_bytes_may_be_of_any_type() -> None:
    _, packed = fingerprints(20, 100)
    assert np.array_equal(PACKED(packed.astype(np.int64)), PACKED(packed))
    single = PACKED(packed.astype(np.float32))
    assert single.dtype == np.float32
    assert np.allclose(single, PACKED(packed), atol=1e-7)


@pytest.mark.parametrize("wrong", [0.5, -1.0, 256.0, 1e300])
def test_what_is_no_byte_is_refused(wrong: float) -> None:
    X = np.ones((4, 3))
    X[1, 2] = wrong
    with pytest.raises(ValueError, match=r"takes bytes, whole numbers from 0 to 255, and X has .* at row 1, column 2"):
        PACKED(X)
    with pytest.raises(ValueError, match="dense"):
        PACKED(sparse.csr_array(np.ones((4, 3))))


@pytest.mark.parametrize("kernel", [PACKED, PACKED.on(slice(0, 5))], ids=["all", "columns"])
def test_a_large_matrix_is_made_on_demand(kernel: kernels.Kernel) -> None:
    _, packed = fingerprints(80, 100)
    bank = bind(kernel, packed, memory=80 * 80)
    assert isinstance(bank, PowersBank)
    gram = bank.combine(np.array([2.0]))
    assert not gram.stored
    K = 2.0 * kernel(packed)
    right = np.random.default_rng(0).normal(size=(80, 2))
    assert np.allclose(gram.multiply(right), K @ right)
    assert np.allclose(gram.solve_shifted(0.5, right), DenseGram(K).solve_shifted(0.5, right))
    assert np.allclose(bank.cross(packed[:7]).matrix(0), K[:7] / 2.0)


def test_single_precision_does_not_store_what_machines_add_in_double_precision() -> None:
    _, packed = fingerprints(80, 64)
    bank = bind(PACKED, packed, memory=6 * 80 * 80, dtype=np.float32)
    assert isinstance(bank, PowersBank)
    assert bank.B.stored is None


def test_twenty_thousand_molecules_are_forecast_within_four_gigabytes() -> None:
    _, packed = fingerprints(1, 64)
    many = np.repeat(packed, 20_000, axis=0)
    many[:, 0] = np.arange(20_000) % 256
    for model in (L1MKLClassifier(PACKED), AverageMKLClassifier(PACKED, C=1.0)):
        assert model.forecast(many, np.arange(20_000) % 2).bytes < 4e9


@pytest.mark.parametrize("estimator", [AverageMKLClassifier, AverageMKLRegressor])
def test_models_are_the_same_with_and_without_the_matrix(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, packed = fingerprints(120, 100)
    y = (plain[:, 0] + plain[:, 1] > 0).astype(int)
    stored = estimator(PACKED).fit(packed, y)
    demanded = estimator(PACKED)
    demanded.fit(bind(PACKED, packed, memory=1), y)
    assert np.allclose(demanded.dual_coef_, stored.dual_coef_, atol=1e-3)


def test_a_forecast_knows_that_the_matrix_is_not_stored() -> None:
    packed = np.random.default_rng(0).integers(0, 256, (18_000, 8))
    found = AverageMKLRegressor(PACKED, alpha=1.0).forecast(packed, np.arange(18_000.0))
    assert found.form == "evaluated in every pass"
    assert found.bytes == pytest.approx(8.0 * 18_000**2)
