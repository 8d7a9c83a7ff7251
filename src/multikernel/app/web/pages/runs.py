"""The list of runs and their comparison; renaming, notes, deletion, repetition; progress and end of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from multikernel.app.row_charts import folds
from multikernel.app.web.jobs import RunProgress
from multikernel.app.web.sentences import best_first
from multikernel.app.web.site import Site, name_of, seconds, text_of
from multikernel.app.web.store import StoredRun

_NOTE_LENGTH = 4000  # characters of a note
_LISTED_RUNS = 200  # runs that a page lists
_SIDE_BY_SIDE = 6  # runs that are compared


def index(site: Site, request: Request) -> Response:
    """The list of runs, or of those with the searched words."""
    words = request.query_params.get("q", "")[:200]
    matching_runs = site.store.runs(words)
    return site.page(
        request,
        "runs.html",
        runs=matching_runs[:_LISTED_RUNS],
        more=max(len(matching_runs) - _LISTED_RUNS, 0),
        words=words,
        deleted=_count(request, "deleted"),
        gone=_count(request, "gone"),
    )


def _count(request: Request, name: str) -> int | None:
    """A small number in the query of the address; None where there is none."""
    text = request.query_params.get(name, "")
    if text.isascii() and text.isdecimal() and len(text) < 6:
        return int(text)
    return None


def compare(site: Site, request: Request) -> Response:
    """Several runs side by side."""
    names = request.query_params.getlist("run")
    chosen = [run for name in names[:_SIDE_BY_SIDE] if (run := site.store.run(name))]
    done = [run for run in chosen if run.status == "done" and "worth" not in run.result()]
    results = [run.result() for run in done]
    charts = []
    of_target = [_scale(run, result) for run, result in zip(done, results, strict=True)]
    for scale in dict.fromkeys(of_target):
        rows = [
            (run.name, _scores(result))
            for run, result, scale_of_run in zip(done, results, of_target, strict=True)
            if scale_of_run == scale
        ]
        charts.append((" and ".join(scale[1:]), folds(f"Scores by {scale[0]}", rows, scale[0])))
    return site.page(
        request,
        "compare.html",
        runs=list(zip(done, results, strict=True)),
        left_out=len(chosen) - len(done),
        more=max(len(names) - _SIDE_BY_SIDE, 0),
        most=_SIDE_BY_SIDE,
        charts=charts,
        kernels=[_kernels(run) for run in done],
    )


def _kernels(run: StoredRun) -> list[str]:
    """The chosen kernels of a run, with a line for each family of each view."""
    from multikernel.app.web.learning.families import FAMILIES

    lines = []
    for view, words in run.recipe.get("kernels", {}).items():
        for word in words:
            changed = run.recipe.get("kernel_parameters", {}).get(view, {}).get(word, {})
            if view:
                line = f"{view}: {FAMILIES[word].label}"
            else:
                line = FAMILIES[word].label
            line += "".join(f", {name} = {value}" for name, value in changed.items())
            lines.append(line)
    return lines


def _scale(run: StoredRun, result: dict[str, Any]) -> tuple[str, ...]:
    """The measure, with the targets if scores of other targets are in other units, or are means over targets."""
    in_units = result.get("less_is_better", False) and result["task"] == "regression"
    named = run.targets if in_units or len(run.targets) > 1 else []
    return result["measure"], *sorted(named)


def _scores(result: dict[str, Any]) -> list[float]:
    """The scores of the folds; for a comparison, those of its best method."""
    if "scores" in result:
        fold_scores: list[float] = result["scores"]["own"]
        return fold_scores
    best_scores: list[float] = best_first(result)[0]["scores"]
    return best_scores


def rename(site: Site, request: Request, form: FormData) -> Response:
    """Rename the run."""
    run = site.run(request)
    site.store.set_run(run.id, name=name_of(form, "A run"))
    return site.go(f"/runs/{run.id}")


def delete(site: Site, request: Request, form: FormData) -> Response:
    """Delete the run, its model and its findings."""
    run = site.run(request)
    if not run.ended:
        raise ValueError("This run has not ended; stop it first.")
    site.store.delete_run(run.id)
    return site.go("/runs")


def note(site: Site, request: Request, form: FormData) -> Response:
    """Store the note of a run."""
    run = site.run(request)
    text = text_of(form, "note").replace("\r\n", "\n")
    if len(text) > _NOTE_LENGTH:
        raise ValueError(f"The note has {len(text)} characters, and {_NOTE_LENGTH} are the most; write a shorter one.")
    site.store.set_note(run.id, text)
    return site.go(f"/runs/{run.id}")


def delete_asked(site: Site, request: Request) -> Response:
    """The page that asks whether to delete the ticked runs."""
    names = list(dict.fromkeys(request.query_params.getlist("run")))[:_LISTED_RUNS]
    existing_runs = [run for name in names if (run := site.store.run(name))]
    return site.page(
        request,
        "delete.html",
        runs=[run for run in existing_runs if run.ended],
        busy=[run for run in existing_runs if not run.ended],
        gone=len(names) - len(existing_runs),
    )


def delete_several(site: Site, request: Request, form: FormData) -> Response:
    """Delete the runs of a form, with their models and findings; runs that were deleted before are ignored."""
    names = [name for name in dict.fromkeys(form.getlist("run")) if isinstance(name, str)][:_LISTED_RUNS]
    existing_runs = [run for name in names if (run := site.store.run(name))]
    if not names:
        raise ValueError("No run was ticked; tick those that are to be deleted.")
    busy = [run.name for run in existing_runs if not run.ended]
    if busy:
        raise ValueError(f"{busy[0]!r} has not ended; stop it first. Nothing was deleted.")
    for run in existing_runs:
        site.store.delete_run(run.id)
    return site.go("/runs", deleted=len(existing_runs), gone=len(names) - len(existing_runs))


_LOOK = 0.2  # seconds between checks of a run
_SILENCE = 10.0  # seconds after which a line is sent again to keep the connection open


def state(site: Site, run: StoredRun) -> dict[str, object]:
    """The progress of a run as a page shows it."""
    progress: RunProgress = site.jobs.progress(run)
    remaining = ""
    if progress.remaining_seconds is not None and progress.status == "running":
        remaining = f"about {seconds(progress.remaining_seconds)} left"
    return asdict(progress) | {
        "time": seconds(progress.seconds) if progress.seconds else "",
        "left": remaining,
        "percent": round(100 * progress.part),
    }


async def events(request: Request) -> Response:
    """Stream the progress of a run until the run or the server ends."""
    site: Site = request.app.state.site
    run = await run_in_threadpool(site.run, request)

    async def stream() -> AsyncIterator[str]:
        sent = ""
        silent = 0.0
        while not request.app.state.ending():
            current = await run_in_threadpool(site.store.run, run.id)
            if current is None or current.ended:
                status = current.status if current else "deleted"
                yield f"event: end\ndata: {json.dumps({'status': status})}\n\n"
                return
            text = json.dumps(state(site, current))
            silent += _LOOK
            if text != sent or silent > _SILENCE:
                sent = text
                silent = 0.0
                yield f"data: {text}\n\n"
            await asyncio.sleep(_LOOK)

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def stop(site: Site, request: Request, form: FormData) -> Response:
    """End the run at once."""
    run = site.run(request)
    if not run.ended:
        site.jobs.stop(run)
    return site.go(f"/runs/{run.id}")


def again(site: Site, request: Request, form: FormData) -> Response:
    """Start the run again, as a new run."""
    run = site.run(request)
    if site.store.dataset(run.dataset) is None:
        raise ValueError("The data set of this run has been deleted; load it again.")
    fresh = site.store.add_run(run.dataset, run.name, run.recipe)
    site.jobs.submit(fresh)
    return site.go(f"/runs/{fresh.id}")
