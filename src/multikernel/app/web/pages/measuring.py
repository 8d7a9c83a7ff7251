"""The part of a form that says how a run is measured, and the test file that may come with it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData, UploadFile

from multikernel.app.web.private import private_file
from multikernel.app.web.reading import uploaded
from multikernel.app.web.site import Site, text_of
from multikernel.app.web.store import DataSet
from multikernel.app.web.views import ViewsOfModel, in_each_file

if TYPE_CHECKING:
    from multikernel.app.web.choices import DataChoice
    from multikernel.app.web.learning.division import Layout
    from multikernel.app.web.learning.recipe import Recipe
    from multikernel.datasets import Task

FIELDS = ("how", "group", "time", "folds", "repeats", "seed", "measure", "balanced", "file", "name")
_LONGEST = 200  # characters of a field, which a sentence repeats


def typed(form: FormData, data: DataSet, before: Mapping[str, str]) -> dict[str, str]:
    """The fields as they were typed; those of before where the form has none of them.

    Parameters
    ----------
    form : of the page of a data set, which names the test file that it has shown
    data : this data set
    before : what was typed last
    """
    if "m-how" not in form:
        return dict(before)
    found = {name: text_of(form, f"m-{name}", before.get(name, ""))[:_LONGEST] for name in FIELDS[:-3]}
    if "m-classes" in form:  # the page has shown what there is for classes
        found["balanced"] = text_of(form, "m-balanced")
    else:
        found["balanced"] = before.get("balanced", "")
    if text_of(form, "m-file") in _kept_names(data):
        found |= {name: text_of(form, f"m-{name}")[:_LONGEST] for name in ("file", "name")}
    return {name: value for name, value in found.items() if value}


def test_files(form: FormData) -> list[UploadFile]:
    """The files of a form that are to test a model; of several views there may be several."""
    return [each for each in form.getlist("m-test") if isinstance(each, UploadFile) and (each.filename or each.size)]


def kept_test(site: Site, data: DataSet, given: list[UploadFile]) -> dict[str, str]:
    """A test file, kept beside the table: the fields that name it; ValueError where it cannot be read.

    Parameters
    ----------
    site : as everywhere
    data : what is learned from
    given : the files
    """
    own = data.detail.get("views", {})
    views = ViewsOfModel.of(own, data.detail.get("match", {}).get("key", ""))
    written = in_each_file(data.detail.get("written", {}), own)
    with tempfile.TemporaryDirectory() as folder:
        found = uploaded(given, "", Path(folder), site.settings, views, written)
        content = (Path(folder) / "table.csv").read_bytes()
    name = f"test-{sha256(content).hexdigest()[:16]}.csv"
    private_file(data.folder / name)
    (data.folder / name).write_bytes(content)
    return {"how": "file", "file": name, "name": found.name}


def is_typed(found: Any, data: DataSet) -> bool:
    """Whether something is what the fields may hold, and names no file but one that was kept.

    Parameters
    ----------
    found : anything
    data : what is learned from
    """
    if not isinstance(found, dict):
        return False
    named = found.get("file", "")
    known = isinstance(named, str) and (not named or named in _kept_names(data))
    return known and all(name in FIELDS and isinstance(value, str) for name, value in found.items())


def _kept_names(data: DataSet) -> list[str]:
    """The test files beside a table."""
    return [path.name for path in data.folder.glob("test-*.csv")]


@dataclass(frozen=True)
class Planned:
    """How a run would be measured.

    Parameters
    ----------
    description : str, in a sentence; "" where it cannot
    parts : int, how many parts are held out
    problem : str, why it cannot; "" where it can
    """

    description: str = ""
    parts: int = 5
    problem: str = ""


def planned(data: DataSet, choice: DataChoice, task: Task) -> Planned:
    """How a run of what was chosen would be measured.

    Parameters
    ----------
    data : what is learned from
    choice : what was chosen on it
    task : what is learned
    """
    try:
        found = layout(data, choice.recipe(data, task))
        return Planned(found.description, found.count)
    except ValueError as error:
        return Planned(problem=str(error))


def layout(data: DataSet, recipe: Recipe) -> Layout:
    """Which rows a run would hold out; ValueError in a sentence where it cannot.

    Parameters
    ----------
    data : what is learned from
    recipe : of the run
    """
    from multikernel.app.web.choices import cells
    from multikernel.app.web.learning.division import layout_of

    try:
        return layout_of(recipe, cells(data.table), data.folder)
    except ValueError as error:
        raise ValueError(str(error).replace(str(data.table), data.name)) from None
