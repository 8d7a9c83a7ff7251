"""Tables as they should not be: each is read rightly, or refused in one sentence with status 1.

A case is a name, a file and what must come of it: the words of the refusal, or the cells of the column "x" and the
numbers of the target "y" that a reader of the file would see. Missing cells stay as they stand in the file.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from csv_tables import Invoke

from multikernel.app.tables.table import read_table

_X = ["1.5", "-2", "3e2", "0", "7", "2.25"]
_Y = ["1", "2.5", "3", "4", "5.5", "6"]
_PLAIN = "x,y\n" + "".join(f"{x},{y}\n" for x, y in zip(_X, _Y, strict=True))


def _with(x: Sequence[str], y: Sequence[str] = _Y, *, mark: str = ",", head: str = "x,y", end: str = "\n") -> str:
    """A table of two columns, its cells as given."""
    return end.join([head.replace(",", mark), *(f"{a}{mark}{b}" for a, b in zip(x, y, strict=True))]) + end


def _zip(*names: str, text: str = _PLAIN, password: bool = False) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, text)
    content = bytearray(buffer.getvalue())
    if password:  # the flag of encryption, in the local header and in the directory
        content[6] |= 1
        content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


@dataclass(frozen=True)
class Case:
    """A file and what must come of it."""

    what: str
    content: str | bytes
    said: str = ""  # the refusal; empty where the table is right
    told: str = ""  # what the automatic estimator says of a table that holds little
    x: Sequence[str] = tuple(_X)
    name: str = "t.csv"
    target: str = "y"
    options: tuple[str, ...] = ("--method", "average", "--alpha", "1", "--kernels", "linear")


_AUTOMATIC: tuple[str, ...] = ()
_NUL = "it holds zero bytes; save it as 'CSV UTF-8'"
_QUOTES = "close every quoted cell, and double a quote in one"

CASES = (
    # what a file is
    Case("plain", _PLAIN),
    Case("nothing at all", b"", "is empty; a row of column names was expected"),
    Case("one line end", "\n", "is empty"),
    Case("blank lines only", "\r\n\r\n\r\n", "is empty"),
    Case("spaces only", "   \n  \n", "is empty"),
    Case("a mark of UTF-8 and nothing else", b"\xef\xbb\xbf", "is empty"),
    Case("only a header", "x,y\n", "has column names in row 1 and no row after it"),
    Case("only a header, without an end", "x,y", "no row after it"),
    Case("a header and blank lines", "x,y\n\n\n", "no row after it"),
    Case("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a picture; give a CSV file"),
    Case("a PDF", b"%PDF-1.7\n%\xe2\xe3", "is a PDF; give a CSV file"),
    Case("an Excel file", _zip("xl/workbook.xml"), "is a spreadsheet or a zip archive; save the sheet as CSV"),
    Case(
        "an old Excel file",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
        "is an Excel file of an old kind or with a password",
    ),
    Case("a Parquet file", b"PAR1\x15\x04\x15", "is a Parquet file; write it as CSV"),
    Case("a web page", "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "is a web page; download the table"),
    Case("JSON", '{"x": [1, 2],\n "y": [3, 4]}\n', "is JSON; write it as CSV"),
    Case("a directory", b"", "there is no file folder", name="folder"),
    Case("no such file", b"", "No such file", name="absent.csv"),
    # compression
    Case("gzip", gzip.compress(_PLAIN.encode(), mtime=0), name="t.csv.gz"),
    Case("gzip in capitals", gzip.compress(_PLAIN.encode(), mtime=0), name="T.CSV.GZ"),
    Case("gzip under another name", gzip.compress(_PLAIN.encode(), mtime=0), "give it a name that ends in .gz"),
    Case("gzip cut off", gzip.compress(_PLAIN.encode(), mtime=0)[:-9], "is damaged or cut off", name="t.csv.gz"),
    Case("gzip damaged", gzip.compress(_PLAIN.encode(), mtime=0)[:20] + b"\0" * 30, "is damaged", name="t.csv.gz"),
    Case("gzip that is none", _PLAIN, "is damaged or cut off", name="t.csv.gz"),
    Case("gzip of nothing", gzip.compress(b"", mtime=0), "is empty", name="t.csv.gz"),
    Case("bzip2 cut off", bz2.compress(_PLAIN.encode())[:-8], "is damaged or cut off", name="t.csv.bz2"),
    Case("xz cut off", lzma.compress(_PLAIN.encode())[:-8], "is damaged or cut off", name="t.csv.xz"),
    Case("zip of one table", _zip("t.csv"), name="t.zip"),
    Case("zip of two tables", _zip("a.csv", "b.csv"), "holds 2 files; give an archive of one CSV file", name="t.zip"),
    Case("zip of none", _zip(), "holds 0 files", name="t.zip"),
    Case("zip with a password", _zip("t.csv", password=True), "is encrypted", name="t.zip"),
    # text
    Case("UTF-8 with a mark", _PLAIN.encode("utf-8-sig")),
    Case("UTF-16 with a mark", _PLAIN.encode("utf-16")),
    Case("UTF-16 without a mark", _PLAIN.encode("utf-16-le"), _NUL),
    Case("UTF-32", _PLAIN.encode("utf-32"), _NUL),
    Case("UTF-16 cut in a character", _PLAIN.encode("utf-16")[:-1], "line 7 is not UTF-16 text"),
    Case("no encoding", b"gr\x81\xdfe,x,y\n1,2,3\n", "line 1 is not UTF-8 text, nor Windows-1252; save it as"),
    Case("a zero byte in a cell", "x,y\n1,2\n\0,3\n", _NUL),
    Case("line ends of Windows", _PLAIN.replace("\n", "\r\n")),
    Case("line ends of old Macs", _PLAIN.replace("\n", "\r")),
    Case("mixed line ends", _PLAIN.replace("\n", "\r\n", 3)),
    Case("no line end at the end", _PLAIN.rstrip("\n")),
    Case("blank lines at the end", _PLAIN + "\n\r\n  \n"),
    Case("a blank line in between", _PLAIN.replace("0,4", "\n0,4")),
    Case("two line ends for one", _PLAIN.replace("\n", "\r\r\n")),
    Case("a blank line before the header", "\n" + _PLAIN, "row 1 is blank; it has to contain the names of the columns"),
    Case("Excel's line about the delimiter", "sep=,\n" + _PLAIN),
    # quotes and delimiters
    Case("quoted cells", '"x","y"\n' + "".join(f'"{x}","{y}"\n' for x, y in zip(_X, _Y, strict=True))),
    Case("an open quote", _PLAIN + '"8,9\n', _QUOTES),
    Case("text behind a quote", _PLAIN + '"8"9,1\n', _QUOTES),
    Case("semicolons", _with(_X, mark=";")),
    Case("tabs", _with(_X, mark="\t")),
    Case("vertical bars", _with(_X, mark="|")),
    Case("spaces around cells", _PLAIN.replace(",", " , ")),
    Case("one column", "x\n1\n2\n", "has no column 'y'; it has x"),
    Case("colons between cells", _with(_X, mark=":"), "has no column 'y'"),
    Case("a long row", _PLAIN + "1,2,3\n", "row 8 has 3 cells, and row 1 has 2"),
    Case("a comma at the end of each row", _PLAIN.replace("\n", ",\n"), "row 1, column 3: the column has no name"),
    Case("a short row", _PLAIN + "8\n", "row 8 has 1 cell, and row 1 has 2; write the delimiter ',' also before"),
    Case("a short row behind a blank line", _PLAIN + "\n8\n", "row 9 has 1 cell, and row 1 has 2"),
    Case("two tables in one", _PLAIN * 2, "row 8 repeats the names of the columns; delete the line"),
    Case("a huge cell", "x,y\n" + "9" * 200_000 + ",1\n2,2\n", "field larger than field limit"),
    Case("a cell of many lines", _with(['"a\nb"', *_X[1:]]), "row 2, column 'x': 'a\\nb' is not a number"),
    # names of columns
    Case("a name twice", "x,x,y\n1,2,3\n", "row 1, column 2: the name 'x' occurs twice"),
    Case("a column without a name", "x,,y\n1,2,3\n", "row 1, column 2: the column has no name"),
    Case("names with spaces", _with(_X, head=" x , y ")),
    Case("no header", "1.5,2\n2.5,3\n", "has no column 'y'; it has column_1, column_2"),
    Case("the target in capitals", _PLAIN, "has no column 'Y'; did you mean 'y'? It has x, y", target="Y"),
    Case("features that begin with an underscore", _with(_X, head="_x,y"), "has no feature columns beside 'y'"),
    # numbers
    Case("decimal commas", _with(["1,5", "-2", "3e2", "0", "7", "2,25"], [y.replace(".", ",") for y in _Y], mark=";")),
    Case("decimal commas in quotes", _with(['"1,5"', "-2", "3e2", "0", "7", '"2,25"'])),
    Case("marks between thousands", _with(['"1,500"', '"2,250,000"', *"1234"]), x=["1500", "2250000", *"1234"]),
    Case("points and commas mixed", _with(['"1,5"', "2.5", *"1234"]), x=["1.5", "2.5", *"1234"]),
    Case(
        "points and commas mixed, and thousands or not",
        _with(['"1,5"', "2.5", '"1,234"', *"123"]),
        "row 2, column 'x': '1,5' is not a number",
    ),
    Case("an infinite number", _with(["inf", *_X[1:]]), "'inf' is not a finite number"),
    Case("a number too large", _with(["1e999", *_X[1:]]), "'1e999' is not a finite number"),
    Case("a percent sign", _with(["15%", *_X[1:]]), "row 2, column 'x': '15%' is not a number"),
    Case("a formula", _with(["=A1+1", *_X[1:]]), "row 2, column 'x': '=A1+1' is not a number"),
    Case("what a spreadsheet could not compute is missing", _with(["#DIV/0!", *_X[1:]]), told='"samples": 6'),
    Case("digits of another script", _with(["١٢", *_X[1:]])),
    Case("underscores in numbers", _with(["1_000", *_X[1:]]), "row 2, column 'x': '1_000' is not a number"),
    # the target
    Case("no such target", _PLAIN, "has no column 'z'", target="z"),
    Case("an empty target", _PLAIN, "has no column ''", target=""),
    Case("a target of one row", "x,y\n1,2\n", "has 1 row after the names, and learning needs several"),
    Case("a target of one class", _with(_X, ["a"] * 6), "column 'y' holds one class only, a"),
    Case("a target of one number", _with(_X, ["3"] * 6), "column 'y' holds one class only, 3"),
    Case("a target of one real number", _with(_X, ["3.5"] * 6), "column 'y' holds one value only, 3.5"),
    Case("a target that is all missing", _with(_X, ["NA"] * 6), "row 2, column 'y': 'NA' is a missing value"),
    Case("a target with one missing cell", _with(_X, [*_Y[:5], ""]), "row 7, column 'y': '' is a missing value"),
    Case("a target of words, each once", _with(_X, list("abcdef")), "each row has a class of its own in column 'y'"),
    Case("one row", "x,y\n1,2.5\n", "1 row"),
    # without a method
    Case("one row, automatic", "x,y\n1,2.5\n", "1 row", options=_AUTOMATIC),
    Case("two rows, automatic", "x,y\n1,2.5\n2,3.5\n", told="2 samples", options=_AUTOMATIC),
    Case(
        "every feature constant, automatic", _with(["1"] * 6), told="There is nothing to learn from", options=_AUTOMATIC
    ),
    Case("every feature missing, automatic", _with(["?"] * 6), told="it has no value at all", options=_AUTOMATIC),
    Case(
        "a class of one sample, automatic",
        _with(_X, [*"aaaaa", "b"]),
        told="The answer was trained on all samples",
        options=_AUTOMATIC,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_a_table_is_read_rightly_or_refused_in_a_sentence(invoke: Invoke, case: Case) -> None:
    path = Path(case.name)
    if case.name == "folder":
        path.mkdir()
    elif case.name != "absent.csv":
        path.write_bytes(case.content.encode() if isinstance(case.content, str) else case.content)
    done = invoke("fit", path, "--target", case.target, *case.options, "--json")
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("cross-validation: ", str(path)))]
    if case.said:
        assert (done.exit_code, done.stdout, len(lines)) == (1, "", 1), done.output
        assert lines[0].startswith("error: ")
        assert case.said in lines[0]
        assert not Path("model.mk").exists()
        return
    assert done.exit_code == 0, done.output
    if case.told:
        assert case.told in done.stdout
        return
    found = json.loads(done.stdout)
    assert (found["samples"], found["features"], found["task"]) == (6, ["x"], "regression")
    table = read_table(path)
    numbers = table.columns["x"].numbers
    assert numbers is not None
    expected = [12.0, *map(float, case.x[1:])] if case.what == "digits of another script" else list(map(float, case.x))
    assert numbers.tolist() == expected
    assert table.columns["y"].numbers is not None
    assert table.columns["y"].numbers.tolist() == list(map(float, _Y))
