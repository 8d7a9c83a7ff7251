"""A fitted function, as a frozen value.

f_p(x) = sum_i coef_pi k_p(x_i, x) + intercept_p,    k_p the combination of the kernels with the weights of problem p
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.combinations import Combination, Linear
from multikernel.tuning import PIECE_VALUES, PRODUCT_ROWS, SUPPORT_SHARE


class Predictor(ABC):
    """The function values of one problem, or of several, at new samples."""

    @abstractmethod
    def values(self, bank: KernelBank) -> Array:
        """f at the rows of a bank of new samples: shape (rows, problems)."""

    @abstractmethod
    def contributions(self, bank: KernelBank, problems: slice = slice(None)) -> Array:
        """What each kernel adds to f - intercept, at the rows of a bank: shape (rows, kernels, problems).

        ``problems`` selects problems; by default all of them.

        Raises
        ------
        ValueError : where the kernels' combination is no sum
        """

    def at(self, banks: Callable[[], Iterator[KernelBank]]) -> Array:
        """f at the rows of several banks, one after the other."""
        return np.concatenate([self.values(bank) for bank in banks()])


@dataclass(frozen=True, eq=False)
class KernelPredictor(Predictor):
    """A function of the kernels between new samples and some of the training samples.

    Parameters
    ----------
    reference : bank with these training samples as columns and no rows, for kernels with new samples
    support : int array (c,), which of the training samples these are
    n_train : int, how many training samples there were
    coef : array (problems, c)
    intercept : array (problems,)
    weights : array (problems, m), or (1, m) where the problems share them, of the kernels as the user gave them
    combination : how weights make a kernel
    """

    reference: KernelBank
    support: Array
    n_train: int
    coef: Array
    intercept: Array
    weights: Array
    combination: Combination

    @classmethod
    def of(
        cls, bank: KernelBank, coef: Array, intercept: Array, weights: Array, combination: Combination
    ) -> KernelPredictor:
        """The predictor of coefficients (problems, n) over a training bank; its support has a nonzero coefficient."""
        support = np.flatnonzero(coef.any(axis=0))
        if not len(support):
            support = np.arange(1)  # a constant function, which a bank can still evaluate
        reference = bank.reference(support)
        coef_of_support = coef if len(support) == bank.shape[1] else coef[:, support]
        return cls(reference, support, bank.shape[1], coef_of_support, intercept, weights, combination)

    @property
    def n_kernels(self) -> int:
        """How many kernels a bank of new samples has."""
        return len(self.reference)

    @property
    def linear(self) -> bool:
        """Whether the kernel is the weighted sum of the kernels."""
        return self.combination == Linear()

    def on(self, reference: KernelBank, support: Array) -> KernelPredictor:
        """The same function on a shared reference, which may have more training samples as columns."""
        coef = self.over_all()[:, support]
        return replace(self, reference=reference, support=support, coef=coef)

    def over_all(self) -> Array:
        """The coefficients over all training samples, shape (problems, n)."""
        coef = np.zeros((len(self.coef), self.n_train))
        coef[:, self.support] = self.coef
        return coef

    def over_columns(self, bank: KernelBank) -> Array:
        """The coefficients over a bank's columns: the support, or all training samples."""
        if bank.shape[1] == len(self.support):
            return self.coef
        return self.over_all()

    def values(self, bank: KernelBank) -> Array:
        if self.linear and len(self.weights) > len(bank) and (bank.local or not bank.square):
            return self._of_many(bank)
        coef, shared = self.over_columns(bank), len(self.weights) == 1
        values = np.tile(self.intercept, (bank.shape[0], 1))
        for p in range(len(self.weights)):
            problems = slice(None) if shared else slice(p, p + 1)
            A = coef[problems].T
            samples = np.flatnonzero(A.any(axis=1))  # in one-vs-one problems the samples of two classes
            if len(samples):
                # the matrices of a square bank that is not local depend on all its samples: a block has other values
                cut = len(samples) <= SUPPORT_SHARE * len(A) and (bank.local or not bank.square)
                if cut:
                    block, A = (bank.block(slice(None), samples), A[samples])
                else:
                    block, A = (bank, A)
                values[:, problems] += self.combination.gram(block, self.weights[p]).multiply(A)
        return values

    def _of_many(self, bank: KernelBank) -> Array:
        """The values where problems are more than kernels: each kernel is multiplied with blocks of coefficients."""
        coef, m = self.over_columns(bank), len(bank)
        values = np.empty((bank.shape[0], len(coef)))
        for rows in slices(bank.shape[0], PRODUCT_ROWS):
            block = bank.block(np.arange(rows.start, rows.stop), slice(None))
            for problems in slices(len(coef), max(1, PIECE_VALUES // (m * block.shape[0]))):
                products = block.apply(np.asarray(coef[problems].T, dtype=np.float64))
                values[rows, problems] = np.einsum("krp,pk->rp", products, self.weights[problems])
        values += self.intercept
        return values

    def contributions(self, bank: KernelBank, problems: slice = slice(None)) -> Array:
        C = np.asarray(self.over_columns(bank)[problems].T, dtype=np.float64)
        samples = np.flatnonzero(C.any(axis=1))
        if 0 < len(samples) < len(C) and (bank.local or not bank.square):
            bank, C = bank.block(slice(None), samples), C[samples]
        if len(self.weights) == 1:
            shares = self.combination.shares(bank, self.weights[0], C)
        else:
            shares = self.combination.shares_of_each(bank, self.weights[problems], C)
        return shares.transpose(1, 0, 2)

    def gram(self, bank: KernelBank) -> Array:
        """The learned kernel of a bank, dense; where problems have separate weights, the mean over the problems."""
        grams = [self.combination.gram(bank, weights).dense() for weights in self.weights]
        if len(grams) == 1:
            return grams[0].copy()
        return np.mean(grams, axis=0)


@dataclass(frozen=True, eq=False)
class KnownValues(Predictor):
    """Function values that were computed before, returned for any samples.

    Parameters
    ----------
    function_values : array (n, problems)
    """

    function_values: Array

    def values(self, bank: KernelBank) -> Array:
        return self.function_values

    def contributions(self, bank: KernelBank, problems: slice = slice(None)) -> Array:
        raise ValueError("this copy of the model has function values only: take contributions of the model itself")

    def at(self, banks: Callable[[], Iterator[KernelBank]]) -> Array:
        return self.function_values


def with_known_values(model: Any, values: Array) -> Any:
    """A copy of a model that predicts from known function values, shape (len(X), problems), for any X."""
    copied = copy(model)
    copied.predictor_ = KnownValues(values)
    return copied
