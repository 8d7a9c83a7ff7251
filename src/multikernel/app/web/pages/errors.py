"""The page of held-out rows: the largest errors first, or the rows of a cell of the confusion matrix."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.web.site import Site, numbers_of

_ROWS = 100  # rows on a page


def look(site: Site, request: Request) -> Response:
    """One page of held-out rows."""
    from multikernel.app.web.learning.errors import HeldOutRows, held_out_file

    run = site.run(request)
    if run.status != "done" or not run.held_out.exists():
        raise HTTPException(
            404, "This run has kept no held-out rows: comparisons and runs of earlier versions keep none; run it again."
        )
    target = next(iter(numbers_of(request, "target", len(run.targets))), 0)
    held_out_rows = HeldOutRows.read(run.folder / held_out_file(target))
    truth = next(iter(numbers_of(request, "true", len(held_out_rows.classes))), None)
    predicted = next(iter(numbers_of(request, "predicted", len(held_out_rows.classes))), None)
    show_all = truth is not None or predicted is not None or request.query_params.get("show") == "all"
    places = held_out_rows.of_cell(truth, predicted) if show_all else held_out_rows.wrong()
    pages = max(1, -(-len(places) // _ROWS))
    page = min(max(next(iter(numbers_of(request, "page")), 1), 1), pages)
    page_rows = held_out_rows.listed(places[(page - 1) * _ROWS : page * _ROWS])
    chosen = {"true": truth, "predicted": predicted, "show": "all" if show_all else None}
    chosen |= {"target": target or None}
    query = {name: value for name, value in chosen.items() if value is not None}
    return site.page(
        request,
        "rows.html",
        run=run,
        result=run.result(),
        found={
            "rows": page_rows,
            "calibrated": bool(held_out_rows.probabilities),
            "named_by": held_out_rows.named_by,
            "file": held_out_rows.file,
        },
        classes=held_out_rows.classes,
        targets=run.targets,
        target=target,
        truth=truth,
        predicted=predicted,
        every=show_all,
        count=len(places),
        total=len(held_out_rows.rows),
        page=page,
        pages=pages,
        at=lambda number: site.url(f"/runs/{run.id}/rows", **query, page=number),
    )
