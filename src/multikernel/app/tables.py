"""From a CSV file to arrays: named columns, categories spread over 0/1 columns, everything scaled to [0, 1].

A row is counted as a spreadsheet shows it: the header is row 1.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multikernel._typing import Array
from multikernel.datasets.column import Column, decide, indicators
from multikernel.datasets.dataset import Task

if TYPE_CHECKING:
    import pandas as pd

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})


@dataclass(frozen=True)
class Table:
    """The cells of a CSV file, column by column, in the order of the file."""

    file: str
    columns: dict[str, Column]

    def column(self, name: str) -> Column:
        """A column without missing cells; ValueError where it is not there or a cell is empty."""
        if name not in self.columns:
            raise ValueError(f"{self.file} has no column {name!r}; it has {', '.join(self.columns)}")
        column = self.columns[name]
        for i, cell in enumerate(column.cells):
            if cell.lower() in _MISSING:
                raise column.error(i, "is a missing value; fill it in, or leave the row out")
        return column

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that may be features: those without a leading underscore, as in the package's own files."""
        return tuple(name for name in self.columns if not name.startswith("_"))


def read_table(path: Path) -> Table:
    """Read a CSV file (compressed where its name ends in .gz, .zip, ...); the first row names the columns."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # says that cells were lost
        try:
            # everything as text, the header too: pandas would rename columns and guess at missing values
            cells = pd.read_csv(
                path, header=None, dtype=str, keep_default_na=False, skip_blank_lines=False, encoding="utf-8-sig"
            ).fillna("")
        except pd.errors.EmptyDataError:
            raise ValueError(f"{path} is empty; a row of column names was expected") from None
        except (pd.errors.ParserError, pd.errors.ParserWarning, UnicodeDecodeError) as error:
            raise ValueError(f"{path} cannot be read as CSV: {str(error).strip()}") from None
    cells = cells.apply(lambda column: column.str.strip())
    while len(cells) > 1 and not cells.iloc[-1].any():  # blank lines at the end hold no row
        cells = cells.iloc[:-1]
    header = _checked_header(path, [str(name) for name in cells.iloc[0]])
    if len(cells) == 1:
        raise ValueError(f"{path} has column names in row 1 and no row after it")
    rows = range(2, len(cells) + 1)
    return Table(
        str(path), {name: Column(str(path), name, cells.iloc[1:, j].tolist(), rows) for j, name in enumerate(header)}
    )


def _checked_header(path: Path, header: list[str]) -> list[str]:
    for j, name in enumerate(header):
        if not name:
            raise ValueError(f"{path}: row 1, column {j + 1}: the column has no name")
        if name in header[:j]:
            raise ValueError(f"{path}: row 1, column {j + 1}: the name {name!r} occurs twice")
    return header


@dataclass(frozen=True)
class Feature:
    """A column of the training file: a number, or one of the categories in ``levels``."""

    name: str
    levels: tuple[str, ...] | None

    @classmethod
    def learn(cls, column: Column) -> Self:
        """Numbers where the cells are numbers, else the categories that occur, sorted."""
        return cls(column.name, tuple(sorted(set(column.cells))) if column.numbers() is None else None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns it becomes."""
        return (self.name,) if self.levels is None else tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column: Column) -> Array:
        """Shape (n, 1) for a number, (n, categories) for a category; ValueError names row, column and value."""
        if self.levels is None:
            numbers = column.numbers()
            if numbers is None:
                raise column.error(_first_word(column), "is not a number, and the column was numeric in training")
            return numbers[:, None]
        code = {level: k for k, level in enumerate(self.levels)}
        for i, cell in enumerate(column.cells):
            if cell not in code:
                raise column.error(i, f"was not among the categories in training ({', '.join(self.levels)})")
        return indicators(np.array([code[cell] for cell in column.cells]), len(code))


@dataclass(frozen=True)
class Encoding:
    """How the rows of a file become samples: its features and the range of each encoded column in training."""

    target: str
    task: Task
    features: tuple[Feature, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def learn(cls, table: Table, target: str, task: Task | None) -> tuple[Self, pd.DataFrame, Array]:
        """The encoding of a training file, its samples as they are in the file (not scaled), and its target."""
        y, decided = decide(table.column(target), task)
        columns = [table.column(name) for name in table.features if name != target]
        if not columns:
            raise ValueError(f"{table.file} has no feature columns beside {target!r}")
        features = tuple(map(Feature.learn, columns))
        raw = _frame(features, columns)
        low, high = raw.min().tolist(), raw.max().tolist()
        return cls(target, decided, features, tuple(low), tuple(high)), raw, y

    def scale(self, raw: pd.DataFrame) -> pd.DataFrame:
        """To [0, 1] by the training range; a column that was constant in training becomes its offset."""
        low, high = np.array(self.low), np.array(self.high)
        return raw.sub(low).div(np.where(high > low, high - low, 1.0))

    def samples(self, table: Table) -> pd.DataFrame:
        """The scaled samples of another file; columns that the model does not know are left out."""
        absent = [feature.name for feature in self.features if feature.name not in table.columns]
        if absent:
            raise ValueError(
                f"{table.file} lacks {', '.join(map(repr, absent))}; "
                f"the model needs the columns {', '.join(feature.name for feature in self.features)}"
            )
        return self.scale(_frame(self.features, [table.column(feature.name) for feature in self.features]))

    def to_json(self) -> dict[str, Any]:
        """As plain lists and dictionaries, for the header of a model file."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """From what ``to_json`` gave, after a way through JSON."""
        features = tuple(
            Feature(f["name"], None if f["levels"] is None else tuple(f["levels"])) for f in stored["features"]
        )
        return cls(stored["target"], stored["task"], features, tuple(stored["low"]), tuple(stored["high"]))


def _frame(features: tuple[Feature, ...], columns: list[Column]) -> pd.DataFrame:
    import pandas as pd

    blocks = [feature.encode(column) for feature, column in zip(features, columns, strict=True)]
    return pd.DataFrame(np.hstack(blocks), columns=[name for feature in features for name in feature.names])


def _first_word(column: Column) -> int:
    def is_word(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return True
        return False

    return next(i for i, cell in enumerate(column.cells) if is_word(cell))
