"""``fit``: from a table to a model and its scores, with a method that the user chose, or automatically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline

from multikernel.app.jobs.methods import (
    INNER_FOLDS,
    OUTER_FOLDS,
    PRINTED_WEIGHTS,
    FitRequest,
    check,
    folds_of,
    make_model,
    most_folds,
    with_search,
)
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.columns import ColumnKinds
from multikernel.app.tables.encoding import TableEncoding, scaler_of
from multikernel.app.tables.table import CsvTable, read_target
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.tables.views import some_samples, split
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor
from multikernel.datasets import Task
from multikernel.typing import Array


@dataclass(frozen=True)
class Trained:
    """A model with its encoding and its scores: accuracy for classes, R2 for numbers."""

    model: Any
    encoding: TableEncoding
    n: int  # training samples
    target: str  # the name of its column
    left_out: tuple[str, ...]  # columns of the file that are neither features nor the target
    chosen: dict[str, float]  # the regularisation chosen by inner folds, empty where the user gave it
    score: float  # on the training data
    fold_scores: tuple[float, ...]  # on held-out folds, empty where a class is too small for folds


def train(table: CsvTable, request: FitRequest, watch: Watch) -> Trained:
    """Fit and cross-validate the requested model; ValueError where the file or an option does not allow it."""
    encoding, raw, y = TableEncoding.learn(table, request.target, request.task, request.types, request.standardized)
    if request.proba and encoding.task != "classification":
        raise ValueError(f"{request.target!r} holds numbers, which have no probabilities; leave --proba out")
    model = with_search(make_model(request, encoding.task), request, encoding.task, y, table.groups)
    given = encoding.as_given(raw)
    fold_scores = _cross_validate(model, given, y, table.groups, encoding.task, request, watch)  # the longest part
    X = encoding.as_given(encoding.scale(raw))
    with watch.fitting("fit"):
        model.fit(X, y, groups=table.groups)
        if request.proba:
            final = _with_probabilities(getattr(model, "best_estimator_", model), X, y, table.groups)
        else:
            final = model
    return Trained(
        model=getattr(final, "best_estimator_", final),
        encoding=encoding,
        n=len(y),
        target=request.target,
        left_out=tuple(name for name in table.columns if name not in table.features and name != request.target),
        chosen=getattr(model, "best_params_", {}),
        score=float(model.score(X, y)),
        fold_scores=fold_scores,
    )


def _with_probabilities(model: Any, X: Any, y: Array, groups: Array | None) -> Any:
    """The model with probabilities of its classes, which are calibrated once, for the parameters chosen."""
    if getattr(model, "probability", None) is not None:  # by --set
        return model
    return clone(model).set_params(probability="platt").fit(X, y, groups=groups)


def _cross_validate(
    model: Any, raw: Any, y: Array, groups: Array | None, task: Task, request: FitRequest, watch: Watch
) -> tuple[float, ...]:
    """Scores on held-out folds, with the scaling learned outside the fold; none where a class is too small."""
    n_folds = min(OUTER_FOLDS, most_folds(y, task, groups))
    if n_folds < 2:
        return ()
    pipeline = make_pipeline(scaler_of(not isinstance(raw, pd.DataFrame), request.standardized), model)
    scores = []
    with watch.steps(n_folds, "cross-validation") as observe:
        for k, (fit, held) in enumerate(folds_of(task, n_folds, request.seed, y, groups)):
            if groups is None:
                own = {}
            else:
                own = {f"{pipeline.steps[-1][0]}__groups": groups[fit]}
            fold = clone(pipeline).fit(some_samples(raw, fit), y[fit], **own)
            scores.append(float(fold.score(some_samples(raw, held), y[held])))
            observe(f"fold {k + 1}")
    return tuple(scores)


def summary(trained: Trained) -> dict[str, Any]:
    """What was learned, by names; those that the automatic estimator has as well have the same names there."""
    model = trained.model
    classify = trained.encoding.task == "classification"
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    return {
        "method": type(model).__name__,
        "task": trained.encoding.task,
        "target": trained.target,
        "samples": trained.n,
        "features": [feature.name for feature in trained.encoding.features],
        "left_out": list(trained.left_out),
        "measure": "accuracy" if classify else "R2",
        "score_training": trained.score,
        "score_folds": list(trained.fold_scores) or None,
        "chosen": trained.chosen,
        "certificate": asdict(model.certificate_),
        "kernels": len(model.kernel_names_),
        "weights": [
            {"kernel": str(name), "weight": weight}
            for name, weight in zip(model.kernel_names_, weights.tolist(), strict=True)
        ],
        "weights_of_classes": _of_classes(model),
        "degrees_of_freedom": np.atleast_1d(model.degrees_of_freedom_)
        if hasattr(model, "degrees_of_freedom_")
        else None,
        "candidates": None,
        "sentences": None,
    }


def metadata_of(trained: Trained, table: CsvTable) -> dict[str, Any]:
    """What the file of a model says of the columns that it learned from."""
    features = trained.encoding.features
    kinds = {feature.name: "number" if feature.levels is None else "category" for feature in features}
    return {
        "table": trained.encoding.to_json(),
        "numerals": table.as_written(kinds),
        **TrainingRanges.learn(table.columns, kinds).to_metadata(),
    }


def _of_classes(model: Any) -> dict[str, Any] | None:
    """The weights of each problem of several, in the order of the kernels."""
    if model.weights_.ndim < 2 or len(model.weights_) < 2:
        return None
    return dict(zip(map(str, model.problem_names()), model.weights_.tolist(), strict=True))


def describe(trained: Trained) -> list[tuple[str, list[str], list[list[str]]]]:
    """What ``fit`` prints: tables, each as its title, its header and its rows."""
    model = trained.model
    classify = trained.encoding.task == "classification"
    measure = "accuracy" if classify else "R2"
    cv = np.array(trained.fold_scores)
    if len(cv):
        held_out = [f"{measure}, cross-validated", f"{cv.mean():.4f} +- {cv.std(ddof=1):.4f} ({len(cv)} folds)"]
    else:
        held_out = [f"{measure}, cross-validated", "not available: too few samples"]
    facts = [
        ["method", type(model).__name__],
        ["task", trained.encoding.task],
        ["samples", str(trained.n)],
        ["features", str(len(trained.encoding.low))],
        *([["left out", ", ".join(trained.left_out)]] if trained.left_out else []),
        ["kernels", str(len(model.kernel_names_))],
        [f"{measure}, training", f"{trained.score:.4f}"],
        held_out,
        *([f"{name}, chosen by {INNER_FOLDS} folds", f"{value:g}"] for name, value in trained.chosen.items()),
        *([["alpha, learned", f"{model.alpha_:.3g}"]] if hasattr(model, "alpha_") else []),
        _certificate(model),
    ]
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    top = np.argsort(-weights, kind="stable")[:PRINTED_WEIGHTS]
    title = f"Largest weights ({len(top)} of {len(weights)})"
    if model.weights_.ndim == 2:
        title += f", mean of {len(model.weights_)} problems"
    rows = [[str(model.kernel_names_[k]), f"{weights[k]:.4f}"] for k in top]
    return [("Model", ["", ""], facts), (title, ["kernel", "weight"], rows)]


def _certificate(model: Any) -> list[str]:
    found = model.certificate_
    note = "" if found.kind == "duality gap" else " (no convex problem)"
    return [f"relative {found.kind}", f"{found.value:.1e}{note}"]


def train_automatic(table: CsvTable, request: FitRequest, watch: Watch) -> tuple[Any, ColumnKinds]:
    """The automatic estimator, fitted, and what it was fitted to; ValueError where the table does not allow it."""
    y, decided, found = read_target(table, request.target, request.task)
    table.check_types(request.types, request.target)
    if request.types and "types" in request.parameters:
        raise ValueError("types of columns are given twice, by --type and by --set; give them once")
    columns = ColumnKinds.learn(found, request.types)
    X = columns.frame(table)
    views = table.by_view(columns.numeric)
    if decided == "classification":
        estimator = MultiKernelClassifier
    else:
        estimator = MultiKernelRegressor
    check(estimator, dict(request.parameters))
    given = {"random_state": request.seed, "types": dict(request.types) or None, **request.parameters}
    with watch.fitting("fit"):
        return estimator(**given).fit(split(X, views) if views else X, y, groups=table.groups), columns


def automatic_metadata(model: Any, columns: ColumnKinds, table: CsvTable, request: FitRequest) -> dict[str, Any]:
    """What the file of a model says of its columns: those that predictions are made of, and the views they are from."""
    needed = set(model.preparation_.needed)
    types = {column.name: column.type for column in model.preparation_.columns}
    views = {
        view: {full: name for full, name in own.items() if full in needed} or own  # one that says nothing is known, too
        for view, own in table.by_view(columns.numeric).items()
    }
    taken = [name for own in views.values() for name in own] or list(model.preparation_.needed)
    return {
        "columns": {name: columns.numeric[name] for name in taken},
        "target": request.target,
        "numerals": table.as_written(taken),
        **TrainingRanges.learn(table.columns, {name: types[name] for name in taken}).to_metadata(),
        **({"views": views} if views else {}),
    }


def automatic_summary(
    model: Any, target: str, samples: int, features: Sequence[str], left_out: Sequence[str]
) -> dict[str, Any]:
    """What was learned, by names; those that a named method has as well have the same names there.

    Parameters
    ----------
    model : the automatic estimator, fitted
    target : the name of its column
    samples : int, how many it was fitted to
    features, left_out : the columns that were given to it, and those of the file that were not
    """
    explanation = model.explanation_
    return {
        "method": type(model).__name__,
        "task": "classification" if is_classifier(model) else "regression",
        "target": target,
        "samples": samples,
        "features": list(features),
        "left_out": list(left_out),
        "measure": explanation.measure,
        "score_training": None,
        "score_folds": None,
        "chosen": {},
        "certificate": asdict(model.certificate_),
        "kernels": None,
        "weights": None,
        "weights_of_classes": None,
        "degrees_of_freedom": None,
        "candidates": [asdict(row) for row in explanation.rows],
        "sentences": [*explanation.data, *explanation.choice, *explanation.warnings],
    }
