"""Files as programs write them: each is read rightly, or refused in a sentence that says what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import threading
import zipfile
from pathlib import Path

import pytest
from csv_tables import Invoke

from multikernel import streams
from multikernel.app.tables import files
from multikernel.app.tables.files import read_file
from multikernel.app.tables.table import read_table

_ROWS = [["x", "word", "y"], ["1.5", "a", "1"], ["-2.25", "b", "0"]]
_BROKEN = gzip.compress("\n".join(map(",".join, _ROWS * 200)).encode(), mtime=0)[:40]


def _encrypted() -> bytes:
    """A zip archive whose one file says that it is encrypted."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("t.csv", "x,y\n1,2\n")
    content = bytearray(packed.getvalue())
    for head, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(head) + flags] |= 1
    return bytes(content)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", ""), (";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")]
)
def test_the_delimiter_is_told_and_said(delimiter: str, name: str) -> None:
    Path("t.csv").write_text("\n".join(map(delimiter.join, _ROWS)))
    table = read_table(Path("t.csv"))
    assert {key: list(column.cells) for key, column in table.columns.items()} == {
        "x": ["1.5", "-2.25"],
        "word": ["a", "b"],
        "y": ["1", "0"],
    }
    assert table.note == (f"t.csv: cells are separated by {name}" if name else "")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('x,y\n"1,234",1\n"12,345,678",2\n950,3\n', [1234.0, 12345678.0, 950.0]),
        ('x,y\n"1,234.5",1\n0.25,2\n', [1234.5, 0.25]),
        ("x;y\n1,5;1\n-0,25;2\n", [1.5, -0.25]),
        ("x;y\n1.234,5;1\n2.000;2\n", [1234.5, 2000.0]),
        ("x;y\n1,234;1\n5,678;2\n", [1.234, 5.678]),
        ("x;y\n1.234;1\n5.678;2\n", [1.234, 5.678]),
        ("x;y\n1,234;0.5\n5,678;2.5\n", [1234.0, 5678.0]),
        ("x\ty\n1 234\t1\n12 345\t2\n", [1234.0, 12345.0]),
        ("x;y\n1\u00a0234,5;1\n1e-3;2\n7,5e2;2\n", [1234.5, 1e-3, 750.0]),
        ("x;y\n1\u00a0234,5;1\n7,5e2;2\n", [1234.5, 750.0]),
        ("x,y\n1'234,1\n2'345.5,2\n", [1234.0, 2345.5]),
        ("x,y\n1_000,1\n2_000,2\n", None),
        ('x,y\n"$1,234.50",1\n$7,2\n', [1234.5, 7.0]),
        ("x;y\n1.234,50 EUR;1\n7 EUR;2\n", [1234.5, 7.0]),
        ("x,y\n12.5%,1\n7%,2\n", [12.5, 7.0]),
        ('x,y\n0.5,1\n"1,5",2\n', [0.5, 1.5]),
        ('x,y\n"12,34,567",1\n"0,123,456",2\n', None),
        ("x,y\n007,1\n1e5,2\n", [7.0, 1e5]),
    ],
)
def test_numbers_are_read_as_they_were_meant(text: str, numbers: list[float] | None) -> None:
    Path("t.csv").write_text(text)
    table = read_table(Path("t.csv"))
    if numbers is None:
        assert "'x'" not in table.note
    else:
        found = table.columns["x"].numbers
        assert found is not None
        assert found.tolist() == numbers


def test_missing_cells_do_not_hide_a_decimal_comma() -> None:
    Path("t.csv").write_text("x;y\n1,5;1\n;2\nn/a;3\n")
    assert read_table(Path("t.csv")).columns["x"].cells == ["1.5", "", "n/a"]


def test_a_column_with_thousands_is_one_feature(invoke: Invoke) -> None:
    rows = [f'"{1000 + 37 * i:,}",{i % 5},{0.1 * i:.2f}' for i in range(41)]
    Path("t.csv").write_text("\n".join(["price,z,y", *rows]) + "\n")
    done = invoke("fit", "t.csv", "--target", "y", "--method", "average", "--alpha", "1")
    assert done.exit_code == 0, done.output
    assert [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("features")] == ["2"]
    assert "t.csv: marks between thousands in 'price' ('1,000' is 1000)\n" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_are_read(encoding: str) -> None:
    Path("t.csv").write_bytes("größe,y\r\n1,ä\r\n2,b\r\n".encode(encoding))
    table = read_table(Path("t.csv"))
    assert list(table.columns) == ["größe", "y"]
    assert table.columns["y"].cells == ("ä", "b")


