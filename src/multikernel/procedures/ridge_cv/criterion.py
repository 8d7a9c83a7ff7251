"""Criteria that choose kernel weights and a ridge: a number for K(v) = sum_k v_k K_k, v >= 0, with ridge 1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.procedures.ridge_cv.model import QuadraticModel

SMALL_ERROR = 1e-2  # of the error of a constant predictor: steps from a smaller one need not gain more than from it


@dataclass(frozen=True, eq=False)
class Point:
    """Weights v, and what was computed of the criterion there: an object with a ``value``, in some with ``errors``."""

    v: Array
    evaluation: Any

    @property
    def errors(self) -> Array:
        """The error of each target, where the value is the sum of errors."""
        return np.asarray(self.evaluation.errors)

    @property
    def value(self) -> float:
        return float(self.evaluation.value)


@dataclass(frozen=True, eq=False)
class TargetModels:
    """Quadratic models of the errors of some targets, L_t(v + s) = L_t(v) + 2 slope_t's + s'C_t s.

    Parameters
    ----------
    slopes : array (t, m), half of the gradients
    curvatures : array (t, m, m)
    """

    slopes: Array
    curvatures: Array


@dataclass(frozen=True, eq=False)
class SharedWeights(ABC):
    """Weights v whose matrices are factored once for all targets of a criterion; ``index`` are numbers of targets."""

    v: Array

    @abstractmethod
    def errors(self, index: Array) -> Array:
        """The error of each of these targets."""

    @abstractmethod
    def models(self, index: Array) -> TargetModels:
        """The models of these targets at v."""

    def coef(self, index: Array) -> Array | None:
        """The coefficients of these targets on all samples, (n, t), with weights v / sum(v) and ridge 1 / sum(v).

        v = 0 has ridge 1; None where coefficients are not known.
        """
        return None

    def ends(self, index: Array, tol: float, along: Array | None = None) -> Ends:
        """The minima near v, each at a target's own weights, of those targets for which they are known to ``tol``.

        With ``along`` (m,), of which v is a multiple, weights of each target are a multiple of ``along``, and the
        variable of ``Ends`` is this one number.
        """
        return Ends.joined([], len(self.v) if along is None else 1)

    def coef_near(self, index: Array, v: Array) -> Array | None:
        """The coefficients of targets that ended near v, each with its weights (t, m)."""
        return None


@dataclass(frozen=True, eq=False)
class Ends:
    """The points where some targets ended, as arrays over targets.

    Parameters
    ----------
    index : integer array (t,), the targets
    v : array (t, m), weights for a ridge of 1
    errors : array (t,)
    slopes : array (t, m), half of the gradients
    curvatures : array (t, m, m)
    """

    index: Array
    v: Array
    errors: Array
    slopes: Array
    curvatures: Array

    @classmethod
    def joined(cls, groups: Sequence[Ends], m: int) -> Ends:
        """The ends of several groups of targets, with m kernels."""
        none = cls(np.zeros(0, dtype=np.int64), np.zeros((0, m)), np.zeros(0), np.zeros((0, m)), np.zeros((0, m, m)))
        names = ("index", "v", "errors", "slopes", "curvatures")
        return cls(*(np.concatenate([getattr(group, name) for group in (none, *groups)]) for name in names))


@dataclass(frozen=True, eq=False)
class Criterion(ABC):
    """A number to be made small, in squared units of the targets, for the kernels of a bank and targets Y (n, t)."""

    bank: KernelBank
    Y: Array

    @property
    @abstractmethod
    def count(self) -> float:
        """How many samples there are, also where the targets are in other coordinates."""

    @abstractmethod
    def at(self, v: Array) -> Point | None:
        """The point of weights v >= 0; None where K(v) + I is singular in floating point."""

    @abstractmethod
    def constant(self) -> float:
        """The value at v = 0, that of the predictor that is constant."""

    def constants(self) -> Array:
        """The error of each target at v = 0, where the value is the sum of errors: shape (t,)."""
        raise NotImplementedError(f"{type(self).__name__} is no sum over targets")

    def squares(self) -> Array:
        """The sum of the squares of each target: shape (t,)."""
        return np.asarray((self.Y**2).sum(axis=0))

    def shared(self, v: Array) -> SharedWeights | None:
        """Weights v >= 0 for all targets, where the value is the sum of errors; None where K(v) + I is singular."""
        raise NotImplementedError(f"{type(self).__name__} is no sum over targets")

    @abstractmethod
    def model(self, point: Point) -> QuadraticModel:
        """A quadratic model near a point, with its gradient."""

    def on_subsample(self) -> Criterion | None:
        """The criterion of some of the samples, whose minimum is a start; None where that of all costs little."""
        return None

    @cached_property
    def diagonals(self) -> Array:
        """The mean of the diagonal of each kernel."""
        return self.bank.traces() / self.count

    @property
    def largest(self) -> float:
        """The largest mean of the diagonal of K(v), the ridge being 1, at which inverses keep enough digits.

        At 1e9 they lose nine; the stored diagonal may be rounded by 1/100 of the ridge.
        """
        return min(1e9, 1e-2 / self.bank.rounding)

    def bounded(self, v: Array) -> Array:
        """Weights in the same ratios, scaled back where their kernel is too large."""
        size = float(self.diagonals @ v)
        if size > self.largest:
            return v * (self.largest / size)
        return v
