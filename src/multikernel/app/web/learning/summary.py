"""What a page shows of models, as numbers and strings: weights, quality on held-out rows, paths, certificates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import (
    auc,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    r2_score,
    roc_curve,
)

from multikernel.app.jobs.criteria import profiles_of, slopes_along
from multikernel.app.web.learning.held_out import FoldResult
from multikernel.app.web.learning.recipe import Recipe
from multikernel.diagnostics import positive_weights
from multikernel.paths import path
from multikernel.typing import Array

_FORMS = (
    (r"RBF\(gamma=Width\(rule='median', times=([\d.e-]+)\)\)", "Gaussian, gamma x {}"),
    (r"RBF\(gamma=([\d.e-]+)\)", "Gaussian, gamma {}"),
    (r"HomogeneousPolynomial\(degree=(\d+)\)(?:\.normalized\(\))?", "products of {}"),
    (r"Polynomial\(degree=(\d+)[^()]*\)(?:\.normalized\(\))?", "polynomial, degree {}"),
    (r"ANOVA\(degree=(\d+)[^()]*\)(?:\.normalized\(\))?", "different columns, {}"),
    (r"Linear\(()\)", "linear{}"),
)


def in_short(names: Iterable[object]) -> list[str]:
    """The names in short, a view before and a number behind them as they are; in full where two would be the same."""
    full = list(map(str, names))
    short = list(map(_short, full))
    return short if len(set(short)) == len(set(full)) else full


def _short(text: str) -> str:
    for form, words in _FORMS:
        text = re.sub(form, lambda found, words=words: words.format(found[1]), text)  # type: ignore[misc]
    return text


_POINTS = 400  # of a scatter plot
_CURVES = 6  # classes whose curves are drawn
_MISTAKES = 200  # rows predicted wrong that a page lists
_FARTHEST = 20  # rows of numbers
_LEVELS = 60  # of a category that a form lists
_COVERED = 0.9  # of the intervals


def weights_of(model: Any, folds: Sequence[Any], recipe: Recipe) -> dict[str, Any]:
    """Names, the weights in each problem, and mean, deviation and frequency of their means over the folds; and the sums
    over the kernels of each view.
    """
    automatic = recipe.automatic
    whole = _weights(model, automatic)
    problems = list(next(iter(whole.values()), {}))
    each = [{name: float(np.mean(list(own.values()))) for name, own in _weights(m, automatic).items()} for m in folds]
    views = [] if automatic or len(recipe.by_view) < 2 else list(recipe.by_view)
    rows = []
    for name, own in whole.items():
        values = [fold.get(name, 0.0) for fold in each]
        largest = [max(fold.values(), default=0.0) for fold in each]
        positive = [value > 1e-6 * most for value, most in zip(values, largest, strict=True)]
        rows.append(
            {
                "name": name,
                "weight": float(np.mean(list(own.values()))),
                "each": list(own.values()),
                "spread": float(np.std(values, ddof=1)),
                "frequency": float(np.mean(positive)),
            }
        )
    return {
        "rows": sorted(rows, key=lambda row: -row["weight"]),
        "problems": problems,
        "views": [_of_view(view, rows, each) for view in views],
        "what": "candidate" if automatic else "kernel",
    }


def _of_view(view: str, rows: Sequence[dict[str, Any]], folds: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The part of a view in the sum of the weights, and its deviation over the folds."""

    def is_own(name: str) -> bool:
        return name == view or name.startswith(f"{view}: ")  # the only kernel of a view has its name

    total = sum(row["weight"] for row in rows) or 1.0
    own = sum(row["weight"] for row in rows if is_own(row["name"]))
    parts = [sum(value for name, value in fold.items() if is_own(name)) / (sum(fold.values()) or 1.0) for fold in folds]
    return {"name": view, "part": own / total, "spread": float(np.std(parts, ddof=1))}


def _weights(model: Any, automatic: bool) -> dict[str, dict[str, float]]:
    """The weight of each kernel in each problem."""
    if automatic:
        return {row["candidate"]: {"": float(row["weight"])} for row in model.candidates_[:-1]}
    values = np.atleast_2d(model.weights_)
    if len(values) > 1:
        problems = [str(name) for name in model.problem_names()]
    else:
        problems = [""]
    return {
        name: dict(zip(problems, column.tolist(), strict=True))
        for name, column in zip(in_short(model.kernel_names_), values.T, strict=True)
    }


