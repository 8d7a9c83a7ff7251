"""The solutions along a parameter, as one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_consistent_length, column_or_1d

from multikernel._arrays import host
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.checks import check_finite, numbers
from multikernel.diagnostics import positive_weights
from multikernel.estimators.several import with_values_at
from multikernel.estimators.simplicity import simplest_first
from multikernel.estimators.steps import joined
from multikernel.paths.plots import draw
from multikernel.sources.rows import aligned

_WITH_NOISE = ("cp", "aic", "bic")  # criteria that compare models at one variance of the noise


def criterion_of(models: Sequence[Any], name: str) -> Array:
    """A criterion of every model: (steps,) or (steps, problems). Its noise is that of the model of least "gcv".

    Raises
    ------
    ValueError : where the models have no criteria
    """
    _check_criteria(models)
    if name not in _WITH_NOISE:
        return np.array([model.fit_criterion(name) for model in models])
    gcv = criterion_of(models, "gcv").reshape(len(models), -1).sum(axis=1)
    noise = models[int(np.argmin(np.where(np.isnan(gcv), np.inf, gcv)))].residual_variance_
    return np.array([model.fit_criterion(name, noise) for model in models])


def _check_criteria(models: Sequence[Any]) -> None:
    if not hasattr(models[0], "fit_criterion"):
        raise ValueError(
            f"{type(models[0]).__name__} does not minimise squared losses, and so has no criterion and no degrees of "
            "freedom; choose by samples and targets, best(X, y)"
        )


def step_of_least_error(errors: Array, order: Array) -> int:
    """The step of the least error, the first in the order among equals.

    Raises
    ------
    ValueError : where every error is infinite or no number
    """
    finite = errors < np.inf
    if not finite.any():
        raise ValueError(
            "best: no step has a score that is a number, or an error that is finite; R^2, the score of regressors, "
            "needs two samples or more, and criteria need a target that varies"
        )
    return int(order[np.argmin(np.where(finite, errors, np.inf)[order])])


def simplest(losses: Array, order: Array) -> int:
    """The simplest step whose mean loss is within a standard error of the least one.

    Parameters
    ----------
    losses : array (steps, n), the loss of every sample
    order : int array (steps,), the simplest step first
    """
    mean = losses.mean(axis=1)
    n = losses.shape[1]
    best = step_of_least_error(mean, order)
    error = float(losses[best].std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
    return int(next(step for step in order if mean[step] <= mean[best] + error))


def left_out_losses(models: Sequence[Any]) -> Array:
    """The squared residuals of training samples that are left out one by one, of every model: (steps, n)."""
    _check_criteria(models)
    residuals = [as_columns(model.loo_residuals_) for model in models]
    finite_rows = np.isfinite(residuals[0]).all(axis=1)
    return np.stack([(residual[finite_rows] ** 2).sum(axis=1) for residual in residuals])


def losses_of(models: Sequence[Any], X: Any, y: Any) -> Array:
    """Zero or one for a classifier, the squared error of a regressor, of every model and sample: (steps, n).

    Raises
    ------
    ValueError : for targets that are not like the predictions
    """
    predicted = np.stack([host(model.predict(X)) for model in models])
    if is_classifier(models[0]):
        labels = column_or_1d(y)
        accuracy_score(labels, predicted[0])  # for its checks: as many labels as samples, of the type of the classes
        return np.not_equal(predicted, labels).astype(float)
    truth = as_columns(numbers(y, "y"))
    values = [as_columns(values_of_step) for values_of_step in predicted]
    if truth.shape != values[0].shape:
        raise ValueError(f"best: y must be an array of shape {predicted.shape[1:]}, got shape {np.shape(y)}")
    check_finite(truth, "y")
    return np.stack([((values_of_step - truth) ** 2).sum(axis=1) for values_of_step in values])


def n_positive(weights: Array) -> int:
    """How many kernels have a positive weight in some problem; shape (m,) or (problems, m)."""
    return int(np.atleast_2d(positive_weights(weights)).any(axis=0).sum())


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Fitted models along one parameter, in the order in which its values were given.

    Parameters
    ----------
    parameter : str
    values : array (steps,)
    models : tuple of fitted estimators, one for each value; they share one copy of the training samples
    seconds : array (steps,), the time of each fit
    train_score : array (steps,), the estimator's ``score`` on the training sample; None where it has none
    validation_score : array (steps,), the score on the validation sample; None where there is none
    before : Pipeline of the fitted steps before the estimator, which transform new samples; None where there are none
    name : str, the estimator's name in its pipeline; empty where it is alone
    """

    parameter: str
    values: Array
    models: tuple[Any, ...]
    seconds: Array
    train_score: Array | None = None
    validation_score: Array | None = None
    before: Any = None
    name: str = ""

    def __len__(self) -> int:
        return len(self.models)

    def __repr__(self) -> str:
        ends = f"{self.values.min():.3g} to {self.values.max():.3g}"
        if len(self) > 1:
            steps = f"{len(self)} steps of {self.parameter} from {ends}"
        else:
            steps = f"{self.parameter} = {ends.split()[0]}"
        smallest_count = self.n_kernels.min()
        largest_count = self.n_kernels.max()
        return f"<Path of {type(self.models[0]).__name__}: {steps}, {smallest_count} to {largest_count} kernels>"

    # -- attributes of all steps ---------------------------------------------------------------------------------

    def _attribute_of_steps(self, attribute: str) -> Array:
        """A fitted attribute of every model; NaN where there is none, as for the objective of a rule."""
        values = [getattr(model, attribute, None) for model in self.models]
        return np.array([np.nan if value is None else value for value in values])

    @property
    def weights(self) -> Array:
        """Kernel weights: shape (steps, m), or (steps, problems, m) with more than two classes.

        Of models that select products of kernels, m is the number of products that any step selected.
        """
        kernels = self._kernels
        if kernels is None:
            return self._attribute_of_steps("weights_")
        column = {key: k for k, key in enumerate(kernels)}
        weights = np.zeros((len(self), *self.models[0].weights_.shape[:-1], len(column)))
        for step, model in zip(weights, self.models, strict=True):
            step[..., [column[key] for key in model.kernel_keys()]] = model.weights_
        return weights

    @property
    def kernel_names(self) -> Sequence[str]:
        """The names of the m kernels."""
        kernels = self._kernels
        if kernels is None:
            return self.models[0].kernel_names_
        return tuple(kernels.values())

    @property
    def _kernels(self) -> dict[Any, str] | None:
        """The kernels of any step by their keys, with their names; None where all steps have the same kernels."""
        keys = [model.kernel_keys() for model in self.models]
        if all(keys_of_step == keys[0] for keys_of_step in keys):
            return None
        names = {}
        for model, keys_of_step in zip(self.models, keys, strict=True):
            for key, name in zip(keys_of_step, model.kernel_names_, strict=True):
                names[key] = str(name)
        return dict(sorted(names.items()))

    @property
    def dual_coef(self) -> Array:
        """Dual coefficients: shape (steps, n) or (steps, problems, n)."""
        return self._attribute_of_steps("dual_coef_")

    @property
    def intercept(self) -> Array:
        """Intercepts: shape (steps,) or (steps, problems)."""
        return self._attribute_of_steps("intercept_")

    @property
    def objective(self) -> Array:
        """The value of the problem: shape (steps,) or (steps, problems); NaN for a rule that solves no problem."""
        return self._attribute_of_steps("objective_")

    @property
    def duality_gap(self) -> Array:
        """The relative duality gap of every step; the relative stationarity where the problem is not convex."""
        return np.array([model.certificate_.value for model in self.models])

    @property
    def converged(self) -> Array:
        """Whether each step reached ``tol``."""
        return self._attribute_of_steps("converged_")

    @property
    def n_iter(self) -> Array:
        """The iterations of every step."""
        return self._attribute_of_steps("n_iter_")

    @property
    def n_kernels(self) -> Array:
        """How many kernels have a positive weight (above 1e-6 of the problem's largest) in some problem of a step."""
        return np.array([n_positive(model.weights_) for model in self.models])

    @property
    def degrees_of_freedom(self) -> Array:
        """tr K (K + alpha I)^-1 of every step, of models with squared losses: (steps,) or (steps, problems)."""
        return np.array([model.degrees_of_freedom_ for model in self.models])

    def criterion(self, name: str = "gcv") -> Array:
        """An estimate of the prediction error of every step that needs no held-out samples; smaller is better.

        Parameters
        ----------
        name : {"gcv", "loo", "cp", "aic", "bic", "evidence"}, as in the models' ``fit_criterion``; "cp", "aic" and
            "bic" take the noise variance of the step of least "gcv"

        Returns
        -------
        array (steps,), or (steps, problems) for several targets or classes
        """
        return criterion_of(self.models, name)

    def frame(self) -> Any:
        """A pandas data frame with a row for each value; needs pandas."""
        import pandas as pd

        columns = {
            "kernels": self.n_kernels,
            "objective": self.objective if self.objective.ndim == 1 else self.objective.mean(axis=1),
            "duality gap": self.duality_gap,
            "iterations": self.n_iter,
            "seconds": self.seconds,
            "train score": self.train_score,
            "validation score": self.validation_score,
        }
        index = pd.Index(self.values, name=self.parameter)
        return pd.DataFrame({name: column for name, column in columns.items() if column is not None}, index=index)

    def plot(self, what: str = "weights", ax: Any = None) -> Any:
        """Draw a quantity against the parameter, or the degrees of freedom; needs matplotlib. Returns the axes.

        Parameters
        ----------
        what : {"weights", "coefficients", "criteria", "kernels", "error", "iterations", "seconds", "gap"}
            The weights (their mean over the problems), the largest with names; the coefficients of features against
            the degrees of freedom, for a model that has them; "gcv" and "loo" relative to the target's variance against
            the degrees of freedom, with the error on the validation sample, for one target; the number of kernels with
            a positive weight; training and validation error (of classifiers the error rate, of regressors the squared
            error relative to the target's variance); or what the solutions cost, and their relative duality gap.
        ax : matplotlib axes; new ones by default
        """
        return draw(self, what, ax)

    # -- all steps at new samples --------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """Predictions of every step, shape (steps, len(X)).

        X are samples like those of ``fit``, or a bank of them against the training samples; with
        ``kernels="precomputed"`` matrices (m, len(X), n).
        """
        X = self._after(X)
        return np.stack([model.predict(X) for model in with_values_at(self.models, X)])

    def decision_function(self, X: Any) -> Array:
        """Scores of every step, shape (steps, len(X)), or (steps, len(X), n_classes) with more than two classes."""
        X = self._after(X)
        return np.stack([model.decision_function(X) for model in with_values_at(self.models, X)])

    def score(self, X: Any, y: Any) -> Array:
        """The estimator's score of every step: accuracy, or R^2 for regressors; shape (steps,)."""
        [y] = aligned(X, y=y)
        X = self._after(X)
        models = with_values_at(self.models, X)
        single = is_regressor(models[0]) and np.ndim(self.models[0].intercept_) == 0
        if not single or np.ndim(y) != 1 or len(y) < 2:
            return np.array([model.score(X, y) for model in models])
        predicted = np.stack([model.predict(X) for model in models], axis=1)
        check_consistent_length(y, predicted)
        return r2_score(np.broadcast_to(y, predicted.shape[::-1]).T, predicted, multioutput="raw_values")

    def best(self, X: Any = None, y: Any = None, one_standard_error: bool = False) -> Any:
        """The model of the best score on (X, y), or on the validation sample; among equals the simplest.

        For a path of a pipeline, the model is a fitted pipeline, too.

        Parameters
        ----------
        X : samples; or the name of a criterion, "gcv" say, which needs none (see ``criterion``)
        y : their target, where samples are given
        one_standard_error : bool, default False
            Take the simplest model whose error is within one standard error, over the samples, of the least error: on
            (X, y), or with "loo" of training samples that are left out.

        Raises
        ------
        ValueError : where there is nothing to choose by, as where no step has a score, and where
            ``one_standard_error`` is given without the errors of single samples
        """
        return joined(self.before, self.name, self.models[self._best_step(X, y, one_standard_error)])

    def _best_step(self, X: Any, y: Any, one_standard_error: bool) -> int:
        """The number of the best step."""
        order = simplest_first(self.parameter, np.asarray(self.values, dtype=float))
        is_criterion = isinstance(X, str)
        if (X is None or is_criterion) != (y is None):
            raise ValueError("best needs samples and their target together: best(X, y)")
        if one_standard_error:
            if X is None or (is_criterion and X != "loo"):
                raise ValueError(
                    "one_standard_error needs the errors of single samples: best(X, y, one_standard_error=True) or "
                    "best('loo', one_standard_error=True)"
                )
            if is_criterion:
                return simplest(left_out_losses(self.models), order)
            [y] = aligned(X, y=y)
            X = self._after(X)
            return simplest(losses_of(with_values_at(self.models, X), X, y), order)
        if is_criterion:
            return step_of_least_error(self.criterion(X).reshape(len(self), -1).sum(axis=1), order)
        scores = self.validation_score if X is None else self.score(X, y)
        if scores is None:
            raise ValueError("best needs samples and targets, or a path that was computed with validation=(X, y)")
        return step_of_least_error(-scores, order)

    def _after(self, X: Any) -> Any:
        """Samples after the other steps of a pipeline."""
        if self.before is None or isinstance(X, KernelBank):
            return X
        return self.before.transform(X)
