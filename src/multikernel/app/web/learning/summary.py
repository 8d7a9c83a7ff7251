"""Models as the numbers and strings that a page shows: weights, paths, certificates, typical cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from multikernel.app.jobs.criteria import profiles_of, slopes_along
from multikernel.app.web.learning.held_out import spread
from multikernel.app.web.learning.measures import measure_of
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import belongs_to_view
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


def short_kernel_names(names: Iterable[object]) -> list[str]:
    """Kernel names in short form, with their view and number; the full names where two short names would be equal."""
    full = list(map(str, names))
    short = list(map(_short, full))
    if len(set(short)) == len(set(full)):
        return short
    return full


def _short(text: str) -> str:
    for pattern, words in _FORMS:
        text = re.sub(pattern, lambda match, words=words: words.format(match[1]), text)  # type: ignore[misc]
    return text


_LEVELS = 60  # of a category that a form lists


def weights_of(model: Any, folds: Sequence[Any], recipe: Recipe) -> dict[str, Any]:
    """For each kernel its weights in each problem, their mean, the standard deviation of this mean over the folds, and
    the share of the folds in which it is positive; and the sum over the kernels of each view.
    """
    automatic = recipe.automatic
    weights = _weights(model, automatic, recipe.targets)
    problems = list(next(iter(weights.values()), {}))
    weights_of_folds = [
        {
            name: float(np.mean(list(problem_weights.values())))
            for name, problem_weights in _weights(fold_model, automatic, []).items()
        }
        for fold_model in folds
    ]
    if automatic or recipe.scales or len(recipe.by_view) < 2:
        views = []
    else:
        views = list(recipe.by_view)
    rows = []
    for name, problem_weights in weights.items():
        values = [fold.get(name, 0.0) for fold in weights_of_folds]
        maxima = [max(fold.values(), default=0.0) for fold in weights_of_folds]
        positive = [value > 1e-6 * maximum for value, maximum in zip(values, maxima, strict=True)]
        rows.append(
            {
                "name": name,
                "weight": float(np.mean(list(problem_weights.values()))),
                "each": list(problem_weights.values()),
                "spread": spread(values),
                "frequency": float(np.mean(positive)),
            }
        )
    return {
        "rows": sorted(rows, key=lambda row: -row["weight"]),
        "problems": problems,
        "views": [_of_view(view, rows, weights_of_folds) for view in views],
        "what": "candidate" if automatic else "kernel",
    }


def _of_view(view: str, rows: Sequence[dict[str, Any]], folds: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The share of a view in the sum of the weights, and its standard deviation over the folds."""
    total = sum(row["weight"] for row in rows) or 1.0
    view_weight = sum(row["weight"] for row in rows if belongs_to_view(row["name"], view))
    shares = []
    for fold in folds:
        fold_weight = sum(value for name, value in fold.items() if belongs_to_view(name, view))
        shares.append(fold_weight / (sum(fold.values()) or 1.0))
    return {"name": view, "part": view_weight / total, "spread": spread(shares)}


def _weights(model: Any, automatic: bool, targets: Sequence[str]) -> dict[str, dict[str, float]]:
    """The weight of each kernel in each problem; problems are named after targets where each target is a problem."""
    if automatic:
        return {row["candidate"]: {"": float(row["weight"])} for row in model.candidates_[:-1]}
    values = np.atleast_2d(model.weights_)
    if 1 < len(values) == len(targets):
        problems = list(targets)
    elif len(values) > 1:
        problems = [str(name) for name in model.problem_names()]
    else:
        problems = [""]
    return {
        name: dict(zip(problems, column.tolist(), strict=True))
        for name, column in zip(short_kernel_names(model.kernel_names_), values.T, strict=True)
    }


def scales_of(model: Any, folds: Sequence[Any], names: Sequence[str]) -> list[dict[str, Any]] | None:
    """The share of each column in the sum of the scales, and its standard deviation over the folds; None for models
    without scales.

    Scales are relative to the mean distance within their column, so they do not depend on units; the scales of several
    kernels are added with the weights of the kernels.

    Parameters
    ----------
    model : the model of all rows
    folds : the models of the folds
    names : the columns
    """
    if not hasattr(model, "relative_scales_"):
        return None
    shares = _scale_shares(model)
    fold_shares = np.array([_scale_shares(fold) for fold in folds])
    rows = [
        {"name": name, "part": share, "spread": spread(column.tolist())}
        for name, share, column in zip(names, shares.tolist(), fold_shares.T, strict=True)
    ]
    return sorted(rows, key=lambda row: -row["part"])


