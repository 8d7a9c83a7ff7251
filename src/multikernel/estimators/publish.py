"""The results of a fit on the estimator: fitted attributes, the predictor, and a warning where it did not converge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel._floats import all_finite
from multikernel._parameters import rules
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.banks.checks import check_values
from multikernel.certificate import Certificate, worst
from multikernel.estimators.feature_predictor import predictor_of
from multikernel.estimators.protocol import Fitted, Model
from multikernel.procedures import Weights

_ADVICE = (
    "Raise max_iter; where that does not help, bring the kernels to about the same size, lower C (raise alpha), or "
    "raise tol."
)


def publish(model: Model, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    """Set the fitted attributes; one problem gives vectors and numbers, several give a row each.

    One problem with t targets that share the weights gives one vector of weights, and a row of coefficients and an
    intercept for each target.

    Parameters
    ----------
    model : an estimator
    bank : its training bank
    fitted : the solutions of its problems
    single : whether fitted attributes are those of one problem
    """
    method = model._method
    if method.before_publishing is not None:
        fitted = method.before_publishing(model, bank, fitted)
    solutions = [f.over_all(bank.shape[1]) for f in fitted]
    coef = _joined([np.atleast_2d(f.solution.coef.T) for f in solutions])
    intercept = np.concatenate([np.atleast_1d(f.solution.intercept) for f in solutions])
    weights = np.concatenate([np.atleast_2d(f.weights.values) for f in solutions])
    vector = single and solutions[0].solution.coef.ndim == 1

    model.weights_ = weights[0] if single else weights
    if vector:
        model.dual_coef_ = coef[0]
        model.intercept_ = float(intercept[0])
    else:
        model.dual_coef_ = coef
        model.intercept_ = intercept
    model.n_iter_ = max(1, *(f.weights.n_iter + f.solution.n_iter for f in solutions))
    model.history_ = [f.weights.history or f.solution.history for f in solutions]
    for name, rule in rules(type(model)).items():
        if rule.accepts("auto"):  # a number chosen by an earlier fit has no meaning any more
            vars(model).pop(f"{name}_", None)
    for name, value in fitted[0].numbers.items():
        setattr(model, f"{name}_", value)
    _publish_certificate(model, solutions, single)

    in_predictor = np.concatenate([np.atleast_2d(method.kernel_weights(model, f)) for f in solutions])
    _check_finite(model, bank, coef, intercept, weights, in_predictor)
    model.predictor_ = predictor_of(bank, coef, intercept, in_predictor, method.combination(model))
    if not model.converged_ and not all(f.weights.rule_met for f in solutions):
        budget = model.time_budget if time_is_up() else None
        message = not_converged(type(model).__name__, model.certificate_, model.n_iter_, budget)
        warn_user(message + _how_many(solutions[0].weights, getattr(model, "tol", 0.0)), ConvergenceWarning)

    method.publish(model, bank, fitted, single)
    if method.ridge is not None:
        model._posterior = method.posterior(model, bank, fitted)


def _publish_certificate(model: Model, fitted: Sequence[Fitted], single: bool) -> None:
    """Set the value of each problem, a bound of its optimum where one is known, and the worst certificate."""
    objectives = [f.weights.objective for f in fitted]
    bounds = [f.weights.bound for f in fitted]
    if single:
        model.objective_ = objectives[0]
    else:
        model.objective_ = np.concatenate([np.atleast_1d(objective) for objective in objectives])
    vars(model).pop("objective_bound_", None)  # of an earlier fit
    if None not in bounds:
        model.objective_bound_ = bounds[0] if single else np.array(bounds)
    model.certificate_ = worst(f.certificate for f in fitted)
    model.converged_ = all(f.converged(getattr(model, "tol", None)) for f in fitted)


def _joined(arrays: Sequence[Array]) -> Array:
    """The rows of all arrays; a single array is not copied, since with many targets it is large."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays)


def _check_finite(model: Model, bank: KernelBank, *arrays: Array) -> None:
    """ValueError where numbers overflowed; it names the kernel that is the cause, if there is one."""
    finite = all(all_finite(array) for array in arrays)
    if not (finite and model.converged_):
        check_values(bank, getattr(model, "kernel_names_", ()))
    if not finite:
        raise ValueError(
            f"{type(model).__name__}: weights or coefficients are NaN or infinite, since numbers overflowed; scale "
            "the target and the kernels to values of about 1"
        )


def not_converged(name: str, reached: Certificate, n_iter: int, budget: float | None = None) -> str:
    """The message of a fit that stopped before it reached the requested certificate.

    Parameters
    ----------
    name : of the estimator's class
    reached : the worst certificate over its problems
    n_iter : the steps taken
    budget : the time budget in seconds, where it ended the fit
    """
    message = f"{name} did not converge: it reached a {reached} in {n_iter} iterations. "
    advice = _ADVICE
    if budget is not None:
        message = (
            f"{name} stopped after its time budget of {budget:g} s: it reached a {reached} in {n_iter} iterations. "
        )
        advice = "Raise time_budget for a better one."
    if not np.isfinite(reached.value):
        return message + f"Nothing is known of how good the model is. {advice}"
    # With 0.05 of the objective left to gain, predictions seldom change.
    model = "Do not rely on the model"
    if reached.value <= 0.05:
        model = "The model is usable"
    return message + f"{model}: {_meaning(reached)}. {advice}"


def _how_many(weights: Weights, tol: float) -> str:
    """How many targets did not converge; empty where certificates of single targets are not known."""
    stationarities = getattr(weights, "stationarities", None)
    if stationarities is None:
        return ""
    above = stationarities[~(stationarities <= tol)]
    if not len(above):  # the weights that the targets share did not converge
        return ""
    return (
        f" It is {len(above):,} of {len(stationarities):,} targets that are above tol={tol:g}, half of them above "
        f"{np.median(above):.1g}: target_stationarity_ has the number of each."
    )


def _meaning(reached: Certificate) -> str:
    share = f"{reached.value:.2g} of its value"
    if reached.kind == "duality gap":
        return f"its objective is at most {share} above the optimum"
    return f"to first order, other weights would lower its objective by at most {share}"
