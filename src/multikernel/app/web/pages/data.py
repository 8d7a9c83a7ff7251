"""Loading a table, and looking at it."""

from __future__ import annotations

import shutil
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.web.charts.bars import bins_of, histogram
from multikernel.app.web.site import Site, text_of
from multikernel.app.web.store import DataSet
from multikernel.app.web.uploads import Upload, read, write_table
from multikernel.app.web.views import Part, joined

_SHOWN = 8  # rows of the preview
_WIDE = 40  # columns of the preview
_BUNDLED = {
    "breast_cancer": "Is a tumour benign? 569 patients, 30 measurements of cells",
    "wine": "Which of three growers made a wine? 178 wines, 13 chemical values",
    "iris": "Which of three species is a flower? 150 flowers, 4 lengths",
    "diabetes": "How far goes the disease in a year? 442 patients, 10 measurements",
    "digits": "Which digit was written? 1797 pictures of 8 x 8 points",
}


def start(site: Site, request: Request) -> Response:
    """The first page."""
    return site.page(
        request, "start.html", datasets=site.store.datasets(), runs=site.store.runs()[:5], bundled=_BUNDLED
    )


def upload(site: Site, request: Request, form: FormData) -> Response:
    """One or several files as a data set."""
    given = [each for each in form.getlist("files") if isinstance(each, UploadFile) and (each.filename or each.size)]
    if not given:
        raise ValueError(
            "No file was chosen. Choose a CSV, Parquet or Excel file with the names of its columns in row 1."
        )
    folder = site.store.new_folder()
    try:
        parts = [read(Upload(each.filename or "", each.file), folder, site.settings) for each in given]
        name = " + ".join(part.name for part in parts)[:80]
        return _keep(site, folder, name, parts, text_of(form, "key"))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _keep(site: Site, folder: Any, name: str, parts: list[Part], key: str) -> Response:
    columns, views, note = joined(parts, key)
    if len(columns) > site.settings.most_columns:
        raise ValueError(
            f"Together the files have {len(columns)} columns, and {site.settings.most_columns} are the most."
        )
    write_table(folder / "table.csv", columns)
    detail = {"views": views, "note": note}
    made = site.store.add_dataset(folder, name, len(next(iter(columns.values()))), len(columns), detail)
    return site.go(f"/data/{made}")


def bundled(site: Site, request: Request, form: FormData) -> Response:
    """A set that comes along."""
    name = text_of(form, "name")
    if name not in _BUNDLED:
        raise ValueError("There is no such set; choose one of the list.")
    from multikernel.datasets.bundled import load_bundled

    data = load_bundled(name)
    columns = {str(n): [repr(float(v)) for v in data.X[:, j]] for j, n in enumerate(data.feature_names)}
    columns["target"] = [str(value) for value in data.y.tolist()]
    return _keep(site, site.store.new_folder(), name, [Part(name, columns)], "")


def look(site: Site, request: Request) -> Response:
    """The table, its columns and its target."""
    from multikernel.app.web.choices import Choice, cells, target

    data = site.dataset(request)
    choice = Choice.of(data)
    wanted = request.query_params.get("target")
    if wanted and wanted in choice.kinds and wanted != choice.target:  # to look at another target changes nothing
        used = frozenset(choice.used - {wanted})
        choice = Choice(choice.columns, wanted, None, choice.kinds, used)
    found, problem, chart = None, "", None
    try:
        found = target(data, choice)
        bins = bins_of(found.values, found.task == "classification")
        chart = histogram(f"Distribution of {choice.target}", bins, len(found.values))
    except ValueError as error:
        problem = str(error).replace(str(data.table), data.name)
    table = cells(data.table)
    names = list(table.columns)[:_WIDE]
    rows = [[table.columns[name].cells[i] for name in names] for i in range(min(_SHOWN, data.n_rows))]
    return site.page(
        request,
        "data.html",
        data=data,
        choice=choice,
        target=found,
        problem=problem,
        chart=chart,
        names=names,
        rows=rows,
        runs=[run for run in site.store.runs() if run.dataset == data.id][:5],
    )


def choose(site: Site, request: Request, form: FormData) -> Response:
    """Keep what was chosen: target, kinds, columns."""
    data = site.dataset(request)
    keep(site, data, form)
    return site.go(f"/data/{data.id}")


def keep(site: Site, data: DataSet, form: FormData) -> DataSet:
    """The data set with what a form chose on it; a column is called by its place, for names may be anything."""
    from multikernel.app.web.choices import Choice

    choice = Choice.of(data)
    target = text_of(form, "target") or choice.target
    if target not in choice.kinds:
        raise ValueError(f"There is no column {target!r}; choose the column to predict from the list.")
    kinds, used = {}, {}
    for k, about in enumerate(choice.columns):
        kind = text_of(form, f"kind-{k}")
        if kind in about.kinds and kind != about.kind:
            kinds[about.name] = kind
        if f"kind-{k}" in form:
            used[about.name] = f"use-{k}" in form
    task = text_of(form, "task") if target == choice.target else ""  # what another column was to be learned as
    detail = data.detail | {
        "choice": {
            "target": target,
            "kinds": kinds,
            "used": used,
            "task": task if task in ("classification", "regression") else None,
        }
    }
    site.store.set_detail(data.id, detail)
    found = site.store.dataset(data.id)
    if found is None:
        raise HTTPException(404, "There is no such data set; it may have been deleted.")
    return found


def delete(site: Site, request: Request, form: FormData) -> Response:
    """The data set and its file."""
    data = site.dataset(request)
    busy = [run for run in site.store.runs() if run.dataset == data.id and not run.ended]
    if busy:
        raise ValueError(f"{busy[0].name!r} still learns from this data set; stop it first.")
    site.store.delete_dataset(data.id)
    return site.go("/")
