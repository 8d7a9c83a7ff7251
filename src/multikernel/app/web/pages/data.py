"""Loading a table, and looking at it."""

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
from multikernel.app.web.pages.measuring import Planned, kept_test, planned, test_files, typed
from multikernel.app.web.reading import BUNDLED, Loaded, of_name, own_sets, uploaded
from multikernel.app.web.site import Site, name_of, text_of
from multikernel.app.web.store import DataSet

if TYPE_CHECKING:
    from multikernel.app.web.choices import DataChoice

_TAKEN = {  # which button learns by the settings of a file
    "automatic": "Learn",
    "comparison": "Compare methods",
    "worth": "What is each view worth?",
}
_PACED = 50  # runs among which those are looked for whose times tell how fast this computer is
_PREVIEW_ROWS = 8  # rows of the preview
_PREVIEW_COLUMNS = 40  # columns of the preview


def start(site: Site, request: Request) -> Response:
    """The first page."""
    own, problem = own_sets(site.settings)
    return site.page(
        request,
        "start.html",
        datasets=site.store.datasets(),
        models=site.store.models(),
        runs=site.store.latest_runs(5),
        bundled=BUNDLED,
        own=own,
        problem=problem,
    )


def upload(site: Site, request: Request, form: FormData) -> Response:
    """One or several files as a data set."""
    given = files_of(form)
    if not given:
        raise ValueError(
            "No file was chosen. Choose a CSV, Parquet or Excel file with the names of its columns in row 1."
        )
    if len(given) == 1 and (given[0].filename or "").lower().endswith(".mk"):
        from multikernel.app.web.pages.models import kept

        return kept(site, given[0])
    key = text_of(form, "key")
    sheet = text_of(form, "sheet")
    return _kept(site, lambda folder: uploaded(given, key, folder, site.settings, sheet=sheet))


def files_of(form: FormData) -> list[UploadFile]:
    """The files of a form."""
    return [each for each in form.getlist("files") if isinstance(each, UploadFile) and (each.filename or each.size)]


def known(site: Site, request: Request, form: FormData) -> Response:
    """A set that comes along, or one of the directory of data."""
    name = text_of(form, "name")
    if name not in BUNDLED and name not in own_sets(site.settings)[0]:
        raise ValueError("There is no such set; choose one of the list.")
    return _kept(site, lambda folder: of_name(name, folder, site.settings))


def _kept(site: Site, load: Callable[[Path], Loaded]) -> Response:
    """A new data set of what is loaded into its folder."""
    folder = site.store.new_folder()
    try:
        found = load(folder)
        detail = {"views": found.views, "note": found.note, "match": found.match, "written": found.written}
        made = site.store.add_dataset(folder, found.name, found.n_rows, found.n_columns, detail)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return site.go(f"/data/{made}")


def look(site: Site, request: Request) -> Response:
    """The table, its columns and its target."""
    return shown(site, request, site.dataset(request))


def shown(site: Site, request: Request, data: DataSet, refused: str = "") -> Response:
    """The page of a data set.

    Parameters
    ----------
    site, request : as everywhere
    data : the table, with what was chosen on it
    refused : why what was asked for cannot be done
    """
    from multikernel.app.web.choices import DataChoice
    from multikernel.app.web.learning.measures import MEASURES
    from multikernel.app.web.learning.recipe import KINDS

    choice = DataChoice.of(data)
    wanted = request.query_params.get("target")
    if wanted and wanted in choice.kinds and wanted != choice.target:  # to look at another target changes nothing
        before = {about.name for about in choice.columns if about.use and about.name == choice.target}
        used = frozenset((choice.used | before) - {wanted})
        choice = replace(choice, target=wanted, task=None, used=used, others=())
    about = _about_target(site, data, choice)
    found = about["target"]
    custom = bool(set(choice.measuring.items()) - {("how", "rows"), ("measure", "accuracy"), ("measure", "r2")})
    if found is not None and custom:
        plan = planned(data, choice, found.task)
    else:
        plan = Planned()
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
        measures=MEASURES[found.task if found else "classification"],
        data=data,
        choice=choice,
        names=names,
        rows=rows,
        runs=site.store.latest_runs(5, data.id),
        taken=_TAKEN.get(request.query_params.get("taken", ""), ""),
        left=request.query_params.get("left", "")[:300],
        **about | {"expected": about["expected"] and about["expected"].of_parts(plan.parts)},
    )


