"""What a fitted ridge model knows beyond its function: how sure that is, and how much of it the targets determined.

It follows from the learned kernel of the training samples, which a fit does not keep. It is evaluated when it is first
asked for, from the training samples; only where kernels were given as matrices or as a bank, whose samples nobody
knows, is it kept, as one half of a matrix for each problem.
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
    half : the packed half of its kernel matrix; None where that follows from samples
    beyond : array (r, t), what a singular kernel does not reach of the targets, where the coefficients lack it
    """

    rows: Array
    alpha: float
    weight: Array
    coef: Array
    half: Array | None = None
    beyond: Array | None = None


@dataclass(frozen=True, eq=False)
class TargetRidges(Sequence[WeightedRidge]):
    """The ridge problems of many targets on all training samples, each made when it is asked for.

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
        rest = None if self.beyond is None else self.beyond[:, index, None]
        return WeightedRidge(np.arange(n), float(self.alphas[index]), np.ones(n), column, beyond=rest)


class _Smoothers(Sequence[Any]):
    """The smoothers of problems, each made when it is asked for; kept where memory holds the matrices of all.

    Parameters
    ----------
    make : the smoother of a problem
    count : int, how many problems there are
    order : int, of the matrix that a smoother has
    """

    def __init__(self, make: Callable[[int], Any], count: int, order: int) -> None:
        self._make = make
        self._count = count
        self._all_kept = 8 * count * order**2 <= MEMORY
        self._kept: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        if not self._all_kept:
            return self._make(index)
        if index not in self._kept:
            self._kept[index] = self._make(index)
        return self._kept[index]


@dataclass(frozen=True, eq=False)
class Posterior(ABC):
    """The problems of a model as smoothers, and its standard deviations at new samples.

    Parameters
    ----------
    posed : one for each set of kernel weights, or for each target that has a ridge of its own
    fit_intercept : bool
    n_train : int, how many training samples there were
    fixed : the columns without penalty, among them the intercept; None where there are none
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
        """One for each problem."""

    @abstractmethod
    def deviations(self, bank: KernelBank, values: Array, columns: Array | None = None) -> Array:
        """At the rows of a bank of new samples: shape (rows, targets).

        Parameters
        ----------
        bank : of new samples
        values : array (m, rows), their self-values
        columns : array (rows, c), their columns without penalty, where there are some
        """

    def _smoother(self, precision: Precision, posed: WeightedRidge) -> Smoother | RestrictedSmoother:
        rest = None
        if posed.beyond is not None or precision.alpha > posed.alpha:
            rest = posed.alpha * posed.coef / posed.weight[:, None]
            if posed.beyond is not None:
                rest = rest + posed.beyond
        if precision.alpha > posed.alpha:
            warn_user(
                "standard deviations, criteria and degrees of freedom are those of a larger alpha, 1e-12 of the "
                "largest value of the kernel, beside which rounding hides a smaller one: give a larger alpha"
            )
        if self.fixed is None:
            return Smoother(precision, posed.coef, self.fit_intercept, rest)
        return RestrictedSmoother(precision, posed.coef, self.fixed.basis, rest)

    def _smoother_of(self, posed: WeightedRidge, K: Array) -> Smoother | RestrictedSmoother:
        alpha = resolved(posed.alpha, posed.weight * np.diagonal(K))
        return self._smoother(DensePrecision(alpha, posed.weight, K), posed)

    def _deviations(
        self, smoother: Smoother | RestrictedSmoother, cross: Array, prior: Array, columns: Array | None
    ) -> Array:
        if isinstance(smoother, Smoother):
            return smoother.deviations(cross, prior)
        assert self.fixed is not None
        assert columns is not None
        return smoother.deviations(cross, prior, columns @ self.fixed.map)

    def left_out(self) -> tuple[Array, Array]:
        """Residuals of training samples that are left out and their standard deviations, both (n, targets).

        They are NaN for samples that took no part.
        """
        found = []
        for part in ("left_out", "left_out_deviations"):
            columns = []
            for posed, smoother in zip(self.posed, self.smoothers, strict=True):
                whole = np.full((self.n_train, posed.coef.shape[1]), np.nan)
                whole[posed.rows] = getattr(smoother, part)
                columns.append(whole)
            found.append(np.hstack(columns))
        return found[0], found[1]


