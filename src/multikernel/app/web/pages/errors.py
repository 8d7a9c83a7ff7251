"""The rows of a run that were held out: the largest errors first, or those of a cell of the matrix of mistakes."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.web.site import Site

_ROWS = 100  # on a page


def look(site: Site, request: Request) -> Response:
    """Some of the rows."""
    from multikernel.app.web.learning.errors import HeldOutRows, held_out_file

    run = site.run(request)
    if run.status != "done" or not run.held_out.exists():
        raise HTTPException(
            404, "This run has kept no held-out rows: comparisons and runs of earlier versions keep none; run it again."
        )
    targets = [run.recipe["target"], *run.recipe.get("other_targets", [])]
    target = min(_whole(request, "target", 0) or 0, len(targets) - 1)
    found = HeldOutRows.read(run.folder / held_out_file(target))
    truth = _place(request, "true", found.classes)
    predicted = _place(request, "predicted", found.classes)
    every = truth is not None or predicted is not None or request.query_params.get("show") == "all"
    places = found.of_cell(truth, predicted) if every else found.wrong()
    pages = max(1, -(-len(places) // _ROWS))
    page = min(_whole(request, "page", 1) or 1, pages)
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
        targets=targets,
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


def _place(request: Request, name: str, classes: list[str]) -> int | None:
    """The place of a class that the address names; None where it names none."""
    found = _whole(request, name, None)
    if found is not None and found >= len(classes):
        raise ValueError(f"There is no class {found}; choose one of the list.")
    return found


def _whole(request: Request, name: str, default: int | None) -> int | None:
    """A whole number of the address."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ValueError(f"{name} has to be a whole number in the address, and is {text[:20]!r}.")
    return int(text)
