"""What a run is expected to take: time and memory, said before it is started."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from multikernel import AverageMKLRegressor
from multikernel.app.web.choices import Columns, learned_cells
from multikernel.app.web.learning.families import made
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import frame, target_of
from multikernel.app.web.settings import Settings

# Rows, and seconds of one thread that a run of the automatic estimator took with 8 columns of numbers: five folds, the
# single kernel beside it, and all rows.
_RUNS = ((200, 6.0), (1000, 15.0), (4000, 34.0), (20_000, 125.0))
_PARTS = 5  # folds of these runs
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
            "without a result. Learn from fewer rows, end other programs, or start the server with more --memory."
        )


def available_memory() -> float:
    """The bytes that are available, as each forecast has them."""
    return AverageMKLRegressor().forecast(np.arange(4.0)[:, None], np.arange(4.0)).memory


def room_of(settings: Settings) -> float:
    """Bytes that a run may take now beside what is loaded before.

    Parameters
    ----------
    settings : the limits
    """
    return max(0.0, min(available_memory(), settings.run_memory - _LOADED))


def of_automatic(n: int, n_columns: int, room: float) -> Expected:
    """Of a run of the automatic estimator.

    Parameters
    ----------
    n, n_columns : int, its rows and columns
    room : bytes that it may take
    """
    rows, seconds = np.log(np.array(_RUNS)).T
    slope = (seconds[-1] - seconds[-2]) / (rows[-1] - rows[-2])
    last = np.log(max(n, 1.0)) - rows[-1]
    taken = np.interp(min(last, 0.0) + rows[-1], rows, seconds) + slope * max(last, 0.0)
    held = _MATRICES * n**2 if n <= _EXACT else _CENTRES
    return Expected(float(np.exp(taken)), held + 8.0 * 4.0 * n * n_columns, room)


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
    y, _, rows = target_of(cells, recipe.target, recipe.task)
    model, given = made(recipe, frame(cells, recipe).iloc[rows].reset_index(drop=True), y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run itself says what they do
        found = model.forecast(given, y)
    return found.seconds, found.bytes


def _size(number: float) -> str:
    if number < 1e9:
        return f"{max(1.0, number / 1e6):.0f} MB"
    return f"{number / 1e9:.1f} GB"
