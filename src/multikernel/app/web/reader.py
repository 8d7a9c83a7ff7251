"""The process that reads files: it reads its order from standard input, and writes one table of plain cells.

A malicious file may break the library that reads it, or fill the memory; it then ends only this process.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import multikernel.app.tables.table  # noqa: F401  # with its libraries, before memory is limited
from multikernel.app.web.settings import Settings, limit_file_size, limit_memory
from multikernel.app.web.uploads import Upload, read, write_table
from multikernel.app.web.views import UploadedFile, ViewsOfModel, join_by_model, join_files


def main() -> int:
    """Execute one order; exit status 0, also where the answer is a sentence about why the files cannot be read."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr  # other printed text is not the answer
    order: dict[str, Any] = json.load(sys.stdin)
    settings = replace(Settings(Path(order["folder"])), **order["limits"])
    limit_memory(settings.read_memory)
    limit_file_size(4 * settings.unpacked_limit)
    try:
        answer = _read(order, settings)
    except ValueError as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": f"Reading needs more than {settings.read_memory >> 20} MB; give fewer rows or columns."}
    except OSError as error:
        answer = {"error": f"The table cannot be written to the disk ({error.strerror}); make room for it."}
    print(json.dumps(answer), file=channel, flush=True)
    return 0


def _read(order: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Write the table to the folder; returns the fields of ``LoadedTable``."""
    folder = Path(order["folder"])
    written = order.get("written", {})
    sheet = order.get("sheet", "")
    files = [_uploaded_file(file, sheet, written, folder, settings) for file in order["files"]] or [
        _named(order["set"])
    ]
    if order.get("model"):
        table = join_by_model(ViewsOfModel(**order["model"]), files)
    else:
        table = join_files(files, order["key"])
    columns = table.columns
    settings.check_columns(len(columns))
    n = len(next(iter(columns.values())))
    if n > settings.most_rows:
        raise ValueError(f"The table has {n} rows, and {settings.most_rows} are the most.")
    write_table(folder / "table.csv", columns)
    name = " + ".join(file.name for file in files)[:80]
    return {
        "name": name,
        "n_rows": n,
        "n_columns": len(columns),
        "views": table.views,
        "note": table.note,
        "match": table.match,
        "written": table.written,
    }


def _uploaded_file(
    file: dict[str, str], sheet: str, written: dict[str, list[str]], folder: Path, settings: Settings
) -> UploadedFile:
    with open(file["path"], "rb") as content:
        return read(Upload(file["name"], content, sheet), folder, settings, written)


def _named(name: str) -> UploadedFile:
    """A named data set of ``multikernel.datasets``."""
    from multikernel.datasets import load

    data = load(name)
    if data.X.ndim == 1:
        columns = {"text": [str(cell) for cell in data.X]}
    else:
        X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
        columns = {str(n): [repr(float(v)) for v in X[:, j]] for j, n in enumerate(data.feature_names)}
    return UploadedFile(name, columns | {"target": [str(value) for value in data.y.tolist()]})


if __name__ == "__main__":
    raise SystemExit(main())
