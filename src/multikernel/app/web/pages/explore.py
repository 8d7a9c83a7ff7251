"""Pages about the model of a run: the effect of single columns, a map of the samples, and pictures of the kernels.

These results are computed when their page is opened, and cached.
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

_COLUMNS = 4  # columns that are shown by default
_MOST = 8  # columns at a time
_LETTERS = 40  # letters of a name at an axis
_NTH = ("first", "second")


def table_of(site: Site, run: StoredRun) -> Path:
    """The table of a run that has a model.

    Parameters
    ----------
    site : as for every page
    run : the run

    Raises
    ------
    HTTPException : 404 where the run has no model, or its table was deleted
    """
    if run.status != "done" or not run.model.exists():
        raise HTTPException(404, "This run has left no model that could be looked into; learn one first.")
    data = site.store.dataset(run.dataset)
    if data is None:
        raise HTTPException(404, "The data set of this run has been deleted, and this is computed from its rows.")
    return data.table


def columns(site: Site, request: Request) -> Response:
    """The page of the effects of the chosen columns."""
    run = site.run(request)
    table = table_of(site, run)
    result = run.result()
    names = list(run.recipe["columns"])
    chosen = _chosen_columns(request, names, result, run.recipe["columns"])
    output_index = _output_index(request, run, result)
    dependences = _dependences(run, table, chosen, output_index)
    drawn = dependence_charts(dependences, _answer_name(run, result, output_index), _refits(result, output_index))
    query = {"column": [names.index(name) for name in chosen], "class": max(output_index, 0)}
    address = site.url(f"/runs/{run.id}/columns.svg")
    return site.page(
        request,
        "columns.html",
        run=run,
        names=names,
        place_of={name: k for k, name in enumerate(names)},
        chosen=chosen,
        classes=_output_names(run, result),
        of_targets=not result["classes"],
        place=output_index,
        drawn=drawn,
        without=[name for name in chosen if dependences[name] is None],
        most=_MOST,
        refits=result["refits"]["count"] if set(_refits(result, output_index)) & set(drawn) else 0,
        samples=max((curve.samples for curve in dependences.values() if curve), default=0),
        file=lambda name: address + _query(query | {"one": names.index(name)}),
    )


def columns_file(site: Site, request: Request) -> Response:
    """The chart of one of these columns as an SVG file."""
    run = site.run(request)
    table = table_of(site, run)
    result = run.result()
    names = list(run.recipe["columns"])
    chosen = _chosen_columns(request, names, result, run.recipe["columns"])
    output_index = _output_index(request, run, result)
    chosen_numbers = numbers_of(request, "one", len(names))
    answer_name = _answer_name(run, result, output_index)
    drawn = dependence_charts(
        _dependences(run, table, chosen, output_index), answer_name, _refits(result, output_index)
    )
    if not chosen_numbers or names[chosen_numbers[0]] not in drawn:
        raise HTTPException(404, "There is no such chart.")
    return svg_file(drawn[names[chosen_numbers[0]]], "column")


def default_charts(run: StoredRun, table: Path, result: dict[str, Any]) -> dict[str, Markup]:
    """The charts of the columns that are shown by default.

    Parameters
    ----------
    run : the run
    table : its table
    result : its findings
    """
    from multikernel.app.web.learning.dependence import default_output_index

    output_index = default_output_index(len(result["classes"]), len(run.targets))
    chosen = _most_important_columns(result, run.recipe["columns"])
    return dependence_charts(
        _dependences(run, table, chosen, output_index),
        _answer_name(run, result, output_index),
        _refits(result, output_index),
    )


def _refits(result: dict[str, Any], output_index: int) -> dict[str, Any]:
    """For each column the quantiles of the mean answers of refits, where a run has them for this class or target."""
    refits = result.get("refits", {})
    columns: dict[str, Any] = refits["columns"] if refits and refits["place"] == output_index else {}
    return columns


def dependence_charts(
    dependences: dict[str, Dependence | None], answer_name: str, refits: dict[str, Any]
) -> dict[str, Markup]:
    """Charts of partial dependence by column, with the same axis of answers.

    Parameters
    ----------
    dependences : by column; None for a column without partial dependence
    answer_name : the label of the axis of answers
    refits : for some columns the quantiles of the mean answers of refits, at each of their values
    """
    curves = [curve for curve in dependences.values() if curve is not None]
    if not curves:
        return {}
    ends_of_refits = [end for curve in curves for ends in refits.get(curve.column, ()) for end in ends]
    low = min([*ends_of_refits, *(min(curve.low + curve.mean) for curve in curves)])
    high = max([*ends_of_refits, *(max(curve.high + curve.mean) for curve in curves)])
    room = 0.05 * (high - low) or 0.1 * abs(high) or 0.1
    ends = (low - room, high + room)
    return {curve.column: _dependence_chart(curve, ends, answer_name, refits.get(curve.column)) for curve in curves}


def _dependence_chart(curve: Dependence, ends: tuple[float, float], answer_name: str, refits: Any) -> Markup:
    name = shortened(curve.column, _LETTERS)
    bands = (curve.low, curve.mean, curve.high)
    if curve.kind == "category":
        return dependence_levels(name, curve.names, bands, ends, answer_name, refits=refits)
    return dependence_line(name, curve.places, bands, ends, answer_name, dates=curve.kind == "date", refits=refits)


def map_page(site: Site, request: Request) -> Response:
    """The page of the map of the samples."""
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
    """The facts about the map on its page."""
    from multikernel.app.web.learning.explored import explored, map_of

    learned_map = map_of(run.model, table)
    total = len(explored(run.model, table).samples.y)
    ringed = any(wrong for _, wrong in _predictions_of_rows(run).values())
    return {"shown": len(learned_map.places), "total": total, "share": sum(learned_map.shares), "ringed": ringed}


def map_file(site: Site, request: Request) -> Response:
    """The map as an SVG file."""
    run = site.run(request)
    return svg_file(map_chart(run, table_of(site, run), run.result()), "map")


def map_chart(run: StoredRun, table: Path, result: dict[str, Any], href: Callable[[int], str] | None = None) -> Markup:
    """The map of the samples.

    Parameters
    ----------
    run : the run
    table : its table
    result : its findings
    href : the address of a row; None where points are no links
    """
    from multikernel.app.web.learning.alike import shown_cells, target_groups
    from multikernel.app.web.learning.explored import explored, map_of

    learned_map = map_of(run.model, table)
    samples = explored(run.model, table).samples
    classes = samples.task == "classification"
    group, names = target_groups(samples.first_target, samples.task)
    named_columns = _by_importance(result, run.recipe["columns"])[:_COLUMNS]
    cells = shown_cells(samples.X.iloc[learned_map.places], named_columns)
    held_out = _predictions_of_rows(run)
    points = []
    for k, sample in enumerate(learned_map.places.tolist()):
        row = int(samples.numbers[sample])
        answer, wrong = held_out.get(row, ("", False))
        if classes:
            truth = str(samples.y[sample])
        else:
            truth = number(float(samples.first_target[sample]))
        tip = f"row {row}: {shortened(truth, _LETTERS)}{answer}; {cells[k]}"
        points.append(
            MapPoint(
                float(learned_map.x[k]),
                float(learned_map.y[k]),
                int(group[sample]),
                tip,
                href(row) if href else "",
                wrong,
            )
        )
    axes = [
        f"{name} direction: {share:.0%} of the variance" for name, share in zip(_NTH, learned_map.shares, strict=True)
    ]
    return sample_map(points, names, (axes[0], axes[1]), in_order=not classes)


def _predictions_of_rows(run: StoredRun) -> dict[int, tuple[str, bool]]:
    """For each held-out row its name and prediction in words, and whether the predicted class is wrong."""
    from multikernel.app.web.learning.errors import HeldOutRows

    if not run.held_out.exists():
        return {}
    held_out_rows = HeldOutRows.read(run.held_out)
    if held_out_rows.file:  # rows of a test file, which are not on the map
        return {}
    answers = {}
    for row in held_out_rows.listed(range(len(held_out_rows.rows))):
        name = f" ({shortened(row['name'], _LETTERS)})" if "name" in row else ""
        if held_out_rows.classes:
            answer = shortened(row["predicted"], _LETTERS)
        else:
            answer = number(row["predicted"])
        wrong = bool(held_out_rows.classes) and row["true"] != row["predicted"]
        answers[row["row"]] = (f"{name}, predicted {answer} when it was held out", wrong)
    return answers


def kernels(site: Site, request: Request) -> Response:
    """The page of the pictures of the kernels."""
    from multikernel.app.web.learning.explored import pictures_of

    run = site.run(request)
    table = table_of(site, run)
    kernel_pictures = pictures_of(run.model, table)
    chart, cuts = kernel_chart(run, table)
    return site.page(
        request,
        "kernels.html",
        run=run,
        result=run.result(),
        chart=chart,
        classes=[name for name, _ in cuts],
        full_names=kernel_pictures.names if "…" in chart else [],
        shown=len(kernel_pictures.places),
        left_out=kernel_pictures.left_out,
        reason=kernel_pictures.reason,
        file=site.url(f"/runs/{run.id}/kernels.svg"),
    )


def kernels_file(site: Site, request: Request) -> Response:
    """The pictures of the kernels as an SVG file."""
    run = site.run(request)
    return svg_file(kernel_chart(run, table_of(site, run))[0], "kernels")


def kernel_chart(run: StoredRun, table: Path) -> tuple[Markup, list[tuple[str, float]]]:
    """The pictures side by side, and for each class the share of the samples before it in the pictures.

    Parameters
    ----------
    run : the run
    table : its table
    """
    from multikernel.app.web.learning.explored import explored, pictures_of

    kernel_pictures = pictures_of(run.model, table)
    samples = explored(run.model, table).samples
    cuts: list[tuple[str, float]] = []
    if samples.task == "classification":
        labels = list(map(str, samples.y[kernel_pictures.places].tolist()))
        cuts = [(name, labels.index(name) / len(labels)) for name in dict.fromkeys(labels)]
    return pictures(kernel_pictures.names, kernel_pictures.pictures, cuts), cuts


def _dependences(run: StoredRun, table: Path, chosen: Sequence[str], output_index: int) -> dict[str, Dependence | None]:
    from multikernel.app.web.learning.explored import dependence_of

    return {name: dependence_of(run.model, table, name, output_index) for name in chosen}


def _chosen_columns(request: Request, names: Sequence[str], result: dict[str, Any], kinds: dict[str, str]) -> list[str]:
    """The columns that the address names by their positions, else the most important columns."""
    places = dict.fromkeys(numbers_of(request, "column", len(names)))
    if len(places) > _MOST:
        raise ValueError(f"These are {len(places)} columns, and a page shows {_MOST} at most; tick fewer.")
    return [names[k] for k in places] or _most_important_columns(result, kinds)


def _most_important_columns(result: dict[str, Any], kinds: dict[str, str]) -> list[str]:
    """The columns whose shuffling decreases the score most, except texts."""
    return [name for name in _by_importance(result, kinds) if kinds[name] != "text"][:_COLUMNS]


def _by_importance(result: dict[str, Any], kinds: dict[str, str]) -> list[str]:
    """All columns, sorted by the decrease of the score when they are shuffled."""
    ordered = [row["name"] for row in result["importance"] if row["name"] in kinds]
    return list(dict.fromkeys([*ordered, *kinds]))


def _output_names(run: StoredRun, result: dict[str, Any]) -> list[str]:
    """The classes or targets among which a page can choose; empty where one number is predicted."""
    classes: list[str] = result["classes"]
    if len(run.targets) > 1:
        return run.targets
    return classes


def _output_index(request: Request, run: StoredRun, result: dict[str, Any]) -> int:
    """The index of the class or the target whose answer is shown; -1 where one number is predicted."""
    from multikernel.app.web.learning.dependence import default_output_index

    output_names = _output_names(run, result)
    numbers = numbers_of(request, "class", max(len(output_names), 1))
    if numbers and output_names:
        return numbers[0]
    return default_output_index(len(result["classes"]), len(run.targets))


def _answer_name(run: StoredRun, result: dict[str, Any], output_index: int) -> str:
    """The label of the axis of answers."""
    from multikernel.app.web.learning.predicting import saved_model

    if not result["classes"]:
        return f"predicted {shortened(run.targets[max(output_index, 0)], _LETTERS)}"
    if hasattr(saved_model(run.model)[0], "predict_proba"):
        word = "probability"
    else:
        word = "decision value"
    return f"{word} of {shortened(result['classes'][output_index], _LETTERS)}"


def _query(values: dict[str, Any]) -> str:
    from urllib.parse import urlencode

    return f"?{urlencode(values, doseq=True)}"
