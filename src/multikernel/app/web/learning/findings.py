"""A run from its order to its findings: scores on held-out folds, the model of all rows, what to show of both."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import multikernel
from multikernel.app.jobs.methods import OUTER_FOLDS, most_folds, shuffled_folds
from multikernel.app.tables.table import read_table
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.web.learning.comparison import compared, single_kernel, trivial
from multikernel.app.web.learning.errors import HeldOutRows, RowNames
from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.held_out import FoldResult, columns_to_shuffle, held_out, importance_of
from multikernel.app.web.learning.progress import Report, fitting
from multikernel.app.web.learning.recipe import COMPARISON, Recipe
from multikernel.app.web.learning.samples import TrainingSamples, bare, check_enough, words_of
from multikernel.app.web.learning.summary import freedom_of, path_of, proof_of, quality, typical, weights_of
from multikernel.app.web.learning.worth import worth_of_views
from multikernel.files import write_whole
from multikernel.typing import Array

_BASELINE = 0.2  # the time of a fold of the single kernel beside that of a fit: 0.6 s and 2.8 s on 600 rows


def found(stored: Mapping[str, Any], table: Path, folder: Path, report: Report) -> dict[str, Any]:
    """The few numbers of a run that a list shows; the rest is in the run's folder.

    Parameters
    ----------
    stored : the recipe
    table : the cells
    folder : where the model and the findings are left
    report : receives the progress

    Raises
    ------
    ValueError : where the table or the recipe does not allow it
    """
    warnings.simplefilter("ignore", ConvergenceWarning)  # of parameters that are tried; the certificate says the rest
    start = perf_counter()
    recipe = Recipe.from_json(stored)
    report("Reading the table", 0.0)
    whole = read_table(table)
    samples = TrainingSamples.of(whole, recipe)
    cells = samples.cells
    X = samples.X
    y = samples.y
    words = words_of(whole, recipe)
    ranges = TrainingRanges.learn(cells.of_rows(samples.places.tolist()).columns, recipe.columns)
    if recipe.worth:
        result = worth_of_views(recipe, X, y, report)
    elif recipe.method == COMPARISON:
        result = compared(recipe, X, y, report)
    else:
        names = RowNames.of(whole, recipe)
        result = _learned(recipe, X, y, samples.numbers, names, _metadata(recipe, words, ranges), folder, report)
    result |= {
        "task": samples.task,
        "n": len(y),
        "seconds": perf_counter() - start,
        "unknown": len(cells.columns[recipe.target].cells) - len(y),
    }
    if len(recipe.by_view) > 1:
        without = {view: int(X[names].isna().all(axis=1).sum()) for view, names in recipe.by_view.items()}
        result["sources"] = {"missing": recipe.missing, "left_out": whole.n - cells.n, "without": without}
    result |= {
        "typical": typical(X, recipe, words),
        "target_dtype": {"i": "int", "f": "float"}.get(y.dtype.kind, "str"),
    }
    write_whole(folder / "result.json", json.dumps(result).encode())
    return {"measure": result["measure"], "n": len(y), "seconds": result["seconds"], **_headline(result)}


def _learned(
    recipe: Recipe,
    X: pd.DataFrame,
    y: Any,
    numbers: Array,
    names: RowNames,
    metadata: Mapping[str, Any],
    folder: Path,
    report: Report,
) -> dict[str, Any]:
    """What a run of one method finds; ``numbers`` are those of the rows in the table, ``names`` what it calls them."""
    check_enough(recipe.target, y, recipe.task)
    folds = min(OUTER_FOLDS, most_folds(y, recipe.task))
    total = folds * (1.0 + _BASELINE) + 1.0
    splits = list(shuffled_folds(recipe.task, folds, recipe.seed).split(X, y))
    columns = columns_to_shuffle(X, y, recipe.task)
    parts: list[FoldResult] = []
    for k, (train, test) in enumerate(splits):
        with fitting(report, f"Fold {k + 1} of {folds}: learning", k / total, 1.0 / total):
            parts.append(held_out(recipe, X, y, train, test, columns))
    single = []
    for k, (train, test) in enumerate(splits):
        report("A single tuned kernel, to compare with", (folds + k * _BASELINE) / total, f"fold {k + 1} of {folds}")
        single.append(single_kernel(recipe, X, y, train, test))
    model, given = made(recipe, X, y)
    with fitting(report, "Learning from all rows", 1.0 - 1.0 / total, 1.0 / total):
        model.fit(given, y)
    own = getattr(model, "best_estimator_", model)
    multikernel.save(own, folder / "model.mk", metadata=dict(metadata))
    tests = [test for _, test in splits]
    rows = HeldOutRows.of(recipe, y, parts, tests, numbers, names)
    rows.write(folder / "held_out.json")
    measure = "accuracy" if recipe.task == "classification" else "R²"
    return {
        "measure": measure,
        "classes": [str(label) for label in getattr(own, "classes_", [])],
        "scores": {
            "own": [part.score for part in parts],
            "single": single,
            "trivial": [trivial(recipe.task, y[train], y[test]) for train, test in splits],
        },
        "train_score": float(own.score(given, y)),
        "weights": weights_of(own, [part.model for part in parts], recipe),
        "importance": importance_of(parts),
        "screened": len(X.columns) if len(columns) < len(X.columns) else 0,
        "path": path_of(model, recipe, given, y),
        "freedom": freedom_of(own),
        "certificate": proof_of(own),
        "chosen": {name: float(value) for name, value in getattr(model, "best_params_", {}).items()},
        "explanation": _explained(own),
        **quality(recipe, y, parts, tests),
        "mistakes": rows.summary(),
    }


def _metadata(recipe: Recipe, words: Mapping[str, list[str]], ranges: TrainingRanges) -> dict[str, Any]:
    """What the command line needs to know of the columns, beside the recipe."""
    known: dict[str, Any] = {
        "columns": {name: kind == "number" for name, kind in recipe.columns.items()},
        "words": dict(words),
        "target": recipe.target,
        "numerals": recipe.written,
        **ranges.to_metadata(),
        "recipe": recipe.to_json(),
    }
    if len(recipe.by_view) > 1:
        views = recipe.by_view.items()
        known["views"] = {view: {name: bare(name, view) for name in names} for view, names in views}
    return known


def _explained(model: Any) -> dict[str, Any] | None:
    explanation = getattr(model, "explanation_", None)
    if explanation is None:
        return None
    rows = [
        {"candidate": r.candidate, "error": r.error, "spread": r.spread, "weight": r.weight, "learned": r.learned}
        for r in explanation.rows
    ]
    return {
        "data": explanation.data,
        "choice": explanation.choice,
        "warnings": explanation.warnings,
        "measure": explanation.measure,
        "rows": rows,
    }


def _headline(result: Mapping[str, Any]) -> dict[str, Any]:
    if "worth" in result:
        return {"score": result["worth"]["score"], "deviation": result["worth"]["error"], "trivial": None}
    if "scores" in result:
        scores = result["scores"]["own"]
    else:
        scores = max(result["comparison"], key=_mean)["scores"]
    return {
        "score": float(np.mean(scores)),
        "deviation": float(np.std(scores, ddof=1)),
        "trivial": float(np.mean(result["scores"]["trivial"])) if "scores" in result else None,
    }


def _mean(row: Mapping[str, Any]) -> float:
    return float(np.mean(row["scores"]))
