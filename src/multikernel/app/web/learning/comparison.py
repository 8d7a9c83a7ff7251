"""A comparison: the automatic estimator, learned weights, one tuned kernel and trees on the same held-out folds.

With several views, the methods that learn kernel weights have separate kernels for each view; the other methods use the
columns of all views side by side.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline

from multikernel.app.jobs.compare import (
    fit_groups,
    fold_score,
    gaussian,
    group_folds,
    kernel_learner,
    methods_to_compare,
)
from multikernel.app.jobs.methods import INNER_FOLDS, most_folds, shuffled_folds
from multikernel.app.web.learning.division import Division, KnownRows
from multikernel.app.web.learning.families import families
from multikernel.app.web.learning.intervals import interval_of
from multikernel.app.web.learning.measures import measure_of, scorer_of
from multikernel.app.web.learning.progress import Report
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_estimator_input, class_scores, subsample
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor, PreparedColumns
from multikernel.selection import BankSearchCV
from multikernel.typing import Array

_TUNED_ROWS = 800  # rows on which the kernel is tuned, and as many for its test, to save time and memory


@dataclass(frozen=True, eq=False)
class BaselineResult:
    """The predictions of a baseline for held-out rows.

    Parameters
    ----------
    score : float, by the measure of the run
    truth, predicted : arrays (rows,)
    values : array (rows, classes), the score of each class; None for numbers
    calibrated : bool, whether the values are probabilities
    """

    score: float
    truth: Array
    predicted: Array
    values: Array | None
    calibrated: bool = False


def constant_prediction(recipe: Recipe, training_rows: KnownRows, test_rows: KnownRows) -> BaselineResult:
    """The baseline without columns: the commonest class and the class frequencies, or the mean of the target.

    Parameters
    ----------
    recipe : the settings of the run
    training_rows, test_rows : the rows to learn from, and the held-out rows
    """
    measure = measure_of(recipe.task, recipe.measured.measure)
    if recipe.task == "regression":
        predicted = np.repeat(training_rows.y.mean(axis=0)[None], len(test_rows.y), axis=0)
        return BaselineResult(measure.of(test_rows.y, predicted, None, np.empty(0)), test_rows.y, predicted, None)
    labels, counts = np.unique(training_rows.y, return_counts=True)
    predicted = np.full(len(test_rows.y), labels[counts.argmax()])
    values = np.tile(counts / counts.sum(), (len(test_rows.y), 1))
    return BaselineResult(measure.of(test_rows.y, predicted, values, labels), test_rows.y, predicted, values)


def single_kernel(recipe: Recipe, training_rows: KnownRows, test_rows: KnownRows) -> BaselineResult:
    """One Gaussian kernel, whose width and regularisation are tuned on inner folds, as many as the rows allow.

    Parameters
    ----------
    recipe : the settings of the run
    training_rows, test_rows : the rows to learn from, and the held-out rows
    """
    training_rows = training_rows.part(subsample(training_rows.y, recipe.task, _TUNED_ROWS, recipe.seed))
    test_rows = test_rows.part(subsample(test_rows.y, recipe.task, _TUNED_ROWS, recipe.seed))
    fold_count = min(INNER_FOLDS, most_folds(training_rows.y, recipe.task))
    inner_folds: Any = None
    groups = training_rows.inner_groups.get("groups")
    if groups is not None:
        inner_folds = group_folds(recipe.task, min(INNER_FOLDS, len(np.unique(groups))), recipe.seed)
    elif fold_count >= 2:
        inner_folds = shuffled_folds(recipe.task, fold_count, recipe.seed)
    tuned_kernel = gaussian(recipe.task, training_rows.X.shape[1], inner_folds, quick=True)
    model = _with_measure(
        with_class_weights(make_pipeline(PreparedColumns(dict(recipe.columns)), tuned_kernel), recipe), recipe
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about parameters that are tried, and unseen categories of a test fold
        model.fit(training_rows.X, training_rows.y, **fit_groups(model, groups))
        predicted = model.predict(test_rows.X)
        if recipe.task == "classification":
            word, values = class_scores(model, test_rows.X)
        else:
            word, values = ("", None)
        measure = measure_of(recipe.task, recipe.measured.measure)
        score = measure.of(test_rows.y, predicted, values, getattr(model, "classes_", np.empty(0)))
    return BaselineResult(score, test_rows.y, predicted, values, word == "probability")


def _with_measure(model: Any, recipe: Recipe) -> Any:
    """The method, with class probabilities where the measure of the run needs them."""
    if recipe.measured.measure != "log_loss" or hasattr(model, "predict_proba"):
        return model
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "probability"]
    if isinstance(model[-1], GridSearchCV):  # a support vector machine of scikit-learn
        return make_pipeline(*model[:-1], CalibratedClassifierCV(model[-1], cv=INNER_FOLDS, ensemble=False))
    return clone(model).set_params(**dict.fromkeys(names, "platt"))


def _of_targets(model: Any) -> Any:
    """The method for several targets: boosting, which takes one target, is fitted to each of them."""
    final_step = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(getattr(final_step, "estimator", None), HistGradientBoostingRegressor):
        return model
    return make_pipeline(*model[:-1], MultiOutputRegressor(final_step))


def with_class_weights(model: Any, recipe: Recipe) -> Any:
    """The method with the class weights of the recipe, where it supports class weights.

    Parameters
    ----------
    model : the estimator, which is not changed
    recipe : the settings of the run
    """
    weights = recipe.parameters.get("class_weight")
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "class_weight"]
    if weights and names:
        return clone(model).set_params(**dict.fromkeys(names, weights))
    return model


def compare_methods(recipe: Recipe, division: Division, report: Report) -> dict[str, Any]:
    """The scores of each method.

    Parameters
    ----------
    recipe : the settings of the run
    division : the rows to learn from, and the held-out rows
    report : receives the progress
    """
    all_rows = division.all_rows
    grouped = all_rows.groups is not None
    default_methods = methods_to_compare(recipe.task, all_rows.X.shape[1], recipe.seed, dict(recipe.columns), grouped)
    methods = {
        name: _with_measure(with_class_weights(model, recipe), recipe) for name, model in default_methods.items()
    }
    if recipe.other_targets:
        methods = {name: _of_targets(model) for name, model in methods.items()}
    measure = measure_of(recipe.task, recipe.measured.measure, len(recipe.targets))
    scored = scorer_of(measure) if recipe.measured.measure else None
    trivial_scores = [
        constant_prediction(recipe, training_rows, test_rows).score for training_rows, test_rows in division.parts()
    ]
    rows: list[dict[str, Any]] = [{"method": "no column at all", "scores": trivial_scores, "seconds": 0.0}]
    for m, (name, model) in enumerate(methods.items()):
        scores_and_seconds = []
        for k, (training_rows, test_rows) in enumerate(division.parts()):
            progress = (m + k / division.layout.count) / len(methods)
            report(f"Method {m + 1} of {len(methods)}: {name}", progress, division.layout.name(k).lower())
            training = _input_of(model, recipe, training_rows.X), training_rows.y
            test = _input_of(model, recipe, test_rows.X), test_rows.y
            learner = _of_views(model, recipe, training[0])
            score, seconds = fold_score(learner, training, test, scored, **fit_groups(learner, training_rows.groups))
            scores_and_seconds.append((measure.sign * score, seconds))
        seconds = sum(seconds for _, seconds in scores_and_seconds) / len(scores_and_seconds)
        rows.append({"method": name, "scores": [score for score, _ in scores_and_seconds], "seconds": seconds})
    intervals = {}
    if len(division.layout.rounds) > 1:
        folds = division.layout.first_round
        intervals = {row["method"]: interval_of(row["scores"], folds, measure) for row in rows}
    learned = [name for name, model in methods.items() if len(recipe.by_view) > 1 and kernel_learner(model) is not None]
    unweighted = [name for name, model in default_methods.items() if with_class_weights(model, recipe) is model]
    return {
        "measure": measure.label,
        "comparison": rows,
        "by_view": learned,
        **({"intervals": intervals} if intervals else {}),
        "unweighted": unweighted if recipe.parameters.get("class_weight") else [],
    }


def _of_views(model: Any, recipe: Recipe, training_input: Any) -> Any:
    """The method with separate kernels for each of several views, the same as in a run of this method."""
    learner = kernel_learner(model)
    if len(recipe.by_view) < 2 or learner is None or isinstance(learner, MultiKernelClassifier | MultiKernelRegressor):
        return model
    name = "estimator__kernels" if isinstance(learner, BankSearchCV) else "kernels"
    return clone(learner).set_params(**{name: families(training_input, recipe)})


def _input_of(model: Any, recipe: Recipe, X: pd.DataFrame) -> Any:
    if kernel_learner(model) is None:
        return X
    return as_estimator_input(X, recipe)
