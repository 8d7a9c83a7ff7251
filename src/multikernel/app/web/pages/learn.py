"""Starting a run: the automatic estimator by one click, a comparison, or a method of one's own choice."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.web.pages.data import keep
from multikernel.app.web.site import Site, text_of

_WORTH = "what each view is worth"


def start(site: Site, request: Request, form: FormData) -> Response:
    """Learn without further questions, compare, or go on to choose a method."""
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON
    from multikernel.app.web.learning.samples import check_enough

    data = keep(site, site.dataset(request), form)
    how = text_of(form, "how", AUTOMATIC)
    if how == "look":
        return site.go(f"/data/{data.id}")
    choice = DataChoice.of(data)
    found = target(data, choice)
    if how == "method":
        return site.go(f"/data/{data.id}/method")
    if how != COMPARISON:  # which needs more, and says so
        check_enough(choice.target, found.values, found.task)
    method = COMPARISON if how == COMPARISON else AUTOMATIC
    recipe = choice.recipe(data, found.task, method=method, worth=how == "worth")
    return _begin(
        site, data.id, f"{data.name}: {choice.target}, {_WORTH if recipe.worth else method}", recipe.to_json()
    )


def worth(site: Site, request: Request, form: FormData) -> Response:
    """Measure what each view is worth to the method of a run."""
    run = site.run(request)
    if site.store.dataset(run.dataset) is None:
        raise ValueError("The data set of this run has been deleted; load it again.")
    recipe = run.recipe | {"worth": True}
    return _begin(site, run.dataset, f"{recipe['data']}: {recipe['target']}, {_WORTH}", recipe)


def choose(site: Site, request: Request) -> Response:
    """Methods, kernels and parameters as forms."""
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.expected import of_method, room_of
    from multikernel.app.web.forms import family_fields, methods
    from multikernel.app.web.learning.families import FAMILIES

    data = site.dataset(request)
    choice = DataChoice.of(data)
    found = target(data, choice)
    known = methods(found.task)
    if found.task == "classification":
        first = "L1MKLClassifier"
    else:
        first = "MultipleKernelRidgeCV"
    wanted = request.query_params.get("method", first)
    method = known.get(wanted) or known[first]
    recipe = choice.recipe(data, found.task, method=method.name)
    try:
        expected = of_method(recipe, data.table, choice.views, room_of(site.settings))
    except (ValueError, MemoryError):  # which a run says with what was chosen for it
        expected = None
    return site.page(
        request,
        "method.html",
        data=data,
        target=choice.target,
        task=found.task,
        methods=known,
        method=method,
        families=FAMILIES,
        family_fields={word: family_fields(word) for word in FAMILIES},
        views=list(recipe.by_view),
        expected=expected,
    )


def by_method(site: Site, request: Request, form: FormData) -> Response:
    """Learn by the method, the kernels and the parameters of the form."""
    from multikernel.app.web.choices import DataChoice, target
    from multikernel.app.web.forms import methods, parameters
    from multikernel.app.web.learning.samples import check_enough

    data = site.dataset(request)
    choice = DataChoice.of(data)
    found = target(data, choice)
    check_enough(choice.target, found.values, found.task)
    known = methods(found.task)
    name = text_of(form, "method")
    if name not in known:
        raise ValueError(f"There is no method {name!r} for this target; choose one of the list.")
    method = known[name]
    path = text_of(form, "path")
    views = list(choice.recipe(data, found.task).by_view)
    chosen = {view: _families(form, k) for k, view in enumerate(views)}
    recipe = choice.recipe(
        data,
        found.task,
        method=name,
        parameters=parameters(method, _fields(form, "p-")),
        kernels={view: list(words) for view, words in chosen.items()},
        kernel_parameters={view: {w: p for w, p in words.items() if p} for view, words in chosen.items()},
        path=path if path in method.paths else "",
    )
    return _begin(site, data.id, f"{data.name}: {choice.target}, {name}", recipe.to_json())


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


def _begin(site: Site, dataset: str, name: str, recipe: dict[str, object]) -> Response:
    run = site.store.add_run(dataset, name, recipe)
    site.jobs.submit(run)
    return site.go(f"/runs/{run.id}")
