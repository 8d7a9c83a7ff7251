"""``fit``: from a table to a model and its scores, with a method that the user chose, or automatically."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline

from multikernel.app.jobs.criteria import NAMES, criteria_of
from multikernel.app.jobs.method_samples import MethodSamples
from multikernel.app.jobs.methods import (
    INNER_FOLDS,
    OUTER_FOLDS,
    PRINTED_WEIGHTS,
    FitRequest,
    automatic_model,
    folds_of_task,
    score_name,
    with_search,
)
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.columns import ColumnKinds
from multikernel.app.tables.held_out import RowsHeldOut
from multikernel.app.tables.table import CsvTable, read_target
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.tables.views import some_samples, split
from multikernel.typing import Array

_LARGE = 2000  # rows; for fewer no forecast is made, as twelve kernels take at most 0.25 GB
_MUCH = 1e9  # bytes from which a forecast is reported


@dataclass(frozen=True)
class Trained:
    """A model with its samples and its scores: accuracy for classes, R2 for numbers."""

    model: Any  # the method, without the steps that prepare its samples
    steps: tuple[Any, ...]  # these steps, fitted, where they are part of the model's file
    samples: MethodSamples
    target: str  # the name of its column
    left_out: tuple[str, ...]  # columns of the file that are neither features nor the target
    chosen: dict[str, float]  # the regularisation chosen by inner folds, empty where the user gave it
    score: float  # on the training data
    fold_scores: tuple[float, ...]  # on held-out folds, empty where a class is too small for folds
    later: bool = False  # whether each fold is later than the rows that were learned from

    @property
    def saved(self) -> Any:
        """The estimator that the model's file contains: a pipeline where there are steps."""
        if self.steps:
            return make_pipeline(*self.steps, self.model)
        return self.model


def train(table: CsvTable, request: FitRequest, watch: Watch) -> Trained:
    """Fit and cross-validate the requested model; ValueError where the file or an option does not allow it."""
    samples = MethodSamples.of(table, request)
    y = samples.y
    held_out = table.held_out
    model = with_search(samples.model(request), request, samples.task, y, held_out)
    X, steps = samples.prepared()
    _report_forecast(getattr(model, "estimator", model), X, y, watch)
    fold_scores = _cross_validate(model, samples, held_out, request, watch)  # the longest part
    groups = held_out.together()
    with watch.fitting("fit"):
        model.fit(X, y, groups=groups)
        final = getattr(model, "best_estimator_", model)
        if request.proba:
            final = _with_probabilities(final, X, y, groups)
    return Trained(
        model=final,
        steps=steps,
        samples=samples,
        target=request.target,
        left_out=tuple(name for name in table.columns if name not in samples.features and name != request.target),
        chosen=getattr(model, "best_params_", {}),
        score=float(model.score(X, y)),
        fold_scores=fold_scores,
        later=held_out.times is not None,
    )


def _report_forecast(model: Any, X: Any, y: Array, watch: Watch) -> None:
    """Report the memory of a large fit before it begins; MemoryError where less is available.

    The folds of the search and of the scores are blocks of the same kernels, one after the other, and take no more
    memory: the measured peaks of such fits to 4000 rows were 0.8 to 1.3 times the forecast.
    """
    if len(y) < _LARGE:
        return
    forecast = model.forecast(X, y)
    advice = "fewer rows take less"
    if getattr(model, "approximation", "") is None:
        advice += ", and so does --approximation nystroem"
    if not forecast.fits:
        raise MemoryError(f"{forecast}; {advice}")
    if forecast.bytes > _MUCH:
        watch.expecting(f"{forecast}; {advice}")


def _with_probabilities(model: Any, X: Any, y: Array, groups: Array | None) -> Any:
    """The model with probabilities of its classes, calibrated once, after its parameters have been chosen."""
    if getattr(model, "probability", None) is not None:  # by --set
        return model
    return clone(model).set_params(probability="platt").fit(X, y, groups=groups)


def _cross_validate(
    model: Any, samples: MethodSamples, held_out: RowsHeldOut, request: FitRequest, watch: Watch
) -> tuple[float, ...]:
    """Scores on held-out folds, with the steps learned outside of the fold; () where a class is too small for folds."""
    X = samples.X
    y = samples.y
    task = samples.task
    n_folds = min(OUTER_FOLDS, held_out.possible_folds(y, task))
    if n_folds < 2:
        return ()
    pipeline = samples.pipeline(model)
    scores = []
    with watch.steps(n_folds, "cross-validation") as observe:
        for k, (train_rows, test_rows) in enumerate(folds_of_task(task, n_folds, request.seed, y, held_out)):
            groups = held_out.together(train_rows)
            if groups is None:
                fit_arguments = {}
            else:
                fit_arguments = {f"{pipeline.steps[-1][0]}__groups": groups}
            fold = clone(pipeline).fit(some_samples(X, train_rows), y[train_rows], **fit_arguments)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of categories that the training rows did not have
                scores.append(float(fold.score(some_samples(X, test_rows), y[test_rows])))
            observe(f"fold {k + 1}")
    return tuple(scores)


def summary(trained: Trained) -> dict[str, Any]:
    """What was learned, as a dictionary; its keys are those of ``automatic_summary``."""
    model = trained.model
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    return {
        "method": type(model).__name__,
        "task": trained.samples.task,
        "target": trained.target,
        "samples": len(trained.samples.y),
        "features": list(trained.samples.features),
        "left_out": list(trained.left_out),
        "measure": score_name(trained.samples.task),
        "score_training": trained.score,
        "score_folds": list(trained.fold_scores) or None,
        "chosen": trained.chosen,
        "inner_folds": INNER_FOLDS if trained.chosen else None,
        "alpha": getattr(model, "alpha_", None),
        "criteria": criteria_of(model) or None,
        "certificate": asdict(model.certificate_),
        "kernels": len(model.kernel_names_),
        "weights": [
            {"kernel": str(name), "weight": weight}
            for name, weight in zip(model.kernel_names_, weights.tolist(), strict=True)
        ],
        "weights_of_classes": _weights_of_problems(model),
        "degrees_of_freedom": np.atleast_1d(model.degrees_of_freedom_)
        if hasattr(model, "degrees_of_freedom_")
        else None,
        "candidates": None,
        "sentences": None,
    }


