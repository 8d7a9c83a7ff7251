"""A sheet of an Excel file, row by row: its cells are counted before Python objects are made of them.

A file of a few kB can hold millions of cells, or refer to one long text a million times. Therefore the XML text of a
sheet is scanned first, a block at a time, and sizes that no real table has are refused.
"""

from __future__ import annotations

import csv
import re
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from multikernel.app.tables.table import listed, text_of

_BLOCK = 1 << 20
_MOST_ELEMENTS = 1_000_000  # XML elements of a file that is not a sheet: the styles of large books have about 10,000
_MOST_ROWS = 1_048_576  # that a sheet of Excel can have
_LONGEST_ROW = 16_384  # columns that a sheet of Excel can have
_LONGEST_ELEMENT = 8 * _BLOCK  # bytes: 25 times those of the longest text of a cell in Excel, 32,767 characters
_GRID_PER_CELL = 4  # positions of the grid, empty ones among them, for each cell that may be read

_UNREADABLE = "The spreadsheet cannot be read ({}); save its sheet as CSV."

_CELL = re.compile(rb"<(?:\w+:)?(?:c|mergeCell)[\s/>]")
_STRING = re.compile(rb"<(?:\w+:)?si[\s/>]")
_VALUE = re.compile(rb"<(?:\w+:)?(?:v|is)>")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^<>]*?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
_NOT_COMPUTED = re.compile(
    rb"<(?:\w+:)?f(?:\s[^<>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?"
    rb"\s*</(?:\w+:)?c>"
)


class WorkbookLimits(Protocol):
    """How large a file and its sheets may be."""

    @property
    def unpacked_limit(self) -> int:
        """Bytes of text at most."""
        ...

    @property
    def most_rows(self) -> int:
        """Rows at most."""
        ...

    @property
    def most_cells(self) -> int:
        """Cells at most."""
        ...

    def check_columns(self, count: int) -> None:
        """ValueError where a table has too many columns."""
        ...

    def check_unpacked(self, size: int) -> None:
        """ValueError where a file of so many bytes is too large."""
        ...


NumberedRows = Iterator[tuple[int, list[Any]]]  # the position of each row, counted from 0, and its cells


@dataclass(frozen=True)
class MergedCells:
    """The position of a group of merged cells.

    Parameters
    ----------
    left, top, right, bottom : int, its first and last column and row, counted from 0
    """

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True)
class SheetText:
    """What the XML text of a sheet says about its cells.

    Parameters
    ----------
    cells : int, their number, with empty ones that have a format
    filled : bool, whether any cell has a value
    merged : tuple of MergedCells
    not_computed : int, the number of formulas whose result is not stored
    """

    cells: int
    filled: bool
    merged: tuple[MergedCells, ...]
    not_computed: int


@dataclass(frozen=True)
class Sheet:
    """A sheet to read.

    Parameters
    ----------
    title : str
    rows : iterator of (int, list of str), the position of each row that has a value, counted from 0, and its cells
    notes : tuple of str, remarks for the user
    other_titles : tuple of str, the other visible sheets with content, where no sheet was requested by name
    """

    title: str
    rows: Iterator[tuple[int, list[str]]]
    notes: tuple[str, ...]
    other_titles: tuple[str, ...]


def sheet_as_csv(
    content: BinaryIO, path: Path, name: str, limits: WorkbookLimits, *, first: bool
) -> tuple[Sheet, list[int]]:
    """Write a sheet as CSV; returns the sheet, and the position in it of each row written, counted from 0.

    Parameters
    ----------
    content : the file
    path : the CSV file to write
    name : of the sheet; "" for the one that has content and is not hidden
    limits : how large the file and its sheet may be
    first : whether the first sheet is taken where several have content and no name is given

    Raises
    ------
    ValueError : where the file is damaged, there is no such sheet or several, or it is too large
    """
    try:
        with zipfile.ZipFile(content) as archive:
            limits.check_unpacked(sum(member.file_size for member in archive.infolist()))  # zipfile unpacks no more
        sheet = sheet_of(content, name, limits)
        if sheet.other_titles and not first:
            titles = listed([repr(title) for title in (sheet.title, *sheet.other_titles)])
            raise ValueError(f"The file has the sheets {titles}; choose one by --sheet NAME.")
        positions = []
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            for position, cells in sheet.rows:
                positions.append(position)
                writer.writerow(cells)
    except zipfile.BadZipFile as error:
        raise ValueError(f"The file is damaged or cut off ({error}); copy it again.") from None
    except (KeyError, NotImplementedError, RuntimeError, zlib.error) as error:  # of zipfile, for damaged members
        raise ValueError(_UNREADABLE.format(error)) from None
    return sheet, positions


