"""The rows of a run that were held out: the largest errors first, or those of a cell of the matrix of mistakes."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.web.site import Site, numbers_of

_ROWS = 100  # on a page


def look(site: Site, request: Request) -> Response:
    """Some of the rows."""
    from multikernel.app.web.learning.errors import HeldOutRows, held_out_file

    run = site.run(request)
    if run.status != "done" or not run.held_out.exists():
        raise HTTPException(
            404, "This run has kept no held-out rows: comparisons and runs of earlier versions keep none; run it again."
        )
    target = next(iter(numbers_of(request, "target", len(run.targets))), 0)
    found = HeldOutRows.read(run.folder / held_out_file(target))
    truth = next(iter(numbers_of(request, "true", len(found.classes))), None)
    predicted = next(iter(numbers_of(request, "predicted", len(found.classes))), None)
    every = truth is not None or predicted is not None or request.query_params.get("show") == "all"
    places = found.of_cell(truth, predicted) if every else found.wrong()
    pages = max(1, -(-len(places) // _ROWS))
    page = min(max(next(iter(numbers_of(request, "page")), 1), 1), pages)
    shown = found.listed(places[(page - 1) * _ROWS : page * _ROWS])
    chosen = {"true": truth, "predicted": predicted, "show": "all" if every else None}
    chosen |= {"target": target or None}
    query = {name: value for name, value in chosen.items() if value is not None}
    return site.page(
        request,
        "rows.html",
        run=run,
        result=run.result(),
        found={"rows": shown, "calibrated": bool(found.probabilities), "named_by": found.named_by, "file": found.file},
        classes=found.classes,
        targets=run.targets,
        target=target,
        truth=truth,
        predicted=predicted,
        every=every,
        count=len(places),
        total=len(found.rows),
        page=page,
        pages=pages,
        at=lambda number: site.url(f"/runs/{run.id}/rows", **query, page=number),
    )
