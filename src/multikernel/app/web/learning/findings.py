"""A run from its order to its findings: scores on held-out folds, the model of all rows, what to show of both."""

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
from multikernel.app.web.learning.comparison import compared, single_kernel, trivial
from multikernel.app.web.learning.dependence import usual_place
from multikernel.app.web.learning.division import Division, layout_of
from multikernel.app.web.learning.errors import HeldOutRows, RowNames, held_out_file
from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.held_out import FoldResult, columns_to_shuffle, held_out, importance_of, spread
from multikernel.app.web.learning.intervals import interval_of, refitted_dependence
from multikernel.app.web.learning.measures import measure_of, scorer_of
from multikernel.app.web.learning.progress import Report, fitting
from multikernel.app.web.learning.quality import quality
from multikernel.app.web.learning.recipe import COMPARISON, Recipe
from multikernel.app.web.learning.samples import TrainingSamples, bare, check_distinguished, words_of
from multikernel.app.web.learning.summary import freedom_of, path_of, proof_of, scales_of, typical, weights_of
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
    layout = layout_of(recipe, whole, table.parent)
    division = Division.of(layout)
    cells = layout.cells
    X = division.whole.X
    y = division.whole.y
    check_distinguished(X, recipe, "the rows of the table")
    for k, (known, _) in enumerate(division.parts()):
        check_distinguished(known.X, recipe, f"the rows that {layout.name(k).lower()} learns from")
    words = words_of(whole, recipe)
    if recipe.worth:
        result = worth_of_views(recipe, division, report)
    elif recipe.method == COMPARISON:
        result = compared(recipe, division, report)
    else:
        ranges = TrainingRanges.learn(cells.of_rows(layout.rows.tolist()).columns, recipe.columns)
        if layout.test is None:
            names = RowNames.of(whole, recipe)
        else:
            names = RowNames.of(layout.test.table, recipe, layout.test.table.file)
        result = _learned(recipe, division, names, _metadata(recipe, words, ranges), folder, report)
    result |= {
        "task": recipe.task,
        "less_is_better": measure_of(recipe.task, recipe.measured.measure).error,
        "n": len(y),
        "seconds": perf_counter() - start,
        "unknown": len(cells.columns[recipe.target].cells) - len(y),
        "measured": layout.description,
        "given_away": given_away(recipe.target, whole, recipe.columns),
    }
    if len(recipe.by_view) > 1:
        without = {view: int(X[names].isna().all(axis=1).sum()) for view, names in recipe.by_view.items()}
        result["sources"] = {"missing": recipe.missing, "left_out": whole.n - cells.n, "without": without}
    result |= {
        "typical": typical(X, recipe, words),
        "target_dtype": {"i": "int", "f": "float"}.get(y.dtype.kind, "str"),
    }
    write_whole(folder / "result.json", json.dumps(result).encode())
    line = {"measure": result["measure"], "n": len(y), "seconds": result["seconds"], "parts": layout.count}
    return line | _headline(result)