@dataclass(frozen=True, eq=False)
class KernelPosterior(Posterior):
    """Of kernels.

    Parameters
    ----------
    predictor : the function; its training samples are those of all problems
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
        posed: Sequence[WeightedRidge],
        fit_intercept: bool,
        predictor: KernelPredictor,
        samples: Any,
    ) -> KernelPosterior:
        """Of problems on a training bank; where there are no samples, their matrices are kept, or those of the bank."""
        if isinstance(posed, TargetRidges):
            return cls(posed, fit_intercept, bank.shape[1], predictor, samples, bank if samples is None else None)
        if samples is None:
            posed = [
                replace(each, half=pack(_symmetric(predictor, predictor.weights[p], _part(bank, each.rows))))
                for p, each in enumerate(posed)
            ]
        return cls(tuple(posed), fit_intercept, bank.shape[1], predictor, samples)

    @cached_property
    def smoothers(self) -> Sequence[Smoother | RestrictedSmoother]:
        return _Smoothers(self._made, len(self.posed), self.n_train)

    def _weights(self, p: int) -> Array:
        """The kernel weights of a problem: its row, or the one that all share."""
        rows = self.predictor.weights
        return np.asarray(rows[p if len(rows) > 1 else 0])

    def _made(self, p: int) -> Smoother | RestrictedSmoother:
        posed = self.posed[p]
        return self._smoother_of(posed, self._matrix(p))

    def _matrix(self, p: int) -> Array:
        """The learned kernel of the samples of a problem."""
        posed = self.posed[p]
        n = len(posed.rows)
        check_memory(3.0 * n * n, f"the inverse kernel matrix of {n} samples", "learn from fewer samples")
        if posed.half is not None:
            return unpack(posed.half, n, np.float64)
        predictor = self.predictor
        if self.bank is not None:
            return _symmetric(predictor, self._weights(p), self.bank)
        places = np.searchsorted(predictor.support, posed.rows)
        bank = predictor.reference.cross(_arrays.taken(self.samples, posed.rows)).block(slice(None), places)
        return _symmetric(predictor, self._weights(p), bank)

    def deviations(self, bank: KernelBank, values: Array, columns: Array | None = None) -> Array:
        predictor = self.predictor
        if bank.shape[1] == predictor.n_train:
            against = np.arange(predictor.n_train)
        else:
            against = predictor.support
        self_values, found = rectangular(values[:, :, None], len(values), 1), []
        for p, (posed, smoother) in enumerate(zip(self.posed, self.smoothers, strict=True)):
            weights = self._weights(p)
            prior = predictor.combination.gram(self_values, weights).dense()[:, 0]
            cross = predictor.combination.gram(bank, weights).dense()[:, np.searchsorted(against, posed.rows)]
            found.append(self._deviations(smoother, np.asarray(cross, dtype=np.float64), prior, columns))
        return np.hstack(found)


@dataclass(frozen=True, eq=False)
class FeaturePosterior(Posterior):
    """Of kernels of few features.

    Parameters
    ----------
    features : for each problem the features with a weight, int arrays (q,)
    roots : for each problem what these features are multiplied with, (q,)
    values : the features of the training samples, (n_train, all features); None where they follow from samples
    predictor : what makes features of new samples; None where they are the samples themselves
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
        posed: Sequence[WeightedRidge],
        fit_intercept: bool,
        predictor: FeaturePredictor,
        samples: Any,
    ) -> FeaturePosterior:
        """Of problems on approximate kernels."""
        sizes = predictor.reference.bank.sizes
        weights = [np.repeat(each[predictor.kernels], sizes) for each in predictor.weights]
        kept = tuple(np.flatnonzero(each) for each in weights)
        roots = tuple(np.sqrt(each[own]) for each, own in zip(weights, kept, strict=True))
        if len(kept) == 1:  # problems may share them
            kept = kept * len(posed)
            roots = roots * len(posed)
        values = None
        if samples is None:
            values = bank.select(predictor.kernels).bank.F
        return cls(posed, fit_intercept, bank.shape[0], kept, roots, values, predictor, samples)

    @property
    def needs_self_values(self) -> bool:
        return False

    @cached_property
    def smoothers(self) -> Sequence[Smoother | RestrictedSmoother]:
        return _Smoothers(self._made, len(self.posed), max(map(len, self.features)))

    def _made(self, p: int) -> Smoother | RestrictedSmoother:
        posed = self.posed[p]
        F = self.values
        if F is None:
            assert self.predictor is not None
            F = self.predictor.reference.cross(self.samples).bank.F
        G = dense_columns(F, self.features[p])[posed.rows] * self.roots[p]
        alpha = resolved(posed.alpha, posed.weight @ G**2)
        return self._smoother(FactoredPrecision(alpha, posed.weight, G), posed)

    def deviations(self, bank: KernelBank, values: Array, columns: Array | None = None) -> Array:
        """The features themselves determine the self-values."""
        whole: Any = bank
        F, found = whole.F if self.predictor is None else self.predictor.features(bank), []
        for kept, root, smoother in zip(self.features, self.roots, self.smoothers, strict=True):
            G = dense_columns(F, kept) * root
            found.append(self._deviations(smoother, G, (G**2).sum(axis=1), columns))
        return np.hstack(found)


