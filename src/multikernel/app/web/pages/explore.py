"""A closer look at the model of a run: what single columns do, a map of its samples, and its kernels.

Nothing of this is computed before its page is opened; what was computed is kept for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.drawing import number
from multikernel.app.model_charts import MapPoint, dependence_levels, dependence_line, pictures, sample_map
from multikernel.app.short_names import shortened
from multikernel.app.web.site import Site, numbers_of, svg_file
from multikernel.app.web.store import StoredRun

if TYPE_CHECKING:
    from multikernel.app.web.learning.dependence import Dependence

_COLUMNS = 4  # that are shown where none was chosen
_MOST = 8  # columns at a time
_LETTERS = 40  # of a name at an axis
_NTH = ("first", "second")


def table_of(site: Site, run: StoredRun) -> Path:
    """The table of a run that has left a model.

    Parameters
    ----------
    site : as everywhere
    run : the run

    Raises
    ------
    HTTPException : where there is no model or no table any more
    """
    if run.status != "done" or not run.model.exists():
        raise HTTPException(404, "This run has left no model that could be looked into; learn one first.")
    data = site.store.dataset(run.dataset)
    if data is None:
        raise HTTPException(404, "The data set of this run has been deleted, and this is computed from its rows.")
    return data.table


def columns(site: Site, request: Request) -> Response:
    """What the chosen columns do."""
    run = site.run(request)
    table = table_of(site, run)
    result = run.result()
    names = list(run.recipe["columns"])
    chosen = _chosen(request, names, result, run.recipe["columns"])
    place = _class(request, run, result)
    found = _found(run, table, chosen, place)
    drawn = drawn_columns(found, _what(run, result, place), _refits(result, place))
    query = {"column": [names.index(name) for name in chosen], "class": max(place, 0)}
    address = site.url(f"/runs/{run.id}/columns.svg")
    return site.page(
        request,
        "columns.html",
        run=run,
        names=names,
        place_of={name: k for k, name in enumerate(names)},
        chosen=chosen,
        classes=_answered(run, result),
        of_targets=not result["classes"],
        place=place,
        drawn=drawn,
        without=[name for name in chosen if found[name] is None],
        most=_MOST,
        refits=result["refits"]["count"] if set(_refits(result, place)) & set(drawn) else 0,
        samples=max((each.samples for each in found.values() if each), default=0),
        file=lambda name: address + _query(query | {"one": names.index(name)}),
    )


def columns_file(site: Site, request: Request) -> Response:
    """The chart of one of these columns as a file."""
    run = site.run(request)
    table = table_of(site, run)
    result = run.result()
    names = list(run.recipe["columns"])
    chosen = _chosen(request, names, result, run.recipe["columns"])
    place = _class(request, run, result)
    one = numbers_of(request, "one", len(names))
    what = _what(run, result, place)
    drawn = drawn_columns(_found(run, table, chosen, place), what, _refits(result, place))
    if not one or names[one[0]] not in drawn:
        raise HTTPException(404, "There is no such chart.")
    return svg_file(drawn[names[one[0]]], "column")


def usual_columns(run: StoredRun, table: Path, result: dict[str, Any]) -> dict[str, Markup]:
    """The charts that are shown where nothing was chosen.

    Parameters
    ----------
    run : the run
    table : its table
    result : what it found
    """
    from multikernel.app.web.learning.dependence import usual_place

    place = usual_place(len(result["classes"]), len(run.targets))
    chosen = _usual(result, run.recipe["columns"])
    return drawn_columns(_found(run, table, chosen, place), _what(run, result, place), _refits(result, place))


def _refits(result: dict[str, Any], place: int) -> dict[str, Any]:
    """For each column the ends of the mean answers of refits, where a run has them for this class or target."""
    own = result.get("refits", {})
    columns: dict[str, Any] = own["columns"] if own and own["place"] == place else {}
    return columns


def drawn_columns(found: dict[str, Dependence | None], what: str, refits: dict[str, Any]) -> dict[str, Markup]:
    """Charts of partial dependence by column, with one axis of answers for all of them.

    Parameters
    ----------
    found : by column; None where there is none
    what : the answer is
    refits : for some columns the ends of the mean answers of refits, at each of their values
    """
    known = [each for each in found.values() if each is not None]
    if not known:
        return {}
    ends_of_refits = [end for each in known for ends in refits.get(each.column, ()) for end in ends]
    low = min([*ends_of_refits, *(min(each.low + each.mean) for each in known)])
    high = max([*ends_of_refits, *(max(each.high + each.mean) for each in known)])
    room = 0.05 * (high - low) or 0.1 * abs(high) or 0.1
    ends = (low - room, high + room)
    return {each.column: _drawn(each, ends, what, refits.get(each.column)) for each in known}


def _drawn(each: Dependence, ends: tuple[float, float], what: str, refits: Any) -> Markup:
    name = shortened(each.column, _LETTERS)
    bands = (each.low, each.mean, each.high)
    if each.kind == "category":
        return dependence_levels(name, each.names, bands, ends, what, refits=refits)
    return dependence_line(name, each.places, bands, ends, what, dates=each.kind == "date", refits=refits)


def mapped(site: Site, request: Request) -> Response:
    """The map of the samples."""
    run = site.run(request)
    table = table_of(site, run)
    result = run.result()
    return site.page(
        request,
        "map.html",
        run=run,
        result=result,
        chart=map_chart(run, table, result, lambda row: site.url(f"/runs/{run.id}/sample", row=row)),
        file=site.url(f"/runs/{run.id}/map.svg"),
        **_about_map(run, table),
    )


def _about_map(run: StoredRun, table: Path) -> dict[str, Any]:
    """What the page of the map says of it."""
    from multikernel.app.web.learning.explored import explored, map_of

    found = map_of(run.model, table)
    total = len(explored(run.model, table).samples.y)
    ringed = any(wrong for _, wrong in _predictions_of_rows(run).values())
    return {"shown": len(found.places), "total": total, "share": sum(found.shares), "ringed": ringed}


def map_file(site: Site, request: Request) -> Response:
    """The map as a file."""
    run = site.run(request)
    return svg_file(map_chart(run, table_of(site, run), run.result()), "map")


def map_chart(run: StoredRun, table: Path, result: dict[str, Any], href: Callable[[int], str] | None = None) -> Markup:
    """The map of the samples.

    Parameters
    ----------
    run : the run
    table : its table
    result : what it found
    href : the address of a row; None where points lead nowhere
    """
    from multikernel.app.web.learning.alike import shown_cells, target_groups
    from multikernel.app.web.learning.explored import explored, map_of

    found = map_of(run.model, table)
    samples = explored(run.model, table).samples
    classes = samples.task == "classification"
    group, names = target_groups(samples.first, samples.task)
    named_columns = _by_importance(result, run.recipe["columns"])[:_COLUMNS]
    cells = shown_cells(samples.X.iloc[found.places], named_columns)
    held_out = _predictions_of_rows(run)
    points = []
    for k, place in enumerate(found.places.tolist()):
        row = int(samples.numbers[place])
        answer, wrong = held_out.get(row, ("", False))
        if classes:
            truth = str(samples.y[place])
        else:
            truth = number(float(samples.first[place]))
        tip = f"row {row}: {shortened(truth, _LETTERS)}{answer}; {cells[k]}"
        points.append(
            MapPoint(float(found.x[k]), float(found.y[k]), int(group[place]), tip, href(row) if href else "", wrong)
        )
    axes = [f"{name} direction: {share:.0%} of the variance" for name, share in zip(_NTH, found.shares, strict=True)]
    return sample_map(points, names, (axes[0], axes[1]), in_order=not classes)


def _predictions_of_rows(run: StoredRun) -> dict[int, tuple[str, bool]]:
    """For each row that was held out its name and its prediction in words, and whether its class is wrong."""
    from multikernel.app.web.learning.errors import HeldOutRows

    if not run.held_out.exists():
        return {}
    found = HeldOutRows.read(run.held_out)
    if found.file:  # rows of a test file, which are not on the map
        return {}
    answers = {}
    for each in found.listed(range(len(found.rows))):
        name = f" ({shortened(each['name'], _LETTERS)})" if "name" in each else ""
        if found.classes:
            answer = shortened(each["predicted"], _LETTERS)
        else:
            answer = number(each["predicted"])
        wrong = bool(found.classes) and each["true"] != each["predicted"]
        answers[each["row"]] = (f"{name}, predicted {answer} when it was held out", wrong)
    return answers


def kernels(site: Site, request: Request) -> Response:
    """The pictures of the kernels."""
    from multikernel.app.web.learning.explored import pictures_of

    run = site.run(request)
    table = table_of(site, run)
    found = pictures_of(run.model, table)
    chart, cuts = kernel_chart(run, table)
    return site.page(
        request,
        "kernels.html",
        run=run,
        result=run.result(),
        chart=chart,
        classes=[name for name, _ in cuts],
        shown=len(found.places),
        left_out=found.left_out,
        reason=found.reason,
        file=site.url(f"/runs/{run.id}/kernels.svg"),
    )


def kernels_file(site: Site, request: Request) -> Response:
    """The pictures of the kernels as a file."""
    run = site.run(request)
    return svg_file(kernel_chart(run, table_of(site, run))[0], "kernels")


def kernel_chart(run: StoredRun, table: Path) -> tuple[Markup, list[tuple[str, float]]]:
    """The pictures side by side, and for each class the part of the samples before it.

    Parameters
    ----------
    run : the run
    table : its table
    """
    from multikernel.app.web.learning.explored import explored, pictures_of

    found = pictures_of(run.model, table)
    samples = explored(run.model, table).samples
    cuts: list[tuple[str, float]] = []
    if samples.task == "classification":
        labels = list(map(str, samples.y[found.places].tolist()))
        cuts = [(name, labels.index(name) / len(labels)) for name in dict.fromkeys(labels)]
    return pictures(found.names, found.pictures, cuts), cuts


def _found(run: StoredRun, table: Path, chosen: Sequence[str], place: int) -> dict[str, Dependence | None]:
    from multikernel.app.web.learning.explored import dependence_of

    return {name: dependence_of(run.model, table, name, place) for name in chosen}


def _chosen(request: Request, names: Sequence[str], result: dict[str, Any], kinds: dict[str, str]) -> list[str]:
    """The columns that the address names by their places, else those that matter most."""
    places = dict.fromkeys(numbers_of(request, "column", len(names)))
    if len(places) > _MOST:
        raise ValueError(f"These are {len(places)} columns, and a page shows {_MOST} at most; tick fewer.")
    return [names[k] for k in places] or _usual(result, kinds)


def _usual(result: dict[str, Any], kinds: dict[str, str]) -> list[str]:
    """The columns that the score loses most without, texts apart."""
    return [name for name in _by_importance(result, kinds) if kinds[name] != "text"][:_COLUMNS]


def _by_importance(result: dict[str, Any], kinds: dict[str, str]) -> list[str]:
    """All columns, those first that the score loses most without."""
    ordered = [row["name"] for row in result["importance"] if row["name"] in kinds]
    return list(dict.fromkeys([*ordered, *kinds]))


def _answered(run: StoredRun, result: dict[str, Any]) -> list[str]:
    """What the answers are of: the classes, or several targets; empty where one number is predicted."""
    classes: list[str] = result["classes"]
    if len(run.targets) > 1:
        return run.targets
    return classes


def _class(request: Request, run: StoredRun, result: dict[str, Any]) -> int:
    """The place of the class or the target whose answer is shown; -1 of one number."""
    from multikernel.app.web.learning.dependence import usual_place

    answered = _answered(run, result)
    found = numbers_of(request, "class", max(len(answered), 1))
    if found and answered:
        return found[0]
    return usual_place(len(result["classes"]), len(run.targets))


def _what(run: StoredRun, result: dict[str, Any], place: int) -> str:
    """What an axis calls the answer."""
    from multikernel.app.web.learning.predicting import saved_model

    if not result["classes"]:
        return f"predicted {shortened(run.targets[max(place, 0)], _LETTERS)}"
    if hasattr(saved_model(run.model)[0], "predict_proba"):
        word = "probability"
    else:
        word = "decision value"
    return f"{word} of {shortened(result['classes'][place], _LETTERS)}"


def _query(values: dict[str, Any]) -> str:
    from urllib.parse import urlencode

    return f"?{urlencode(values, doseq=True)}"