@contextmanager
def _openpyxl_errors() -> Iterator[None]:
    """Turn any exception that openpyxl raises for a damaged file into a ValueError with a sentence."""
    try:
        yield
    except (zipfile.BadZipFile, MemoryError):
        raise
    except Exception as error:
        raise ValueError(_UNREADABLE.format(error)) from None


def sheet_of(content: BinaryIO, name: str, limits: WorkbookLimits) -> Sheet:
    """A sheet of an Excel file; ValueError with a sentence where there is no such sheet, or it is too large.

    Parameters
    ----------
    content : the file
    name : of the sheet; "" for the first one with content that is not hidden
    limits : how large the file and its sheet may be
    """
    archive = zipfile.ZipFile(content)
    _check_parts(archive, limits)
    from openpyxl import load_workbook

    content.seek(0)
    with _openpyxl_errors():
        book = load_workbook(content, read_only=True, data_only=True)
    titles = [sheet.title for sheet in book.worksheets]
    if name and name not in titles:
        raise ValueError(f"There is no sheet {name!r}; the file has {listed([repr(title) for title in titles])}.")
    sheets = [sheet for sheet in book.worksheets if not name or sheet.title == name]
    texts = [(candidate, _text_of(archive, vars(candidate)["_worksheet_path"], limits)) for candidate in sheets]
    filled_sheets = [(candidate, text) for candidate, text in texts if text.filled] or texts[:1]
    if not filled_sheets:
        raise ValueError("The file has no sheet of cells; give one with a table.")
    visible_sheets = [
        (candidate, text) for candidate, text in filled_sheets if candidate.sheet_state == "visible"
    ] or filled_sheets
    sheet, text = visible_sheets[0]
    if text.cells > limits.most_cells:
        raise ValueError(
            f"The sheet {sheet.title!r} has more than {limits.most_cells} cells, the most that are read from Excel, "
            "empty ones with a format among them; save it as CSV, or give a part of it."
        )
    if name:
        other_titles = ()
    else:
        other_titles = tuple(other.title for other, _ in visible_sheets if other is not sheet)
    unread = [other.title for other, _ in filled_sheets if other is not sheet]
    sheet.reset_dimensions()  # the size that a file declares may be wrong by millions of cells
    return Sheet(sheet.title, _rows(sheet, text, limits), tuple(_notes(sheet.title, unread, text)), other_titles)


def _notes(title: str, other_titles: Sequence[str], text: SheetText) -> Iterator[str]:
    if other_titles:
        names = listed([repr(other) for other in other_titles])
        yield (
            f"the sheet {title!r} was read, and the file has {names}, too: to read another, load the file again with "
            "the name of its sheet"
        )
    if text.merged:
        if len(text.merged) == 1:
            count = "a group"
        else:
            count = f"{len(text.merged)} groups"
        yield f"each cell of {count} of merged cells has the value of the group"
    if text.not_computed:
        if text.not_computed == 1:
            formulas = "1 formula"
        else:
            formulas = f"{text.not_computed} formulas"
        yield f"missing are the results of {formulas}: open the file in a spreadsheet program and save it again"


def _check_parts(archive: zipfile.ZipFile, limits: WorkbookLimits) -> None:
    """ValueError where the archive is no .xlsx file, or a member of it that is not a sheet is too large."""
    names = [member.filename for member in archive.infolist()]
    if "content.xml" in names:
        raise ValueError("The file is an OpenDocument; save its sheet as .xlsx or CSV.")
    if "xl/workbook.bin" in names:
        raise ValueError("The file is a binary spreadsheet (.xlsb); save it as .xlsx, or its sheet as CSV.")
    if "xl/workbook.xml" not in names:
        raise ValueError("The file is a zip archive and no spreadsheet; give the CSV file inside it.")
    for name in names:
        if not name.endswith((".xml", ".rels")):
            continue
        strings = elements = 0
        for block in _blocks(archive, name):  # sheets are read, too, which refuses long elements: see ``_blocks``
            if not name.startswith("xl/worksheets/"):
                strings += len(_STRING.findall(block))
                elements += block.count(b"<")
        if name == "xl/sharedStrings.xml":
            if strings > limits.most_cells:
                raise ValueError(
                    f"The file has {strings} texts, and {limits.most_cells} are the most that are read from Excel; "
                    "save it as CSV, or give a part of it."
                )
        elif elements > _MOST_ELEMENTS:
            raise ValueError(
                f"The file holds {elements} elements of {name.rpartition('/')[2]}, more than a spreadsheet has; save "
                "its sheet as CSV."
            )