# -- of a fitted model -------------------------------------------------------------------------------------------------


def alpha_of(model: Model, fitted: Fitted) -> float:
    """What is added to the diagonal of the kernel: the parameter ``alpha``, as given or chosen."""
    return float(fitted.numbers.get("alpha", getattr(model, "alpha", np.nan)))


def posed(model: Model, fitted: Fitted) -> WeightedRidge:
    """The ridge problem of a solution, on the samples that have a weight."""
    if fitted.sample_weight is None:
        weight = np.ones(len(fitted.rows))
    else:
        weight = fitted.sample_weight
    kept = weight > 0
    coef = as_columns(fitted.solution.coef)[kept]
    ridge = model._method.ridge
    assert ridge is not None
    beyond = fitted.solution.beyond
    if beyond is not None:
        beyond = as_columns(beyond)[kept]
    return WeightedRidge(fitted.rows[kept], ridge(model, fitted), weight[kept], coef, beyond=beyond)


def posterior_of(model: Model, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior | None:
    """Return what a fitted model keeps for standard deviations and degrees of freedom.

    None for a model of a fold, whose samples are not those that were bound, and for one that learned from sums.
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
        problems = [posed(model, each) for each in fitted]
    intercept = getattr(model, "fit_intercept", True)
    fixed = getattr(model, "_fixed_columns", None)
    if isinstance(predictor, FeaturePredictor):
        found: Posterior = FeaturePosterior.of(cast(LowRankBank, bank), problems, intercept, predictor, samples)
        return replace(found, fixed=fixed)
    assert isinstance(predictor, KernelPredictor)
    rows = np.unique(np.concatenate([each.rows for each in fitted]))
    if not isinstance(problems, TargetRidges):
        rows = np.unique(np.concatenate([each.rows for each in problems]))
    if not np.isin(rows, predictor.support).all():
        model.predictor_ = predictor = predictor.on(bank.reference(rows), rows)
    return replace(KernelPosterior.of(bank, problems, intercept, predictor, samples), fixed=fixed)


# -- parts of banks ----------------------------------------------------------------------------------------------------


def dense_columns(F: Any, columns: Array) -> Array:
    """Some columns of features, dense."""
    part = host(_arrays.taken(F, columns, axis=1))
    return np.asarray(as_dense(part), dtype=np.float64)


def _part(bank: KernelBank, rows: Array) -> KernelBank:
    """The bank of some samples, whose centre stays that of all."""
    if len(rows) == bank.shape[0]:
        return bank
    if bank.local:
        return bank.block(rows, rows)
    return IndexedBank.of(bank, rows, rows)


def _symmetric(predictor: KernelPredictor, weights: Array, bank: KernelBank) -> Array:
    K = np.asarray(predictor.combination.gram(bank, weights).dense(), dtype=np.float64)
    return 0.5 * (K + K.T)
