"""Standard deviations, degrees of freedom and criteria of a fitted ridge model.

All of these follow from the learned kernel matrix of the training samples, which a fit does not keep: it is evaluated
from the training samples when one of these numbers is first read. Only where the user gave kernels as matrices or as a
bank, and samples are not known, is one half of this symmetric matrix kept for each problem.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from multikernel import _arrays
from multikernel._arrays import as_dense, host
from multikernel._linalg import as_columns
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks import KernelBank
from multikernel.banks.base import MEMORY
from multikernel.banks.indexed import IndexedBank
from multikernel.banks.low_rank import LowRankBank
from multikernel.banks.packing import pack, unpack
from multikernel.banks.precomputed import rectangular
from multikernel.estimators.feature_predictor import FeaturePredictor
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.protocol import Fitted, Model
from multikernel.machines.ridge.precision import DensePrecision, FactoredPrecision, Precision, resolved
from multikernel.machines.ridge.restricted import RestrictedSmoother
from multikernel.machines.ridge.smoother import Smoother
from multikernel.procedures.ridge_cv.fixed import FixedColumns


@dataclass(frozen=True, eq=False)
class WeightedRidge:
    """One ridge problem.

    Parameters
    ----------
    rows : int array (r,), the training samples that take part
    alpha : float > 0
    weight : array (r,) > 0, weights of these samples
    coef : array (r, t), coefficients of its targets
    half : the packed half of its kernel matrix; None where the matrix follows from samples
    beyond : array (r, t), the part of the targets outside the range of a singular kernel matrix, where the coefficients
        do not contain it
    """

    rows: Array
    alpha: float
    weight: Array
    coef: Array
    half: Array | None = None
    beyond: Array | None = None


@dataclass(frozen=True, eq=False)
class TargetRidges(Sequence[WeightedRidge]):
    """The ridge problems of many targets on all training samples; each is made when it is read.

    Parameters
    ----------
    alphas : array (t,)
    coef : array (n, t)
    beyond : array (n, t) or None, as for each of the problems
    """

    alphas: Array
    coef: Array
    beyond: Array | None = None

    def __len__(self) -> int:
        return len(self.alphas)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        n = len(self.coef)
        column = self.coef[:, index, None]
        beyond = None if self.beyond is None else self.beyond[:, index, None]
        return WeightedRidge(np.arange(n), float(self.alphas[index]), np.ones(n), column, beyond=beyond)


class _Smoothers(Sequence[Any]):
    """The smoothers of problems; each is made when it is read, and stored where memory holds the matrices of all.

    Parameters
    ----------
    make : the smoother of a problem
    count : int, how many problems there are
    order : int, the order of a smoother's matrix
    """

    def __init__(self, make: Callable[[int], Any], count: int, order: int) -> None:
        self._make = make
        self._count = count
        self._stores_all = 8 * count * order**2 <= MEMORY
        self._stored: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        if not self._stores_all:
            return self._make(index)
        if index not in self._stored:
            self._stored[index] = self._make(index)
        return self._stored[index]


@dataclass(frozen=True, eq=False)
class Posterior(ABC):
    """The problems of a model as smoothers, and its standard deviations at new samples.

    Parameters
    ----------
    posed : the ridge problems, one for each set of kernel weights, or for each target with a separate ridge
    fit_intercept : bool
    n_train : int, how many training samples there were
    fixed : the columns without penalty, with the intercept; None where there are none
    """

    posed: Sequence[WeightedRidge]
    fit_intercept: bool
    n_train: int
    fixed: FixedColumns | None = field(default=None, kw_only=True)

    @property
    def needs_self_values(self) -> bool:
        """Whether standard deviations need the kernels of new samples with themselves."""
        return True

    @property
    @abstractmethod
    def smoothers(self) -> Sequence[Smoother | RestrictedSmoother]:
        """The smoother of each problem."""

    @abstractmethod
    def deviations(self, bank: KernelBank, values: Array, columns: Array | None = None) -> Array:
        """Standard deviations at the rows of a bank of new samples: shape (rows, targets).

        Parameters
        ----------
        bank : of new samples
        values : array (m, rows), their self-values
        columns : array (rows, c), their columns without penalty, where there are some
        """

    def _smoother(self, precision: Precision, problem: WeightedRidge) -> Smoother | RestrictedSmoother:
        residuals = None
        if problem.beyond is not None or precision.alpha > problem.alpha:
            residuals = problem.alpha * problem.coef / problem.weight[:, None]
            if problem.beyond is not None:
                residuals = residuals + problem.beyond
        if precision.alpha > problem.alpha:
            warn_user(
                "standard deviations, criteria and degrees of freedom are those of a larger alpha, 1e-12 of the "
                "largest value of the kernel, beside which rounding hides a smaller one: give a larger alpha"
            )
        if self.fixed is None:
            return Smoother(precision, problem.coef, self.fit_intercept, residuals)
        return RestrictedSmoother(precision, problem.coef, self.fixed.basis, residuals)

    def _smoother_of(self, problem: WeightedRidge, K: Array) -> Smoother | RestrictedSmoother:
        alpha = resolved(problem.alpha, problem.weight * np.diagonal(K))
        return self._smoother(DensePrecision(alpha, problem.weight, K), problem)

    def _deviations(
        self, smoother: Smoother | RestrictedSmoother, cross: Array, prior: Array, columns: Array | None
    ) -> Array:
        if isinstance(smoother, Smoother):
            return smoother.deviations(cross, prior)
        assert self.fixed is not None
        assert columns is not None
        return smoother.deviations(cross, prior, columns @ self.fixed.map)

    def left_out(self) -> tuple[Array, Array]:
        """Leave-one-out residuals of the training samples and their standard deviations, both (n, targets).

        Both are NaN for samples that no problem was fitted to.
        """
        results = []
        for attribute in ("left_out", "left_out_deviations"):
            columns = []
            for problem, smoother in zip(self.posed, self.smoothers, strict=True):
                values = np.full((self.n_train, problem.coef.shape[1]), np.nan)
                values[problem.rows] = getattr(smoother, attribute)
                columns.append(values)
            results.append(np.hstack(columns))
        return results[0], results[1]


@dataclass(frozen=True, eq=False)
class KernelPosterior(Posterior):
    """The posterior of a function of kernels.

    Parameters
    ----------
    predictor : the function; its reference has the training samples of all problems
    samples : the training samples; None where the problems keep their matrices
    bank : the training bank, where there are no samples and more problems than kernels; None elsewhere
    """

    predictor: KernelPredictor
    samples: Any
    bank: KernelBank | None = None

    @classmethod
    def of(
        cls,
        bank: KernelBank,
        problems: Sequence[WeightedRidge],
        fit_intercept: bool,
        predictor: KernelPredictor,
        samples: Any,
    ) -> KernelPosterior:
        """The posterior of problems on a training bank; without samples it keeps their matrices, or the bank."""
        if isinstance(problems, TargetRidges):
            return cls(problems, fit_intercept, bank.shape[1], predictor, samples, bank if samples is None else None)
        if samples is None:
            problems = [
                replace(problem, half=_packed(predictor, predictor.weights[p], _principal_block(bank, problem.rows)))
                for p, problem in enumerate(problems)
            ]
        return cls(tuple(problems), fit_intercept, bank.shape[1], predictor, samples)

    @cached_property
    def smoothers(self) -> Sequence[Smoother | RestrictedSmoother]:
        return _Smoothers(self._smoother_of_problem, len(self.posed), self.n_train)

    def _weights(self, p: int) -> Array:
        """The kernel weights of a problem: its row of the predictor's weights, or the row that all problems share."""
        rows = self.predictor.weights
        return np.asarray(rows[p if len(rows) > 1 else 0])

    def _smoother_of_problem(self, p: int) -> Smoother | RestrictedSmoother:
        problem = self.posed[p]
        return self._smoother_of(problem, self._matrix(p))

    def _matrix(self, p: int) -> Array:
        """The learned kernel of the samples of a problem."""
        problem = self.posed[p]
        n = len(problem.rows)
        check_memory(3.0 * n * n, f"the inverse kernel matrix of {n} samples", "learn from fewer samples")
        if problem.half is not None:
            return unpack(problem.half, n, np.float64)
        predictor = self.predictor
        if self.bank is not None:
            return _symmetric(predictor, self._weights(p), self.bank)
        columns = np.searchsorted(predictor.support, problem.rows)
        bank = predictor.reference.cross(_arrays.taken(self.samples, problem.rows)).block(slice(None), columns)
        return _symmetric(predictor, self._weights(p), bank)

    def deviations(self, bank: KernelBank, values: Array, columns: Array | None = None) -> Array:
        predictor = self.predictor
        if bank.shape[1] == predictor.n_train:
            against = np.arange(predictor.n_train)
        else:
            against = predictor.support
        self_values, blocks = rectangular(values[:, :, None], len(values), 1), []
        for p, (problem, smoother) in enumerate(zip(self.posed, self.smoothers, strict=True)):
            weights = self._weights(p)
            prior = predictor.combination.gram(self_values, weights).dense()[:, 0]
            cross = predictor.combination.gram(bank, weights).dense()[:, np.searchsorted(against, problem.rows)]
            blocks.append(self._deviations(smoother, np.asarray(cross, dtype=np.float64), prior, columns))
        return np.hstack(blocks)


