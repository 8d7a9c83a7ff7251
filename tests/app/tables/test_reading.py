"""Files as programs write them: each is read rightly, or refused in a sentence that says what to do."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import pytest
from csv_tables import Invoke

from multikernel.app.tables.table import read_table

_ROWS = [["x", "word", "y"], ["1.5", "a", "1"], ["-2.25", "b", "0"]]
_BROKEN = gzip.compress("\n".join(map(",".join, _ROWS * 200)).encode(), mtime=0)[:40]


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
        ("t.csv", b"age,target\n\xff\xfe,1\n", "cannot be read as CSV: line 2 is not UTF-8 text; save it as"),
        ("t.csv", "größe,y\n1,2\n".encode("latin-1"), "line 1 is not UTF-8 text; save it as 'CSV UTF-8'"),
        ("t.csv", b"x,y\n\0,2\n", "it holds zero bytes; save it as"),
        ("t.csv", b"PK\x03\x04 and more", "is a spreadsheet or a zip archive; save the sheet as CSV"),
        ("t.csv", _BROKEN, "is compressed; give it a name that ends in .gz"),
        ("t.csv.gz", _BROKEN, "is damaged or cut off"),
        ("t.csv.gz", b"x,y\n1,2\n", "is damaged or cut off"),
        ("t.csv.bz2", b"BZh9 no", "is damaged or cut off"),
        ("t.csv.xz", b"no", "is damaged or cut off"),
        ("t.zip", b"no", "is damaged or cut off"),
        ("t.csv", b'x,y\n"1,2\n', "is not CSV (unexpected end of data); close every quoted cell"),
        ("t.csv", b"x,y\n1,2,3\n", "row 2 has 3 cells, and row 1 has 2; put a cell that holds the delimiter ','"),
        ("t.csv", b"\n\n", "is empty"),
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
