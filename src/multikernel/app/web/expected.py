"""The expected time and memory of a run, shown before it is started."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from statistics import median

import numpy as np

from multikernel import AverageMKLRegressor
from multikernel.app.web.choices import Columns, learned_cells
from multikernel.app.web.learning.families import estimator_of
from multikernel.app.web.learning.recipe import AUTOMATIC, Recipe
from multikernel.app.web.learning.samples import frame, targets_of
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import StoredRun
from multikernel.kernels import RBF
from multikernel.streams import available_memory

# Rows, and processor seconds that a run of the automatic estimator took with 8 columns of numbers: five folds, the
# single kernel beside it, and all rows.
_RUNS = ((200, 2.9), (1000, 15.3), (4000, 34.0), (20_000, 125.0))
_PARTS = 5  # folds in these runs
_SPEED = 0.073  # the result of ``_probe`` on the computer of these runs
_LATEST = 5  # runs whose times measure the speed of this computer
# Such runs needed 0.2 GB, 0.8 GB and 0.73 GB beside the libraries: eight n x n matrices up to 4000 rows, and matrices
# of 3000 centres beyond.
_MATRICES = 8.0 * 8.0
_EXACT = 4000
_CENTRES = 0.73e9
_LOADED = 1.25e9  # bytes that the libraries reserve before the fit, which count as memory of the run


@dataclass(frozen=True)
class Expected:
    """The expected time and memory of a run.

    Parameters
    ----------
    seconds : float, None where there is no forecast
    bytes : float, the expected memory
    room : float, bytes that a run may take now
    """

    seconds: float | None
    bytes: float
    room: float

    def of_parts(self, count: int) -> Expected:
        """The same for a run with ``count`` held-out parts, each of which takes as long as one of five parts."""
        return replace(self, seconds=None if self.seconds is None else self.seconds * (count + 1) / (_PARTS + 1))

    @property
    def size(self) -> str:
        """The memory for reading."""
        return _size(self.bytes)

    @property
    def warning(self) -> str:
        """A sentence where the memory may not be enough, "" elsewhere."""
        if self.bytes <= self.room:
            return ""
        return (
            f"This needs about {_size(self.bytes)} of memory, and {_size(self.room)} are free for a run: it may end "
            "without a result. Learn from fewer rows or, where the method has an approximation, with nystroem; end "
            "other programs, or start the server with more --memory."
        )


def room_of(settings: Settings) -> float:
    """Bytes that a run may take now, in addition to the libraries.

    Parameters
    ----------
    settings : the limits
    """
    return max(0.0, min(available_memory(), settings.run_memory - _LOADED))


def pace_of(runs: Iterable[StoredRun]) -> float:
    """The time of runs of the automatic estimator on this computer, divided by that of the runs in ``_RUNS``.

    It is the median over the latest finished runs; where there are none, it is estimated by ``_probe``.

    Parameters
    ----------
    runs : all runs, the latest first
    """
    ratios = []
    for run in runs:
        summary = run.summary
        if run.status == "done" and run.recipe["method"] == AUTOMATIC and "parts" in summary:
            expected = of_automatic(summary["n"], len(run.recipe["columns"]), 0.0, 1.0).of_parts(summary["parts"])
            ratios.append(summary["seconds"] / (expected.seconds or 1.0))
    if ratios:
        return median(ratios[:_LATEST])
    return _probe() / _SPEED


@cache
def _probe() -> float:
    """The forecast seconds of a fit of one Gaussian kernel to 1000 rows on this computer."""
    X = np.random.default_rng(0).normal(size=(1000, 8))
    model = AverageMKLRegressor(kernels=RBF(1.0))
    return model.forecast(X, X[:, 0]).seconds or _SPEED


def of_automatic(n: int, n_columns: int, room: float, pace: float) -> Expected:
    """The forecast for a run of the automatic estimator.

    Parameters
    ----------
    n, n_columns : int, the numbers of rows and columns
    room : bytes that the run may take
    pace : the result of ``pace_of``
    """
    rows, seconds = np.log(np.array(_RUNS)).T
    slope = (seconds[-1] - seconds[-2]) / (rows[-1] - rows[-2])
    beyond = np.log(max(n, 1.0)) - rows[-1]
    log_seconds = np.interp(min(beyond, 0.0) + rows[-1], rows, seconds) + slope * max(beyond, 0.0)
    stored_bytes = _MATRICES * n**2 if n <= _EXACT else _CENTRES
    return Expected(pace * float(np.exp(log_seconds)), stored_bytes + 8.0 * 4.0 * n * n_columns, room)


def of_method(recipe: Recipe, table: Path, views: Columns, room: float) -> Expected:
    """The forecast for one fit of a recipe to all rows; nothing is fitted.

    Parameters
    ----------
    recipe : the settings of the run
    table : the file of the table
    views : the columns of each view, where samples that lack a view are left out; () where they are kept
    room : bytes that the run may take

    Raises
    ------
    ValueError : where nothing can be learned from the table by this recipe
    """
    seconds, needed_bytes = _forecast(table, views, json.dumps(recipe.to_json()))
    return Expected(seconds, needed_bytes, room)


@lru_cache(maxsize=32)
def _forecast(table: Path, views: Columns, stored: str) -> tuple[float | None, float]:
    recipe = Recipe.from_json(json.loads(stored))
    cells = learned_cells(table, views)
    y, _, rows = targets_of(cells, recipe)
    model, model_input = estimator_of(recipe, frame(cells, recipe).iloc[rows].reset_index(drop=True), y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run itself shows these warnings
        forecast = model.forecast(model_input, y)
    return forecast.seconds, forecast.bytes


def _size(number: float) -> str:
    if number < 1e9:
        return f"{max(1.0, number / 1e6):.0f} MB"
    return f"{number / 1e9:.1f} GB"