@dataclass(frozen=True, eq=False)
class FeaturePosterior(Posterior):
    """The posterior of a function of few features.

    Parameters
    ----------
    features : for each problem the features with a positive weight, int arrays (q,)
    roots : for each problem the square roots of the weights of these features, (q,)
    values : the features of the training samples, (n_train, all features); None where they follow from samples
    predictor : computes the features of new samples; None where these are the samples themselves
    samples : the training samples, where their features are not kept
    """

    features: tuple[Array, ...]
    roots: tuple[Array, ...]
    values: Any = None
    predictor: FeaturePredictor | None = None
    samples: Any = None

    @classmethod
    def of(
        cls,
        bank: LowRankBank,
        problems: Sequence[WeightedRidge],
        fit_intercept: bool,
        predictor: FeaturePredictor,
        samples: Any,
    ) -> FeaturePosterior:
        """The posterior of problems on approximate kernels."""
        sizes = predictor.reference.bank.sizes
        # the weight of a kernel is that of each of its features
        weights = [np.repeat(row[predictor.kernels], sizes) for row in predictor.weights]
        features = tuple(np.flatnonzero(row) for row in weights)
        roots = tuple(np.sqrt(row[columns]) for row, columns in zip(weights, features, strict=True))
        if len(features) == 1:  # problems may share their weights
            features = features * len(problems)
            roots = roots * len(problems)
        values = None
        if samples is None:
            values = bank.select(predictor.kernels).bank.F
        return cls(problems, fit_intercept, bank.shape[0], features, roots, values, predictor, samples)

    @property
    def needs_self_values(self) -> bool:
        return False

    @cached_property
    def smoothers(self) -> Sequence[Smoother | RestrictedSmoother]:
        return _Smoothers(self._smoother_of_problem, len(self.posed), max(map(len, self.features)))

    def _smoother_of_problem(self, p: int) -> Smoother | RestrictedSmoother:
        problem = self.posed[p]
        F = self.values
        if F is None:
            assert self.predictor is not None
            F = self.predictor.reference.cross(self.samples).bank.F
        G = dense_columns(F, self.features[p])[problem.rows] * self.roots[p]
        alpha = resolved(problem.alpha, problem.weight @ G**2)
        return self._smoother(FactoredPrecision(alpha, problem.weight, G), problem)

    def deviations(self, bank: KernelBank, values: Array, columns: Array | None = None) -> Array:
        """Standard deviations; the features determine the self-values, and ``values`` is not used."""
        feature_bank: Any = bank
        F, blocks = feature_bank.F if self.predictor is None else self.predictor.features(bank), []
        for columns_of_problem, root, smoother in zip(self.features, self.roots, self.smoothers, strict=True):
            G = dense_columns(F, columns_of_problem) * root
            blocks.append(self._deviations(smoother, G, (G**2).sum(axis=1), columns))
        return np.hstack(blocks)


