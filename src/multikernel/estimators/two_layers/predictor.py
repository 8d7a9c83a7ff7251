"""The function of two layers, and what it knows of its errors."""

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
from multikernel.machines.ridge.precision import DensePrecision
from multikernel.machines.ridge.smoother import Smoother
from multikernel.procedures.two_layers import SecondLayer


@dataclass(frozen=True, eq=False)
class TwoLayerPredictor(Predictor):
    """f(x) = sum_j coef_j k2(f1(x_j), f1(x)) + intercept, f1 with a function of every kernel.

    Parameters
    ----------
    reference : bank with the training samples as columns and no rows, to meet new samples
    support : int array (n,), all training samples
    n_train : int, how many there are
    first : array (n, m), coefficients of the first layer
    outputs : array (n, m), the first layer at the training samples
    second : SecondLayer
    coef : array (1, n)
    intercept : array (1,)
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
        used, Z = np.flatnonzero(self.first.any(axis=0)), np.zeros((bank.shape[0], self.first.shape[1]))
        for k in used:
            Z[:, k] = product(bank.matrix(int(k)), self.first[:, k])
        return Z

    def values(self, bank: KernelBank) -> Array:
        return product(self.second(self.first_layer(bank), self.outputs), self.coef.T) + self.intercept

    def contributions(self, bank: KernelBank) -> Array:
        raise ValueError("the second layer is no sum of what kernels add: first_layer(X) tells what each of them says")


@dataclass(frozen=True, eq=False)
class TwoLayerPosterior(Posterior):
    """Of the second layer, the first taken as known."""

    predictor: TwoLayerPredictor

    @property
    def needs_self_values(self) -> bool:
        return False

    @cached_property
    def smoothers(self) -> Sequence[Smoother]:
        posed, Z = self.posed[0], self.predictor.outputs
        precision = DensePrecision(posed.alpha, posed.weight, self.predictor.second(Z, Z))
        return [Smoother(precision, posed.coef, self.fit_intercept)]

    def deviations(self, bank: KernelBank, values: Array) -> Array:
        Z, second = self.predictor.first_layer(bank), self.predictor.second
        return self.smoothers[0].deviations(second(Z, self.predictor.outputs), second.diagonal(Z))