def _weights_of_problems(model: Any) -> dict[str, Any] | None:
    """The weights of each problem, in the order of the kernels; None for a single problem."""
    if model.weights_.ndim < 2 or len(model.weights_) < 2:
        return None
    return dict(zip(map(str, model.problem_names()), model.weights_.tolist(), strict=True))


def describe(trained: Trained) -> list[tuple[str, list[str], list[list[str]]]]:
    """The tables that ``fit`` prints, each as its title, its header and its rows."""
    model = trained.model
    measure = score_name(trained.samples.task)
    cv = np.array(trained.fold_scores)
    if trained.later:
        folds_text = "folds, each later than what was learned from"
    else:
        folds_text = "folds"
    if len(cv):
        held_out = [f"{measure}, cross-validated", f"{cv.mean():.4f} +- {cv.std(ddof=1):.4f} ({len(cv)} {folds_text})"]
    else:
        held_out = [f"{measure}, cross-validated", "not available: too few samples"]
    facts = [
        ["method", type(model).__name__],
        ["task", trained.samples.task],
        ["samples", str(len(trained.samples.y))],
        ["features", str(len(trained.samples.features))],
    ]
    if trained.left_out:
        facts.append(["left out", ", ".join(trained.left_out)])
    facts += [["kernels", str(len(model.kernel_names_))], [f"{measure}, training", f"{trained.score:.4f}"], held_out]
    facts += [[f"{name}, chosen by {INNER_FOLDS} folds", f"{value:g}"] for name, value in trained.chosen.items()]
    if hasattr(model, "alpha_"):
        facts.append(["alpha, learned", f"{model.alpha_:.3g}"])
    facts += [[NAMES[name], f"{value:.4g}"] for name, value in criteria_of(model).items()]
    facts.append(_certificate(model))
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    top = np.argsort(-weights, kind="stable")[:PRINTED_WEIGHTS]
    title = f"Largest weights ({len(top)} of {len(weights)})"
    if model.weights_.ndim == 2:
        title += f", mean of {len(model.weights_)} problems"
    rows = [[str(model.kernel_names_[k]), f"{weights[k]:.4f}"] for k in top]
    return [("Model", ["", ""], facts), (title, ["kernel", "weight"], rows)]


def _certificate(model: Any) -> list[str]:
    certificate = model.certificate_
    note = "" if certificate.kind == "duality gap" else " (no convex problem)"
    return [f"relative {certificate.kind}", f"{certificate.value:.1e}{note}"]


def train_automatic(table: CsvTable, request: FitRequest, watch: Watch) -> tuple[Any, ColumnKinds]:
    """The fitted automatic estimator and the columns that it learned from; ValueError where the table is unsuitable."""
    y, decided, feature_columns = read_target(table, request.target, request.task)
    table.check_types(request.types, request.target)
    model = automatic_model(request, decided)
    columns = ColumnKinds.learn(feature_columns, request.types)
    X = columns.frame(table)
    views = table.by_view(columns.numeric)
    with watch.fitting("fit"):
        return model.fit(split(X, views) if views else X, y, groups=table.held_out.together()), columns


def automatic_metadata(model: Any, columns: ColumnKinds, table: CsvTable, request: FitRequest) -> dict[str, Any]:
    """The metadata of a model's file: the columns that predictions need, and their views, ranges and number formats."""
    needed_columns = set(model.preparation_.needed)
    types = {column.name: column.type for column in model.preparation_.columns}
    # A view without any needed column keeps all its columns, so that its file is recognised at predictions.
    views = {
        view: {full: name for full, name in view_columns.items() if full in needed_columns} or view_columns
        for view, view_columns in table.by_view(columns.numeric).items()
    }
    column_names = [name for view_columns in views.values() for name in view_columns] or list(model.preparation_.needed)
    column_names = column_names or list(columns.numeric)  # a model that predicts a constant needs a table with rows
    return {
        "columns": {name: columns.numeric[name] for name in column_names},
        "target": request.target,
        "numerals": table.as_written(column_names),
        **TrainingRanges.learn(table.columns, {name: types[name] for name in column_names}).to_metadata(),
        **({"views": views} if views else {}),
    }


def of_time(table: CsvTable) -> list[str]:
    """A sentence about the order of the rows, where they have times."""
    if table.timed_by is None:
        return []
    return [f"Rows were held out by whole stretches of {table.timed_by!r}, not row by row."]


def automatic_summary(
    model: Any, target: str, samples: int, features: Sequence[str], left_out: Sequence[str]
) -> dict[str, Any]:
    """What was learned, as a dictionary; its keys are those of ``summary``.

    Parameters
    ----------
    model : the automatic estimator, fitted
    target : the name of its column
    samples : int, the number of training samples
    features, left_out : the columns that it was fitted to, and the other columns of the file
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
        "inner_folds": None,
        "alpha": None,
        "criteria": None,
        "certificate": asdict(model.certificate_),
        "kernels": None,
        "weights": None,
        "weights_of_classes": None,
        "degrees_of_freedom": None,
        "candidates": [asdict(row) for row in explanation.rows],
        "sentences": [*explanation.data, *explanation.choice, *explanation.warnings],
    }
