"""The start of a run: of the automatic estimator, of a comparison, or of a method that a person chooses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.toml import settings_in
from multikernel.app.web.pages.data import dataset_page, files_of, store_choice, store_test
from multikernel.app.web.pages.measuring import is_measuring_form, layout, measuring_plan
from multikernel.app.web.site import Site, predicts, text_of
from multikernel.app.web.store import DataSet

if TYPE_CHECKING:
    from multikernel.app.web.choices import Columns
    from multikernel.app.web.expected import Expected
    from multikernel.app.web.forms import MethodForm
    from multikernel.app.web.learning.recipe import Recipe
    from multikernel.datasets import Task

_LOOKED_AT = 50  # latest runs among which one of the same method is searched
_WORDS = 300  # characters of the list of ignored settings
_WORTH = "what each view is worth"
_FIRST = {"classification": "L1MKLClassifier", "regression": "MultipleKernelRidgeCV"}


def start(site: Site, request: Request, form: FormData) -> Response:
    """Start a run from the page of a data set, or go on to the page of methods."""
    data = store_choice(site, site.dataset(request), form)
    how = text_of(form, "how", "automatic")
    try:
        data = store_test(site, data, form)
        return _start_by_button(site, data, how)
    except ValueError as error:
        return dataset_page(site, request, data, str(error))


def _start_by_button(site: Site, data: DataSet, how: str) -> Response:
    """Do what the pressed button of the page of a data set requests; ValueError where it is not possible."""
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON

    if how == "look":
        return site.go(f"/data/{data.id}")
    choice = DataChoice.of(data)
    target_facts = target(data, choice)
    method = COMPARISON if how == COMPARISON else AUTOMATIC
    recipe = choice.recipe(data, target_facts.task, method=method, worth=how == "worth")
    if how == "method":
        return site.go(f"/data/{data.id}/method")
    layout(data, recipe)
    method_name = _WORTH if recipe.worth else method
    return _start_run(site, data.id, f"{data.name}: {predicts(recipe.to_json())}, {method_name}", recipe.to_json())


def worth(site: Site, request: Request, form: FormData) -> Response:
    """Start a run that measures the worth of each view for the method of a run."""
    from multikernel.app.web.learning.recipe import Recipe

    run = site.run(request)
    data = site.store.dataset(run.dataset)
    if data is None:
        raise ValueError("The data set of this run has been deleted; load it again.")
    recipe = run.recipe | {"worth": True}
    layout(data, Recipe.from_json(recipe))
    return _start_run(site, run.dataset, f"{recipe['data']}: {predicts(recipe)}, {_WORTH}", recipe)


def choose(site: Site, request: Request) -> Response:
    """The page of methods, kernels and parameters, for the stored choices."""
    data = site.dataset(request)
    method = request.query_params.get("method", "")
    return _method_page(site, request, data, data.detail.get("choice", {}), {"method": method})


def other_method(site: Site, request: Request, form: FormData) -> Response:
    """The form of another method, for the choices of the previous page."""
    data = site.dataset(request)
    return _method_page(site, request, data, _shown_choice(data, form), {"method": text_of(form, "method")})


def _shown_choice(data: DataSet, form: FormData) -> Mapping[str, Any]:
    """The choices on the data set when the page was shown; another window may have changed them since."""
    sent = text_of(form, "choice")
    if not sent:
        return data.detail.get("choice", {})
    try:
        choice = json.loads(sent)
    except ValueError:
        choice = None
    if not (isinstance(choice, dict) and _is_choice(data, choice)):
        raise ValueError("The form of this page is damaged; open the page of the data set again.")
    return choice


def _is_choice(data: DataSet, choice: Mapping[str, Any]) -> bool:
    """Whether a dict has the form of choices on this data set."""
    from multikernel.app.web.choices import cells
    from multikernel.app.web.learning.recipe import KINDS, MISSING

    names = cells(data.table).columns
    kinds = choice.get("kinds", {})
    use_by_column = choice.get("used", {})
    return (
        isinstance(choice.get("target", ""), str)
        and isinstance(choice.get("others", []), list)
        and all(isinstance(name, str) and name in names for name in choice.get("others", []))
        and choice.get("task") in (None, "classification", "regression")
        and choice.get("missing", MISSING[0]) in MISSING
        and is_measuring_form(choice.get("measuring", {}), data)
        and isinstance(kinds, dict)
        and all(name in names and kind in KINDS for name, kind in kinds.items())
        and isinstance(use_by_column, dict)
        and all(name in names and isinstance(use, bool) for name, use in use_by_column.items())
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
    site, request : as for every page
    data : the data set
    chosen : the choices on it: target, columns, types
    typed : the texts of the fields by name; missing fields have their defaults
    ticked : the kernels of each view; None for the default
    problem : why the fields were refused; "" where they were not
    notice : a remark about how the fields were filled
    """
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.forms import family_fields, fields_with_input, methods_for
    from multikernel.app.web.learning.families import FAMILIES
    from multikernel.app.web.learning.measures import MEASURES

    choice = DataChoice.of(data, chosen)
    target_facts = target(data, choice)
    method_forms = methods_for(target_facts.task, bool(choice.other_targets))
    method = method_forms.get(typed.get("method", "")) or method_forms[_FIRST[target_facts.task]]
    recipe = choice.recipe(data, target_facts.task, method=method.kind.__name__, parameters={})
    views = list(recipe.by_view)
    plan = measuring_plan(data, choice, target_facts.task)
    balanced = choice.balanced and target_facts.task == "classification"
    proposed = {"class_weight": "balanced"} if balanced else {}
    if recipe.measured.measure == "log_loss":
        proposed["probability"] = "platt"
    return site.page(
        request,
        "method.html",
        400 if problem else 200,
        data=data,
        chosen=json.dumps({**chosen, "target": choice.target, "task": target_facts.task}),
        target=predicts(recipe.to_json()),
        task=target_facts.task,
        methods=method_forms,
        method=method,
        families=FAMILIES,
        family_fields={word: family_fields(word) for word in FAMILIES},
        views=views,
        ticked=ticked or {k: list(method.families) for k in range(len(views))},
        path=typed.get("path", next(iter(method.paths), "")),
        path_count=typed.get("path_count", ""),
        path_folds=typed.get("path_folds", ""),
        filled=lambda fields, prefix: fields_with_input(fields, prefix, typed, proposed),
        unweighted=balanced and not any(field.name == "class_weight" for field in method.fields),
        problem=problem or plan.problem,
        notice=notice,
        expected=_expected(site, data, recipe, choice.views),
        earlier=_seconds_of_last_run(site, data, method.kind.__name__),
        plan=plan,
        measures=MEASURES[target_facts.task],
        chosen_by=typed.get("chosen_by", recipe.measured.measure),
    )


