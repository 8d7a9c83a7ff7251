"""The store of data sets, runs and models: a list in SQLite, and a folder for the files of each, with a random name.

Only the user who runs the application can read them.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multikernel.app.web.private import private_file, private_folder, restrict_tree
from multikernel.app.web.settings import Settings

_SCHEMA = """
create table if not exists datasets (
    id text primary key, name text not null, created real not null, n_rows integer not null,
    n_columns integer not null, detail text not null
);
create table if not exists runs (
    id text primary key, dataset text not null, name text not null, created real not null, finished real,
    status text not null, recipe text not null, summary text not null, words text not null
);
create table if not exists notes (run text primary key, note text not null);
create table if not exists models (
    id text primary key, name text not null, created real not null, detail text not null
);
"""
_RUNS = "select runs.*, coalesce(note, '') as note from runs left join notes on notes.run = runs.id"
_NEWEST = "order by created desc, runs.rowid desc"
ENDED = ("done", "stopped", "failed")

CUT_OFF = "The server was ended before this run was; start it again."
_OURS = re.compile("[0-9a-f]{16}")  # the names of the folders of items


@dataclass(frozen=True)
class DataSet:
    """A loaded table.

    Parameters
    ----------
    id, name : str
    created : float, seconds since 1970
    n_rows, n_columns : int
    detail : dict with the views, notes about the files, and the latest choices, such as target and types of columns
    folder : Path, of its files
    """

    id: str
    name: str
    created: float
    n_rows: int
    n_columns: int
    detail: dict[str, Any]
    folder: Path

    @property
    def table(self) -> Path:
        """The CSV file of the cells."""
        return self.folder / "table.csv"


@dataclass(frozen=True)
class StoredModel:
    """An uploaded model.

    Parameters
    ----------
    id, name : str
    created : float, seconds since 1970
    detail : dict, the description of the model, from its file
    folder : Path, of its file
    """

    id: str
    name: str
    created: float
    detail: dict[str, Any]
    folder: Path

    @property
    def file(self) -> Path:
        """The model file."""
        return self.folder / "model.mk"


@dataclass(frozen=True)
class StoredRun:
    """A run: a recipe on a data set, its status and its findings.

    Parameters
    ----------
    id, dataset, name : str, the identifiers of the run and of the data set in addresses, and the name for persons
    created, finished : float, seconds since 1970
    status : "queued", "running", "done", "stopped" or "failed"
    recipe : dict, the settings of the run
    summary : dict, the numbers that a list of runs shows
    words : str, its last message
    note : str, the note of a person about it
    folder : Path, of its files
    """

    id: str
    dataset: str
    name: str
    created: float
    finished: float | None
    status: str
    recipe: dict[str, Any]
    summary: dict[str, Any]
    words: str
    note: str
    folder: Path

    @property
    def targets(self) -> list[str]:
        """The columns that the run predicts; runs of earlier versions have a single target."""
        return [self.recipe["target"], *self.recipe.get("other_targets", [])]

    @property
    def ended(self) -> bool:
        """Whether the run has ended."""
        return self.status in ENDED

    @property
    def model(self) -> Path:
        """The file of the model."""
        return self.folder / "model.mk"

    @property
    def held_out(self) -> Path:
        """The file of the held-out rows; runs of earlier versions have none."""
        return self.folder / "held_out.json"

    def result(self) -> dict[str, Any]:
        """The findings of the run."""
        result: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return result


class Store:
    """The list and the folders."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        for folder in (settings.home, settings.data, settings.runs, settings.models):
            private_folder(folder)
        for folder in (settings.data, settings.runs, settings.models):
            restrict_tree(folder)
        private_file(self._list)
        try:
            self._create_list()
        except sqlite3.DatabaseError as error:
            raise OSError(
                f"{self._list}, the list of data sets and runs, cannot be read and written ({error}); make room on the "
                "disk, or give another folder by --home"
            ) from None

    def _create_list(self) -> None:
        """Create the list; mark runs that were cut off by the end of the last server; delete unlisted folders."""
        with self._opened() as db:
            db.executescript(_SCHEMA)
            if self.settings.read_only:
                return
            db.execute(
                "update runs set status = 'failed', finished = ?, words = ? where status in ('queued', 'running')",
                (time.time(), CUT_OFF),
            )
            settings = self.settings
            for table, folder in (("datasets", settings.data), ("runs", settings.runs), ("models", settings.models)):
                listed = {row["id"] for row in db.execute(f"select id from {table}")}
                for subfolder in folder.iterdir():
                    if _OURS.fullmatch(subfolder.name) and subfolder.name not in listed:
                        shutil.rmtree(subfolder, ignore_errors=True)

    @property
    def _list(self) -> Path:
        return self.settings.home / "multikernel.sqlite"

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self._list, timeout=30.0)  # further files of SQLite get the same mode
        db.row_factory = sqlite3.Row
        try:
            with db:
                yield db
        finally:
            db.close()

    # -- data sets -----------------------------------------------------------------------------------------------------

    def new_folder(self) -> Path:
        """An empty folder for a data set, whose identifier is the name of the folder."""
        return private_folder(self.settings.data / secrets.token_hex(8))

    def add_dataset(self, folder: Path, name: str, n_rows: int, n_columns: int, detail: dict[str, Any]) -> str:
        """Add a data set, whose files are in the folder."""
        with self._opened() as db:
            row = (folder.name, name, time.time(), n_rows, n_columns, json.dumps(detail))
            db.execute("insert into datasets values (?, ?, ?, ?, ?, ?)", row)
        return folder.name

    def datasets(self) -> list[DataSet]:
        """All data sets, the newest first."""
        with self._opened() as db:
            return [self._dataset(row) for row in db.execute("select * from datasets order by created desc")]

    def dataset(self, name: str) -> DataSet | None:
        """The data set of this identifier."""
        with self._opened() as db:
            row = db.execute("select * from datasets where id = ?", (name,)).fetchone()
        if row is None:
            return None
        return self._dataset(row)

    def set_detail(self, name: str, detail: dict[str, Any]) -> None:
        """Store the details of a data set."""
        with self._opened() as db:
            db.execute("update datasets set detail = ? where id = ?", (json.dumps(detail), name))

    def rename_dataset(self, name: str, called: str) -> None:
        """Rename a data set; its runs keep the previous name."""
        with self._opened() as db:
            db.execute("update datasets set name = ? where id = ?", (called, name))

    def delete_dataset(self, name: str) -> None:
        """Delete a data set with its files, but not its runs."""
        shutil.rmtree(self.settings.data / name, ignore_errors=True)  # first, as the list needs room to change
        with self._opened() as db:
            db.execute("delete from datasets where id = ?", (name,))

    def _dataset(self, row: sqlite3.Row) -> DataSet:
        values = dict(row) | {"detail": json.loads(row["detail"]), "folder": self.settings.data / row["id"]}
        return DataSet(**values)

    # -- runs ----------------------------------------------------------------------------------------------------------

    def add_run(self, dataset: str, name: str, recipe: dict[str, Any]) -> StoredRun:
        """Add a run with status "queued"."""
        folder = private_folder(self.settings.runs / secrets.token_hex(8))
        row = (folder.name, dataset, name, time.time(), None, "queued", json.dumps(recipe), "{}", "")
        try:
            with self._opened() as db:
                db.execute("insert into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        run = self.run(folder.name)
        assert run is not None
        return run

    def runs(self, words: str = "") -> list[StoredRun]:
        """The runs with all of these words in their names, notes, data sets, methods or targets, the newest first."""
        with self._opened() as db:
            all_runs = [self._run(row) for row in db.execute(f"{_RUNS} {_NEWEST}")]
        search_words = words.lower().split()
        return [run for run in all_runs if all(word in _search_text(run) for word in search_words)]

    def latest_runs(self, count: int, dataset: str = "") -> list[StoredRun]:
        """The newest runs of one data set, or of all."""
        with self._opened() as db:
            query = f"{_RUNS} where ? in ('', dataset) {_NEWEST} limit ?"
            return [self._run(row) for row in db.execute(query, (dataset, count))]

    def unfinished_run(self, dataset: str) -> StoredRun | None:
        """A run on this data set that is queued or running."""
        with self._opened() as db:
            query = f"{_RUNS} where dataset = ? and status in ('queued', 'running') limit 1"
            row = db.execute(query, (dataset,)).fetchone()
        if row is None:
            return None
        return self._run(row)

    def run(self, name: str) -> StoredRun | None:
        """The run of this identifier."""
        with self._opened() as db:
            row = db.execute(f"{_RUNS} where id = ?", (name,)).fetchone()
        if row is None:
            return None
        return self._run(row)

    def set_run(self, run: str, /, **values: Any) -> None:
        """Store new values of the status, name, words, summary or end of a run."""
        values = {key: json.dumps(value) if key == "summary" else value for key, value in values.items()}
        assert values.keys() <= {"status", "name", "words", "summary", "finished"}
        with self._opened() as db:
            sets = ", ".join(f"{key} = :{key}" for key in values)
            db.execute(f"update runs set {sets} where id = :id", values | {"id": run})

    def set_note(self, run: str, note: str) -> None:
        """Store the note of a run; "" deletes it."""
        with self._opened() as db:
            db.execute("delete from notes where run = ?", (run,))
            if note:
                db.execute("insert into notes values (?, ?)", (run, note))

    def delete_run(self, name: str) -> None:
        """Delete a run with its files."""
        shutil.rmtree(self.settings.runs / name, ignore_errors=True)  # first, as the list needs room to change
        with self._opened() as db:
            db.execute("delete from runs where id = ?", (name,))
            db.execute("delete from notes where run = ?", (name,))

    def _run(self, row: sqlite3.Row) -> StoredRun:
        loaded = {"recipe": json.loads(row["recipe"]), "summary": json.loads(row["summary"])}
        return StoredRun(**(dict(row) | loaded | {"folder": self.settings.runs / row["id"]}))

    # -- uploaded models -----------------------------------------------------------------------------------------------

    def new_model_folder(self) -> Path:
        """An empty folder for a model, whose identifier is the name of the folder."""
        return private_folder(self.settings.models / secrets.token_hex(8))

    def add_model(self, folder: Path, name: str, detail: dict[str, Any]) -> None:
        """Add a model, whose file is in the folder."""
        with self._opened() as db:
            db.execute("insert into models values (?, ?, ?, ?)", (folder.name, name, time.time(), json.dumps(detail)))

    def models(self) -> list[StoredModel]:
        """All uploaded models, the newest first."""
        with self._opened() as db:
            return [self._model(row) for row in db.execute("select * from models order by created desc, rowid desc")]

    def model(self, name: str) -> StoredModel | None:
        """The model of this identifier."""
        with self._opened() as db:
            row = db.execute("select * from models where id = ?", (name,)).fetchone()
        if row is None:
            return None
        return self._model(row)

    def rename_model(self, name: str, called: str) -> None:
        """Rename a model."""
        with self._opened() as db:
            db.execute("update models set name = ? where id = ?", (called, name))

    def delete_model(self, name: str) -> None:
        """Delete a model with its file."""
        shutil.rmtree(self.settings.models / name, ignore_errors=True)  # first, as the list needs room to change
        with self._opened() as db:
            db.execute("delete from models where id = ?", (name,))

    def _model(self, row: sqlite3.Row) -> StoredModel:
        values = dict(row) | {"detail": json.loads(row["detail"]), "folder": self.settings.models / row["id"]}
        return StoredModel(**values)


def _search_text(run: StoredRun) -> str:
    return " ".join((run.name, run.note, run.recipe["data"], run.recipe["method"], *run.targets, run.status)).lower()
