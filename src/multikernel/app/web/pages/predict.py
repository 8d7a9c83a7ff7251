"""Predictions of the model of a run for new rows: for a file, or for one sample that a person types."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.drawing import number
from multikernel.app.row_charts import bars
from multikernel.app.web.pages.data import files_of
from multikernel.app.web.reading import load_uploads
from multikernel.app.web.site import Site, predicts, text_of
from multikernel.app.web.store import StoredRun
from multikernel.app.web.thresholds import threshold

if TYPE_CHECKING:
    from multikernel.app.web.learning.predicting import LearnedModel

_BARS = 12  # bars of a chart
_ROWS = 100  # predictions on a page; the file has all


def _model(run: StoredRun) -> LearnedModel:
    """The model of a run; ValueError where it has none."""
    from multikernel.app.web.learning.predicting import LearnedModel

    if run.status != "done" or not run.model.exists():
        raise ValueError("This run has no model to predict with; learn one first.")
    return LearnedModel.of(run.model, run.recipe, run.result()["typical"])


def table(site: Site, request: Request, form: FormData) -> Response:
    """The page of the predictions for an uploaded file: messages, the first rows, and all rows as CSV."""
    from multikernel.app.tables.table import read_table
    from multikernel.app.web.learning.predicting import as_csv, predictions
    from multikernel.app.web.views import ViewsOfModel, in_each_file

    run = site.run(request)
    learned = _model(run)
    recipe = learned.recipe
    uploads = files_of(form)
    if not uploads:
        raise ValueError("No file was chosen. Choose one with the columns that the model learned from.")
    views = ViewsOfModel.of(recipe.by_view, recipe.key)
    with tempfile.TemporaryDirectory() as folder:
        uploaded_table = load_uploads(
            uploads, "", Path(folder), site.settings, views, in_each_file(recipe.written, recipe.by_view)
        )
        rows = read_table(Path(folder) / "table.csv")
    line = threshold(text_of(form, "threshold")) if "threshold" in form else None
    answers = predictions(learned, replace(rows, file=uploaded_table.name), columns="columns" in form, threshold=line)
    text = as_csv(answers.frame)
    return site.page(
        request,
        "predictions.html",
        crumbs=[("/runs", "Runs"), (f"/runs/{run.id}", run.name)],
        target=predicts(run.recipe),
        name=uploaded_table.name,
        note=uploaded_table.note,
        answers=answers,
        names=list(answers.frame.columns),
        count=len(answers.frame),
        rows=list(answers.frame.head(_ROWS).itertuples(index=False, name=None)),
        link="data:text/csv;charset=utf-8;base64," + b64encode(text.encode()).decode(),
    )


def sample(site: Site, request: Request) -> Response:
    """The form for one sample, filled with the usual cells or with those of a row of the table."""
    run = site.run(request)
    _model(run)
    result = run.result()
    cells = {facts["name"]: facts["usual"] for facts in result["typical"]}
    row = request.query_params.get("row", "")
    truth = {}
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
        truth = {name: cell for name in run.targets if (cell := columns[name].cells[int(row) - 1])}
    page_values = {"row": row, "truth": truth, "n": n, "target": request.query_params.get("target", "")}
    return _page(site, request, run, result, cells, answer=bool(row), **page_values)


def one(site: Site, request: Request, form: FormData) -> Response:
    """The answer for the sample of the form."""
    from multikernel.app.tables.number_marks import in_plain

    run = site.run(request)
    result = run.result()
    cells = {facts["name"]: text_of(form, f"cell-{k}") for k, facts in enumerate(result["typical"])}
    cells |= {
        name: in_plain(cells[name], marks) for name, marks in run.recipe.get("written", {}).items() if name in cells
    }
    data = site.store.dataset(run.dataset)
    page_values = {"row": "", "truth": {}, "n": data.n_rows if data else 0, "target": text_of(form, "target")}
    return _page(site, request, run, result, cells, answer=True, **page_values)


def _page(
    site: Site, request: Request, run: StoredRun, result: Any, cells: dict[str, str], *, answer: bool, **values: Any
) -> Response:
    from multikernel.app.web.learning.predicting import explain, table_of
    from multikernel.app.web.learning.samples import refused_cells

    explanation = None
    targets = run.targets
    target_index = targets.index(values["target"]) if values["target"] in targets else 0
    charts = dict.fromkeys(("effects", "parts"))
    wrong: dict[str, tuple[int, str]] = {}
    if answer:
        learned = _model(run)
        table = table_of("the sample", {k: [v] for k, v in cells.items()})
        wrong = refused_cells(table, learned.recipe, learned.typical)
    if answer and not wrong:
        explanation = explain(learned, table, target_index)
        for name, title, axis in (
            ("effects", "What each column does to this answer", f"added to the {explanation['what']}"),
            ("parts", "What each part of the model contributes", "part of the value"),
        ):
            rows = [(n, v, 0.0, f"{n}: {number(v)}") for n, v in explanation[name][:_BARS]]
            if rows:
                charts[name] = bars(title, rows, axis)
    values |= {"run": run, "result": result, "cells": cells, "found": explanation, "charts": charts}
    values |= {"targets": targets, "target": targets[target_index]}
    values |= {"wrong": {name: sentence for name, (_, sentence) in wrong.items()}}
    return site.page(request, "sample.html", 400 if wrong else 200, **values)