# -- posteriors of fitted models ---------------------------------------------------------------------------------------


def alpha_of(model: Model, fitted: Fitted) -> float:
    """What is added to the diagonal of the kernel: the parameter ``alpha``, as given or chosen."""
    return float(fitted.numbers.get("alpha", getattr(model, "alpha", np.nan)))


def ridge_problem(model: Model, fitted: Fitted) -> WeightedRidge:
    """The ridge problem of a solution, on the samples of positive weight."""
    if fitted.sample_weight is None:
        weight = np.ones(len(fitted.rows))
    else:
        weight = fitted.sample_weight
    weighted = weight > 0
    coef = as_columns(fitted.solution.coef)[weighted]
    ridge = model._method.ridge
    assert ridge is not None
    beyond = fitted.solution.beyond
    if beyond is not None:
        beyond = as_columns(beyond)[weighted]
    return WeightedRidge(fitted.rows[weighted], ridge(model, fitted), weight[weighted], coef, beyond=beyond)


def posterior_of(model: Model, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior | None:
    """Return the posterior of a fitted model.

    It is None for a model of a fold, whose samples are not those that were bound, and for one that learned from sums.
    """
    samples, predictor = model._samples_bound, model.predictor_
    if getattr(model, "_state", None) is not None:
        return None
    if samples is not None and samples.shape[0] != bank.shape[0]:
        return None
    assert model._method.ridge is not None
    alphas: Any = model._method.ridge(model, fitted[0])
    if np.ndim(alphas):  # one for each of many targets
        problems: Sequence[WeightedRidge] = TargetRidges(alphas, fitted[0].solution.coef, fitted[0].solution.beyond)
    else:
        problems = [ridge_problem(model, solution) for solution in fitted]
    intercept = getattr(model, "fit_intercept", True)
    fixed = getattr(model, "_fixed_columns", None)
    if isinstance(predictor, FeaturePredictor):
        posterior: Posterior = FeaturePosterior.of(cast(LowRankBank, bank), problems, intercept, predictor, samples)
        return replace(posterior, fixed=fixed)
    assert isinstance(predictor, KernelPredictor)
    rows = np.unique(np.concatenate([solution.rows for solution in fitted]))
    if not isinstance(problems, TargetRidges):
        rows = np.unique(np.concatenate([problem.rows for problem in problems]))
    if not np.isin(rows, predictor.support).all():
        model.predictor_ = predictor = predictor.on(bank.reference(rows), rows)
    return replace(KernelPosterior.of(bank, problems, intercept, predictor, samples), fixed=fixed)


# -- parts of banks ----------------------------------------------------------------------------------------------------


def dense_columns(F: Any, columns: Array) -> Array:
    """Columns of features, as a dense matrix."""
    selected = host(_arrays.taken(F, columns, axis=1))
    return np.asarray(as_dense(selected), dtype=np.float64)


def _principal_block(bank: KernelBank, rows: Array) -> KernelBank:
    """The square bank of some samples; centred kernels keep the centre of all samples."""
    if len(rows) == bank.shape[0]:
        return bank
    if bank.local:
        return bank.block(rows, rows)
    return IndexedBank.of(bank, rows, rows)


def _packed(predictor: KernelPredictor, weights: Array, bank: KernelBank) -> Array:
    """The packed half of the learned kernel matrix of a bank."""
    return pack(_symmetric(predictor, weights, bank))


def _symmetric(predictor: KernelPredictor, weights: Array, bank: KernelBank) -> Array:
    K = np.asarray(predictor.combination.gram(bank, weights).dense(), dtype=np.float64)
    return 0.5 * (K + K.T)
