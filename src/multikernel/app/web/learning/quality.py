"""How good the predictions for held-out rows are, as a page shows it: measures, curves, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import (
    auc,
    confusion_matrix,
    precision_recall_fscore_support,
    r2_score,
    roc_curve,
)

from multikernel.app.web.learning.comparison import BaselineResult
from multikernel.app.web.learning.division import KnownRows
from multikernel.app.web.learning.held_out import FoldResult
from multikernel.app.web.learning.measures import MEASURES
from multikernel.app.web.learning.recipe import Recipe
from multikernel.typing import Array

_POINTS = 400  # of a scatter plot
_CURVES = 6  # classes whose curves are drawn
_COVERED = 0.9  # of the intervals


def quality(
    recipe: Recipe,
    labels: Array,
    test_rows: Sequence[KnownRows],
    fold_results: Sequence[FoldResult],
    single: Sequence[BaselineResult],
    constant: Sequence[BaselineResult],
) -> dict[str, Any]:
    """How good the predictions are in the first round, in which each row is held out at most once.

    Parameters
    ----------
    recipe : the settings of the run
    labels : array (classes,), all classes in order
    test_rows : the rows that each part of the first round held out
    fold_results, single, constant : for each part the predictions of the run, of a tuned kernel, and of a constant

    Returns
    -------
    dict; for classes with the confusion matrix, ROC curves, calibration and thresholds; for numbers with residuals and
    the width of intervals
    """
    results = fold_results[: len(test_rows)]
    truth = np.concatenate([rows.y for rows in test_rows])
    predicted = np.concatenate([result.predicted for result in results])
    baselines = (single[: len(test_rows)], constant[: len(test_rows)])
    if recipe.task == "regression":
        baseline_measures = [
            _errors(
                np.concatenate([result.truth for result in baseline]),
                np.concatenate([result.predicted for result in baseline]),
            )
            for baseline in baselines
        ]
        return {
            "residuals": _residuals(truth, predicted),
            "measures": _measure_rows(_errors(truth, predicted), *baseline_measures),
        }
    values = _joined_values([result.values for result in results], len(labels))
    probabilities = values if all(result.calibrated for result in results) else None
    findings = {"confusion": confusion_matrix(truth, predicted, labels=labels).tolist()}
    if values is not None:
        findings["roc"] = _rocs(truth, values, labels)
    if probabilities is not None:
        findings["calibration"] = _calibration(truth, probabilities, labels)
        if len(labels) == 2:
            findings["thresholds"] = thresholds(truth == labels[1], probabilities[:, 1])
    measures = _of_classes(truth, predicted, values, probabilities, labels)
    baseline_measures = [_of_baseline(baselines[0], labels), _of_baseline(baselines[1], labels, constant=True)]
    return findings | {
        "measures": _measure_rows(measures, *baseline_measures),
        "by_class": _by_class(truth, predicted, labels),
    }


def _joined_values(values: Sequence[Array | None], classes: int) -> Array | None:
    """The values of all parts in one array; None where a part has no values, or its model lacks a class."""
    complete_values = [array for array in values if array is not None and array.shape[1] == classes]
    if len(complete_values) == len(values):
        return np.concatenate(complete_values)
    return None


def _of_baseline(results: Sequence[BaselineResult], labels: Array, constant: bool = False) -> dict[str, float]:
    """Measures of a baseline; ``constant`` where it predicts the same for all rows of a fold."""
    truth = np.concatenate([result.truth for result in results])
    predicted = np.concatenate([result.predicted for result in results])
    values = _joined_values([result.values for result in results], len(labels))
    if constant and values is not None:
        values = np.tile(values.mean(axis=0), (len(truth), 1))
    calibrated = constant or all(result.calibrated for result in results)
    return _of_classes(truth, predicted, values, values if calibrated else None, labels)


def _measure_rows(
    measures: dict[str, float], single: dict[str, float], constant: dict[str, float]
) -> list[dict[str, Any]]:
    """The measures by name, each with those of the two baselines; None where a baseline does not have it."""
    return [
        {"name": name, "value": value, "single": single.get(name), "constant": constant.get(name)}
        for name, value in measures.items()
    ]


def _of_classes(
    truth: Array, predicted: Array, values: Array | None, probabilities: Array | None, labels: Array
) -> dict[str, float]:
    """Measures of all classes."""
    measures = dict(MEASURES["classification"])
    if values is None or len(np.unique(truth)) < 2:
        measures.pop("roc_auc")
    if probabilities is None:
        measures.pop("log_loss")
    return {measure.label: measure.of(truth, predicted, values, labels) for measure in measures.values()}


def _by_class(truth: Array, predicted: Array, labels: Array) -> list[dict[str, Any]]:
    precision, recall, f1, count = precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=0.0)
    rows = zip(labels.tolist(), precision.tolist(), recall.tolist(), f1.tolist(), count.tolist(), strict=True)
    return [{"label": str(c), "precision": p, "recall": r, "f1": f, "rows": n} for c, p, r, f, n in rows]


def _errors(truth: Array, predicted: Array) -> dict[str, float]:
    """Measures of numbers."""
    absolute_errors = np.abs(truth - predicted)
    return {
        "R² of all rows together": float(r2_score(truth, predicted)),
        "root mean square error": float(np.sqrt(np.mean(absolute_errors**2))),
        "mean absolute error": float(absolute_errors.mean()),
        "median absolute error": float(np.median(absolute_errors)),
    }


def thresholds(positive: Array, probability: Array) -> dict[str, list[int]]:
    """For each probability 0, 0.01, ..., 1 the number of rows whose predicted probability is at least as large.

    Parameters
    ----------
    positive : bool array (n,), the rows of the second class
    probability : array (n,), the predicted probability of the second class

    Returns
    -------
    dict with the counts among the rows of the second class (right), and among the others (wrong)
    """
    probabilities = np.arange(101) / 100.0
    right = np.sort(probability[positive])
    wrong = np.sort(probability[~positive])
    return {
        "right": (len(right) - np.searchsorted(right, probabilities)).tolist(),
        "wrong": (len(wrong) - np.searchsorted(wrong, probabilities)).tolist(),
    }


def _residuals(truth: Array, predicted: Array) -> dict[str, Any]:
    absolute_errors = np.abs(truth - predicted)
    rank = min(int(np.ceil((len(absolute_errors) + 1) * _COVERED)), len(absolute_errors))
    drawn_rows = np.random.default_rng(0).permutation(len(truth))[:_POINTS]
    points = np.column_stack([predicted, truth])[drawn_rows].tolist()
    return {
        "points": [[float(f"{value:.10g}") for value in point] for point in points],
        "width": float(np.sort(absolute_errors)[rank - 1]),
        "covered": _COVERED,
        "rmse": float(np.sqrt(np.mean(absolute_errors**2))),
        "mean_error": float(absolute_errors.mean()),
        "spread": float(truth.std()),
    }


def _rocs(truth: Array, values: Array, labels: Array) -> list[dict[str, Any]]:
    """The ROC curve of two classes, else of each class against the others; points of the lowest curves only."""
    curves: list[dict[str, Any]] = []
    scored_classes = [k for k, label in enumerate(labels) if 0 < (truth == label).sum() < len(truth)]
    for k in scored_classes[-1:] if len(labels) == 2 else scored_classes:
        false, true, _ = roc_curve(truth == labels[k], values[:, k])
        drawn_points = np.unique(np.linspace(0, len(false) - 1, 80).round().astype(int))
        points = np.column_stack([false, true])[drawn_points].round(4).tolist()
        curves.append({"label": str(labels[k]), "points": points, "area": float(auc(false, true))})
    for curve in sorted(curves, key=lambda curve: float(curve["area"]))[_CURVES:]:
        curve["points"] = []
    return curves


def _calibration(truth: Array, values: Array, labels: Array) -> dict[str, Any]:
    """How often predictions are right, in ten bins of probability: of the second of two classes, or the top class."""
    if len(labels) == 2:
        predicted = values[:, 1]
        hits = truth == labels[1]
        description = f"of class {labels[1]}"
    else:
        best = values.argmax(axis=1)
        predicted = values.max(axis=1)
        hits = labels[best] == truth
        description = "of the class that it names"
    bin_of_row = np.minimum((predicted * 10).astype(int), 9)
    bins = []
    for k in range(10):
        in_bin = bin_of_row == k
        if in_bin.any():
            bins.append(
                {
                    "said": float(predicted[in_bin].mean()),
                    "came": float(hits[in_bin].mean()),
                    "count": int(in_bin.sum()),
                }
            )
    mean_error = sum(abs(row["said"] - row["came"]) * row["count"] for row in bins) / len(predicted)
    return {"bins": bins, "what": description, "off": float(mean_error)}