def _learned(
    recipe: Recipe,
    division: Division,
    names: RowNames,
    metadata: Mapping[str, Any],
    folder: Path,
    report: Report,
) -> dict[str, Any]:
    """What a run of one method finds; ``names``: what a table calls its rows."""
    whole = division.whole
    layout = division.layout
    total = layout.count * (1.0 + _BASELINE) + 1.0
    columns = columns_to_shuffle(whole.X, whole.y, recipe.task)
    own: list[FoldResult] = []
    for k, (known, held) in enumerate(division.parts()):
        with fitting(report, f"{layout.name(k)}: learning", k / total, 1.0 / total):
            own.append(held_out(recipe, known, held, columns))
    single = []
    for k, (known, held) in enumerate(division.parts()):
        part = (layout.count + k * _BASELINE) / total
        report("A single tuned kernel, to compare with", part, layout.name(k).lower())
        single.append(single_kernel(recipe, known, held))
    constant = [trivial(recipe, known, held) for known, held in division.parts()]
    model, given = made(recipe, whole.X, whole.y, whole.groups)
    with fitting(report, "Learning from all rows", 1.0 - 1.0 / total, 1.0 / total):
        model.fit(given, whole.y, **whole.inner_groups)
    best = getattr(model, "best_estimator_", model)
    multikernel.save(best, folder / "model.mk", metadata=dict(metadata))
    measure = measure_of(recipe.task, recipe.measured.measure, len(recipe.targets))
    held_rows = [rows for _, rows in division.parts()]
    answers = Answers(held_rows, own, single, constant, layout.first_round)
    scores = {
        name: [part.score for part in parts]
        for name, parts in (("own", own), ("single", single), ("trivial", constant))
    }
    importance = importance_of(own)
    return {
        "measure": measure.label,
        "classes": [str(label) for label in getattr(best, "classes_", [])],
        "scores": scores,
        "train_score": measure.sign * scorer_of(measure)(best, given, whole.y),
        "weights": weights_of(best, [part.model for part in own], recipe),
        "scales": scales_of(best, [part.model for part in own], list(whole.X.columns)),
        "importance": importance,
        "screened": len(whole.X.columns) if len(columns) < len(whole.X.columns) else 0,
        "path": path_of(model, recipe, given, whole.y),
        "freedom": freedom_of(best),
        "certificate": proof_of(best),
        "chosen": {name: float(value) for name, value in getattr(model, "best_params_", {}).items()},
        "explanation": _explained(best),
        "held_out": sum(len(rows.y) for rows in held_rows[: layout.first_round]),
        **_refits(recipe, division, [part.model for part in own], scores, [row["name"] for row in importance]),
        **_of_held_out_rows(recipe, whole.y, answers, names, folder),
    }


def _of_held_out_rows(recipe: Recipe, y: Array, answers: Answers, names: RowNames, folder: Path) -> dict[str, Any]:
    """What the predictions of held-out rows are worth, for each target where there are several."""
    if recipe.other_targets:
        return {"targets": by_target(recipe, answers, names, folder)}
    labels = np.unique(y)
    held = answers.held[: answers.first_round]
    rows = HeldOutRows.of(recipe, labels, answers.own[: answers.first_round], held, names)
    rows.write(folder / held_out_file(0))
    found = quality(recipe, labels, held, answers.own, answers.single, answers.constant)
    return found | {"mistakes": rows.summary()}


def _refits(
    recipe: Recipe,
    division: Division,
    models: Sequence[Any],
    scores: Mapping[str, Sequence[float]],
    columns: Sequence[str],
) -> dict[str, Any]:
    """Intervals by the models of the folds, where these were drawn anew several times; nothing elsewhere."""
    layout = division.layout
    whole = division.whole
    if len(layout.rounds) < 2:
        return {}
    measure = measure_of(recipe.task, recipe.measured.measure)
    intervals = {name: interval_of(each, layout.first_round, measure) for name, each in scores.items()}
    samples = TrainingSamples(layout.cells, whole.X, whole.y, recipe.task, layout.rows)
    classes = 0 if recipe.task == "regression" else len(np.unique(whole.y))
    place = usual_place(classes, len(recipe.targets))
    return {"intervals": intervals, "refits": refitted_dependence(recipe, samples, models, columns, place)}


def _metadata(recipe: Recipe, words: Mapping[str, list[str]], ranges: TrainingRanges) -> dict[str, Any]:
    """What the command line needs to know of the columns, beside the recipe."""
    known: dict[str, Any] = {
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
        best = min if result["less_is_better"] else max
        scores = best(result["comparison"], key=_mean)["scores"]
    return {
        "score": float(np.mean(scores)),
        "deviation": spread(scores),
        "trivial": float(np.mean(result["scores"]["trivial"])) if "scores" in result else None,
    }


def _mean(row: Mapping[str, Any]) -> float:
    return float(np.mean(row["scores"]))