def _about_target(site: Site, data: DataSet, choice: DataChoice) -> dict[str, Any]:
    """What the page says of the chosen target, and of a run that predicts it; or the problem that it has."""
    from multikernel.app.web.advice import advice
    from multikernel.app.web.choices import target
    from multikernel.app.web.expected import of_automatic, pace_of, room_of

    about: dict[str, Any] = {"target": None, "problem": "", "chart": None, "drawn": 0, "expected": None, "advice": []}
    try:
        found = target(data, choice)
    except ValueError as error:
        return about | {"problem": str(error)}
    chart, drawn = distribution(f"Distribution of {choice.target}", found.values, found.task == "classification")
    pace = pace_of(site.store.latest_runs(_PACED))
    return about | {
        "target": found,
        "chart": chart,
        "drawn": drawn,
        "expected": of_automatic(len(found.values), len(choice.used), room_of(site.settings), pace),
        "advice": list(advice(choice.target, found.task, found.values, choice.columns)),
    }


def choose(site: Site, request: Request, form: FormData) -> Response:
    """Keep what was chosen: target, kinds, columns."""
    data = keep(site, site.dataset(request), form)
    with_test(site, data, form)
    return site.go(f"/data/{data.id}")


def keep(site: Site, data: DataSet, form: FormData) -> DataSet:
    """The data set with what a form chose on it; a column is called by its place, for names may be anything."""
    from multikernel.app.web.choices import DataChoice
    from multikernel.app.web.learning.recipe import KINDS, MISSING

    choice = DataChoice.of(data)
    target = text_of(form, "target") or choice.target
    if target not in choice.kinds:
        raise ValueError(f"There is no column {target!r}; choose the column to predict from the list.")
    kinds = {}
    used = {}
    for k, about in enumerate(choice.columns):
        kind = text_of(form, f"kind-{k}")
        if kind in KINDS and kind != about.kind:
            kinds[about.name] = kind
        if f"kind-{k}" in form:
            used[about.name] = f"use-{k}" in form
    task = text_of(form, "task")
    if target != text_of(form, "shown", choice.target):  # the page had the task of another column
        task = ""
    missing = text_of(form, "missing")
    if missing not in MISSING:
        missing = choice.missing
    detail = data.detail | {
        "choice": {
            "target": target,
            "others": _others(form, choice) if "others" in form else list(choice.others),
            "kinds": kinds,
            "used": used,
            "task": task if task in ("classification", "regression") else None,
            "missing": missing,
            "measuring": typed(form, data, choice.measuring),
        }
    }
    return _stored(site, data, detail)


def _others(form: FormData, choice: DataChoice) -> list[str]:
    """The further targets that are ticked."""
    return [about.name for k, about in enumerate(choice.columns) if f"other-{k}" in form]


def with_test(site: Site, data: DataSet, form: FormData) -> DataSet:
    """The data set with the test file of a form, if there is one; ValueError where it cannot be read.

    Parameters
    ----------
    site : as everywhere
    data : what is learned from
    form : of its page
    """
    given = test_files(form)
    if not given:
        return data
    chosen = data.detail["choice"]
    measuring = chosen["measuring"] | kept_test(site, data, given)
    return _stored(site, data, data.detail | {"choice": chosen | {"measuring": measuring}})


def _stored(site: Site, data: DataSet, detail: dict[str, Any]) -> DataSet:
    """The data set with other details."""
    site.store.set_detail(data.id, detail)
    found = site.store.dataset(data.id)
    if found is None:
        raise HTTPException(404, "There is no such data set; it may have been deleted.")
    return found


def rename(site: Site, request: Request, form: FormData) -> Response:
    """A name of the person's own."""
    data = site.dataset(request)
    site.store.rename_dataset(data.id, name_of(form, "A data set"))
    return site.go(f"/data/{data.id}")


def delete(site: Site, request: Request, form: FormData) -> Response:
    """The data set and its file."""
    data = site.dataset(request)
    busy = site.store.unfinished_run(data.id)
    if busy is not None:
        raise ValueError(f"{busy.name!r} still learns from this data set; stop it first.")
    site.store.delete_dataset(data.id)
    return site.go("/")
