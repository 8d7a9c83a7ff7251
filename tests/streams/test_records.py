"""CSV files as they should not be: chunks, the command line and the application read the same, or refuse it alike."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from multikernel import streams
from multikernel.app.tables.table import read_table
from multikernel.app.web.settings import Settings
from multikernel.app.web.uploads import Upload, read

ROWS = [["x", "word", "y"], ["1.5", "a", "1"], ["-2", "b", "2"], ["", "a", "3"], ["4e1", "b", "4"]]
PLAIN = "\n".join(map(",".join, ROWS)) + "\n"
QUOTED = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in ROWS)

RIGHT = {
    "plain": PLAIN,
    "no line end at the end": PLAIN[:-1],
    "line ends of Windows": PLAIN.replace("\n", "\r\n"),
    "line ends of old Macs": PLAIN.replace("\n", "\r"),
    "two line ends for one": PLAIN.replace("\n", "\r\r\n"),
    "mixed line ends": PLAIN.replace("\n", "\r\n", 2).replace("\n", "\r", 1),
    "a blank line in between": PLAIN.replace("-2", "\n-2"),
    "a line of spaces in between": PLAIN.replace("-2", "   \n-2"),
    "blank lines at the end": PLAIN + "\n\r\n  \n",
    "rows of empty cells at the end": PLAIN + ",,\n,,\n",
    "quoted cells": QUOTED,
    "a mark of UTF-8": PLAIN.encode("utf-8-sig"),
    "a mark of UTF-8 before quotes": QUOTED.encode("utf-8-sig"),
    "UTF-16": PLAIN.encode("utf-16"),
    "Excel's line about the delimiter": "sep=;\r\n" + PLAIN.replace(",", ";"),
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "vertical bars": PLAIN.replace(",", "|"),
    "spaces around cells": PLAIN.replace(",", " , "),
    "missing cells in words": PLAIN.replace("\n,a", "\nNA,a"),
}

WRONG = {
    "nothing": ("", "is empty; a row of column names was expected"),
    "blank lines": ("\n \n", "is empty"),
    "a blank line before the names": ("\n" + PLAIN, "row 1 is blank"),
    "too many cells": (PLAIN + "5,c,6,7\n", "row 6 has 4 cells, and row 1 has 3; put a cell that holds"),
    "too many cells in row 2": ("x,word,y\n9,1,a,1\n" + PLAIN[9:], "row 2 has 4 cells, and row 1 has 3"),
    "too few cells": (PLAIN + "5,c\n", "row 6 has 2 cells, and row 1 has 3; write the delimiter"),
    "a row behind a blank line": (PLAIN + "\n5,c\n", "row 7 has 2 cells"),
    "a row behind a cell of lines": (PLAIN + '5,"c\nd",6\n5,c\n', "row 7 (line 8) has 2 cells"),
    "a delimiter at the end of rows": (PLAIN.replace("\n", ",\n").replace("y,", "y", 1), "row 2 has 4 cells"),
    "a delimiter at the end of all": (PLAIN.replace("\n", ",\n"), "row 1, column 4: the column has no name"),
    "a column without a name": (PLAIN.replace("x", "", 1), "row 1, column 1: the column has no name"),
    "a name twice": (PLAIN.replace("word", "x", 1), "row 1, column 2: the name 'x' occurs twice"),
    "the names once more": (PLAIN * 2, "row 6 repeats the names of the columns; delete the line"),
    "an open quote": (PLAIN + '"5,c,6\n', "is not CSV (unexpected end of data)"),
    "text behind a quote": (PLAIN + '"5"1,c,6\n', "line 6 is not CSV"),
    "zero bytes": (PLAIN + "5,\0,6\n", "it holds zero bytes"),
    "no encoding": (PLAIN.encode() + b"5,\x81,6\n", "line 6 is not UTF-8 text, nor Windows-1252"),
    "a blank line in one column": ("y\n1\n\n2\n", "row 3 is blank; write NA where the value of the one column"),
}


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _uploaded(path: Path, folder: Path) -> dict[str, list[str]]:
    return read(Upload(path.name, io.BytesIO(path.read_bytes())), folder, Settings(folder)).columns


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_right_is_read_alike(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multikernel.streams.source._MOST_ROWS", 3)
    path = tmp_path / "t.csv"
    path.write_bytes(_bytes(RIGHT[what]))
    chunks = list(streams.csv(path, target="y").chunks())
    x = np.concatenate([chunk.X["x"] for chunk in chunks])
    assert np.array_equal(x, [1.5, -2.0, np.nan, 40.0], equal_nan=True)
    assert np.concatenate([chunk.X["word"] for chunk in chunks]).tolist() == ["a", "b", "a", "b"]
    assert np.concatenate([chunk.y for chunk in chunks]).tolist() == [1.0, 2.0, 3.0, 4.0]
    table = read_table(path)
    assert [list(column.cells) for column in table.columns.values()] in [
        [["1.5", "-2", missing, "4e1"], ["a", "b", "a", "b"], ["1", "2", "3", "4"]] for missing in ("", "NA")
    ]
    assert list(table.columns) == ["x", "word", "y"]
    assert _uploaded(path, tmp_path) == {"x": ["1.5", "-2", "", "4e1"], "word": [*"abab"], "y": [*"1234"]}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_refused_alike(tmp_path: Path, what: str) -> None:
    content, said = WRONG[what]
    path = tmp_path / "t.csv"
    path.write_bytes(_bytes(content))
    readers = (lambda: list(streams.csv(path, target="y").chunks()), lambda: read_table(path))
    for reader in (*readers, lambda: _uploaded(path, tmp_path)):
        with pytest.raises(ValueError, match=r"t\.csv") as refused:
            reader()
        assert said in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_row_is_called_as_a_spreadsheet_does_behind_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n\n1,2\n\n\n2,\n"))
    with pytest.raises(ValueError, match=r"t\.csv\.gz, row 6: the target is missing"):
        list(streams.csv(path, target="y").chunks())
    table = read_table(path)
    with pytest.raises(ValueError, match=r"row 6, column 'y': '' is a missing value"):
        table.column("y")
