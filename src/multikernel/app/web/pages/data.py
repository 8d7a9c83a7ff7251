"""The start page, the upload of tables, and the page of a data set."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.charts import distribution
from multikernel.app.web.pages.measuring import (
    MeasuringPlan,
    measuring_fields,
    measuring_plan,
    store_test_file,
    test_files,
)
from multikernel.app.web.reading import BUNDLED, LoadedTable, load_by_name, load_uploads, sets_of_directory
from multikernel.app.web.site import Site, name_of, text_of
from multikernel.app.web.store import DataSet

if TYPE_CHECKING:
    from multikernel.app.web.choices import DataChoice

_BUTTONS = {  # the button that starts a run with the settings of a file
    "automatic": "Learn",
    "comparison": "Compare methods",
    "worth": "What is each view worth?",
}
_PACED = 50  # latest runs, from whose times the speed of this computer is measured
_PREVIEW_ROWS = 8  # rows of the preview
_PREVIEW_COLUMNS = 40  # columns of the preview


def start(site: Site, request: Request) -> Response:
    """The first page."""
    directory_sets, problem = sets_of_directory(site.settings)
    return site.page(
        request,
        "start.html",
        datasets=site.store.datasets(),
        models=site.store.models(),
        runs=site.store.latest_runs(5),
        bundled=BUNDLED,
        own=directory_sets,
        problem=problem,
    )


def upload(site: Site, request: Request, form: FormData) -> Response:
    """Add one or several uploaded files as a data set."""
    uploads = files_of(form)
    if not uploads:
        raise ValueError(
            "No file was chosen. Choose a CSV, Parquet or Excel file with the names of its columns in row 1."
        )
    if len(uploads) == 1 and (uploads[0].filename or "").lower().endswith(".mk"):
        from multikernel.app.web.pages.models import add_model

        return add_model(site, uploads[0])
    key = text_of(form, "key")
    sheet = text_of(form, "sheet")
    return _add_dataset(site, lambda folder: load_uploads(uploads, key, folder, site.settings, sheet=sheet))


def files_of(form: FormData) -> list[UploadFile]:
    """The uploaded files of a form."""
    return [file for file in form.getlist("files") if isinstance(file, UploadFile) and (file.filename or file.size)]


def load_named(site: Site, request: Request, form: FormData) -> Response:
    """Add an included data set, or one of the directory of data."""
    name = text_of(form, "name")
    if name not in BUNDLED and name not in sets_of_directory(site.settings)[0]:
        raise ValueError("There is no such set; choose one of the list.")
    return _add_dataset(site, lambda folder: load_by_name(name, folder, site.settings))


def _add_dataset(site: Site, load: Callable[[Path], LoadedTable]) -> Response:
    """Add a data set from the table that ``load`` writes to its folder."""
    folder = site.store.new_folder()
    try:
        table = load(folder)
        detail = {"views": table.views, "note": table.note, "match": table.match, "written": table.written}
        dataset_id = site.store.add_dataset(folder, table.name, table.n_rows, table.n_columns, detail)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return site.go(f"/data/{dataset_id}")


def look(site: Site, request: Request) -> Response:
    """The page of a data set."""
    return dataset_page(site, request, site.dataset(request))


def dataset_page(site: Site, request: Request, data: DataSet, refused: str = "") -> Response:
    """The page of a data set.

    Parameters
    ----------
    site, request : as for every page
    data : the data set
    refused : why the requested run cannot be started; "" where nothing was refused
    """
    from multikernel.app.web.choices import DataChoice
    from multikernel.app.web.learning.measures import MEASURES
    from multikernel.app.web.learning.recipe import KINDS

    choice = DataChoice.of(data)
    requested = request.query_params.get("target")
    if requested and requested in choice.kinds and requested != choice.target:  # another target is shown and not stored
        former_target = {about.name for about in choice.columns if about.use and about.name == choice.target}
        learned_columns = frozenset((choice.learned_columns | former_target) - {requested})
        choice = replace(choice, target=requested, task=None, learned_columns=learned_columns, other_targets=())
    about = _about_target(site, data, choice)
    target = about["target"]
    custom = bool(set(choice.measuring.items()) - {("how", "rows"), ("measure", "accuracy"), ("measure", "r2")})
    if target is not None and custom:
        plan = measuring_plan(data, choice, target.task)
    else:
        plan = MeasuringPlan()
    table = choice.samples(data)
    names = list(table.columns)[:_PREVIEW_COLUMNS]
    rows = [[table.columns[name].cells[i] for name in names] for i in range(min(_PREVIEW_ROWS, table.n))]
    return site.page(
        request,
        "data.html",
        400 if refused and request.method == "POST" else 200,
        kinds=KINDS,
        refused=refused or plan.problem,
        measured=plan.description,
        custom=custom,
        measures=MEASURES[target.task if target else "classification"],
        data=data,
        choice=choice,
        names=names,
        rows=rows,
        runs=site.store.latest_runs(5, data.id),
        taken=_BUTTONS.get(request.query_params.get("taken", ""), ""),
        left=request.query_params.get("left", "")[:300],
        **about | {"expected": about["expected"] and about["expected"].of_parts(plan.parts)},
    )


def _about_target(site: Site, data: DataSet, choice: DataChoice) -> dict[str, Any]:
    """The facts about the chosen target and about a run that predicts it; the problem where it cannot be a target."""
    from multikernel.app.web.advice import advice
    from multikernel.app.web.choices import target
    from multikernel.app.web.expected import of_automatic, pace_of, room_of

    about: dict[str, Any] = {"target": None, "problem": "", "chart": None, "drawn": 0, "expected": None, "advice": []}
    try:
        target_facts = target(data, choice)
    except ValueError as error:
        return about | {"problem": str(error)}
    chart, drawn = distribution(
        f"Distribution of {choice.target}", target_facts.values, target_facts.task == "classification"
    )
    pace = pace_of(site.store.latest_runs(_PACED))
    return about | {
        "target": target_facts,
        "chart": chart,
        "drawn": drawn,
        "expected": of_automatic(len(target_facts.values), len(choice.learned_columns), room_of(site.settings), pace),
        "advice": list(advice(choice.target, target_facts.task, target_facts.values, choice.columns)),
    }


def choose(site: Site, request: Request, form: FormData) -> Response:
    """Store the choices of the page: target, types, columns."""
    data = store_choice(site, site.dataset(request), form)
    store_test(site, data, form)
    return site.go(f"/data/{data.id}")


def store_choice(site: Site, data: DataSet, form: FormData) -> DataSet:
    """Store the choices of a form; forms refer to columns by their positions, as names may contain anything."""
    from multikernel.app.web.choices import DataChoice
    from multikernel.app.web.learning.recipe import KINDS, MISSING

    choice = DataChoice.of(data)
    target = text_of(form, "target") or choice.target
    if target not in choice.kinds:
        raise ValueError(f"There is no column {target!r}; choose the column to predict from the list.")
    kinds = {}
    used_columns = {}
    for k, about in enumerate(choice.columns):
        kind = text_of(form, f"kind-{k}")
        if kind in KINDS and kind != about.kind:
            kinds[about.name] = kind
        if f"kind-{k}" in form:
            used_columns[about.name] = f"use-{k}" in form
    task = text_of(form, "task")
    if target != text_of(form, "shown", choice.target):  # the form has the task of another target
        task = ""
    missing = text_of(form, "missing")
    if missing not in MISSING:
        missing = choice.missing
    detail = data.detail | {
        "choice": {
            "target": target,
            "others": _others(form, choice) if "others" in form else list(choice.other_targets),
            "kinds": kinds,
            "used": used_columns,
            "task": task if task in ("classification", "regression") else None,
            "missing": missing,
            "measuring": measuring_fields(form, data, choice.measuring),
        }
    }
    return _set_detail(site, data, detail)


def _others(form: FormData, choice: DataChoice) -> list[str]:
    """The ticked further targets."""
    return [about.name for k, about in enumerate(choice.columns) if f"other-{k}" in form]


def store_test(site: Site, data: DataSet, form: FormData) -> DataSet:
    """Store the test file of a form, if there is one; ValueError where it cannot be read.

    Parameters
    ----------
    site : as for every page
    data : the data set
    form : the form of its page
    """
    uploads = test_files(form)
    if not uploads:
        return data
    chosen = data.detail["choice"]
    measuring = chosen["measuring"] | store_test_file(site, data, uploads)
    return _set_detail(site, data, data.detail | {"choice": chosen | {"measuring": measuring}})


def _set_detail(site: Site, data: DataSet, detail: dict[str, Any]) -> DataSet:
    """Store new details of a data set, and return the data set with them."""
    site.store.set_detail(data.id, detail)
    stored = site.store.dataset(data.id)
    if stored is None:
        raise HTTPException(404, "There is no such data set; it may have been deleted.")
    return stored


def rename(site: Site, request: Request, form: FormData) -> Response:
    """Rename the data set."""
    data = site.dataset(request)
    site.store.rename_dataset(data.id, name_of(form, "A data set"))
    return site.go(f"/data/{data.id}")


def delete(site: Site, request: Request, form: FormData) -> Response:
    """Delete the data set and its files."""
    data = site.dataset(request)
    busy = site.store.unfinished_run(data.id)
    if busy is not None:
        raise ValueError(f"{busy.name!r} still learns from this data set; stop it first.")
    site.store.delete_dataset(data.id)
    return site.go("/")
