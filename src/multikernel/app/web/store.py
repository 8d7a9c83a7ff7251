"""Data sets, runs and models: a list in SQLite, and a folder for the files of each. Names of folders are made here.

All of them are for the user alone who runs the application.
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
_OURS = re.compile("[0-9a-f]{16}")  # names of folders


@dataclass(frozen=True)
class DataSet:
    """A table that was loaded.

    Parameters
    ----------
    id, name : str
    created : float, seconds since 1970
    n_rows, n_columns : int
    detail : dict, the views, notes on how it was read, and what was chosen last: target, kinds of columns
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
        """The cells, as CSV."""
        return self.folder / "table.csv"


@dataclass(frozen=True)
class StoredModel:
    """A model that came as a file.

    Parameters
    ----------
    id, name : str
    created : float, seconds since 1970
    detail : dict, what the file says of the model
    folder : Path, of its file
    """

    id: str
    name: str
    created: float
    detail: dict[str, Any]
    folder: Path

    @property
    def file(self) -> Path:
        """The file itself."""
        return self.folder / "model.mk"


@dataclass(frozen=True)
class StoredRun:
    """A run: a recipe on a data set, and what came of it.

    Parameters
    ----------
    id, dataset, name : str, its own name in addresses, that of the data set, and what a person calls it
    created, finished : float, seconds since 1970
    status : "queued", "running", "done", "stopped" or "failed"
    recipe : dict, the settings of the run
    summary : dict, the few numbers that a list shows
    words : str, its last message
    note : str, what a person wrote about it
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
        """The columns that it predicts; runs of earlier versions name one."""
        return [self.recipe["target"], *self.recipe.get("other_targets", [])]

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in ENDED

    @property
    def model(self) -> Path:
        """The file of the model."""
        return self.folder / "model.mk"

    @property
    def held_out(self) -> Path:
        """The file of the rows that were held out; runs of earlier versions have none."""
        return self.folder / "held_out.json"

    def result(self) -> dict[str, Any]:
        """What was found."""
        found: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return found


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
            self._begin()
        except sqlite3.DatabaseError as error:
            raise OSError(
                f"{self._list}, the list of data sets and runs, cannot be read and written ({error}); make room on the "
                "disk, or give another folder by --home"
            ) from None

    def _begin(self) -> None:
        """Make the list; runs that were cut off when the last server ended are marked, and their remains deleted."""
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
                for own in folder.iterdir():
                    if _OURS.fullmatch(own.name) and own.name not in listed:
                        shutil.rmtree(own, ignore_errors=True)

    @property
    def _list(self) -> Path:
        return self.settings.home / "multikernel.sqlite"

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self._list, timeout=30.0)  # what SQLite writes beside it has the same mode
        db.row_factory = sqlite3.Row
        try:
            with db:
                yield db
        finally:
            db.close()

    # -- data sets -----------------------------------------------------------------------------------------------------

    def new_folder(self) -> Path:
        """An empty folder for a data set; its name is the set's."""
        return private_folder(self.settings.data / secrets.token_hex(8))

    def add_dataset(self, folder: Path, name: str, n_rows: int, n_columns: int, detail: dict[str, Any]) -> str:
        """A data set whose files lie in the folder."""
        with self._opened() as db:
            row = (folder.name, name, time.time(), n_rows, n_columns, json.dumps(detail))
            db.execute("insert into datasets values (?, ?, ?, ?, ?, ?)", row)
        return folder.name

    def datasets(self) -> list[DataSet]:
        """All of them, the newest first."""
        with self._opened() as db:
            return [self._dataset(row) for row in db.execute("select * from datasets order by created desc")]

    def dataset(self, name: str) -> DataSet | None:
        """One by its name in addresses."""
        with self._opened() as db:
            row = db.execute("select * from datasets where id = ?", (name,)).fetchone()
        if row is None:
            return None
        return self._dataset(row)

    def set_detail(self, name: str, detail: dict[str, Any]) -> None:
        """What was chosen last on a data set."""
        with self._opened() as db:
            db.execute("update datasets set detail = ? where id = ?", (json.dumps(detail), name))

    def rename_dataset(self, name: str, called: str) -> None:
        """What a person calls a data set from now on; runs keep the name that they learned by."""
        with self._opened() as db:
            db.execute("update datasets set name = ? where id = ?", (called, name))

    def delete_dataset(self, name: str) -> None:
        """The data set with its files; runs that learned from it stay."""
        shutil.rmtree(self.settings.data / name, ignore_errors=True)  # first, as the list needs room to change
        with self._opened() as db:
            db.execute("delete from datasets where id = ?", (name,))

    def _dataset(self, row: sqlite3.Row) -> DataSet:
        values = dict(row) | {"detail": json.loads(row["detail"]), "folder": self.settings.data / row["id"]}
        return DataSet(**values)

    # -- runs ----------------------------------------------------------------------------------------------------------

    def add_run(self, dataset: str, name: str, recipe: dict[str, Any]) -> StoredRun:
        """A run in the queue."""
        folder = private_folder(self.settings.runs / secrets.token_hex(8))
        row = (folder.name, dataset, name, time.time(), None, "queued", json.dumps(recipe), "{}", "")
        try:
            with self._opened() as db:
                db.execute("insert into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        found = self.run(folder.name)
        assert found is not None
        return found

    def runs(self, words: str = "") -> list[StoredRun]:
        """All whose name, data set or method holds the words, the newest first."""
        with self._opened() as db:
            found = [self._run(row) for row in db.execute(f"{_RUNS} {_NEWEST}")]
        wanted = words.lower().split()
        return [run for run in found if all(word in _searched(run) for word in wanted)]

    def latest_runs(self, count: int, dataset: str = "") -> list[StoredRun]:
        """The newest, of all data sets or of one."""
        with self._opened() as db:
            query = f"{_RUNS} where ? in ('', dataset) {_NEWEST} limit ?"
            return [self._run(row) for row in db.execute(query, (dataset, count))]

    def unfinished_run(self, dataset: str) -> StoredRun | None:
        """One that waits for its turn with a data set, or learns from it."""
        with self._opened() as db:
            query = f"{_RUNS} where dataset = ? and status in ('queued', 'running') limit 1"
            row = db.execute(query, (dataset,)).fetchone()
        if row is None:
            return None
        return self._run(row)

    def run(self, name: str) -> StoredRun | None:
        """One by its name in addresses."""
        with self._opened() as db:
            row = db.execute(f"{_RUNS} where id = ?", (name,)).fetchone()
        if row is None:
            return None
        return self._run(row)

    def set_run(self, run: str, /, **values: Any) -> None:
        """New values of a run's status, name, words, summary or time of its end."""
        values = {key: json.dumps(value) if key == "summary" else value for key, value in values.items()}
        assert values.keys() <= {"status", "name", "words", "summary", "finished"}
        with self._opened() as db:
            sets = ", ".join(f"{key} = :{key}" for key in values)
            db.execute(f"update runs set {sets} where id = :id", values | {"id": run})

    def set_note(self, run: str, note: str) -> None:
        """What a person writes about a run; "" for nothing."""
        with self._opened() as db:
            db.execute("delete from notes where run = ?", (run,))
            if note:
                db.execute("insert into notes values (?, ?)", (run, note))

    def delete_run(self, name: str) -> None:
        """The run with its files."""
        shutil.rmtree(self.settings.runs / name, ignore_errors=True)  # first, as the list needs room to change
        with self._opened() as db:
            db.execute("delete from runs where id = ?", (name,))
            db.execute("delete from notes where run = ?", (name,))

    def _run(self, row: sqlite3.Row) -> StoredRun:
        loaded = {"recipe": json.loads(row["recipe"]), "summary": json.loads(row["summary"])}
        return StoredRun(**(dict(row) | loaded | {"folder": self.settings.runs / row["id"]}))

    # -- models that came as files -------------------------------------------------------------------------------------

    def new_model_folder(self) -> Path:
        """An empty folder for a model; its name is the model's."""
        return private_folder(self.settings.models / secrets.token_hex(8))

    def add_model(self, folder: Path, name: str, detail: dict[str, Any]) -> None:
        """A model whose file lies in the folder."""
        with self._opened() as db:
            db.execute("insert into models values (?, ?, ?, ?)", (folder.name, name, time.time(), json.dumps(detail)))

    def models(self) -> list[StoredModel]:
        """All of them, the newest first."""
        with self._opened() as db:
            return [self._model(row) for row in db.execute("select * from models order by created desc, rowid desc")]

    def model(self, name: str) -> StoredModel | None:
        """One by its name in addresses."""
        with self._opened() as db:
            row = db.execute("select * from models where id = ?", (name,)).fetchone()
        if row is None:
            return None
        return self._model(row)

    def rename_model(self, name: str, called: str) -> None:
        """What a person calls a model from now on."""
        with self._opened() as db:
            db.execute("update models set name = ? where id = ?", (called, name))

    def delete_model(self, name: str) -> None:
        """The model with its file."""
        shutil.rmtree(self.settings.models / name, ignore_errors=True)  # first, as the list needs room to change
        with self._opened() as db:
            db.execute("delete from models where id = ?", (name,))

    def _model(self, row: sqlite3.Row) -> StoredModel:
        values = dict(row) | {"detail": json.loads(row["detail"]), "folder": self.settings.models / row["id"]}
        return StoredModel(**values)


def _searched(run: StoredRun) -> str:
    return " ".join((run.name, run.note, run.recipe["data"], run.recipe["method"], *run.targets, run.status)).lower()