def quality(
    recipe: Recipe, y: Array, parts: Sequence[FoldResult], rows: Sequence[Array], numbers: Array
) -> dict[str, Any]:
    """What the predictions of held-out rows are worth.

    Parameters
    ----------
    recipe : what was learned by
    y : array (n,), the target
    parts : the folds
    rows : those that each fold held out
    numbers : array (n,), the numbers of the rows in the table

    Returns
    -------
    dict with measures and mistakes; of classes, the confusion matrix, measures of each class, ROC curves and
    calibration; of numbers, residuals and the width of intervals
    """
    predicted = np.concatenate([part.predicted for part in parts])
    order = np.concatenate(list(rows))
    truth = y[order]
    if recipe.task == "regression":
        found = {"residuals": _residuals(truth, predicted), "measures": _measures_of_numbers(truth, predicted)}
        return found | {"mistakes": _farthest(truth, predicted, numbers[order])}
    labels = np.unique(y)
    rocs = None
    found = {"confusion": confusion_matrix(truth, predicted, labels=labels).tolist()}
    values = None
    if all(part.values is not None and part.values.shape[1] == len(labels) for part in parts):
        values = np.concatenate([part.values for part in parts if part.values is not None])
        rocs = found["roc"] = _rocs(truth, values, labels)
    probabilities = values if all(part.calibrated for part in parts) else None
    if probabilities is not None:
        found["calibration"] = _calibration(truth, probabilities, labels)
    found |= _measures_of_classes(truth, predicted, labels, rocs, probabilities)
    return found | {"mistakes": _wrong(truth, predicted, numbers[order], probabilities)}


def _measures_of_classes(
    truth: Array, predicted: Array, labels: Array, rocs: list[dict[str, Any]] | None, probabilities: Array | None
) -> dict[str, Any]:
    """Measures of all classes, and of each."""
    precision, recall, f1, count = precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=0.0)
    found = [("balanced accuracy", float(recall[count > 0].mean())), ("F1, mean of classes", float(f1.mean()))]
    if rocs is not None:
        found.append(("area under the ROC curve", float(np.mean([curve["area"] for curve in rocs]))))
    if probabilities is not None:
        found.append(("log loss", float(log_loss(truth, probabilities, labels=labels))))
    each = zip(labels.tolist(), precision.tolist(), recall.tolist(), f1.tolist(), count.tolist(), strict=True)
    by_class = [{"label": str(c), "precision": p, "recall": r, "f1": f, "rows": n} for c, p, r, f, n in each]
    return {"measures": [{"name": name, "value": value} for name, value in found], "by_class": by_class}


def _measures_of_numbers(truth: Array, predicted: Array) -> list[dict[str, Any]]:
    away = np.abs(truth - predicted)
    found = {
        "mean absolute error": away.mean(),
        "median absolute error": np.median(away),
        "root mean square error": np.sqrt(np.mean(away**2)),
        "R² of all folds together": r2_score(truth, predicted),
    }
    return [{"name": name, "value": float(value)} for name, value in found.items()]


def _wrong(truth: Array, predicted: Array, numbers: Array, probabilities: Array | None) -> dict[str, Any]:
    """The rows whose class is predicted wrong; those of which the model is surest first, where it says how sure."""
    places = np.flatnonzero(truth != predicted)
    if probabilities is not None:
        places = places[np.argsort(-probabilities[places].max(axis=1), kind="stable")]
    else:
        places = places[np.argsort(numbers[places], kind="stable")]
    rows = []
    for i in places[:_MISTAKES]:
        row = {"row": int(numbers[i]), "true": str(truth[i]), "predicted": str(predicted[i])}
        if probabilities is not None:
            row["probability"] = float(probabilities[i].max())
        rows.append(row)
    return {"count": len(places), "calibrated": probabilities is not None, "rows": rows}


def _farthest(truth: Array, predicted: Array, numbers: Array) -> dict[str, Any]:
    """The rows whose number is farthest from its prediction."""
    places = np.argsort(-np.abs(truth - predicted), kind="stable")[:_FARTHEST]
    rows = [
        {
            "row": int(numbers[i]),
            "true": float(truth[i]),
            "predicted": float(predicted[i]),
            "off": float(truth[i] - predicted[i]),
        }
        for i in places
    ]
    return {"count": len(rows), "rows": rows}


def _residuals(truth: Array, predicted: Array) -> dict[str, Any]:
    away = np.abs(truth - predicted)
    rank = min(int(np.ceil((len(away) + 1) * _COVERED)), len(away))
    some = np.random.default_rng(0).permutation(len(truth))[:_POINTS]
    return {
        "points": np.column_stack([predicted, truth])[some].round(6).tolist(),
        "width": float(np.sort(away)[rank - 1]),
        "covered": _COVERED,
        "rmse": float(np.sqrt(np.mean(away**2))),
        "mean_error": float(away.mean()),
        "spread": float(truth.std()),
    }


def _rocs(truth: Array, values: Array, labels: Array) -> list[dict[str, Any]]:
    """The curve of two classes, else each class against the others: all areas, and the points of the lowest curves."""
    found: list[dict[str, Any]] = []
    for k in [1] if len(labels) == 2 else range(len(labels)):
        false, true, _ = roc_curve(truth == labels[k], values[:, k])
        kept = np.unique(np.linspace(0, len(false) - 1, 80).round().astype(int))
        points = np.column_stack([false, true])[kept].round(4).tolist()
        found.append({"label": str(labels[k]), "points": points, "area": float(auc(false, true))})
    for curve in sorted(found, key=lambda curve: float(curve["area"]))[_CURVES:]:
        curve["points"] = []
    return found


