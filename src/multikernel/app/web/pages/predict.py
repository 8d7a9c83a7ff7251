"""A model at new rows: a file of them, or one that is typed in."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.charts import bars
from multikernel.app.drawing import number
from multikernel.app.web.pages.data import files_of
from multikernel.app.web.reading import uploaded
from multikernel.app.web.site import Site, text_of
from multikernel.app.web.store import StoredRun

_BARS = 12  # bars of a chart


def _model(run: StoredRun) -> tuple[Any, Any]:
    """The model of a run and its recipe; ValueError where it has none."""
    from multikernel.app.web.learning.predicting import model_of
    from multikernel.app.web.learning.recipe import Recipe

    if run.status != "done" or not run.model.exists():
        raise ValueError("This run has no model to predict with; learn one first.")
    return model_of(run.model), Recipe.from_json(run.recipe)


def table(site: Site, request: Request, form: FormData) -> Response:
    """The predictions for an uploaded file, as CSV."""
    from multikernel.app.tables.table import read_table
    from multikernel.app.web.learning.predicting import as_csv, predictions
    from multikernel.app.web.learning.samples import bare
    from multikernel.app.web.views import ViewsOfModel

    run = site.run(request)
    model, recipe = _model(run)
    given = files_of(form)
    if not given:
        raise ValueError("No file was chosen. Choose one with the columns that the model learned from.")
    with tempfile.TemporaryDirectory() as folder:
        views = None
        if len(recipe.by_view) > 1:
            columns = {view: [bare(name, view) for name in names] for view, names in recipe.by_view.items()}
            views = ViewsOfModel(columns, recipe.key)
        found = uploaded(given, "", Path(folder), site.settings, views)
        rows = read_table(Path(folder) / "table.csv")
    answers = predictions(model, recipe, replace(rows, file=found.name), run.result()["typical"])
    headers = {"Content-Disposition": 'attachment; filename="predictions.csv"'}
    return Response(as_csv(answers), media_type="text/csv; charset=utf-8", headers=headers)


def sample(site: Site, request: Request) -> Response:
    """The form of one sample: usual cells, or those of a row of the table."""
    run = site.run(request)
    _model(run)
    result = run.result()
    cells = {each["name"]: each["usual"] for each in result["typical"]}
    row = request.query_params.get("row", "")
    truth = None
    n = 0
    data = site.store.dataset(run.dataset)
    if data is not None:
        n = data.n_rows
    if row:
        from multikernel.app.web.choices import cells as table_cells

        if data is None:
            raise ValueError("The table of this run has been deleted.")
        if not (row.isdecimal() and 1 <= int(row) <= n):
            raise ValueError(f"There is no row {row}; the table has rows 1 to {n}.")
        columns = table_cells(data.table).columns
        cells = {name: columns[name].cells[int(row) - 1] for name in cells}
        truth = columns[run.recipe["target"]].cells[int(row) - 1]
    return _page(site, request, run, result, cells, row=row, truth=truth, n=n, answer=bool(row))


def one(site: Site, request: Request, form: FormData) -> Response:
    """The answer for what was typed."""
    run = site.run(request)
    result = run.result()
    cells = {each["name"]: text_of(form, f"cell-{k}") for k, each in enumerate(result["typical"])}
    data = site.store.dataset(run.dataset)
    return _page(site, request, run, result, cells, row="", truth=None, n=data.n_rows if data else 0, answer=True)


def _page(
    site: Site, request: Request, run: StoredRun, result: Any, cells: dict[str, str], *, answer: bool, **more: Any
) -> Response:
    from multikernel.app.web.learning.predicting import explained, table_of
    from multikernel.app.web.learning.samples import refused

    found = None
    charts = dict.fromkeys(("effects", "parts"))
    wrong: dict[str, tuple[int, str]] = {}
    if answer:
        model, recipe = _model(run)
        table = table_of("the sample", {k: [v] for k, v in cells.items()})
        wrong = refused(table, recipe, result["typical"])
    if answer and not wrong:
        found = explained(model, recipe, table, result["typical"])
        for name, title, axis in (
            ("effects", "What each column does to this answer", f"change of the {found['what']}"),
            ("parts", "What each part of the model says", "part of the value"),
        ):
            rows = [(n, v, 0.0, f"{n}: {number(v)}") for n, v in found[name][:_BARS]]
            if rows:
                charts[name] = bars(title, rows, axis)
    more |= {"run": run, "result": result, "cells": cells, "found": found, "charts": charts}
    more |= {"wrong": {name: sentence for name, (_, sentence) in wrong.items()}}
    return site.page(request, "sample.html", 400 if wrong else 200, **more)
