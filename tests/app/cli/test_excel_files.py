"""Excel files on the command line: sheets by name, rows as Excel counts them, dates, several views."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from csv_tables import Invoke

openpyxl = pytest.importorskip("openpyxl")
_LINEAR = ("--method", "linearrls2", "--alpha", "0.1")


def _book(name: str, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(name)
    return Path(name)


def _rows(n: int = 20) -> list[list[Any]]:
    start = datetime.date(2024, 1, 1)
    return [["x", "day", "y"], *([k % 7, start + datetime.timedelta(days=k), k % 7 + 0.5] for k in range(n))]


def test_a_sheet_is_learned_from_and_predicted_as_the_same_csv(invoke: Invoke) -> None:
    book = _book("t.xlsx", {"Daten": _rows()})
    Path("t.csv").write_text("\n".join(",".join(map(str, row)) for row in _rows()))
    for path in (book, Path("t.csv")):
        done = invoke("fit", path, "--target", "y", *_LINEAR, "--out", f"{path.suffix[1:]}.mk", "--json")
        assert done.exit_code == 0, done.output
    crossed = [invoke("predict", model, file).stdout for model, file in (("xlsx.mk", "t.csv"), ("csv.mk", "t.xlsx"))]
    assert crossed[0] == crossed[1]
    assert len(crossed[0].splitlines()) == 21


def test_of_several_sheets_one_has_to_be_chosen(invoke: Invoke) -> None:
    book = _book("t.xlsx", {"2023": _rows(), "2024": _rows(30), "empty": []})
    done = invoke("fit", book, "--target", "y", *_LINEAR)
    assert (done.exit_code, done.stderr) == (
        1,
        "error: t.xlsx: The file has the sheets '2023', '2024'; choose one by --sheet NAME\n",
    )
    chosen = invoke("fit", book, "--target", "y", *_LINEAR, "--sheet", "2024", "--json")
    assert json.loads(chosen.stdout)["samples"] == 30
    wrong = invoke("fit", book, "--target", "y", *_LINEAR, "--sheet", "2025", "--force")
    assert "There is no sheet '2025'; the file has '2023', '2024', 'empty'" in wrong.stderr


def test_rows_are_counted_as_excel_shows_them(invoke: Invoke) -> None:
    rows = _rows()
    rows[4][2] = "soon"
    book = _book("t.xlsx", {"S": [[], [], *rows]})  # two empty rows above the table
    done = invoke("fit", book, "--target", "y", *_LINEAR)
    assert "t.xlsx: row 7, column 'y': 'soon' is not a number" in done.stderr


def test_views_may_be_sheets(invoke: Invoke) -> None:
    own = [["nr", "z"], *([k, (k * 5) % 11] for k in range(20))]
    first = [["nr", *_rows()[0]], *([k, *row] for k, row in enumerate(_rows()[1:]))]
    a, b = _book("a.xlsx", {"S": first}), _book("b.xlsx", {"S": own})
    done = invoke("fit", a, "--view", b, "--target", "y", "--method", "average", "--alpha", "1", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["features"] == ["a: x", "a: day", "b: z"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("t.csv", "--sheet", "S"), "--sheet 'S' names a sheet of an Excel file, and none is given"),
        (("t.xlsx", "--memory", "1MB"), "t.xlsx is an Excel file, which is read at once"),
        (("bad.xlsx",), "bad.xlsx: The file is damaged or cut off"),
        (("none.xlsx",), "none.xlsx: No such file"),
    ],
)
def test_what_does_not_fit_is_said(invoke: Invoke, words: tuple[str, ...], said: str) -> None:
    _book("t.xlsx", {"S": _rows()})
    Path("t.csv").write_text("x,y\n1,2\n3,4\n")
    Path("bad.xlsx").write_bytes(Path("t.xlsx").read_bytes()[:300])
    done = invoke("fit", *words, "--target", "y", *_LINEAR)
    assert done.exit_code == 1
    assert said in done.stderr
