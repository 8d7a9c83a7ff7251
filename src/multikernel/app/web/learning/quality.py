"""What the predictions of held-out rows are worth, as a page shows it: measures, curves, residuals."""

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
    held: Sequence[KnownRows],
    own: Sequence[FoldResult],
    single: Sequence[BaselineResult],
    constant: Sequence[BaselineResult],
) -> dict[str, Any]:
    """What the predictions of held-out rows are worth, in the first round, where each row is held out once at most.

    Parameters
    ----------
    recipe : what was learned by
    labels : array (classes,), all classes in order
    held : the rows that each part of the first round held out
    own, single, constant : what the run says of each part, a tuned kernel, and a constant prediction

    Returns
    -------
    dict of classes: confusion, ROC curves, calibration and thresholds; of numbers, residuals and the width of intervals
    """
    parts = own[: len(held)]
    truth = np.concatenate([part.y for part in held])
    predicted = np.concatenate([part.predicted for part in parts])
    baselines = (single[: len(held)], constant[: len(held)])
    if recipe.task == "regression":
        others = [
            _errors(np.concatenate([each.truth for each in base]), np.concatenate([each.predicted for each in base]))
            for base in baselines
        ]
        return {"residuals": _residuals(truth, predicted), "measures": _listed(_errors(truth, predicted), *others)}
    values = _joined([part.values for part in parts], len(labels))
    probabilities = values if all(part.calibrated for part in parts) else None
    found = {"confusion": confusion_matrix(truth, predicted, labels=labels).tolist()}
    if values is not None:
        found["roc"] = _rocs(truth, values, labels)
    if probabilities is not None:
        found["calibration"] = _calibration(truth, probabilities, labels)
        if len(labels) == 2:
            found["thresholds"] = thresholds(truth == labels[1], probabilities[:, 1])
    mine = _of_classes(truth, predicted, values, probabilities, labels)
    others = [_of_baseline(baselines[0], labels), _of_baseline(baselines[1], labels, same=True)]
    return found | {"measures": _listed(mine, *others), "by_class": _by_class(truth, predicted, labels)}


def _joined(values: Sequence[Array | None], classes: int) -> Array | None:
    """The values of all parts; None where a part has none, or did not know all classes."""
    known = [each for each in values if each is not None and each.shape[1] == classes]
    if len(known) == len(values):
        return np.concatenate(known)
    return None


def _of_baseline(base: Sequence[BaselineResult], labels: Array, same: bool = False) -> dict[str, float]:
    """Measures of what a run is compared with; ``same`` where it says the same of each row, but for the fold."""
    truth = np.concatenate([each.truth for each in base])
    predicted = np.concatenate([each.predicted for each in base])
    values = _joined([each.values for each in base], len(labels))
    if same and values is not None:
        values = np.tile(values.mean(axis=0), (len(truth), 1))
    known = same or all(each.calibrated for each in base)
    return _of_classes(truth, predicted, values, values if known else None, labels)


def _listed(own: dict[str, float], single: dict[str, float], constant: dict[str, float]) -> list[dict[str, Any]]:
    """Measures by name, and beside them those of what the run is compared with, where these have them."""
    return [
        {"name": name, "value": value, "single": single.get(name), "constant": constant.get(name)}
        for name, value in own.items()
    ]


def _of_classes(
    truth: Array, predicted: Array, values: Array | None, probabilities: Array | None, labels: Array
) -> dict[str, float]:
    """Measures of all classes."""
    known = dict(MEASURES["classification"])
    if values is None or len(np.unique(truth)) < 2:
        known.pop("roc_auc")
    if probabilities is None:
        known.pop("log_loss")
    return {each.label: each.of(truth, predicted, values, labels) for each in known.values()}


def _by_class(truth: Array, predicted: Array, labels: Array) -> list[dict[str, Any]]:
    precision, recall, f1, count = precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=0.0)
    each = zip(labels.tolist(), precision.tolist(), recall.tolist(), f1.tolist(), count.tolist(), strict=True)
    return [{"label": str(c), "precision": p, "recall": r, "f1": f, "rows": n} for c, p, r, f, n in each]


def _errors(truth: Array, predicted: Array) -> dict[str, float]:
    """Measures of numbers."""
    away = np.abs(truth - predicted)
    return {
        "R² of all rows together": float(r2_score(truth, predicted)),
        "root mean square error": float(np.sqrt(np.mean(away**2))),
        "mean absolute error": float(away.mean()),
        "median absolute error": float(np.median(away)),
    }


def thresholds(positive: Array, probability: Array) -> dict[str, list[int]]:
    """How many rows get at least each probability from 0 to 1 in hundredths.

    Parameters
    ----------
    positive : bool array (n,), the rows of the second class
    probability : array (n,), that of the second class

    Returns
    -------
    dict with the counts among the rows of the second class (right), and among the others (wrong)
    """
    at = np.arange(101) / 100.0
    right = np.sort(probability[positive])
    wrong = np.sort(probability[~positive])
    return {
        "right": (len(right) - np.searchsorted(right, at)).tolist(),
        "wrong": (len(wrong) - np.searchsorted(wrong, at)).tolist(),
    }


def _residuals(truth: Array, predicted: Array) -> dict[str, Any]:
    away = np.abs(truth - predicted)
    rank = min(int(np.ceil((len(away) + 1) * _COVERED)), len(away))
    some = np.random.default_rng(0).permutation(len(truth))[:_POINTS]
    points = np.column_stack([predicted, truth])[some].tolist()
    return {
        "points": [[float(f"{value:.10g}") for value in point] for point in points],
        "width": float(np.sort(away)[rank - 1]),
        "covered": _COVERED,
        "rmse": float(np.sqrt(np.mean(away**2))),
        "mean_error": float(away.mean()),
        "spread": float(truth.std()),
    }


def _rocs(truth: Array, values: Array, labels: Array) -> list[dict[str, Any]]:
    """The curve of two classes, else each class against the others: all areas, and the points of the lowest curves."""
    found: list[dict[str, Any]] = []
    known = [k for k, label in enumerate(labels) if 0 < (truth == label).sum() < len(truth)]
    for k in known[-1:] if len(labels) == 2 else known:
        false, true, _ = roc_curve(truth == labels[k], values[:, k])
        kept = np.unique(np.linspace(0, len(false) - 1, 80).round().astype(int))
        points = np.column_stack([false, true])[kept].round(4).tolist()
        found.append({"label": str(labels[k]), "points": points, "area": float(auc(false, true))})
    for curve in sorted(found, key=lambda curve: float(curve["area"]))[_CURVES:]:
        curve["points"] = []
    return found


def _calibration(truth: Array, values: Array, labels: Array) -> dict[str, Any]:
    """How often predictions are right, by tenths of their probability: of the second class of two, else the top one."""
    if len(labels) == 2:
        predicted = values[:, 1]
        came = truth == labels[1]
        what = f"of class {labels[1]}"
    else:
        best = values.argmax(axis=1)
        predicted = values.max(axis=1)
        came = labels[best] == truth
        what = "of the class that it names"
    place = np.minimum((predicted * 10).astype(int), 9)
    bins = []
    for k in range(10):
        own = place == k
        if own.any():
            bins.append(
                {"said": float(predicted[own].mean()), "came": float(came[own].mean()), "count": int(own.sum())}
            )
    off = sum(abs(b["said"] - b["came"]) * b["count"] for b in bins) / len(predicted)
    return {"bins": bins, "what": what, "off": float(off)}
