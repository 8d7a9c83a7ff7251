"""Excel files: which sheet is read, what its cells mean, and files that were made to be too much."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from app_server import Person, people, said

from multikernel.app.tables import excel
from multikernel.app.web.settings import Settings
from multikernel.app.web.uploads import Upload, read
from multikernel.app.web.views import UploadedFile

openpyxl = pytest.importorskip("openpyxl")


def _book(sheets: dict[str, Sequence[Sequence[Any]]], merged: Sequence[str] = ()) -> bytes:
    """A book of sheets; groups of cells of the last are merged."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    for group in merged:
        sheet.merge_cells(group)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _replaced(content: bytes, member: str, text: str) -> bytes:
    """The same book with another text of one of its parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, text if name == member else old.read(name))
        if member not in old.namelist():
            new.writestr(member, text)
    return made.getvalue()


def _with_text(content: bytes, text: str) -> bytes:
    """The same book with one text that all cells may refer to."""
    name = "[Content_Types].xml"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        types = archive.read(name).decode()
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    part = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    content = _replaced(content, name, types.replace("</Types>", part))
    return _replaced(content, "xl/sharedStrings.xml", f"<sst {_SPACE}><si><t>{text}</t></si></sst>")


def _read(content: bytes, folder: Path, sheet: str = "", **limits: Any) -> UploadedFile:
    return read(Upload("t.xlsx", io.BytesIO(content), sheet), folder, Settings(folder, **limits))


_ROWS: list[list[Any]] = [["x", "y"], [1, "a"], [2.5, "b"]]
_SHEET = "xl/worksheets/sheet1.xml"


_SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


_GROUPS = "".join(f'<mergeCell ref="A2:A{k}"/>' for k in range(3, 9))
_OVERLAPPING = f"<mergeCells>{_GROUPS}</mergeCells>"


def _sheet(rows: str, behind: str = "") -> str:
    return f"<worksheet {_SPACE}><sheetData>{rows}</sheetData>{behind}</worksheet>"


def test_the_other_sheets_are_named_and_can_be_chosen(tmp_path: Path) -> None:
    book = _book({"notes": [], "first": _ROWS, "second": [["z"], ["3"]]})
    found = _read(book, tmp_path)
    assert found.columns == {"x": ["1", "2.5"], "y": ["a", "b"]}
    assert "the sheet 'first' was read, and the file has 'second', too" in found.note
    assert _read(book, tmp_path, "second").columns == {"z": ["3"]}
    assert _read(book, tmp_path, "second").note == ""
    with pytest.raises(ValueError, match="There is no sheet 'third'; the file has 'notes', 'first', 'second'"):
        _read(book, tmp_path, "third")


@pytest.mark.study
def test_a_sheet_is_chosen_on_the_page(person: Person) -> None:
    shop = [line.split(",") for line in people(20).splitlines()]
    book = _book({"first": _ROWS, "shop": shop})
    assert "the sheet &#39;first&#39; was read, and the file has &#39;shop&#39;, too" in said(
        person.upload(("t.xlsx", book))
    )
    chosen = person.upload(("t.xlsx", book), sheet="shop")
    assert "20 rows, 5 columns" in said(chosen)
    assert "the sheet" not in said(chosen)


def test_merged_cells_have_the_value_of_their_group(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["town", "x"], ["Padua", 1], [None, 2], ["Rome", 3], [None, 4]]
    found = _read(_book({"a": rows}, ["A2:A3", "A4:A5"]), tmp_path)
    assert found.columns == {"town": ["Padua", "Padua", "Rome", "Rome"], "x": ["1", "2", "3", "4"]}
    assert "each cell of 2 groups of merged cells has the value of the group" in found.note


def test_a_table_may_begin_in_another_column_and_row(tmp_path: Path) -> None:
    book = _book({"a": [[], [None, None, "x", "y"], [None, None, 1, "a"], [None, None, 2, "b"]]}, ["D3:D4"])
    found = _read(book, tmp_path)
    assert found.columns == {"x": ["1", "2"], "y": ["a", "a"]}
    with pytest.raises(ValueError, match="Row 2 of the sheet has a cell on the left of the names of the columns"):
        _read(_book({"a": [[None, "x", "y"], [0, 1, 2]]}), tmp_path)


def test_cells_are_what_they_show(tmp_path: Path) -> None:
    day, moment = datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5)
    rows: list[list[Any]] = [["a;b", "at", "day"], ["1;2", datetime.time(3, 4), day], ["3;4", datetime.time(5), moment]]
    assert _read(_book({"a": rows}), tmp_path).columns == {
        "a;b": ["1;2", "3;4"],
        "at": ["03:04:00", "05:00:00"],
        "day": ["2024-01-02", "2024-01-02 03:04:05"],
    }
    assert _read(_book({"a": [["a;b"], ["1;2"], ["3;4"]]}), tmp_path).columns == {"a;b": ["1;2", "3;4"]}
    with pytest.raises(ValueError, match="Row 2 of the sheet has a cell in column 3, and its first row ends in"):
        _read(_book({"a": [["Report"], ["x", "y", "z"], [1, 2, 3]]}), tmp_path)


def test_names_that_are_numbers_stay_names_in_parquet(person: Person) -> None:
    pd = pytest.importorskip("pandas")
    content = io.BytesIO()
    pd.DataFrame({"5": [1.5, 2.0, 0.5], "3": [4.0, 1.0, 2.0]}).to_parquet(content)
    page = said(person.upload(("t.parquet", content.getvalue())))
    assert "3 rows, 2 columns" in page
    assert "column_1" not in page


def test_formulas_without_a_result_are_said(tmp_path: Path) -> None:
    found = _read(_book({"a": [["x", "y"], [1, "=A2*2"], [2, "=A3*2"]]}), tmp_path)
    assert found.columns == {"x": ["1", "2"], "y": ["", ""]}
    assert "missing are the results of 2 formulas" in found.note
    cells = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>'
    cells += '<row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row>'
    found = _read(_replaced(_book({"a": _ROWS}), _SHEET, _sheet(cells)), tmp_path)
    assert (found.columns, found.note) == ({"x": ["2"]}, "")


@pytest.mark.parametrize(
    ("member", "text", "sentence"),
    [
        (_SHEET, _sheet("<row><c/></row>" * 3000), "The sheet 'a' has more than 2500 cells"),
        (_SHEET, _sheet('<row><c r="XFD1"/></row>' * 800), "cells far apart"),
        (_SHEET, _sheet('<row r="20000"><c><v>1</v></c></row>'), "cells far apart"),
        (_SHEET, _sheet('<row><c t="s"><v>0</v></c></row>' * 900), "more than 1 MB of text"),
        ("xl/sharedStrings.xml", "<sst>" + "<si/>" * 3000 + "</sst>", "The file has 3000 texts"),
        ("xl/styles.xml", "<styleSheet>" + "<xf/>" * 20_000 + "</styleSheet>", "elements of styles.xml"),
        (_SHEET, _sheet(f"<!--{'a' * (10 << 20)}-->"), "An element of sheet1.xml has more than 8 MB"),
        (_SHEET, _sheet("<row><c><v>1</v></c></row>" * 9, _OVERLAPPING), "Groups of merged cells overlap in row 2"),
    ],
)
def test_a_small_file_of_many_cells_is_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, member: str, text: str, sentence: str
) -> None:
    monkeypatch.setattr(excel, "_MOST_ROWS", 10_000)
    monkeypatch.setattr(excel, "_MOST_ELEMENTS", 10_000)
    book = _replaced(_book({"a": _ROWS}), member, text)
    if "0</v>" in text:
        book = _with_text(book, "x" * 2000)
    assert len(book) < 40_000
    with pytest.raises(ValueError, match=sentence):
        _read(book, tmp_path, most_cells=2500, unpacked_limit=16 << 20 if len(text) > 4 << 20 else 1 << 20)


def _archive(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (_archive("mimetype", "content.xml"), "is an OpenDocument; save its sheet as .xlsx or CSV"),
        (_archive("xl/workbook.bin"), "is a binary spreadsheet"),
        (_archive("t.csv"), "is a zip archive and no spreadsheet"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100), "of an old kind or with a password"),
    ],
)
def test_other_spreadsheets_are_named(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        _read(content, tmp_path)


def test_a_sheet_that_is_no_xml_is_looked_through_in_time(tmp_path: Path) -> None:
    book = _replaced(_book({"a": _ROWS}), _SHEET, "<f <mergeCell " * 200_000)
    with pytest.raises(ValueError, match="cannot be read"):
        _read(book, tmp_path)


@pytest.mark.parametrize(
    "cells",
    ['<row r="1"><c><v>1,5</v></c></row>', '<row r="x"><c><v>1</v></c></row>', '<row><c t="s"><v>a</v></c></row>'],
)
def test_a_cell_that_no_program_writes_is_a_sentence_and_not_words_of_python(tmp_path: Path, cells: str) -> None:
    with pytest.raises(ValueError, match=r"The spreadsheet cannot be read .*; save its sheet as CSV"):
        _read(_replaced(_book({"a": _ROWS}), _SHEET, _sheet(cells)), tmp_path)


def test_what_a_formula_could_not_compute_is_missing(tmp_path: Path) -> None:
    cells = '<row r="1"><c t="inlineStr"><is><t>x</t></is></c></row>'
    cells += "".join(f'<row><c t="e"><v>{word}</v></c></row>' for word in ("#DIV/0!", "#VALUE!", "#REF!", "#N/A"))
    found = _read(_replaced(_book({"a": _ROWS}), _SHEET, _sheet(cells + "<row><c><v>2.5</v></c></row>")), tmp_path)
    assert found.columns == {"x": ["", "", "", "", "2.5"]}