def test_commas_before_decimals_do_not_separate_cells() -> None:
    Path("t.csv").write_text("1,5;2,5\n3,5;1,0\n2,2;7,1\n")
    table = read_table(Path("t.csv"))
    assert {name: list(column.cells) for name, column in table.columns.items()} == {
        "column_1": ["1.5", "3.5", "2.2"],
        "column_2": ["2.5", "1", "7.1"],
    }


def test_a_table_with_spaces_between_cells_is_said_to_have_one_column() -> None:
    Path("t.csv").write_text("a   b\n1   2\n3   4\n")
    assert "one column; if spaces separate its cells, write commas" in read_table(Path("t.csv")).note
    Path("t.csv").write_text("free text\na word\nand many more words\n")
    assert read_table(Path("t.csv")).note == ""


def test_windows_1252_is_read_and_said(invoke: Invoke) -> None:
    rows = [f"{k},{'schön' if k % 3 else 'trüb'},{k % 2}" for k in range(40)]
    Path("t.csv").write_bytes("\r\n".join(["größe €,wort,y", *rows]).encode("cp1252"))
    table = read_table(Path("t.csv"))
    assert list(table.columns) == ["größe €", "wort", "y"]
    assert table.columns["wort"].cells[:2] == ("trüb", "schön")
    said = "t.csv: the text was read as Windows-1252, since it is not UTF-8"
    assert said in table.note
    done = invoke("fit", "t.csv", "--target", "y", "--method", "average", "--C", "1")
    assert done.exit_code == 0, done.output
    assert said in done.stderr
    with pytest.warns(UserWarning, match="was read as Windows-1252"):
        assert streams.csv("t.csv", target="y").names == ("größe €", "wort", "y")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.2,2.9,virginica\n", None),
        ("1,1,0\n0,1,1\n", None),
        ("3,7\n4,7\n", None),
        ("5,1;3,5\n4,9;3,0\n", None),
        ("2024-01-03,5\n2024-01-04,6\n2024-02-04,7\n", None),
        ("17,?,2\n15,3,2\n", None),
        ("7\n3\n5\n", None),
        ("a,b\n1,2\n", ["a", "b"]),
        ("5.1,3.5,kind\n4.9,3.0,setosa\n", ["5.1", "3.5", "kind"]),
        ("0,1,2\n4,9,3\n", ["0", "1", "2"]),
        ("0,1\n4,9\n", ["0", "1"]),
        ("2019,2021\n4,9\n", ["2019", "2021"]),
        ("900.5,901.3,902,903.1,904,905,906,907.5\n" + "1,2,3,4,5,6,7,8\n", ["900.5", "901.3"]),
        ("7,3\nyes,no\n", ["7", "3"]),
        ("3 months,6 months\n1,2\n", ["3 months", "6 months"]),
        ("7,3\n", ["7", "3"]),
        ('"5","3"\n7,1\n', ["5", "3"]),
    ],
)
def test_a_first_row_that_is_a_sample_is_kept_as_one(text: str, names: list[str] | None) -> None:
    Path("t.csv").write_text(text)
    if text.count("\n") == 1:
        with pytest.raises(ValueError, match="no row after it"):
            read_table(Path("t.csv"))
        return
    table = read_table(Path("t.csv"))
    count = text.count("\n")
    if names is None:
        assert list(table.columns) == [f"column_{k}" for k in range(1, 1 + len(table.columns))]
        assert table.n == count
        assert "row 1 is a sample, so columns are called column_1" in table.note
        assert next(iter(table.columns.values())).rows == tuple(range(1, 1 + count))
    else:
        assert list(table.columns)[: len(names)] == names
        assert table.n == count - 1
        numbers = all(name.replace(".", "").isdigit() for name in names) and '"' not in text
        assert numbers == ("the names of the columns, which are numbers" in table.note)


def test_chunks_of_a_file_without_names_have_its_first_row() -> None:
    Path("t.csv").write_text("5,3\n5,3\n4,8\n")
    with pytest.warns(UserWarning, match="row 1 is a sample"):
        chunks = list(streams.csv("t.csv", target="column_2").chunks())
    found = [(chunk.X["column_1"].tolist(), chunk.y.tolist()) for chunk in chunks]
    assert found == [([5, 5, 4], [3, 3, 8])]


