"""The page of a run: its findings, or its progress."""

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

DRAWN_TARGETS = 6  # targets whose residuals are drawn; a table has all targets
_CHARTS = ("scores", "weights", "scales", "importance", "path", "confusion", "roc", "calibration", "residuals")


def look(site: Site, request: Request) -> Response:
    """The page of a run."""
    run = site.run(request)
    if not run.ended:
        return site.page(request, "running.html", run=run, state=state(site, run))
    if run.status != "done":
        has_dataset = site.store.dataset(run.dataset) is not None
        return site.page(request, "ended.html", run=run, kept=has_dataset)
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


def _along(path_result: dict[str, Any], measure: str) -> dict[str, Any]:
    """The charts of the models along a path; runs of earlier versions have none."""
    if "profiles" not in path_result:
        return {}
    profiles = profile_charts(
        path_result["profiles"], path_result["parameter"], path_result["values"], path_result["mean"], measure
    )
    return {f"path_{name}": chart for name, chart in profiles.items()}


def _scale_rows(scales: list[dict[str, Any]]) -> list[tuple[str, float, float, str]]:
    """The columns with the largest scales, as rows of a bar chart."""
    rows = []
    for row in scales[:15]:
        if row["spread"] is None:
            deviation = ""
        else:
            deviation = f", deviation over the folds {row['spread']:.1%}"
        rows.append((row["name"], row["part"], row["spread"] or 0.0, f"{row['name']}: {row['part']:.1%}{deviation}"))
    return rows


def _rows_of_cell(site: Site, run: StoredRun, truth: int, predicted: int) -> str:
    """The address of the rows of a cell of the confusion matrix."""
    return site.url(f"/runs/{run.id}/rows", true=truth, predicted=predicted)


def charts(result: dict[str, Any], cell: Callable[[int, int], str] | None = None) -> dict[str, Any]:
    """The charts of a result by name; None where it has no such chart.

    Parameters
    ----------
    result : the findings of the run
    cell : returns the address of the rows of a true and a predicted class; None for charts without links
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
    drawings: dict[str, Any] = dict.fromkeys(_CHARTS)
    intervals_by_key = result.get("intervals", {})
    keys = zip((name for name, _ in rows), ("own", "single", "trivial"), strict=True)
    intervals = {name: intervals_by_key[key] for name, key in keys if key in intervals_by_key}
    drawings["scores"] = folds("Scores on held-out folds", rows, measure, intervals)
    weighed = weight_rows(result["weights"])
    if weighed:
        drawings["weights"] = bars("Weights", weighed, "weight")
    if result.get("scales"):
        drawings["scales"] = bars("Scales", _scale_rows(result["scales"]), "part of the sum of the scales")
    if result["importance"]:
        if result.get("less_is_better"):
            change = "the error grows by"
            axis = f"growth of the {measure}"
        else:
            change = "the score loses"
            axis = f"loss of {measure}"
        loss_rows = []
        for row in result["importance"][:15]:
            words = f"{row['name']}: {change} {number(row['loss'])}"
            if row["spread"] is not None:
                words += f" ± {number(row['spread'])}"
            loss_rows.append((row["name"], row["loss"], row["spread"] or 0.0, words))
        drawings["importance"] = bars("What the score loses without a column", loss_rows, axis)
    if result["path"]:
        chosen_by = result["path"].get("measure", measure)  # runs of earlier versions lack it
        drawings["path"] = path(result["path"], chosen_by)
        drawings |= _along(result["path"], chosen_by)
    if "confusion" in result:
        drawings["confusion"] = confusion(result["confusion"], result["classes"], cell)
    if "roc" in result:
        drawings["roc"] = rocs(result["roc"])
    if "calibration" in result:
        drawings["calibration"] = calibration(result["calibration"])
    for k, target_result in enumerate(result.get("targets", [])[:DRAWN_TARGETS]):
        drawings[f"residuals_{k}"] = residuals(target_result["residuals"])
    if "residuals" in result:
        drawings["residuals"] = residuals(result["residuals"])
    return drawings