def _calibration(truth: Array, values: Array, labels: Array) -> dict[str, Any]:
    """How often what was said came true, in tenths of probability: of the second class of two, else of the top one."""
    if len(labels) == 2:
        said = values[:, 1]
        came = truth == labels[1]
        what = f"that it is {labels[1]}"
    else:
        best = values.argmax(axis=1)
        said = values.max(axis=1)
        came = labels[best] == truth
        what = "of the class that it names"
    place = np.minimum((said * 10).astype(int), 9)
    bins = []
    for k in range(10):
        own = place == k
        if own.any():
            bins.append({"said": float(said[own].mean()), "came": float(came[own].mean()), "count": int(own.sum())})
    off = sum(abs(b["said"] - b["came"]) * b["count"] for b in bins) / len(said)
    return {"bins": bins, "what": what, "off": float(off)}


def freedom_of(model: Any) -> list[float] | None:
    """The degrees of freedom of each problem; None of a model that has none."""
    found = getattr(model, "degrees_of_freedom_", None)
    return None if found is None else np.atleast_1d(found).tolist()


def path_of(search: Any, recipe: Recipe, X: Any, y: Array) -> dict[str, Any] | None:
    """Along the parameter, mean scores and their standard errors over the folds, the kernels that had weight, and the
    degrees of freedom of models of all rows, with their weights, coefficients and criteria.
    """
    if not recipe.path:
        return None
    results = search.cv_results_
    values = [params[recipe.path] for params in results["params"]]
    mean = np.asarray(results["mean_test_score"])
    error = np.asarray(results["std_test_score"]) / np.sqrt(max(search.n_splits_ - 1, 1))
    counts = []
    for folds in getattr(search, "fold_weights_", []):
        each = [np.atleast_2d(w) for w in folds]
        counts.append(float(np.mean([positive_weights(w).any(axis=0).sum() for w in each])))
    best = int(mean.argmax())
    along = path(search.estimator, X, y, recipe.path, values)
    linear = hasattr(X, "columns") and all(words == ["slopes"] for words in recipe.kernels.values())
    profiles = profiles_of(along, slopes_along(along, X) if linear and recipe.kernels else None)
    return {
        "parameter": recipe.path,
        "values": values,
        "mean": mean.tolist(),
        "error": error.tolist(),
        "kernels": counts,
        "best": best,
        "line": float(mean[best] - error[best]),
        "chosen": values.index(search.best_params_[recipe.path]),
        "freedom": profiles["criteria"].get("degrees_of_freedom", []),
        "profiles": profiles,
    }


def proof_of(model: Any) -> dict[str, Any]:
    """What is proved of the answer, in plain words."""
    found = model.certificate_
    if hasattr(model, "explanation_"):
        said = (
            "The answer is a blend. Each of its machines is the exact solution of one linear system, and the weights "
            "of the blend minimise a convex loss on held-out rows: no other weights make it smaller by more than "
            f"{found.value:.1e} of it. What speaks for the choice of kernels is the score on rows that none of this "
            "has seen."
        )
    elif found.kind == "duality gap":
        if found.value > 0.0:
            within = f"within {found.value:.1e} of the best possible value of its objective, relatively"
        else:
            within = "the best possible to the last digit that the computer has"
        said = (
            f"The problem is convex, and the answer is proved to be {within}. The proof is a bound computed from the "
            "answer itself; it does not depend on how the answer was found."
        )
    else:
        said = (
            "The problem is not convex. At the answer no small change of the weights helps (relative slope "
            f"{found.value:.1e}); whether another answer far away is better is not known."
        )
    return {**asdict(found), "said": said, "reached": bool(getattr(model, "converged_", True))}


def typical(X: pd.DataFrame, recipe: Recipe, words: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """For each column what a form for one sample needs.

    Parameters
    ----------
    X : the samples
    recipe : what is learned by
    words : the cells among the numbers or dates of columns that count as missing

    Returns
    -------
    list of dicts with the name of a column, its kind, a typical cell, the levels of a category, and its words
    """
    found = []
    for name in X.columns:
        cells = X[name].dropna()
        kind: str = recipe.columns[str(name)]
        levels: list[str] = []
        if kind == "number":
            usual = f"{cells.median():.6g}" if len(cells) else ""
        else:
            counts = cells.astype(str).value_counts()
            usual = str(counts.index[0]) if len(counts) else ""
            if kind == "category" and len(counts) <= _LEVELS:
                levels = sorted(map(str, counts.index))
            else:
                levels = []
        own = words.get(str(name), [])
        found.append({"name": str(name), "kind": kind, "usual": usual, "levels": levels, "words": own})
    return found
