"""Every combination by the suite that the package offers, and combinations with a fault, which it has to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from multikernel.banks import DenseGram, Gram, KernelBank
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF, Profiles, ScaledProfile
from multikernel.testing.combinations import check_combination
from zoo_problems import COMBINATIONS, missing, small_bank

Array = Any


def test_every_combination_is_registered() -> None:
    assert not missing(Combination, COMBINATIONS.values())


@pytest.mark.parametrize("name", COMBINATIONS)
def test_it_is_a_combination(name: str) -> None:
    combination = COMBINATIONS[name]
    check_combination(combination, small_bank(isinstance(combination, ProductOfRBF | Profiles | ScaledProfile)))


@dataclass(frozen=True)
class Faulty(Linear):
    """The square of a sum that is taken for linear."""

    def gram(self, bank: KernelBank, theta: Array) -> Gram:
        return HadamardPower(2).gram(bank, theta)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return HadamardPower(2).pullback(bank, theta, A)

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return HadamardPower(2).images(bank, theta, A)

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return HadamardPower(2).second(bank, theta, A)


@dataclass(frozen=True)
class Modest(Linear):
    """A sum that does not know that it is linear."""

    linear: ClassVar[bool] = False


@dataclass(frozen=True)
class Concave(HadamardPower):
    """A square that is taken for concave in the weights themselves."""

    def powers(self, bank: KernelBank) -> Array:
        return np.ones(len(bank))


@dataclass(frozen=True)
class HalfGradient(HadamardPower):
    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return 0.5 * super().pullback(bank, theta, A)


@dataclass(frozen=True)
class OtherImages(HadamardPower):
    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return Linear().images(bank, theta, A)


@dataclass(frozen=True)
class NoCurvature(HadamardPower):
    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return np.zeros((len(theta), len(theta)))


@dataclass(frozen=True)
class TwiceTheShares(Linear):
    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        return 2.0 * super().shares(bank, theta, C)


@dataclass(frozen=True)
class LowPeaks(Linear):
    def peaks(self, bank: KernelBank, theta: Array) -> Array:
        return 0.5 * bank.diagonal().max(axis=1)


@dataclass(frozen=True)
class Idle(Linear):
    def idle(self, bank: KernelBank) -> Array:
        return np.arange(len(bank)) == 1


@dataclass(frozen=True)
class Centred(Linear):
    """Its matrix of new samples is not a part of that of the samples."""

    def gram(self, bank: KernelBank, theta: Array) -> Gram:
        K = bank.combine(theta).dense()
        return DenseGram(K - K.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean())


@pytest.mark.parametrize(
    ("combination", "said"),
    [
        (Faulty(), "says that it is linear and is not"),
        (Modest(), "linear and does not say so"),
        (Concave(2), "not concave in powers"),
        (HalfGradient(2), "pullback is not the gradient"),
        (OtherImages(2), "images are not the derivatives"),
        (NoCurvature(2), "second is not the derivative"),
        (TwiceTheShares(), "shares do not add up"),
        (LowPeaks(), "larger entry than its peak"),
        (Idle(), "called idle change the matrix"),
        (Centred(), "a part of the samples has another matrix"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_suite_finds_what_is_wrong(combination: Combination, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_combination(combination, small_bank())
