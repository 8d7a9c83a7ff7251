"""Generalised multiple kernel learning of numbers, with squared losses or with epsilon-insensitive ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.estimators.chosen import TUBE, Samples, loss_weights, ridges
from multikernel.estimators.generalized.base import GeneralizedMKL
from multikernel.estimators.parameters import AUTO, NonNegativeOrAuto, PositiveOrAuto
from multikernel.estimators.regressor import WeightedRegressor
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.machines import EpsilonMachine, RidgeMachine


@dataclass(eq=False, repr=False, kw_only=True)
class PenaltyOfTarget(GeneralizedMKL):
    """A penalty that may follow the unit of the target."""

    penalty: PositiveOrAuto = "auto"

    @abstractmethod
    def _of_losses(self) -> tuple[str, ...]:
        """The parameters of the machine that may be "auto"."""

    def _regularises(self) -> tuple[str, ...]:
        return (*self._of_losses(), "penalty") if self.radius is None else self._of_losses()

    def _searched(self) -> tuple[str, ...]:
        return self._of_losses()[:1]

    def _by_rule(self, whole: Samples) -> dict[str, float]:
        if self.radius is not None or not AUTO.accepts(self.penalty):
            return {}
        return {"penalty": whole.spread**2 * whole.size**self.norm}


@dataclass(eq=False, repr=False, kw_only=True)
class GMKLRegressor(PenaltyOfTarget, RidgeRegressor, WeightedRegressor):
    """A sum, a power of a sum or a product of kernels, its weights learned together with kernel ridge regression.

    Solves min over theta >= 0 of T(theta) + penalty |theta|_norm^norm, or of T(theta) over
    |theta - offset|_norm <= radius, with T(theta) = y'(K(theta) + alpha I)^-1 y, y less its mean where an intercept is
    fitted. T grows with the square of the target: a penalty means the same only for a target of the same scale.

    Parameters
    ----------
    alpha : float > 0 or "auto", default "auto"
        What is added to the diagonal of the kernel; "auto" takes the value of least held-out error, which ``alpha_``
        tells.
    penalty : float > 0 or "auto", default "auto"
        As in GMKLClassifier; "auto" is the variance of the target times the mean self-value of the kernels to the power
        of the norm, which ``penalty_`` tells. Of a sum of kernels alpha and penalty matter as one number.
    fit_intercept : bool, default True
        Whether the mean of the targets is taken off first and is the intercept.
    kernels, combination, profile, degree, norm, radius, offset, n_init, tol, max_iter, random_state,
    time_budget, verbose : as in GMKLClassifier
    approximation, rank : as in L1MKLClassifier
    cv : as in L1MKLRegressor

    Attributes
    ----------
    As those of GMKLClassifier, without ``classes_``; a constant target has a ``duality_gap_`` with every combination.
    In a ball, and for "linear" with a penalty of norm 2, certificates are relative to what the kernels explain where
    that is less than ``objective_``: its distance to the value |y|^2 / alpha without kernels (y less its mean).

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import GMKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> model = GMKLRegressor(combination="rbf_product", alpha=0.1).fit(X, np.sin(2.0 * X[:, 1]))
    >>> (model.weights_ > 0).astype(int)  # widths along the features: only one matters
    array([0, 1, 0, 0])
    """

    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True

    def _of_losses(self) -> tuple[str, ...]:
        return ("alpha",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        return ridges(np.sqrt(whole.share.sum()))

    def _machine(self) -> RidgeMachine:
        return RidgeMachine(self.alpha, self.fit_intercept)


@dataclass(eq=False, repr=False, kw_only=True)
class GMKLSupportRegressor(PenaltyOfTarget, WeightedRegressor):
    """A sum, a power of a sum or a product of kernels, its weights learned together with support vector regression.

    Solves min over theta >= 0 of T(theta) + penalty |theta|_norm^norm, or of T(theta) over
    |theta - offset|_norm <= radius, with

        T(theta) = max over b of y'b - epsilon |b|_1 - 1/2 b'K(theta) b, |b| <= C, sum b = 0,

    the value of support vector regression. Residuals count by their size, not by its square, so that a few wild targets
    do not decide; those up to epsilon cost nothing, and only samples beyond it are in the predictor.

    Parameters
    ----------
    C, epsilon : as in L1MKLRegressor
    penalty : float > 0 or "auto", default "auto"
        As in GMKLRegressor.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality sum b = 0.
    kernels, combination, profile, degree, norm, radius, offset, n_init, tol, max_iter, random_state,
    time_budget, verbose : as in GMKLClassifier
    approximation, rank : as in L1MKLClassifier
    cv : as in L1MKLRegressor

    Attributes
    ----------
    As those of GMKLClassifier, without ``classes_``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import GMKLSupportRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> y = np.sin(2.0 * X[:, 1])
    >>> y[::20] += 50.0  # five wild targets
    >>> model = GMKLSupportRegressor(combination="rbf_product", C=1.0, epsilon=0.1, penalty=1.0).fit(X, y)
    >>> (model.weights_ > 0.01).astype(int)  # widths along the features: only one matters
    array([0, 1, 0, 0])
    """

    C: PositiveOrAuto = "auto"
    epsilon: NonNegativeOrAuto = "auto"
    fit_intercept: bool = True

    def _of_losses(self) -> tuple[str, ...]:
        return ("C", "epsilon")

    def _by_rule(self, whole: Samples) -> dict[str, float]:
        tube = {"epsilon": TUBE * whole.spread} if AUTO.accepts(self.epsilon) else {}
        return super()._by_rule(whole) | tube

    def _candidates(self, name: str, whole: Samples) -> Array:
        return loss_weights(1.0, whole.spread)

    def _machine(self) -> EpsilonMachine:
        return EpsilonMachine(C=self.C, epsilon=self.epsilon, fit_intercept=self.fit_intercept)
