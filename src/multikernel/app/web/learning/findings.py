"""The execution of a run: scores on held-out folds, the model of all rows, and the findings that its page shows."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import multikernel
from multikernel.app.tables.table import read_table
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.web.advice import given_away
from multikernel.app.web.learning.by_target import Answers, by_target
from multikernel.app.web.learning.comparison import compare_methods, constant_prediction, single_kernel
from multikernel.app.web.learning.dependence import default_output_index
from multikernel.app.web.learning.division import Division, layout_of
from multikernel.app.web.learning.errors import HeldOutRows, RowNames, held_out_file
from multikernel.app.web.learning.families import estimator_of
from multikernel.app.web.learning.held_out import FoldResult, columns_to_shuffle, held_out, importance_of, spread
from multikernel.app.web.learning.intervals import interval_of, refitted_dependence
from multikernel.app.web.learning.measures import measure_of, scorer_of
from multikernel.app.web.learning.progress import Report, fitting
from multikernel.app.web.learning.quality import quality
from multikernel.app.web.learning.recipe import COMPARISON, Recipe
from multikernel.app.web.learning.samples import TrainingSamples, check_distinguished, name_without_view, words_of
from multikernel.app.web.learning.summary import freedom_of, path_of, proof_of, scales_of, typical_cells, weights_of
from multikernel.app.web.learning.worth import worth_of_views
from multikernel.files import write_whole
from multikernel.typing import Array

_BASELINE = 0.2  # the time of a fold of the single kernel beside that of a fit: 0.6 s and 2.8 s on 600 rows


def execute_run(stored: Mapping[str, Any], table: Path, folder: Path, report: Report) -> dict[str, Any]:
    """Execute a run: write its model and its findings to a folder, and return the numbers that a list of runs shows.

    Parameters
    ----------
    stored : the recipe, as ``Recipe.to_json`` returns it
    table : the file of the cells
    folder : the folder of the run
    report : receives the progress

    Raises
    ------
    ValueError : where the table or the recipe does not allow it
    """
    # about parameters that are tried; the certificate of the final fit reports whether it converged
    warnings.simplefilter("ignore", ConvergenceWarning)
    start = perf_counter()
    recipe = Recipe.from_json(stored)
    report("Reading the table", 0.0)
    all_cells = read_table(table)
    layout = layout_of(recipe, all_cells, table.parent)
    division = Division.of(layout)
    learned_cells = layout.cells
    X = division.all_rows.X
    y = division.all_rows.y
    check_distinguished(X, recipe, "the rows of the table")
    for k, (training_rows, _) in enumerate(division.parts()):
        check_distinguished(training_rows.X, recipe, f"the rows that {layout.name(k).lower()} learns from")
    words = words_of(all_cells, recipe)
    if recipe.worth:
        result = worth_of_views(recipe, division, report)
    elif recipe.method == COMPARISON:
        result = compare_methods(recipe, division, report)
    else:
        ranges = TrainingRanges.learn(learned_cells.of_rows(layout.rows.tolist()).columns, recipe.columns)
        if layout.test is None:
            names = RowNames.of(all_cells, recipe)
        else:
            names = RowNames.of(layout.test.table, recipe, layout.test.table.file)
        result = _findings_of_method(recipe, division, names, _metadata(recipe, words, ranges), folder, report)
    result |= {
        "task": recipe.task,
        "less_is_better": measure_of(recipe.task, recipe.measured.measure).error,
        "n": len(y),
        "seconds": perf_counter() - start,
        "unknown": len(learned_cells.columns[recipe.target].cells) - len(y),
        "measured": layout.description,
        "given_away": given_away(recipe.target, all_cells, recipe.columns),
    }
    if len(recipe.by_view) > 1:
        lacking_counts = {view: int(X[names].isna().all(axis=1).sum()) for view, names in recipe.by_view.items()}
        result["sources"] = {
            "missing": recipe.missing,
            "left_out": all_cells.n - learned_cells.n,
            "without": lacking_counts,
        }
    result |= {
        "typical": typical_cells(X, recipe, words),
        "target_dtype": {"i": "int", "f": "float"}.get(y.dtype.kind, "str"),
    }
    write_whole(folder / "result.json", json.dumps(result).encode())
    summary = {"measure": result["measure"], "n": len(y), "seconds": result["seconds"], "parts": layout.count}
    return summary | _headline(result)


def _findings_of_method(
    recipe: Recipe,
    division: Division,
    names: RowNames,
    metadata: Mapping[str, Any],
    folder: Path,
    report: Report,
) -> dict[str, Any]:
    """The findings of a run of one method; ``names``: the names of the rows in their table."""
    all_rows = division.all_rows
    layout = division.layout
    total = layout.count * (1.0 + _BASELINE) + 1.0
    columns = columns_to_shuffle(all_rows.X, all_rows.y, recipe.task)
    fold_results: list[FoldResult] = []
    for k, (training_rows, test_rows) in enumerate(division.parts()):
        with fitting(report, f"{layout.name(k)}: learning", k / total, 1.0 / total):
            fold_results.append(held_out(recipe, training_rows, test_rows, columns))
    single_results = []
    for k, (training_rows, test_rows) in enumerate(division.parts()):
        progress = (layout.count + k * _BASELINE) / total
        report("A single tuned kernel, to compare with", progress, layout.name(k).lower())
        single_results.append(single_kernel(recipe, training_rows, test_rows))
    constant_results = [
        constant_prediction(recipe, training_rows, test_rows) for training_rows, test_rows in division.parts()
    ]
    model, model_input = estimator_of(recipe, all_rows.X, all_rows.y, all_rows.groups)
    with fitting(report, "Learning from all rows", 1.0 - 1.0 / total, 1.0 / total):
        model.fit(model_input, all_rows.y, **all_rows.inner_groups)
    final_model = getattr(model, "best_estimator_", model)
    multikernel.save(final_model, folder / "model.mk", metadata=dict(metadata))
    measure = measure_of(recipe.task, recipe.measured.measure, len(recipe.targets))
    test_rows_of_parts = [rows for _, rows in division.parts()]
    answers = Answers(test_rows_of_parts, fold_results, single_results, constant_results, layout.first_round)
    scores = {
        name: [result.score for result in results]
        for name, results in (("own", fold_results), ("single", single_results), ("trivial", constant_results))
    }
    importance = importance_of(fold_results)
    return {
        "measure": measure.label,
        "classes": [str(label) for label in getattr(final_model, "classes_", [])],
        "scores": scores,
        "train_score": measure.sign * scorer_of(measure)(final_model, model_input, all_rows.y),
        "weights": weights_of(final_model, [result.model for result in fold_results], recipe),
        "scales": scales_of(final_model, [result.model for result in fold_results], list(all_rows.X.columns)),
        "importance": importance,
        "screened": len(all_rows.X.columns) if len(columns) < len(all_rows.X.columns) else 0,
        "path": path_of(model, recipe, model_input, all_rows.y),
        "freedom": freedom_of(final_model),
        "certificate": proof_of(final_model),
        "chosen": {name: float(value) for name, value in getattr(model, "best_params_", {}).items()},
        "explanation": _explanation(final_model),
        "held_out": sum(len(rows.y) for rows in test_rows_of_parts[: layout.first_round]),
        **_refits(
            recipe, division, [result.model for result in fold_results], scores, [row["name"] for row in importance]
        ),
        **_of_held_out_rows(recipe, all_rows.y, answers, names, folder),
    }


def _of_held_out_rows(recipe: Recipe, y: Array, answers: Answers, names: RowNames, folder: Path) -> dict[str, Any]:
    """Measures and largest errors of the predictions for held-out rows, for each target where there are several."""
    if recipe.other_targets:
        return {"targets": by_target(recipe, answers, names, folder)}
    labels = np.unique(y)
    test_rows = answers.test_rows[: answers.first_round]
    rows = HeldOutRows.of(recipe, labels, answers.fold_results[: answers.first_round], test_rows, names)
    rows.write(folder / held_out_file(0))
    measures = quality(recipe, labels, test_rows, answers.fold_results, answers.single, answers.constant)
    return measures | {"mistakes": rows.summary()}


def _refits(
    recipe: Recipe,
    division: Division,
    models: Sequence[Any],
    scores: Mapping[str, Sequence[float]],
    columns: Sequence[str],
) -> dict[str, Any]:
    """Intervals from the models of the folds, where folds were drawn several times; empty otherwise."""
    layout = division.layout
    all_rows = division.all_rows
    if len(layout.rounds) < 2:
        return {}
    measure = measure_of(recipe.task, recipe.measured.measure)
    intervals = {name: interval_of(fold_scores, layout.first_round, measure) for name, fold_scores in scores.items()}
    samples = TrainingSamples(layout.cells, all_rows.X, all_rows.y, recipe.task, layout.rows)
    classes = 0 if recipe.task == "regression" else len(np.unique(all_rows.y))
    output_index = default_output_index(classes, len(recipe.targets))
    return {"intervals": intervals, "refits": refitted_dependence(recipe, samples, models, columns, output_index)}


def _metadata(recipe: Recipe, words: Mapping[str, list[str]], ranges: TrainingRanges) -> dict[str, Any]:
    """The metadata of the model file: the recipe, and the facts about columns that the command line needs."""
    metadata: dict[str, Any] = {
        "columns": {name: kind == "number" for name, kind in recipe.columns.items()},
        "words": dict(words),
        "target": recipe.target,
        **({"targets": recipe.targets} if recipe.other_targets else {}),
        "numerals": recipe.written,
        **ranges.to_metadata(),
        "recipe": recipe.to_json(),
    }
    if len(recipe.by_view) > 1:
        views = recipe.by_view.items()
        metadata["views"] = {view: {name: name_without_view(name, view) for name in names} for view, names in views}
    return metadata


def _explanation(model: Any) -> dict[str, Any] | None:
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
        best = min if result["less_is_better"] else max
        scores = best(result["comparison"], key=_mean)["scores"]
    return {
        "score": float(np.mean(scores)),
        "deviation": spread(scores),
        "trivial": float(np.mean(result["scores"]["trivial"])) if "scores" in result else None,
    }


def _mean(row: Mapping[str, Any]) -> float:
    return float(np.mean(row["scores"]))
