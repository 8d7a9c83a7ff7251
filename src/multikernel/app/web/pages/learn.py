"""Starting a run: the automatic estimator by one click, a comparison, or a method of one's own choice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.toml import settings_in
from multikernel.app.web.pages.data import files_of, keep, shown, with_test
from multikernel.app.web.pages.measuring import is_typed, layout, planned
from multikernel.app.web.site import Site, predicts, text_of
from multikernel.app.web.store import DataSet

if TYPE_CHECKING:
    from multikernel.app.web.choices import Columns
    from multikernel.app.web.expected import Expected
    from multikernel.app.web.forms import MethodForm
    from multikernel.app.web.learning.recipe import Recipe
    from multikernel.datasets import Task

_LOOKED_AT = 50  # runs among which one of the same method is looked for
_WORDS = 300  # characters of what was left out
_WORTH = "what each view is worth"
_FIRST = {"classification": "L1MKLClassifier", "regression": "MultipleKernelRidgeCV"}


def start(site: Site, request: Request, form: FormData) -> Response:
    """Learn without further questions, compare, or go on to choose a method."""
    data = keep(site, site.dataset(request), form)
    how = text_of(form, "how", "automatic")
    try:
        data = with_test(site, data, form)
        return _started(site, data, how)
    except ValueError as error:
        return shown(site, request, data, str(error))


def _started(site: Site, data: DataSet, how: str) -> Response:
    """What a button of the page of a data set asks for; ValueError where it cannot be done."""
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON

    if how == "look":
        return site.go(f"/data/{data.id}")
    choice = DataChoice.of(data)
    found = target(data, choice)
    method = COMPARISON if how == COMPARISON else AUTOMATIC
    recipe = choice.recipe(data, found.task, method=method, worth=how == "worth")
    if how == "method":
        return site.go(f"/data/{data.id}/method")
    layout(data, recipe)
    what = _WORTH if recipe.worth else method
    return _begin(site, data.id, f"{data.name}: {predicts(recipe.to_json())}, {what}", recipe.to_json())


def worth(site: Site, request: Request, form: FormData) -> Response:
    """Measure what each view is worth to the method of a run."""
    from multikernel.app.web.learning.recipe import Recipe

    run = site.run(request)
    data = site.store.dataset(run.dataset)
    if data is None:
        raise ValueError("The data set of this run has been deleted; load it again.")
    recipe = run.recipe | {"worth": True}
    layout(data, Recipe.from_json(recipe))
    return _begin(site, run.dataset, f"{recipe['data']}: {predicts(recipe)}, {_WORTH}", recipe)


def choose(site: Site, request: Request) -> Response:
    """Methods, kernels and parameters as forms, of what was chosen last."""
    data = site.dataset(request)
    wanted = request.query_params.get("method", "")
    return _method_page(site, request, data, data.detail.get("choice", {}), {"method": wanted})


def another(site: Site, request: Request, form: FormData) -> Response:
    """The form of another method, for what the page before has shown."""
    data = site.dataset(request)
    return _method_page(site, request, data, _shown_choice(data, form), {"method": text_of(form, "method")})


def _shown_choice(data: DataSet, form: FormData) -> Mapping[str, Any]:
    """What was chosen on the data set when the page was shown, which another window may have changed since."""
    sent = text_of(form, "choice")
    if not sent:
        return data.detail.get("choice", {})
    try:
        found = json.loads(sent)
    except ValueError:
        found = None
    if not (isinstance(found, dict) and _is_choice(data, found)):
        raise ValueError("The form of this page is damaged; open the page of the data set again.")
    return found


def _is_choice(data: DataSet, found: Mapping[str, Any]) -> bool:
    """Whether something is a choice on a data set."""
    from multikernel.app.web.choices import cells
    from multikernel.app.web.learning.recipe import KINDS, MISSING

    names = cells(data.table).columns
    kinds = found.get("kinds", {})
    used = found.get("used", {})
    return (
        isinstance(found.get("target", ""), str)
        and isinstance(found.get("others", []), list)
        and all(isinstance(name, str) and name in names for name in found.get("others", []))
        and found.get("task") in (None, "classification", "regression")
        and found.get("missing", MISSING[0]) in MISSING
        and is_typed(found.get("measuring", {}), data)
        and isinstance(kinds, dict)
        and all(name in names and kind in KINDS for name, kind in kinds.items())
        and isinstance(used, dict)
        and all(name in names and isinstance(use, bool) for name, use in used.items())
    )


def _method_page(
    site: Site,
    request: Request,
    data: DataSet,
    chosen: Mapping[str, Any],
    typed: Mapping[str, str],
    ticked: Mapping[int, list[str]] | None = None,
    problem: str = "",
    notice: str = "",
) -> Response:
    """The form of a method.

    Parameters
    ----------
    site, request : as everywhere
    data : what is learned from
    chosen : the target and the columns
    typed : the fields by name; those that are not there have their defaults
    ticked : the kernels of each view; by type where nothing was ticked yet
    problem : what was wrong with the fields
    notice : how they were filled
    """
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.forms import family_fields, filled, methods_for
    from multikernel.app.web.learning.families import FAMILIES
    from multikernel.app.web.learning.measures import MEASURES

    choice = DataChoice.of(data, chosen)
    found = target(data, choice)
    known = methods_for(found.task, bool(choice.others))
    method = known.get(typed.get("method", "")) or known[_FIRST[found.task]]
    recipe = choice.recipe(data, found.task, method=method.kind.__name__, parameters={})
    views = list(recipe.by_view)
    plan = planned(data, choice, found.task)
    balanced = choice.balanced and found.task == "classification"
    proposed = {"class_weight": "balanced"} if balanced else {}
    if recipe.measured.measure == "log_loss":
        proposed["probability"] = "platt"
    return site.page(
        request,
        "method.html",
        400 if problem else 200,
        data=data,
        chosen=json.dumps({**chosen, "target": choice.target, "task": found.task}),
        target=predicts(recipe.to_json()),
        task=found.task,
        methods=known,
        method=method,
        families=FAMILIES,
        family_fields={word: family_fields(word) for word in FAMILIES},
        views=views,
        ticked=ticked or {k: list(method.families) for k in range(len(views))},
        path=typed.get("path", next(iter(method.paths), "")),
        path_count=typed.get("path_count", ""),
        path_folds=typed.get("path_folds", ""),
        filled=lambda fields, prefix: filled(fields, prefix, typed, proposed),
        unweighted=balanced and not any(each.name == "class_weight" for each in method.fields),
        problem=problem or plan.problem,
        notice=notice,
        expected=_expected(site, data, recipe, choice.views),
        earlier=_earlier(site, data, method.kind.__name__),
        plan=plan,
        measures=MEASURES[found.task],
        chosen_by=typed.get("chosen_by", recipe.measured.measure),
    )


def _expected(site: Site, data: DataSet, recipe: Recipe, views: Columns) -> Expected | None:
    """What one fit is expected to take; None where the table cannot be learned from so, which a run explains."""
    from multikernel.app.web.expected import of_method, room_of

    try:
        return of_method(recipe, data.table, views, room_of(site.settings))
    except (ValueError, MemoryError):
        return None


def _earlier(site: Site, data: DataSet, method: str) -> float | None:
    """The seconds that the last run of a method on a data set took; None where there is none."""
    runs = site.store.latest_runs(_LOOKED_AT, data.id)
    found = (run.summary["seconds"] for run in runs if run.status == "done" and run.recipe["method"] == method)
    return next(found, None)


def by_method(site: Site, request: Request, form: FormData) -> Response:
    """Learn by the method, the kernels and the parameters of the form."""
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.forms import methods_for

    data = site.dataset(request)
    chosen = _shown_choice(data, form)
    choice = DataChoice.of(data, chosen)
    found = target(data, choice)
    name = text_of(form, "method")
    method = methods_for(found.task, bool(choice.others)).get(name)
    if method is None:
        what = "several targets" if choice.others else "this target"
        raise ValueError(f"There is no method {name!r} for {what}; choose one of the list.")
    views = list(choice.recipe(data, found.task).by_view)
    try:
        recipe = choice.recipe(data, found.task, **_by_form(form, found.task, method, views))
        layout(data, recipe)
    except ValueError as error:
        typed = {key: value for key, value in form.items() if isinstance(value, str)}
        ticked = {k: [str(word) for word in form.getlist(f"kernels-{k}")] for k in range(len(views))}
        return _method_page(site, request, data, chosen, typed, ticked, str(error))
    return _begin(site, data.id, f"{data.name}: {predicts(recipe.to_json())}, {name}", recipe.to_json())


def _by_form(form: FormData, task: Task, method: MethodForm, views: Sequence[str]) -> dict[str, Any]:
    """The method, its parameters and the kernels of a form; ValueError where a field is not what it may be."""
    from multikernel.app.web.forms import parameters
    from multikernel.app.web.learning.measures import measure_of

    path = text_of(form, "path")
    chosen_by = text_of(form, "chosen_by")
    measure_of(task, chosen_by)
    chosen = {view: _families(form, k) or {word: {} for word in method.families} for k, view in enumerate(views)}
    given = parameters(method, _fields(form, "p-"))
    if path in given:
        raise ValueError(
            f"{path} is given as {given[path]}, and is to be chosen along a path as well; follow a path along nothing "
            f"to learn with {given[path]}, or leave {path} as it was."
        )
    return {
        "method": method.kind.__name__,
        "parameters": given,
        "kernels": {view: list(words) for view, words in chosen.items()},
        "kernel_parameters": {view: {w: p for w, p in words.items() if p} for view, words in chosen.items()},
        "path": path if path in method.paths else "",
        "path_count": _whole(form, "path_count", "values of the path", 2, 100),
        "path_folds": _whole(form, "path_folds", "folds of the path", 2, 20),
        "chosen_by": chosen_by if path in method.paths else "",
    }


def _whole(form: FormData, name: str, what: str, least: int, most: int) -> int:
    """A whole number of the form, 0 where the field is empty; ValueError where it is none, or out of bounds."""
    text = text_of(form, name).strip()
    if not text:
        return 0
    if not (text.isdecimal() and least <= int(text) <= most):
        raise ValueError(f"The number of {what} is a whole number from {least} to {most}, got {text[:20]!r}.")
    return int(text)


def _families(form: FormData, k: int) -> dict[str, dict[str, Any]]:
    """The ticked families of a view, each with those of its parameters that were changed."""
    from multikernel.app.web.forms import family_parameters
    from multikernel.app.web.learning.families import FAMILIES

    ticked = [word for word in form.getlist(f"kernels-{k}") if word in FAMILIES]
    return {str(word): family_parameters(str(word), _fields(form, f"k{k}-{word}-")) for word in ticked}


def _fields(form: FormData, prefix: str) -> dict[str, str]:
    """The texts of the fields whose names begin so."""
    return {
        key.removeprefix(prefix): value
        for key, value in form.items()
        if key.startswith(prefix) and isinstance(value, str)
    }


def from_file(site: Site, request: Request, form: FormData) -> Response:
    """The forms of a data set with the settings of a run, from its file."""
    from multikernel.app.web.run_settings import TakenSettings

    data = site.dataset(request)
    given = files_of(form)
    if len(given) != 1:
        raise ValueError("Choose one file: the run.toml of a run, which its page offers.")
    taken = TakenSettings.of(settings_in(given[0].file), data)
    site.store.set_detail(data.id, data.detail | {"choice": taken.choice})
    left = ", ".join(taken.left)[:_WORDS]
    if taken.how != "method":
        return site.go(f"/data/{data.id}", taken=taken.how, **({"left": left} if left else {}))
    notice = "The settings of the file are filled in: look them through, and learn."
    if left:
        notice += f" These are in no form, and were left out: {left}."
    return _method_page(site, request, data, taken.choice, taken.typed, taken.ticked, notice=notice)


def _begin(site: Site, dataset: str, name: str, recipe: dict[str, object]) -> Response:
    run = site.store.add_run(dataset, name, recipe)
    site.jobs.submit(run)
    return site.go(f"/runs/{run.id}")
