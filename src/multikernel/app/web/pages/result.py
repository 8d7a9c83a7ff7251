"""What a run found, or how far it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.charts import calibration, confusion, path, residuals, rocs
from multikernel.app.drawing import number
from multikernel.app.path_charts import profile_charts
from multikernel.app.row_charts import bars, folds, sources, weight_rows
from multikernel.app.web.pages.runs import state
from multikernel.app.web.sentences import best_first, sentences
from multikernel.app.web.site import Site
from multikernel.app.web.store import StoredRun
from multikernel.app.web.thresholds import lines

DRAWN_TARGETS = 6  # of several; a table has all
_CHARTS = ("scores", "weights", "scales", "importance", "path", "confusion", "roc", "calibration", "residuals")


def look(site: Site, request: Request) -> Response:
    """The page of a run."""
    run = site.run(request)
    if not run.ended:
        return site.page(request, "running.html", run=run, state=state(site, run))
    if run.status != "done":
        kept = site.store.dataset(run.dataset) is not None
        return site.page(request, "ended.html", run=run, kept=kept)
    result = run.result()
    if "comparison" in result:
        result["comparison"] = best_first(result)
    template = "result.html"
    if "worth" in result:
        template = "worth.html"
    elif "comparison" in result:
        template = "comparison.html"
    typed = request.query_params.get("threshold", "")
    drawn = lines(result["thresholds"], typed) if "thresholds" in result else None
    cell = None
    if run.held_out.exists():
        cell = partial(_rows_of_cell, site, run)
    values = {"run": run, "result": result, "charts": charts(result, cell), "captions": sentences(run.recipe, result)}
    return site.page(request, template, 400 if drawn and drawn.problem else 200, lines=drawn, **values)


def _along(found: dict[str, Any], measure: str) -> dict[str, Any]:
    """The charts of what models are along a path; runs of earlier versions have none."""
    if "profiles" not in found:
        return {}
    own = profile_charts(found["profiles"], found["parameter"], found["values"], found["mean"], measure)
    return {f"path_{name}": chart for name, chart in own.items()}


def _scale_rows(scales: list[dict[str, Any]]) -> list[tuple[str, float, float, str]]:
    """The columns of the largest scales, as rows of bars."""
    rows = []
    for row in scales[:15]:
        if row["spread"] is None:
            deviation = ""
        else:
            deviation = f", deviation over the folds {row['spread']:.1%}"
        rows.append((row["name"], row["part"], row["spread"] or 0.0, f"{row['name']}: {row['part']:.1%}{deviation}"))
    return rows


def _rows_of_cell(site: Site, run: StoredRun, truth: int, predicted: int) -> str:
    """The address of the rows of a cell of the matrix of mistakes."""
    return site.url(f"/runs/{run.id}/rows", true=truth, predicted=predicted)


def charts(result: dict[str, Any], cell: Callable[[int, int], str] | None = None) -> dict[str, Any]:
    """The charts of a result by name; those that it has.

    Parameters
    ----------
    result : what was found
    cell : the address of the rows of a true and a predicted class; None where nothing can be looked up
    """
    measure = result["measure"]
    if "worth" in result:
        return {"worth": sources(result["worth"], measure, "view")}
    if "comparison" in result:
        ordered = [(row["method"], row["scores"]) for row in best_first(result)]
        return {"scores": folds("Scores by method", ordered, measure, result.get("intervals"))}
    scores = result["scores"]
    rows = [
        ("this run", scores["own"]),
        ("tuned Gaussian", scores["single"]),
        ("no column at all", scores["trivial"]),
    ]
    found: dict[str, Any] = dict.fromkeys(_CHARTS)
    own = result.get("intervals", {})
    keys = zip((name for name, _ in rows), ("own", "single", "trivial"), strict=True)
    intervals = {name: own[key] for name, key in keys if key in own}
    found["scores"] = folds("Scores on held-out folds", rows, measure, intervals)
    weighed = weight_rows(result["weights"])
    if weighed:
        found["weights"] = bars("Weights", weighed, "weight")
    if result.get("scales"):
        found["scales"] = bars("Scales", _scale_rows(result["scales"]), "part of the sum of the scales")
    if result["importance"]:
        if result.get("less_is_better"):
            what = "the error grows by"
            axis = f"growth of the {measure}"
        else:
            what = "the score loses"
            axis = f"loss of {measure}"
        lost = []
        for row in result["importance"][:15]:
            words = f"{row['name']}: {what} {number(row['loss'])}"
            if row["spread"] is not None:
                words += f" ± {number(row['spread'])}"
            lost.append((row["name"], row["loss"], row["spread"] or 0.0, words))
        found["importance"] = bars("What the score loses without a column", lost, axis)
    if result["path"]:
        chosen_by = result["path"].get("measure", measure)  # runs of earlier versions lack it
        found["path"] = path(result["path"], chosen_by)
        found |= _along(result["path"], chosen_by)
    if "confusion" in result:
        found["confusion"] = confusion(result["confusion"], result["classes"], cell)
    if "roc" in result:
        found["roc"] = rocs(result["roc"])
    if "calibration" in result:
        found["calibration"] = calibration(result["calibration"])
    for k, own in enumerate(result.get("targets", [])[:DRAWN_TARGETS]):
        found[f"residuals_{k}"] = residuals(own["residuals"])
    if "residuals" in result:
        found["residuals"] = residuals(result["residuals"])
    return found
