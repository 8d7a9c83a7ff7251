"""``path``: one method along the values of one parameter, tested on held-out folds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from multikernel import path
from multikernel.app.jobs.criteria import NAMES, coefficients_along, criteria_along
from multikernel.app.jobs.method_samples import MethodSamples
from multikernel.app.jobs.methods import (
    EVEN,
    PATHS,
    FitRequest,
    count_of_folds,
    estimator_of,
    folds_of_task,
    regularisation,
    score_name,
)
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.table import CsvTable
from multikernel.datasets import Task
from multikernel.paths import Path, simplest_first
from multikernel.typing import Array


@dataclass(frozen=True)
class Followed:
    """A path on all samples, and the scores of its steps on held-out folds.

    Parameters
    ----------
    method, parameter, measure : str
    path : of all samples
    scores : array (folds, steps)
    """

    method: str
    parameter: str
    measure: str
    path: Path
    scores: Array

    @property
    def best(self) -> int:
        """The position of the best mean score; among equals the simplest model."""
        order = simplest_first(self.parameter, self.path.values)
        return int(order[np.argmax(self.scores.mean(axis=0)[order])])

    @property
    def simplest(self) -> int:
        """The position of the simplest model whose mean score is within one standard error of the best."""
        mean = self.scores.mean(axis=0)
        error = self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores))
        order = simplest_first(self.parameter, self.path.values)
        good = mean[order] >= mean[self.best] - error[self.best]
        return int(order[np.argmax(good)])

    def to_json(self) -> dict[str, Any]:
        """The path as a dictionary."""
        path = self.path
        training = self.path.train_score
        criteria = criteria_along(path)
        coefficients = coefficients_along(path)
        steps = [
            {
                "value": path.values[s],
                "score_folds": self.scores[:, s],
                "score_mean": self.scores[:, s].mean(),
                "score_training": None if training is None else training[s],
                "kernels": path.n_kernels[s],
                "certificate": path.duality_gap[s],
                **{name: column[s] for name, column in criteria.items()},
                **({} if coefficients is None else {"coefficients": coefficients[1][s]}),
                "seconds": path.seconds[s],
                "weights": np.atleast_2d(path.weights[s]).mean(axis=0),
            }
            for s in range(len(path))
        ]
        return {
            "method": self.method,
            "parameter": self.parameter,
            "measure": self.measure,
            "steps": steps,
            "best": path.values[self.best],
            "simplest_within_one_standard_error": path.values[self.simplest],
            "kernel_names": list(map(str, path.kernel_names)),
            "feature_names": None if coefficients is None else coefficients[0],
        }


def values_of(parameter: str, count: int | None) -> Array:
    """The values of a path along a parameter; ValueError for a parameter that has no default values.

    Parameters
    ----------
    parameter : the parameter
    count : the number of values, between the ends of the default values; None for the default values
    """
    if parameter not in PATHS:
        raise ValueError(f"no values are known that suit {parameter!r}; give them with --values")
    values = np.asarray(PATHS[parameter], dtype=float)
    if count is None or count == len(values):
        return values
    if parameter in EVEN:
        return np.linspace(values[0], values[-1], count)
    return np.geomspace(values[0], values[-1], count)


def follow(
    table: CsvTable,
    request: FitRequest,
    parameter: str | None,
    values: Array | None,
    folds: int | None,
    watch: Watch,
    checkpoint: FilePath | None = None,
    count: int | None = None,
) -> Followed:
    """Follow the requested method; ValueError where the table or an option does not allow it.

    With a directory ``checkpoint``, each step is kept there. ``count`` is the number of values if ``values`` is None.
    """
    samples = MethodSamples.of(table, request)
    X = samples.X
    y = samples.y
    task = samples.task
    held_out = table.held_out
    folds = count_of_folds(table, request.target, y, task, folds)
    model = samples.model(request)
    parameter = parameter or _parameter_of(model, request, task)
    if values is None:
        values = values_of(parameter, count)
    pipeline = samples.pipeline(model)
    scores = []
    with watch.steps(folds + 1, "path") as observe:
        full_path = path(pipeline, X, y, parameter, values, checkpoint=checkpoint, groups=held_out.together())
        observe("all samples")
        for k, (train_rows, test_rows) in enumerate(folds_of_task(task, folds, request.seed, y, held_out), start=1):
            fold_path = path(
                pipeline,
                X.iloc[train_rows],
                y[train_rows],
                parameter,
                values,
                validation=(X.iloc[test_rows], y[test_rows]),
                checkpoint=checkpoint,
                groups=held_out.together(train_rows),
            )
            scores.append(fold_path.validation_score)
            observe(f"fold {k}")
    return Followed(type(model).__name__, parameter, score_name(task), full_path, np.array(scores))


def _parameter_of(model: Any, request: FitRequest, task: Task) -> str:
    """The parameter that regularises the method."""
    name = request.chosen(task)
    options = estimator_of(name, task, request.target)[1]
    if not options:
        raise ValueError(f"{name} chooses its regularisation by itself; name another --parameter to follow")
    return regularisation(model, options)


def numbers_of(text: str) -> Array:
    """The numbers in a text, separated by commas; ValueError where a word is not a number."""
    try:
        return np.array([float(word) for word in text.split(",")])
    except ValueError:
        raise ValueError(f"--values {text!r} are not numbers with commas between them, such as 0.1,1,10") from None


def rows_of(followed: Followed) -> list[list[str]]:
    """The lines of the table, in the order of the values."""
    path = followed.path
    mean = followed.scores.mean(axis=0)
    spread = followed.scores.std(axis=0, ddof=1)
    if path.train_score is None:
        training = np.full(len(path), np.nan)
    else:
        training = path.train_score
    marks = [
        " and ".join(
            ["best"] * (s == followed.best) + ["simplest within one standard error"] * (s == followed.simplest)
        )
        for s in range(len(path))
    ]
    criteria = criteria_along(path)
    return [
        [
            f"{path.values[s]:.3g}",
            f"{mean[s]:.4f} +- {spread[s]:.4f}",
            f"{training[s]:.4f}",
            str(path.n_kernels[s]),
            *(f"{column[s]:.4g}" for column in criteria.values()),
            f"{path.duality_gap[s]:.1e}",
            marks[s],
        ]
        for s in range(len(path))
    ]


def header_of(followed: Followed) -> list[str]:
    """The names of the columns of the table of ``rows_of``."""
    measure = followed.measure
    criteria = [NAMES[name] for name in criteria_along(followed.path)]
    return [followed.parameter, f"{measure}, held out", f"{measure}, training", "kernels", *criteria, "gap", ""]
