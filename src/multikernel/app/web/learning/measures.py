"""Measures of predictions by name, for the scores of a run and for the choice along a path.

accuracy              the share of rows whose class is right
balanced accuracy     the mean over the classes of the share of their rows that are right
F1                    the mean over the classes of 2 / (1 / precision + 1 / recall)
ROC area              for a row of the class and a row of another class, how often the first gets the higher value; with
                      more than two classes, the mean over the classes
log loss              the mean of -log p, where p is the predicted probability of the true class
R²                    1 - sum (y - f)^2 / sum (y - mean y)^2
root mean square and mean absolute error: in the units of the target; with several targets, whose units differ, the mean
over the targets of error / standard deviation of the true values, so that predicting each mean has a root mean square
error of 1

For log loss and for errors, less is better. Scorers return their negatives, as in scikit-learn; pages show them as they
are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from multikernel.app.web.learning.samples import class_scores
from multikernel.datasets import Task
from multikernel.typing import Array

IN_DEVIATIONS = "in standard deviations"  # how the label of an error of several targets ends


@dataclass(frozen=True)
class Measure:
    """A measure.

    Parameters
    ----------
    label : str, its name on pages
    of : (truth, predicted, values, labels) -> float; values are an array (n, classes), or None where there are none
    code : str, the body of a Python function of ``model``, ``X`` and ``y`` that returns the same; it may use ``np`` and
        ``metrics``
    error : bool, whether less is better
    """

    label: str
    of: Callable[[Array, Array, Array | None, Array], float]
    code: str
    error: bool = False

    @property
    def sign(self) -> float:
        """1, or -1 where less is better, so that a larger sign * measure is always better."""
        if self.error:
            return -1.0
        return 1.0

    @property
    def scorer_code(self) -> str:
        """The code of the scorer, whose larger values are better."""
        if self.error:
            return self.code.replace("return ", "return -")
        return self.code


def _balanced(truth: Array, predicted: Array, values: Array | None, labels: Array) -> float:
    recalls = [float((predicted[truth == label] == label).mean()) for label in np.unique(truth)]
    return float(np.mean(recalls))


def _f1(truth: Array, predicted: Array, values: Array | None, labels: Array) -> float:
    return float(f1_score(truth, predicted, average="macro", zero_division=0.0))


def _area(truth: Array, predicted: Array, values: Array | None, labels: Array) -> float:
    """The mean over the classes that occur in some but not in all rows."""
    if values is None:
        raise ValueError("This method gives classes no values, which the area under the ROC curve needs.")
    if len(labels) == 2:
        return float(roc_auc_score(truth == labels[1], values[:, 1]))
    scored_classes = [k for k, label in enumerate(labels) if 0 < (truth == label).sum() < len(truth)]
    return float(np.mean([roc_auc_score(truth == labels[k], values[:, k]) for k in scored_classes]))


def _log_loss(truth: Array, predicted: Array, values: Array | None, labels: Array) -> float:
    if values is None or values.min() < 0.0 or np.abs(values.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError("This method gives classes no probabilities, which log loss needs.")
    return float(log_loss(truth, values, labels=labels))


def _by_deviations(error: Callable[..., Any]) -> Callable[[Array, Array, Array | None, Array], float]:
    """An error in the units of the target; for several targets the mean error, in units of standard deviations."""

    def of(truth: Array, predicted: Array, values: Array | None, labels: Array) -> float:
        errors = error(truth, predicted, multioutput="raw_values")
        if truth.ndim == 1:
            return float(errors[0])
        deviation = truth.std(axis=0)
        return float(np.mean(errors / np.where(deviation > 0.0, deviation, 1.0)))

    return of


def _error_code(name: str) -> str:
    """The same as ``_by_deviations`` as code."""
    return f"""\
errors = metrics.{name}(y, model.predict(X), multioutput="raw_values")
deviation = np.std(np.asarray(y), axis=0) if np.ndim(y) > 1 else np.ones(1)
return np.mean(errors / np.where(deviation > 0.0, deviation, 1.0))"""


_AREA_CODE = """\
proba = hasattr(model, "predict_proba")
values = model.predict_proba(X) if proba else model.decision_function(X)
if len(model.classes_) == 2:
    return metrics.roc_auc_score(y == model.classes_[1], values[:, 1] if proba else values)
columns = [(y == label, column) for label, column in zip(model.classes_, values.T)]
return np.mean([metrics.roc_auc_score(hits, column) for hits, column in columns if 0 < hits.sum() < len(hits)])"""

MEASURES: dict[Task, dict[str, Measure]] = {
    "classification": {
        "accuracy": Measure(
            "accuracy", lambda y, f, v, c: float(accuracy_score(y, f)), "return np.mean(model.predict(X) == y)"
        ),
        "balanced_accuracy": Measure(
            "balanced accuracy",
            _balanced,
            "right = model.predict(X) == y\nreturn np.mean([right[y == label].mean() for label in np.unique(y)])",
        ),
        "f1": Measure(
            "mean F1",
            _f1,
            'return metrics.f1_score(y, model.predict(X), average="macro", zero_division=0.0)',
        ),
        "roc_auc": Measure("area under the ROC curve", _area, _AREA_CODE),
        "log_loss": Measure(
            "log loss",
            _log_loss,
            "return metrics.log_loss(y, model.predict_proba(X), labels=model.classes_)",
            error=True,
        ),
    },
    "regression": {
        "r2": Measure("R²", lambda y, f, v, c: float(r2_score(y, f)), "return metrics.r2_score(y, model.predict(X))"),
        "rmse": Measure(
            "root mean square error",
            _by_deviations(root_mean_squared_error),
            _error_code("root_mean_squared_error"),
            error=True,
        ),
        "mae": Measure(
            "mean absolute error",
            _by_deviations(mean_absolute_error),
            _error_code("mean_absolute_error"),
            error=True,
        ),
    },
}


def measure_of(task: Task, name: str, targets: int = 1) -> Measure:
    """A measure by its name; ValueError where the task has no such measure.

    Parameters
    ----------
    task : what is learned
    name : "" for the measure of scikit-learn's ``score``
    targets : int, the number of targets; the label of an error of several targets says that it has no unit
    """
    measures = MEASURES[task]
    if name and name not in measures:
        raise ValueError(f"The measure must be one of {', '.join(measures)}, got {name!r}.")
    measure = measures[name] if name else next(iter(measures.values()))
    if targets > 1 and measure.error:
        return replace(measure, label=f"{measure.label} {IN_DEVIATIONS}")
    return measure


def scorer_of(measure: Measure) -> Any:
    """A scorer in the sense of scikit-learn: a larger score is better, so errors are negated."""

    def scored(model: Any, X: Any, y: Any) -> float:
        truth = np.asarray(y)
        classes = getattr(model, "classes_", np.empty(0))
        values = None
        if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
            values = class_scores(model, X)[1]
        return measure.sign * measure.of(truth, np.asarray(model.predict(X)), values, classes)

    return scored
