"""A fitted function of few features: f_p(x) = phi(x)'coef_p + intercept_p, without the training samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.low_rank import LowRankBank
from multikernel.banks.low_rank.nystroem import Nystroem
from multikernel.combinations import Combination, HadamardPower, Linear
from multikernel.estimators.predictor import KernelPredictor, Predictor


@dataclass(frozen=True, eq=False)
class FeaturePredictor(Predictor):
    """A function of the features of approximate kernels.

    Parameters
    ----------
    reference : LowRankBank without rows and columns, of the kernels with a weight in some problem
    kernels : int array, which kernels these are
    n_train : int, how many training samples there were
    coef : array (problems, q), of their features
    intercept : array (problems,)
    weights : array (problems, m), or (1, m) where the problems share them; of all kernels
    """

    reference: LowRankBank
    kernels: Array
    n_train: int
    coef: Array
    intercept: Array
    weights: Array

    @classmethod
    def of(cls, bank: LowRankBank, coef: Array, intercept: Array, weights: Array) -> FeaturePredictor:
        """The predictor of coefficients (problems, n) over a training bank."""
        # where landmarks are rows of matrices, new samples come with the matrices of all kernels
        needs_all_kernels = isinstance(bank.map, Nystroem) and bank.map.rows is not None
        needed = weights.any(axis=0) | needs_all_kernels
        kernels = np.flatnonzero(needed if needed.any() else np.arange(weights.shape[1]) == 0)
        scale = np.repeat(weights, bank.bank.sizes, axis=1)
        columns = bank.bank.columns_of(kernels)
        features = product(bank.bank.H.T, np.ascontiguousarray(coef.T)).T * scale
        reference = bank.reference(np.arange(0)).select(kernels)
        return cls(reference, kernels, bank.shape[1], features[:, columns], intercept, weights)

    @property
    def n_kernels(self) -> int:
        """How many kernels a bank of new samples has."""
        return int(self.weights.shape[1])

    @property
    def support(self) -> Array:
        """The training samples that are columns of a bank of new samples: the landmarks, or none."""
        rows = None
        if isinstance(self.reference.map, Nystroem):
            rows = self.reference.map.rows
        if rows is None:
            return np.arange(0)
        return rows

    def values(self, bank: KernelBank) -> Array:
        return product(self.features(bank), np.ascontiguousarray(self.coef.T)) + self.intercept

    def contributions(self, bank: KernelBank, problems: slice = slice(None)) -> Array:
        F, sizes, coef = self.features(bank), self.reference.bank.sizes, self.coef[problems]
        contributions = np.zeros((len(F), self.weights.shape[1], len(coef)))
        for k, end, size in zip(self.kernels, np.cumsum(sizes), sizes, strict=True):
            columns = slice(end - size, end)
            contributions[:, k] = F[:, columns] @ coef[:, columns].T
        return contributions

    def gram(self, bank: KernelBank) -> Array:
        """The learned kernel of a bank, dense; where problems have separate weights, the mean over the problems."""
        weights = self.weights.mean(axis=0)
        return bank.combine(weights if len(bank) == len(weights) else weights[self.kernels]).dense()

    def between(self, Z: Any) -> LowRankBank:
        """The bank whose columns are some samples."""
        return self.reference.on(Z)

    def features(self, bank: KernelBank) -> Array:
        """The features of the rows of a bank, which has the used kernels, all kernels, or the support as columns."""
        if not isinstance(bank, LowRankBank):
            assert isinstance(self.reference.map, Nystroem)
            return self.reference.map.of_values(bank)
        has_all_kernels = len(bank) == self.n_kernels > len(self.kernels)
        return (bank.select(self.kernels) if has_all_kernels else bank).bank.F


def predictor_of(
    bank: KernelBank, coef: Array, intercept: Array, weights: Array, combination: Combination
) -> KernelPredictor | FeaturePredictor:
    """The predictor of coefficients (problems, n) over a training bank, in the form that needs the least memory."""
    if isinstance(bank, LowRankBank) and combination in (Linear(), HadamardPower(1)):
        return FeaturePredictor.of(bank, coef, intercept, weights)
    return KernelPredictor.of(bank, coef, intercept, weights, combination)
