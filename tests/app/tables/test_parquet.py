"""Parquet files of odd types: their cells are those of a CSV file, or a sentence says why they are not taken."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from multikernel.app.tables import files
from multikernel.app.tables.files import read_file
from multikernel.app.web.settings import Settings
from multikernel.app.web.uploads import Upload, read

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _written(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def _uploaded(path: Path, **limits: Any) -> tuple[dict[str, list[str]], str]:
    found = read(Upload(path.name, io.BytesIO(path.read_bytes())), path.parent, Settings(path.parent, **limits))
    return found.columns, found.note


def test_types_of_other_programs_have_the_cells_of_a_csv_file(tmp_path: Path) -> None:
    path = _written(
        tmp_path / "t.parquet",
        {
            "word": pa.array(["u", None, "u"]).dictionary_encode(),
            "price": pa.array([Decimal("1.10"), Decimal("-2.25"), None]),
            "at": pa.array([0, None, 86_400_000_000], pa.timestamp("us", "UTC")),
            "big": pa.array([2**64 - 1, 2, 3], pa.uint64()),
            "none": pa.nulls(3),
        },
        row_group_size=1,
    )
    expected = {
        "word": ["u", "", "u"],
        "price": ["1.10", "-2.25", ""],
        "at": ["1970-01-01 00:00:00+00:00", "", "1970-01-02 00:00:00+00:00"],
        "big": ["18446744073709551615", "2", "3"],
        "none": ["", "", ""],
    }
    assert {name: list(column.cells) for name, column in read_file(path).columns.items()} == expected
    assert _uploaded(path) == (expected, "")


def test_lists_are_read_as_words_and_this_is_said(tmp_path: Path) -> None:
    path = _written(tmp_path / "t.parquet", {"l": [[1, 2], [], None], "y": [1, 2, 3]})
    columns, note = _uploaded(path)
    assert columns["l"] == ["[1, 2]", "[]", ""]
    assert note.startswith("cells of 'l' are lists, records or bytes, which are read as words")
    assert read_file(path).note == f"{path}: {note}"


@pytest.mark.parametrize("kind", ["timestamp", "date"])
def test_a_date_beyond_all_years_is_named(tmp_path: Path, kind: str) -> None:
    values = pa.array([2**62], pa.timestamp("ms")) if kind == "timestamp" else pa.array([2**30], pa.date32())
    path = _written(tmp_path / "t.parquet", {"when": values})
    for reading in (read_file, _uploaded):
        with pytest.raises(ValueError, match=r"Column 'when' has a value that cannot be read .* years 1 to 9999"):
            reading(path)


def test_a_small_file_of_much_text_is_refused_before_all_of_it_is_made(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 9000), pa.array(["q" * 1000]))
    path = _written(tmp_path / "t.parquet", {"text": column})
    assert path.stat().st_size < 10_000
    with pytest.raises(ValueError, match="more than 1 MB of text, the most that is taken"):
        _uploaded(path, unpacked_limit=1 << 20)


@pytest.mark.parametrize("cut", [(-20, None), (-8, b"\x05\0\0\0PAR1"), (-4, b"PARE")])
def test_a_damaged_file_is_a_sentence(tmp_path: Path, cut: tuple[int, bytes | None]) -> None:
    path = _written(tmp_path / "t.parquet", {"x": [1.0, 2.0]})
    path.write_bytes(path.read_bytes()[: cut[0]] + (cut[1] or b""))
    for reading in (read_file, _uploaded):
        with pytest.raises(ValueError, match="cannot be read as Parquet"):
            reading(path)


def test_too_many_rows_of_csv_are_refused_while_they_are_read(tmp_path: Path) -> None:
    content = io.BytesIO(b"x\n" + b"1\n" * 40)
    with pytest.raises(ValueError, match="more than 30 rows"):
        read(Upload("t.csv", content), tmp_path, Settings(tmp_path, most_rows=30))


def test_what_memory_has_no_room_for_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "available_memory", lambda: 4000.0)
    monkeypatch.setattr(files, "_SMALL", 100)
    path = _written(tmp_path / "t.parquet", {"x": [1.0] * 50})
    with pytest.raises(ValueError, match="has 50 cells, which take about"):
        read_file(path)
    table = b"x\n" + b"1\n" * 60
    for name, content in (("t.csv", table), ("t.csv.gz", gzip.compress(table))):
        (tmp_path / name).write_bytes(content)
        assert files.unpacked_size(tmp_path / name) == len(table)
        with pytest.raises(ValueError, match="more than 20 rows, the most that there is room for"):
            read_file(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", table)
    assert files.unpacked_size(tmp_path / "t.zip") == len(table)


def test_a_csv_file_with_the_name_of_a_spreadsheet_is_read_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_text("x,y\n1,a\n")
    assert read_file(tmp_path / "t.xlsx").columns["y"].cells == ("a",)
    (tmp_path / "old.xlsx").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100))
    with pytest.raises(ValueError, match="is an Excel file of an old kind or with a password"):
        read_file(tmp_path / "old.xlsx")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("names", "read_as"),
    [
        (["\ufeffage", "b\ufeffc"], ["age", "bc"]),
        (["a\nb", "c \t d "], ["a b", "c d"]),
        (["x" * 10_000, "__proto__"], ["x" * 10_000, "__proto__"]),
        (["Age", "age"], ["Age", "age"]),
        (["category", "number"], ["category", "number"]),
        (["a", "a "], "row 1, column 2: the name 'a' occurs twice"),
        (["a", "\ufeff"], "row 1, column 2: the column has no name"),
        (["a\x1b[2J", "b"], "row 1, column 1: the name 'a\\x1b[2J' has a control character; write it without"),
    ],
)
def test_names_that_are_hard_to_see_are_read_alike_in_every_file_and_place(
    tmp_path: Path, ending: str, names: list[str], read_as: list[str] | str
) -> None:
    path = tmp_path / f"t.{ending}"
    if ending == "csv":
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file).writerows([names, ["word", 1.5], ["other", 2.5]])
    else:
        _written(path, dict(zip(names, (["word", "other"], [1.5, 2.5]), strict=True)))
    if isinstance(read_as, str):
        for reading in (read_file, _uploaded):
            with pytest.raises(ValueError, match=re.escape(read_as)):
                reading(path)
    else:
        assert list(read_file(path).columns) == read_as
        assert list(_uploaded(path)[0]) == read_as
