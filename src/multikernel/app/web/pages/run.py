"""A run under way: its progress as server-sent events, and the button that stops it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from multikernel.app.web.jobs import Progress
from multikernel.app.web.site import Site, seconds
from multikernel.app.web.store import Run

_LOOK, _SILENCE = 0.2, 10.0  # seconds between looks, and after which a line keeps the connection


def state(site: Site, run: Run) -> dict[str, object]:
    """Where a run is, as a page shows it."""
    progress: Progress = site.jobs.progress(run)
    left = progress.left
    return asdict(progress) | {
        "time": seconds(progress.seconds) if progress.seconds else "",
        "left": f"about {seconds(left)} left" if left is not None and progress.status == "running" else "",
        "percent": round(100 * progress.part),
    }


async def events(request: Request) -> Response:
    """The progress of a run, until it ends."""
    site: Site = request.app.state.site
    run = await run_in_threadpool(site.run, request)

    async def stream() -> AsyncIterator[str]:
        said, silent = "", 0.0
        while True:
            now = await run_in_threadpool(site.store.run, run.id)
            if now is None or now.ended:
                yield f"event: end\ndata: {json.dumps({'status': now.status if now else 'deleted'})}\n\n"
                return
            text = json.dumps(state(site, now))
            silent += _LOOK
            if text != said or silent > _SILENCE:
                said, silent = text, 0.0
                yield f"data: {text}\n\n"
            await asyncio.sleep(_LOOK)

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def stop(site: Site, request: Request, form: FormData) -> Response:
    """End it at once."""
    run = site.run(request)
    if not run.ended:
        site.jobs.stop(run)
    return site.go(f"/runs/{run.id}")


def again(site: Site, request: Request, form: FormData) -> Response:
    """The same once more."""
    run = site.run(request)
    if site.store.dataset(run.dataset) is None:
        raise ValueError("The data set of this run has been deleted; load it again.")
    fresh = site.store.add_run(run.dataset, run.name, run.recipe)
    site.jobs.submit(fresh)
    return site.go(f"/runs/{fresh.id}")