def _expected(site: Site, data: DataSet, recipe: Recipe, views: Columns) -> Expected | None:
    """The expected time and memory of one fit; None where it is not possible, which the start of the run reports."""
    from multikernel.app.web.expected import of_method, room_of

    try:
        return of_method(recipe, data.table, views, room_of(site.settings))
    except (ValueError, MemoryError):
        return None


def _seconds_of_last_run(site: Site, data: DataSet, method: str) -> float | None:
    """The seconds of the last run of a method on a data set; None where there is none."""
    runs = site.store.latest_runs(_LOOKED_AT, data.id)
    run_seconds = (run.summary["seconds"] for run in runs if run.status == "done" and run.recipe["method"] == method)
    return next(run_seconds, None)


def by_method(site: Site, request: Request, form: FormData) -> Response:
    """Start a run with the method, the kernels and the parameters of the form."""
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.forms import methods_for

    data = site.dataset(request)
    chosen = _shown_choice(data, form)
    choice = DataChoice.of(data, chosen)
    target_facts = target(data, choice)
    name = text_of(form, "method")
    method = methods_for(target_facts.task, bool(choice.other_targets)).get(name)
    if method is None:
        target_words = "several targets" if choice.other_targets else "this target"
        raise ValueError(f"There is no method {name!r} for {target_words}; choose one of the list.")
    views = list(choice.recipe(data, target_facts.task).by_view)
    try:
        recipe = choice.recipe(data, target_facts.task, **_by_form(form, target_facts.task, method, views))
        layout(data, recipe)
    except ValueError as error:
        typed = {key: value for key, value in form.items() if isinstance(value, str)}
        ticked = {k: [str(word) for word in form.getlist(f"kernels-{k}")] for k in range(len(views))}
        return _method_page(site, request, data, chosen, typed, ticked, str(error))
    return _start_run(site, data.id, f"{data.name}: {predicts(recipe.to_json())}, {name}", recipe.to_json())


