"""All runs: listed, searched, compared, renamed, deleted."""

from __future__ import annotations

from statistics import mean
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.web.charts.bars import folds
from multikernel.app.web.site import Site, text_of

_MOST, _NAME = 200, 120


def index(site: Site, request: Request) -> Response:
    """The list."""
    words = request.query_params.get("q", "")[:200]
    found = site.store.runs(words)
    return site.page(request, "runs.html", runs=found[:_MOST], more=max(len(found) - _MOST, 0), words=words)


def compare(site: Site, request: Request) -> Response:
    """Several runs side by side."""
    chosen = [run for name in request.query_params.getlist("run")[:6] if (run := site.store.run(name))]
    done = [run for run in chosen if run.status == "done"]
    results = [run.result() for run in done]
    charts = []
    for measure in dict.fromkeys(result["measure"] for result in results):
        rows = [
            (run.name, _scores(result))
            for run, result in zip(done, results, strict=True)
            if result["measure"] == measure
        ]
        charts.append(folds(f"Scores by {measure}", rows, measure))
    return site.page(
        request,
        "compare.html",
        runs=list(zip(done, results, strict=True)),
        left_out=len(chosen) - len(done),
        charts=charts,
    )


def _scores(result: dict[str, Any]) -> list[float]:
    """The folds of a run; of a comparison those of its best method."""
    if "scores" in result:
        own: list[float] = result["scores"]["own"]
        return own
    return max((row["scores"] for row in result["comparison"]), key=mean)


def rename(site: Site, request: Request, form: FormData) -> Response:
    """A name of the person's own."""
    run = site.run(request)
    name = " ".join(text_of(form, "name").split())
    name = "".join(sign for sign in name if sign.isprintable())[:_NAME]
    if not name:
        raise ValueError("A run needs a name; write one.")
    site.store.set_run(run.id, name=name)
    return site.go(f"/runs/{run.id}")


def delete(site: Site, request: Request, form: FormData) -> Response:
    """The run, its model and its findings."""
    run = site.run(request)
    if not run.ended:
        raise ValueError("This run still goes on; stop it first.")
    site.store.delete_run(run.id)
    return site.go("/runs")
