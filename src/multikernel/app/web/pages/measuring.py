"""The fields of a form about how a run is measured, and the test file that it may contain."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData, UploadFile

from multikernel.app.web.private import private_file
from multikernel.app.web.reading import load_uploads
from multikernel.app.web.site import Site, text_of
from multikernel.app.web.store import DataSet
from multikernel.app.web.views import ViewsOfModel, in_each_file

if TYPE_CHECKING:
    from multikernel.app.web.choices import DataChoice
    from multikernel.app.web.learning.division import Layout
    from multikernel.app.web.learning.recipe import Recipe
    from multikernel.datasets import Task

FIELDS = ("how", "group", "time", "folds", "repeats", "seed", "measure", "balanced", "file", "name")
_LONGEST = 200  # characters of a field, which sentences repeat


def measuring_fields(form: FormData, data: DataSet, earlier_fields: Mapping[str, str]) -> dict[str, str]:
    """The fields of a form as text; the earlier ones where the form does not have these fields.

    Parameters
    ----------
    form : the form of the page of a data set, with the name of its test file
    data : this data set
    earlier_fields : the stored fields
    """
    if "m-how" not in form:
        return dict(earlier_fields)
    fields = {name: text_of(form, f"m-{name}", earlier_fields.get(name, ""))[:_LONGEST] for name in FIELDS[:-3]}
    if "m-classes" in form:  # the form has the fields for classes
        fields["balanced"] = text_of(form, "m-balanced")
    else:
        fields["balanced"] = earlier_fields.get("balanced", "")
    if text_of(form, "m-file") in _test_file_names(data):
        fields |= {name: text_of(form, f"m-{name}")[:_LONGEST] for name in ("file", "name")}
    return {name: value for name, value in fields.items() if value}


def test_files(form: FormData) -> list[UploadFile]:
    """The test files of a form; there may be a file for each view."""
    return [file for file in form.getlist("m-test") if isinstance(file, UploadFile) and (file.filename or file.size)]


def store_test_file(site: Site, data: DataSet, uploads: list[UploadFile]) -> dict[str, str]:
    """Store a test file beside the table, and return the fields that name it; ValueError where it cannot be read.

    Parameters
    ----------
    site : as for every page
    data : the data set
    uploads : the files
    """
    view_columns = data.detail.get("views", {})
    views = ViewsOfModel.of(view_columns, data.detail.get("match", {}).get("key", ""))
    written = in_each_file(data.detail.get("written", {}), view_columns)
    with tempfile.TemporaryDirectory() as folder:
        table = load_uploads(uploads, "", Path(folder), site.settings, views, written)
        content = (Path(folder) / "table.csv").read_bytes()
    name = f"test-{sha256(content).hexdigest()[:16]}.csv"
    private_file(data.folder / name)
    (data.folder / name).write_bytes(content)
    return {"how": "file", "file": name, "name": table.name}


def is_measuring_form(fields: Any, data: DataSet) -> bool:
    """Whether a value of a form is a dict of these fields, and names no file except a stored test file.

    Parameters
    ----------
    fields : any value
    data : the data set
    """
    if not isinstance(fields, dict):
        return False
    file_name = fields.get("file", "")
    file_exists = isinstance(file_name, str) and (not file_name or file_name in _test_file_names(data))
    return file_exists and all(name in FIELDS and isinstance(value, str) for name, value in fields.items())


def _test_file_names(data: DataSet) -> list[str]:
    """The test files beside a table."""
    return [path.name for path in data.folder.glob("test-*.csv")]


@dataclass(frozen=True)
class MeasuringPlan:
    """How a run would be measured.

    Parameters
    ----------
    description : str, a sentence; "" where there is a problem
    parts : int, the number of held-out parts
    problem : str, why it cannot be measured; "" where it can
    """

    description: str = ""
    parts: int = 5
    problem: str = ""


def measuring_plan(data: DataSet, choice: DataChoice, task: Task) -> MeasuringPlan:
    """How a run with the choices on a data set would be measured.

    Parameters
    ----------
    data : the data set
    choice : the choices on it
    task : what is learned
    """
    try:
        row_layout = layout(data, choice.recipe(data, task))
        return MeasuringPlan(row_layout.description, row_layout.count)
    except ValueError as error:
        return MeasuringPlan(problem=str(error))


def layout(data: DataSet, recipe: Recipe) -> Layout:
    """Which rows a run would hold out; ValueError where the run is not possible.

    Parameters
    ----------
    data : the data set
    recipe : the settings of the run
    """
    from multikernel.app.web.choices import cells
    from multikernel.app.web.learning.division import layout_of

    try:
        return layout_of(recipe, cells(data.table), data.folder)
    except ValueError as error:
        raise ValueError(str(error).replace(str(data.table), data.name)) from None