def _by_form(form: FormData, task: Task, method: MethodForm, views: Sequence[str]) -> dict[str, Any]:
    """The settings of a form about the method and its kernels; ValueError where a field has a wrong value."""
    from multikernel.app.web.forms import parameters
    from multikernel.app.web.learning.measures import measure_of

    path = text_of(form, "path")
    chosen_by = text_of(form, "chosen_by")
    measure_of(task, chosen_by)
    chosen = {view: _families(form, k) or {word: {} for word in method.families} for k, view in enumerate(views)}
    changed = parameters(method, _fields(form, "p-"))
    if path in changed:
        raise ValueError(
            f"{path} is given as {changed[path]}, and is to be chosen along a path as well; follow a path along "
            f"nothing to learn with {changed[path]}, or leave {path} as it was."
        )
    return {
        "method": method.kind.__name__,
        "parameters": changed,
        "kernels": {view: list(words) for view, words in chosen.items()},
        "kernel_parameters": {view: {w: p for w, p in words.items() if p} for view, words in chosen.items()},
        "path": path if path in method.paths else "",
        "path_count": _whole_number(form, "path_count", "values of the path", 2, 100),
        "path_folds": _whole_number(form, "path_folds", "folds of the path", 2, 20),
        "chosen_by": chosen_by if path in method.paths else "",
    }


def _whole_number(form: FormData, name: str, meaning: str, smallest: int, largest: int) -> int:
    """A whole number of the form, 0 for an empty field; ValueError where it is no number or out of bounds."""
    text = text_of(form, name).strip()
    if not text:
        return 0
    if not (text.isdecimal() and smallest <= int(text) <= largest):
        raise ValueError(f"The number of {meaning} is a whole number from {smallest} to {largest}, got {text[:20]!r}.")
    return int(text)


def _families(form: FormData, k: int) -> dict[str, dict[str, Any]]:
    """The ticked families of a view, with their changed parameters."""
    from multikernel.app.web.forms import family_parameters
    from multikernel.app.web.learning.families import FAMILIES

    ticked = [word for word in form.getlist(f"kernels-{k}") if word in FAMILIES]
    return {str(word): family_parameters(str(word), _fields(form, f"k{k}-{word}-")) for word in ticked}


def _fields(form: FormData, prefix: str) -> dict[str, str]:
    """The texts of the fields whose names begin with the prefix, by the rest of their names."""
    return {
        key.removeprefix(prefix): value
        for key, value in form.items()
        if key.startswith(prefix) and isinstance(value, str)
    }


def from_file(site: Site, request: Request, form: FormData) -> Response:
    """Fill the forms of a data set with the settings of a run from its file."""
    from multikernel.app.web.run_settings import FormSettings

    data = site.dataset(request)
    uploads = files_of(form)
    if len(uploads) != 1:
        raise ValueError("Choose one file: the run.toml of a run, which its page offers.")
    settings = FormSettings.of(settings_in(uploads[0].file), data)
    site.store.set_detail(data.id, data.detail | {"choice": settings.choice})
    ignored = ", ".join(settings.ignored)[:_WORDS]
    if settings.how != "method":
        return site.go(f"/data/{data.id}", taken=settings.how, **({"left": ignored} if ignored else {}))
    notice = "The settings of the file are filled in: look them through, and learn."
    if ignored:
        notice += f" These are in no form, and were left out: {ignored}."
    return _method_page(site, request, data, settings.choice, settings.typed, settings.ticked, notice=notice)


def _start_run(site: Site, dataset: str, name: str, recipe: dict[str, object]) -> Response:
    run = site.store.add_run(dataset, name, recipe)
    site.jobs.submit(run)
    return site.go(f"/runs/{run.id}")
