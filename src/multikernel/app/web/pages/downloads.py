"""The files of a run for download: model, code, recipe, table, predictions, report, charts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from multikernel.app.web.pages.explore import default_charts, kernel_chart, map_chart
from multikernel.app.web.pages.result import charts
from multikernel.app.web.sentences import sentences
from multikernel.app.web.site import Site, static_text, svg_file
from multikernel.app.web.store import StoredRun
from multikernel.app.web.thresholds import lines

_NO_TABLE = "The table of this run has been deleted, so this file cannot be made any more."


def file(site: Site, request: Request) -> Response:
    """One of the files, by its name."""
    run = site.run(request)
    name = request.path_params["name"]
    if run.status != "done" or name not in (
        "model.mk",
        "run.py",
        "run.toml",
        "table.csv",
        "test.csv",
        "predictions.csv",
        "report.html",
    ):
        raise HTTPException(404, "There is no such file.")
    if name == "report.html":
        return _report(site, request)
    from multikernel.app.web.learning.recipe import Recipe

    recipe = Recipe.from_json(run.recipe)
    if name not in ("run.toml", "table.csv", "test.csv") and not recipe.leaves_model:
        raise HTTPException(404, "This run leaves no model behind, and so no such file.")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if name == "model.mk":
        if not run.model.exists():
            raise FileNotFoundError(run.model)
        return FileResponse(run.model, media_type="application/octet-stream", headers=headers)
    from multikernel.app.toml import toml
    from multikernel.app.web.exports import code, with_exported_test_file

    if name == "run.py":
        return Response(
            code(recipe, run.result()["target_dtype"]),
            media_type="text/x-python; charset=utf-8",
            headers=headers,
        )
    if name == "run.toml":
        return Response(
            toml(with_exported_test_file(recipe).to_json()),
            media_type="application/toml; charset=utf-8",
            headers=headers,
        )
    data = site.store.dataset(run.dataset)
    if data is None:
        raise HTTPException(404, _NO_TABLE)
    if name in ("table.csv", "test.csv"):
        if name == "table.csv":
            file = data.table
        else:
            file = data.folder / recipe.measured.file
        if not file.is_file():
            raise HTTPException(404, "This run has no such file.")
        return FileResponse(file, media_type="text/csv; charset=utf-8", headers=headers)
    from multikernel.app.web.choices import cells
    from multikernel.app.web.learning.predicting import LearnedModel, as_csv, predictions

    answers = predictions(LearnedModel.of(run.model, run.recipe, run.result()["typical"]), cells(data.table))
    return Response(as_csv(answers.frame), media_type="text/csv; charset=utf-8", headers=headers)


def chart(site: Site, request: Request) -> Response:
    """A chart of a run as an SVG file, in light colours."""
    run = site.run(request)
    if run.status != "done":
        raise HTTPException(404, "This run has no charts.")
    name = request.path_params["name"]
    drawing = charts(run.result()).get(name)
    if drawing is None:
        raise HTTPException(404, f"This run has no chart {name!r}.")
    return svg_file(drawing, name)


def _report(site: Site, request: Request) -> Response:
    """The result as one HTML file that needs no other file."""
    run = site.run(request)
    result = run.result()
    answer = site.page(
        request,
        "report.html",
        run=run,
        result=result,
        charts=charts(result),
        closer=_exploration_charts(site, run, result),
        captions=sentences(run.recipe, result),
        lines=lines(result["thresholds"], "") if "thresholds" in result else None,
        style=static_text("chart.css") + static_text("style.css"),
        script=static_text("tips.js"),
    )
    answer.headers["Content-Disposition"] = 'attachment; filename="report.html"'
    return answer


def _exploration_charts(site: Site, run: StoredRun, result: dict[str, Any]) -> dict[str, Any]:
    """The charts of columns, samples and kernels; empty without a table, and without those that cannot be drawn."""
    data = site.store.dataset(run.dataset)
    if data is None or not run.model.exists():
        return {}
    drawings: dict[str, Any] = {}
    for name, drawn in (
        ("columns", lambda: default_charts(run, data.table, result)),
        ("map", lambda: map_chart(run, data.table, result)),
        ("kernels", lambda: kernel_chart(run, data.table)[0]),
    ):
        with suppress(ValueError, MemoryError):
            drawings[name] = drawn()
    return drawings
