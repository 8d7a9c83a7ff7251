"""The functions of two layers, and their posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.posterior import Posterior
from multikernel.estimators.predictor import Predictor
from multikernel.machines.ridge.restricted import RestrictedSmoother
from multikernel.machines.ridge.smoother import Smoother
from multikernel.procedures.two_layers import SecondLayer


@dataclass(frozen=True, eq=False)
class TwoLayerPredictor(Predictor):
    """f(x) = sum_j coef_j k2(f1(x_j), f1(x)) + intercept, f1 with a function of every kernel.

    Parameters
    ----------
    reference : bank with the training samples as columns and no rows, for kernels with new samples
    support : int array (n,), all training samples
    n_train : int, how many training samples there are
    first : array (n, m), coefficients of the first layer
    outputs : array (r, m), the first layer at the samples that took part
    second : SecondLayer
    coef : array (t, r), of every target
    intercept : array (t,)
    """

    reference: KernelBank
    support: Array
    n_train: int
    first: Array
    outputs: Array
    second: SecondLayer
    coef: Array
    intercept: Array

    @property
    def n_kernels(self) -> int:
        """How many kernels a bank of new samples has."""
        return self.first.shape[1]

    def first_layer(self, bank: KernelBank) -> Array:
        """f1 at the rows of a bank, shape (rows, m)."""
        kernels, Z = np.flatnonzero(self.first.any(axis=0)), np.zeros((bank.shape[0], self.first.shape[1]))
        for k in kernels:
            Z[:, k] = product(bank.matrix(int(k)), self.first[:, k])
        return Z

    def kernel(self, Z: Array, W: Array) -> Array:
        """The learned kernel on outputs of the first layer."""
        return self.second(Z, W)

    def values(self, bank: KernelBank) -> Array:
        return product(self.second(self.first_layer(bank), self.outputs), self.coef.T) + self.intercept

    def contributions(self, bank: KernelBank, problems: slice = slice(None)) -> Array:
        raise ValueError(
            "the second layer is no sum of what kernels add: first_layer(X) returns the function of each of them"
        )

    @property
    def functions(self) -> tuple[TwoLayerPredictor, ...]:
        """The function of each problem."""
        return (self,)


@dataclass(frozen=True, eq=False)
class TwoLayerPredictors(Predictor):
    """The functions of several problems, each with two separate layers.

    Parameters
    ----------
    functions : tuple of TwoLayerPredictor, all of the same reference
    """

    functions: tuple[TwoLayerPredictor, ...]

    @property
    def reference(self) -> KernelBank:
        """The bank with the training samples as columns."""
        return self.functions[0].reference

    @property
    def support(self) -> Array:
        """All training samples."""
        return self.functions[0].support

    @property
    def n_train(self) -> int:
        """How many training samples there are."""
        return self.functions[0].n_train

    @property
    def n_kernels(self) -> int:
        """How many kernels a bank of new samples has."""
        return self.functions[0].n_kernels

    def first_layer(self, bank: KernelBank) -> Array:
        """f1 of every problem at the rows of a bank, shape (rows, m, problems)."""
        return np.stack([function.first_layer(bank) for function in self.functions], axis=2)

    def kernel(self, Z: Array, W: Array) -> Array:
        """The mean of the problems' learned kernels on outputs of their first layers."""
        kernels = [function.second(Z[:, :, p], W[:, :, p]) for p, function in enumerate(self.functions)]
        return np.asarray(np.mean(kernels, axis=0))

    def values(self, bank: KernelBank) -> Array:
        return np.concatenate([function.values(bank) for function in self.functions], axis=1)

    def contributions(self, bank: KernelBank, problems: slice = slice(None)) -> Array:
        return self.functions[0].contributions(bank, problems)


@dataclass(frozen=True, eq=False)
class TwoLayerPosterior(Posterior):
    """The posterior of the second layer; the first layer is taken as known."""

    predictor: TwoLayerPredictor | TwoLayerPredictors

    @property
    def needs_self_values(self) -> bool:
        return False

    @cached_property
    def smoothers(self) -> Sequence[Smoother | RestrictedSmoother]:
        return [
            self._smoother_of(problem, function.second(function.outputs, function.outputs))
            for problem, function in zip(self.posed, self.predictor.functions, strict=True)
        ]

    def deviations(self, bank: KernelBank, values: Array, columns: Array | None = None) -> Array:
        function = self.predictor.functions[0]
        Z = function.first_layer(bank)
        cross = function.second(Z, function.outputs)
        return self._deviations(self.smoothers[0], cross, function.second.diagonal(Z), None)
