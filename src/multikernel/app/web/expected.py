"""What a run is expected to take: time and memory, shown before it is started."""

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
from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.recipe import AUTOMATIC, Recipe
from multikernel.app.web.learning.samples import frame, targets_of
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import StoredRun
from multikernel.kernels import RBF
from multikernel.streams import available_memory

# Rows, and processor seconds that a run of the automatic estimator took with 8 columns of numbers: five folds, the
# single kernel beside it, and all rows.
_RUNS = ((200, 2.9), (1000, 15.3), (4000, 34.0), (20_000, 125.0))
_PARTS = 5  # folds of these runs
_SPEED = 0.073  # seconds that ``_probe`` was forecast to take on the same machine
_LATEST = 5  # runs whose times tell how fast this computer is
# Such runs held 0.2 GB, 0.8 GB and 0.73 GB beside the libraries: eight matrices of all rows up to 4000 rows, and
# those of 3000 centres beyond.
_MATRICES = 8.0 * 8.0
_EXACT = 4000
_CENTRES = 0.73e9
_LOADED = 1.25e9  # bytes that the libraries reserve before anything is learned, which count as memory of a run


@dataclass(frozen=True)
class Expected:
    """What is expected.

    Parameters
    ----------
    seconds : float, None where it is not known
    bytes : float
    room : float, bytes that a run may take now
    """

    seconds: float | None
    bytes: float
    room: float

    def of_parts(self, count: int) -> Expected:
        """The same of a run that holds out so many parts, each of which takes as long as one of five."""
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
    """Bytes that a run may take now beside what is loaded before.

    Parameters
    ----------
    settings : the limits
    """
    return max(0.0, min(available_memory(), settings.run_memory - _LOADED))


def pace_of(runs: Iterable[StoredRun]) -> float:
    """How long runs of the automatic estimator take on this computer, beside those that were measured elsewhere.

    The median of the latest that have ended; where there are none, the speed of this computer as forecasts have it.

    Parameters
    ----------
    runs : the latest first
    """
    taken = []
    for run in runs:
        known = run.summary
        if run.status == "done" and run.recipe["method"] == AUTOMATIC and "parts" in known:
            expected = of_automatic(known["n"], len(run.recipe["columns"]), 0.0, 1.0).of_parts(known["parts"])
            taken.append(known["seconds"] / (expected.seconds or 1.0))
    if taken:
        return median(taken[:_LATEST])
    return _probe() / _SPEED


@cache
def _probe() -> float:
    """The seconds that a fit of one Gaussian kernel to 1000 rows is forecast to take here."""
    X = np.random.default_rng(0).normal(size=(1000, 8))
    model = AverageMKLRegressor(kernels=RBF(1.0))
    return model.forecast(X, X[:, 0]).seconds or _SPEED


def of_automatic(n: int, n_columns: int, room: float, pace: float) -> Expected:
    """Of a run of the automatic estimator.

    Parameters
    ----------
    n, n_columns : int, its rows and columns
    room : bytes that it may take
    pace : as ``pace_of`` finds it
    """
    rows, seconds = np.log(np.array(_RUNS)).T
    slope = (seconds[-1] - seconds[-2]) / (rows[-1] - rows[-2])
    last = np.log(max(n, 1.0)) - rows[-1]
    taken = np.interp(min(last, 0.0) + rows[-1], rows, seconds) + slope * max(last, 0.0)
    held = _MATRICES * n**2 if n <= _EXACT else _CENTRES
    return Expected(pace * float(np.exp(taken)), held + 8.0 * 4.0 * n * n_columns, room)


def of_method(recipe: Recipe, table: Path, views: Columns, room: float) -> Expected:
    """Of one fit by a recipe to all rows; nothing is fitted.

    Parameters
    ----------
    recipe : what it learns by
    table : the file
    views : columns of views, none of which a sample may lack all; () where it may
    room : bytes that it may take

    Raises
    ------
    ValueError : where the table cannot be learned from so
    """
    seconds, taken = _forecast(table, views, json.dumps(recipe.to_json()))
    return Expected(seconds, taken, room)


@lru_cache(maxsize=32)
def _forecast(table: Path, views: Columns, stored: str) -> tuple[float | None, float]:
    recipe = Recipe.from_json(json.loads(stored))
    cells = learned_cells(table, views)
    y, _, rows = targets_of(cells, recipe)
    model, given = made(recipe, frame(cells, recipe).iloc[rows].reset_index(drop=True), y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run itself says what they do
        found = model.forecast(given, y)
    return found.seconds, found.bytes


def _size(number: float) -> str:
    if number < 1e9:
        return f"{max(1.0, number / 1e6):.0f} MB"
    return f"{number / 1e9:.1f} GB"