def _text_of(archive: zipfile.ZipFile, member: str, limits: WorkbookLimits) -> SheetText:
    """What a sheet contains; the scan ends where there are too many cells already."""
    cells = not_computed = 0
    filled = False
    merged = []
    for block in _blocks(archive, member):
        cells += len(_CELL.findall(block))
        filled = filled or _VALUE.search(block) is not None
        if cells > limits.most_cells:
            break
        if b"f>" in block or b"f " in block or b"f/>" in block:  # the search below takes ten times as long
            not_computed += len(_NOT_COMPUTED.findall(block))
        if b"mergeCell " in block:
            merged += [_merged_cells(*match) for match in _MERGED.findall(block)]
    return SheetText(cells, filled, tuple(merged), not_computed)


def _merged_cells(left: bytes, top: bytes, right: bytes, bottom: bytes) -> MergedCells:
    return MergedCells(_column(left), int(top) - 1, _column(right), int(bottom) - 1)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number - 1


def _blocks(archive: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    """A member of the archive in blocks that end after a row, or after an element where no row ends.

    Long elements are refused, since openpyxl searches a sheet's text for its size in quadratic time.
    """
    remainder = b""
    with archive.open(member) as file:
        while block := file.read(_BLOCK):
            text = remainder + block
            end = max(text.rfind(b"</row>") + 6, text.rfind(b":row>") + 5)
            if end < 7:
                end = text.rfind(b">") + 1
            yield text[:end]
            remainder = text[end:]
            if len(remainder) > _LONGEST_ELEMENT:
                raise ValueError(
                    f"An element of {member.rpartition('/')[2]} has more than {_LONGEST_ELEMENT >> 20} MB, far more "
                    "than the longest text of a cell; save the sheet as CSV."
                )
    yield remainder


def _rows(sheet: Any, text: SheetText, limits: WorkbookLimits) -> Iterator[tuple[int, list[str]]]:
    """The rows that have a value, their cells as texts."""
    size = 0
    for k, cells in _from_left(_with_merged(_filled_rows(sheet, limits), text.merged)):
        texts = [text_of(cell) for cell in cells]
        size += sum(map(len, texts))
        if size > limits.unpacked_limit:
            raise ValueError(
                f"The sheet has more than {limits.unpacked_limit >> 20} MB of text, the most that is taken; give a "
                "part of it."
            )
        yield k, texts


def _filled_rows(sheet: Any, limits: WorkbookLimits) -> NumberedRows:
    """The position of each row that has a value, and its cells, as many as up to the last value of the first row."""
    width = filled_rows = cell_count = 0
    rows = sheet.iter_rows(values_only=True)
    for k in count():
        with _openpyxl_errors():
            row = next(rows, None)
        if row is None:
            return
        cell_count += len(row)
        if k >= _MOST_ROWS or cell_count > _GRID_PER_CELL * limits.most_cells + _LONGEST_ROW:
            raise ValueError("The sheet has cells far apart from each other; move its table to the first rows.")
        if not any(cell is not None for cell in row):
            continue
        cells = list(row)
        while cells[-1] is None:
            cells.pop()
        limits.check_columns(len(cells))
        width = width or len(cells)
        if len(cells) > width:
            raise ValueError(
                f"Row {k + 1} of the sheet has a cell in column {len(cells)}, and its first row ends in column "
                f"{width}: begin the sheet with the names of all columns, without a title above them."
            )
        filled_rows += 1
        if filled_rows > limits.most_rows + 1:
            raise ValueError(f"The sheet has more than {limits.most_rows} rows; give a part of them.")
        yield k, cells + [None] * (width - len(cells))


def _with_merged(rows: NumberedRows, groups: Sequence[MergedCells]) -> NumberedRows:
    """The rows, where each cell of a group of merged cells has the value of the first cell of the group."""
    pending = deque(sorted(groups, key=lambda group: group.top))
    values: dict[MergedCells, Any] = {}
    for k, cells in rows:
        while pending and pending[0].top <= k:
            group = pending.popleft()
            if group.top == k and group.left < len(cells):
                values[group] = cells[group.left]
        values = {group: value for group, value in values.items() if group.bottom >= k}
        if len(values) > len(cells):
            raise ValueError(f"Groups of merged cells overlap in row {k + 1} of the sheet; save it as CSV.")
        for group, value in values.items():
            for j in range(group.left, min(group.right + 1, len(cells))):
                cells[j] = value
        yield k, cells


def _from_left(rows: NumberedRows) -> NumberedRows:
    """The rows without the empty columns on the left of the table."""
    first_column = -1
    for k, cells in rows:
        if first_column < 0:
            first_column = next(j for j, cell in enumerate(cells) if cell is not None)
        if any(cell is not None for cell in cells[:first_column]):
            raise ValueError(
                f"Row {k + 1} of the sheet has a cell on the left of the names of the columns; give its column a name."
            )
        yield k, cells[first_column:]