def test_archives_are_read() -> None:
    text = b"x,y\n1,2\n"
    Path("t.csv.gz").write_bytes(gzip.compress(text, mtime=0))
    Path("t.csv.bz2").write_bytes(bz2.compress(text))
    Path("t.csv.xz").write_bytes(lzma.compress(text))
    with zipfile.ZipFile("t.zip", "w") as archive:
        archive.writestr("t.csv", text)
    for name in ("t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.zip"):
        assert read_table(Path(name)).columns["y"].cells == ("2",)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("t.csv", b"age,target\n\xff\x81,1\n", "line 2 is not UTF-8 text, nor Windows-1252; save it as 'CSV UTF-8'"),
        ("t.csv", "größe,y\nä,2\n".encode() + b"\xff,1\n", "line 3 is not UTF-8 text, nor Windows-1252"),
        ("t.csv", b"x,y\n\0,2\n", "it holds zero bytes; save it as"),
        ("t.csv", b"PK\x03\x04 and more", "is a spreadsheet or a zip archive; save the sheet as CSV"),
        ("t.csv", _BROKEN, "is compressed; unpack it, or give it a name that ends in .gz"),
        ("t.csv", bz2.compress(b"x,y\n1,2\n"), "is compressed by bzip2; unpack it"),
        ("t.csv", lzma.compress(b"x,y\n1,2\n"), "is compressed by xz; unpack it"),
        ("t.csv", b"x,y\n" + b"1" * 200_000 + b",2\n", "or shorten a text of more than 131,072 characters"),
        ("t.csv.gz", _BROKEN, "is damaged or cut off"),
        ("t.csv.gz", b"x,y\n1,2\n", "is damaged or cut off"),
        ("t.csv.bz2", b"BZh9 no", "is damaged or cut off"),
        ("t.csv.xz", b"no", "is damaged or cut off"),
        ("t.zip", b"no", "is damaged or cut off"),
        ("t.zip", _encrypted(), "is encrypted; give the file inside it"),
        ("t.csv", b'x,y\n"1,2\n', "is not CSV (unexpected end of data); close every quoted cell"),
        ("t.csv", b"x,y\n1,2,3\n", "row 2 has 3 cells, and row 1 has 2; put a cell that holds the delimiter ','"),
        ("t.csv", b"\n\n", "is empty"),
        ("t.csv", b'{"a": 1}\n{"a": 2}\n', "is JSON; write it as CSV"),
        ("t.csv", b'[{"a": 1}]', "is JSON; write it as CSV"),
        ("t.csv", b"<?xml version='1.0'?><a/>", "is XML; write its table as CSV"),
    ],
)
def test_files_that_cannot_be_read_are_named_with_what_to_do(
    invoke: Invoke, name: str, content: bytes, complaint: str
) -> None:
    Path(name).write_bytes(content)
    refused = invoke("fit", name, "--target", "y")
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert refused.stderr.startswith(f"error: {name}")
    assert complaint in refused.stderr


def test_a_new_file_is_read_as_the_training_file_was(invoke: Invoke) -> None:
    values = [1.25 + 0.017 * i for i in range(40)]
    rows = [f'"{value:.3f} kg",{3 * value:.2f}'.replace(".", ",", 1) for value in values]
    Path("t.csv").write_text("\n".join(["w,y", *rows, '"0,5 kg",1.50']) + "\n")
    assert invoke("fit", "t.csv", "--target", "y", "--method", "average", "--alpha", "0.01").exit_code == 0
    Path("new.csv").write_text('w\n"1,500 kg"\n"1,250 kg"\n')
    done = invoke("predict", "model.mk", "new.csv")
    assert [float(line) for line in done.stdout.split()[1:]] == pytest.approx([4.5, 3.75], rel=0.02)
    Path("new.csv").write_text('w\n"1,500 g"\n"1,250 g"\n')
    refused = invoke("predict", "model.mk", "new.csv")
    assert refused.exit_code == 1
    assert "column 'w' has 'g' as the unit of its numbers, and in training it had 'kg'" in refused.stderr


def test_a_target_in_writing_is_a_number(invoke: Invoke) -> None:
    rows = [f'{i},"${1000 + 37.5 * i:,.2f}"' for i in range(40)]
    Path("t.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    done = invoke("fit", "t.csv", "--target", "y", "--method", "average", "--alpha", "0.01")
    assert done.exit_code == 0, done.output
    assert "the unit '$' in 'y' ('$1,000.00' is 1000)" in done.stderr
    assert "regression" in done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are those of POSIX")
@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_can_be_read_once_and_is(tmp_path: Path, packed: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    text = b"x;y\n1,5;a\n2,5;b\n"
    given = gzip.compress(text) if packed else text
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(given,))
    writer.start()
    table = read_file(tmp_path / "pipe")
    writer.join()
    assert list(table.columns["x"].cells) == ["1.5", "2.5"]
    assert table.file == table.columns["x"].file == str(tmp_path / "pipe")
    assert table.note.startswith(f"{tmp_path / 'pipe'}: cells are separated by semicolons")


def test_a_file_that_is_written_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")

    def read(file: Path, **_: object) -> object:
        with path.open("a") as end:
            end.write("3,4\n")
        return read_table(file)

    monkeypatch.setattr(files, "read_table", read)
    with pytest.raises(ValueError, match=r"t\.csv was changed while it was read; run this again"):
        read_file(path)