def _scale_shares(model: Any) -> Array:
    scales = np.atleast_2d(model.relative_scales_)
    total = model.weights_[: len(scales)] @ scales
    return np.asarray(total / (total.sum() or 1.0))


def freedom_of(model: Any) -> list[float] | None:
    """The degrees of freedom of each problem; None for a model without them."""
    freedom = getattr(model, "degrees_of_freedom_", None)
    if freedom is None:
        return None
    return np.atleast_1d(freedom).tolist()


def path_of(search: Any, recipe: Recipe, X: Any, y: Array) -> dict[str, Any] | None:
    """For each value of the path: the mean score and its standard error over the folds, and the mean number of kernels
    with positive weight; and, of models of all rows, the degrees of freedom, weights, coefficients and criteria.
    """
    if not recipe.path:
        return None
    results = search.cv_results_
    values = [params[recipe.path] for params in results["params"]]
    mean = np.asarray(results["mean_test_score"])
    error = np.asarray(results["std_test_score"]) / np.sqrt(max(search.n_splits_ - 1, 1))
    counts = []
    for folds in getattr(search, "fold_weights_", []):
        weights = [np.atleast_2d(fold_weights) for fold_weights in folds]
        counts.append(float(np.mean([positive_weights(fold_weights).any(axis=0).sum() for fold_weights in weights])))
    best = int(mean.argmax())
    along = path(search.estimator, X, y, recipe.path, values)
    linear = hasattr(X, "columns") and all(words == ["slopes"] for words in recipe.kernels.values())
    profiles = profiles_of(along, slopes_along(along, X) if linear and recipe.kernels else None)
    chosen_by = measure_of(recipe.task, recipe.chosen_by, len(recipe.targets))
    return {
        "parameter": recipe.path,
        "measure": chosen_by.label,
        "less_is_better": chosen_by.error,
        "values": values,
        "mean": (chosen_by.sign * mean).tolist(),
        "error": error.tolist(),
        "kernels": counts,
        "best": best,
        "line": float(chosen_by.sign * (mean[best] - error[best])),
        "chosen": values.index(search.best_params_[recipe.path]),
        "freedom": profiles["criteria"].get("degrees_of_freedom", []),
        "profiles": profiles,
    }


def proof_of(model: Any) -> dict[str, Any]:
    """The certificate with a sentence that says what it proves."""
    certificate = model.certificate_
    if hasattr(model, "explanation_"):
        proof = (
            "The answer is a blend. Each of its machines is the exact solution of one linear system, and the weights "
            "of the blend minimise a convex loss on held-out rows: no other weights make it smaller by more than "
            f"{certificate.value:.1e} of it. What speaks for the choice of kernels is the score on rows that none of "
            "this has seen."
        )
    elif certificate.kind == "duality gap":
        if certificate.value > 0.0:
            within = f"within {certificate.value:.1e} of the best possible value of its objective, relatively"
        else:
            within = "the best possible to the last digit that the computer has"
        proof = (
            f"The problem is convex, and the answer is proved to be {within}. The proof is a bound computed from the "
            "answer itself; it does not depend on how the answer was found."
        )
    else:
        proof = (
            "The problem is not convex. At the answer no small change of the weights helps (relative slope "
            f"{certificate.value:.1e}); whether another answer far away is better is not known."
        )
    return {**asdict(certificate), "said": proof, "reached": bool(getattr(model, "converged_", True))}


def typical_cells(X: pd.DataFrame, recipe: Recipe, words: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """The facts about each column that a form for one sample needs.

    Parameters
    ----------
    X : the samples
    recipe : the settings of the run
    words : for each column of numbers or dates the words that count as missing

    Returns
    -------
    list of dicts with the name of a column, its kind, a typical cell, the levels of a category, and its words
    """
    descriptions = []
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
        missing_words = words.get(str(name), [])
        descriptions.append({"name": str(name), "kind": kind, "usual": usual, "levels": levels, "words": missing_words})
    return descriptions
