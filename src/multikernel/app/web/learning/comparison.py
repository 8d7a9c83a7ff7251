"""A comparison: the automatic estimator, learned weights, one tuned kernel and trees on the same held-out folds.

Of several views, each has kernels of its own in the methods that learn kernels; the others know columns only, and see
those of all views beside each other.
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
from multikernel.app.web.learning.samples import as_given, scores
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor, PreparedColumns
from multikernel.selection import BankSearchCV
from multikernel.typing import Array

_TUNED_ROWS = 800  # rows that it is tuned on, and as many that it is tried on, to save time and memory


@dataclass(frozen=True, eq=False)
class BaselineResult:
    """What a method to compare with says of rows that it was not learned from.

    Parameters
    ----------
    score : float, by the measure of the run
    truth, predicted : arrays (rows,)
    values : array (rows, classes), what speaks for each class; None for numbers
    calibrated : bool, whether the values are probabilities
    """

    score: float
    truth: Array
    predicted: Array
    values: Array | None
    calibrated: bool = False


def trivial(recipe: Recipe, known: KnownRows, held: KnownRows) -> BaselineResult:
    """The commonest class and the shares of the classes, or the mean.

    Parameters
    ----------
    recipe : what is learned by
    known, held : the rows that are learned from, and held out
    """
    measure = measure_of(recipe.task, recipe.measured.measure)
    if recipe.task == "regression":
        predicted = np.repeat(known.y.mean(axis=0)[None], len(held.y), axis=0)
        return BaselineResult(measure.of(held.y, predicted, None, np.empty(0)), held.y, predicted, None)
    labels, counts = np.unique(known.y, return_counts=True)
    predicted = np.full(len(held.y), labels[counts.argmax()])
    values = np.tile(counts / counts.sum(), (len(held.y), 1))
    return BaselineResult(measure.of(held.y, predicted, values, labels), held.y, predicted, values)


def single_kernel(recipe: Recipe, known: KnownRows, held: KnownRows) -> BaselineResult:
    """One Gaussian kernel, its width and its regularisation tuned on inner folds, as many as the rows allow.

    Parameters
    ----------
    recipe : what is learned by
    known, held : the rows that are learned from, and held out
    """
    known = known.part(_some(known, recipe.seed))
    held = held.part(_some(held, recipe.seed))
    count = min(INNER_FOLDS, most_folds(known.y, recipe.task))
    inner: Any = None
    groups = known.inner_groups.get("groups")
    if groups is not None:
        inner = group_folds(recipe.task, min(INNER_FOLDS, len(np.unique(groups))), recipe.seed)
    elif count >= 2:
        inner = shuffled_folds(recipe.task, count, recipe.seed)
    tuned = gaussian(recipe.task, known.X.shape[1], inner, quick=True)
    model = _with_measure(weighted(make_pipeline(PreparedColumns(dict(recipe.columns)), tuned), recipe), recipe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parameters that are tried, and categories of a test fold
        model.fit(known.X, known.y, **fit_groups(model, groups))
        predicted = model.predict(held.X)
        if recipe.task == "classification":
            word, values = scores(model, held.X)
        else:
            word, values = ("", None)
        measure = measure_of(recipe.task, recipe.measured.measure)
        score = measure.of(held.y, predicted, values, getattr(model, "classes_", np.empty(0)))
    return BaselineResult(score, held.y, predicted, values, word == "probability")


def _with_measure(model: Any, recipe: Recipe) -> Any:
    """A method with probabilities of classes where the measure of the run needs them."""
    if recipe.measured.measure != "log_loss" or hasattr(model, "predict_proba"):
        return model
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "probability"]
    if isinstance(model[-1], GridSearchCV):  # a support vector machine of scikit-learn
        return make_pipeline(*model[:-1], CalibratedClassifierCV(model[-1], cv=INNER_FOLDS, ensemble=False))
    return clone(model).set_params(**dict.fromkeys(names, "platt"))


def _of_targets(model: Any) -> Any:
    """A method as it takes several targets: boosting learns one after the other."""
    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(getattr(last, "estimator", None), HistGradientBoostingRegressor):
        return model
    return make_pipeline(*model[:-1], MultiOutputRegressor(last))


def weighted(model: Any, recipe: Recipe) -> Any:
    """A method with the class weights of the recipe, where it takes any.

    Parameters
    ----------
    model : the estimator, which is not changed
    recipe : what is learned by
    """
    weights = recipe.parameters.get("class_weight")
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "class_weight"]
    if weights and names:
        return clone(model).set_params(**dict.fromkeys(names, weights))
    return model


def _some(part: KnownRows, seed: int) -> Array:
    n = len(part.y)
    if n <= _TUNED_ROWS:
        return np.arange(n)
    chosen: Array = np.sort(np.random.default_rng(seed).choice(n, _TUNED_ROWS, replace=False))
    return chosen


def compared(recipe: Recipe, division: Division, report: Report) -> dict[str, Any]:
    """The scores of each method.

    Parameters
    ----------
    recipe : what is learned by
    division : what is learned from, and what is held out
    report : receives the progress
    """
    whole = division.whole
    grouped = whole.groups is not None
    plain = methods_to_compare(recipe.task, whole.X.shape[1], recipe.seed, dict(recipe.columns), grouped)
    methods = {name: _with_measure(weighted(model, recipe), recipe) for name, model in plain.items()}
    if recipe.other_targets:
        methods = {name: _of_targets(model) for name, model in methods.items()}
    measure = measure_of(recipe.task, recipe.measured.measure, len(recipe.targets))
    scored = scorer_of(measure) if recipe.measured.measure else None
    least = [trivial(recipe, known, held).score for known, held in division.parts()]
    rows: list[dict[str, Any]] = [{"method": "no column at all", "scores": least, "seconds": 0.0}]
    for m, (name, model) in enumerate(methods.items()):
        found = []
        for k, (known, held) in enumerate(division.parts()):
            part = (m + k / division.layout.count) / len(methods)
            report(f"Method {m + 1} of {len(methods)}: {name}", part, division.layout.name(k).lower())
            training = _taken(model, recipe, known.X), known.y
            held_out = _taken(model, recipe, held.X), held.y
            own = _of_views(model, recipe, training[0])
            score, seconds = fold_score(own, training, held_out, scored, **fit_groups(own, known.groups))
            found.append((measure.sign * score, seconds))
        seconds = sum(seconds for _, seconds in found) / len(found)
        rows.append({"method": name, "scores": [score for score, _ in found], "seconds": seconds})
    intervals = {}
    if len(division.layout.rounds) > 1:
        folds = division.layout.first_round
        intervals = {row["method"]: interval_of(row["scores"], folds, measure) for row in rows}
    learned = [name for name, model in methods.items() if len(recipe.by_view) > 1 and kernel_learner(model) is not None]
    unweighted = [name for name, model in plain.items() if weighted(model, recipe) is model]
    return {
        "measure": measure.label,
        "comparison": rows,
        "by_view": learned,
        **({"intervals": intervals} if intervals else {}),
        "unweighted": unweighted if recipe.parameters.get("class_weight") else [],
    }


def _of_views(model: Any, recipe: Recipe, given: Any) -> Any:
    """A method with kernels for each view where there are several, as a run of it alone would have them."""
    own = kernel_learner(model)
    if len(recipe.by_view) < 2 or own is None or isinstance(own, MultiKernelClassifier | MultiKernelRegressor):
        return model
    name = "estimator__kernels" if isinstance(own, BankSearchCV) else "kernels"
    return clone(own).set_params(**{name: families(given, recipe)})


def _taken(model: Any, recipe: Recipe, X: pd.DataFrame) -> Any:
    if kernel_learner(model) is None:
        return X
    return as_given(X, recipe)
