"""The objects and functions that all pages use: templates, endpoints, addresses, fields of forms, charts as files."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib.resources import files
from statistics import stdev
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from multikernel.app.drawing import counted, number
from multikernel.app.row_charts import score
from multikernel.app.web.jobs import RunQueue
from multikernel.app.web.security import Tokens
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import DataSet, Store, StoredModel, StoredRun
from multikernel.html import templates

_NAME_LENGTH = 120  # characters of a name
_FIELDS = 20_000  # fields of a form: the table of columns has several for each column

CLOSER = (  # the pages that look into a run: addresses and titles
    ("rows", "Held-out rows"),
    ("columns", "What columns do"),
    ("map", "Map of samples"),
    ("kernels", "Kernels as pictures"),
)

FormHandler = Callable[["Site", Request, FormData], Response]


@dataclass(frozen=True, eq=False)
class Site:
    """Everything that a page needs."""

    settings: Settings
    store: Store
    jobs: RunQueue
    tokens: Tokens
    templates: Environment

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """A page from its template."""
        values |= {"token": self.tokens.of(request.scope["session_name"]), "read_only": self.settings.read_only}
        text = self.templates.get_template(template).render(here=request.scope["path"], **values)
        return HTMLResponse(text, status)

    def url(self, path: str, **query: Any) -> str:
        """An address of this application."""
        return f"{self.settings.root_path}{path}" + (f"?{urlencode(query)}" if query else "")

    def go(self, path: str, **query: Any) -> Response:
        """A redirection to another page, after a form."""
        return RedirectResponse(self.url(path, **query), 303)

    def dataset(self, request: Request) -> DataSet:
        """The data set that the address names; 404 where there is none."""
        dataset = self.store.dataset(request.path_params["dataset"])
        if dataset is None:
            raise HTTPException(404, "There is no such data set; it may have been deleted.")
        return dataset

    def model(self, request: Request) -> StoredModel:
        """The model that the address names; 404 where there is none."""
        model = self.store.model(request.path_params["model"])
        if model is None:
            raise HTTPException(404, "There is no such model; it may have been deleted.")
        return model

    def run(self, request: Request) -> StoredRun:
        """The run that the address names; 404 where there is none."""
        run = self.store.run(request.path_params["run"])
        if run is None:
            raise HTTPException(404, "There is no such run; it may have been deleted.")
        return run


def environment(settings: Settings) -> Environment:
    """The environment of the templates, which escape all values."""
    jinja = templates("multikernel.app.web")
    jinja.globals |= {"root": settings.root_path, "closer": CLOSER}
    jinja.filters |= {
        "ago": ago,
        "coded": with_code,
        "counted": counted,
        "share": lambda value: f"{value:.1%}",
        "number": number,
        "predicts": predicts,
        "scored": score,
        "seconds": seconds,
        "written": lambda value: f"{value:.12g}".replace("-", "−"),
        "deviation": stdev,
        "duration": duration,
    }
    return jinja


def form_endpoint(handler: FormHandler, *, changes: bool = True) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for a form, which checks its token and runs the handler on a thread.

    Parameters
    ----------
    handler : answers the form
    changes : whether the handler changes stored data, which a read-only server refuses
    """

    @wraps(handler)
    async def endpoint(request: Request) -> Response:
        site: Site = request.app.state.site
        async with request.form(max_fields=_FIELDS, max_files=100) as form:
            site.tokens.check(request.scope["session_name"], form.get("token"))
            if changes and site.settings.read_only:
                raise HTTPException(403, "This server only shows what is there; nothing can be changed on it.")
            return await run_in_threadpool(handler, site, request, form)

    return endpoint


def page_endpoint(handler: Callable[[Site, Request], Response]) -> Callable[[Request], Response]:
    """An endpoint for a page that changes nothing."""

    @wraps(handler)
    def endpoint(request: Request) -> Response:
        return handler(request.app.state.site, request)

    return endpoint


def static_text(name: str) -> str:
    """The text of a file that pages load."""
    return (files("multikernel.app.web") / "static" / name).read_text()


def svg_file(chart: object, name: str) -> Response:
    """A chart as an SVG file.

    Parameters
    ----------
    chart : the SVG element of a page
    name : of the file, without its ending
    """
    style = static_text("chart.css").partition("@media")[0]
    head = '<svg xmlns="http://www.w3.org/2000/svg" style="background: #fff"'
    text = str(chart).replace("<svg", head, 1).replace(">", f"><style>{style}</style>", 1)
    headers = {"Content-Disposition": f'attachment; filename="{name}.svg"'}
    return Response(text, media_type="image/svg+xml", headers=headers)


def text_of(form: FormData, name: str, default: str = "") -> str:
    """A field of a form as text; the default where it is missing or a file."""
    value = form.get(name, default)
    if isinstance(value, str):
        return value.strip()
    return default


def numbers_of(request: Request, name: str, below: int = 10**9) -> list[int]:
    """Whole numbers in the query of the address; ValueError where a value is not a whole number below ``below``."""
    numbers = []
    for text in filter(None, request.query_params.getlist(name)):
        if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < below):
            raise ValueError(f"{name} in the address has to be a whole number below {below}, and is {text[:20]!r}.")
        numbers.append(int(text))
    return numbers


def name_of(form: FormData, kind: str) -> str:
    """The field ``name`` of a form in one line; ValueError where it is empty."""
    name = one_line_name(text_of(form, "name"))
    if not name:
        raise ValueError(f"{kind} needs a name; write one.")
    return name


def one_line_name(name: str) -> str:
    """A name in one line, cut off where it is too long."""
    return "".join(character for character in " ".join(name.split()) if character.isprintable())[:_NAME_LENGTH]


def predicts(recipe: Mapping[str, Any]) -> str:
    """The targets of a run in words: one or two names, or the first name and the number of the others."""
    other_targets = recipe.get("other_targets", [])
    if len(other_targets) < 2:
        return " and ".join([recipe["target"], *other_targets])
    return f"{recipe['target']} and {len(other_targets)} others"


def ago(moment: float | None) -> str:
    """How long ago a moment was."""
    if moment is None:
        return ""
    past = time.time() - moment
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if past >= size:
            return f"{counted(int(past // size), name)} ago"
    return "just now"


def with_code(words: str) -> Markup:
    """Words of a docstring, with the text between double backticks as code elements."""
    escaped = [escape(text) for text in words.split("``")]
    return Markup("").join(Markup("<code>{}</code>").format(text) if k % 2 else text for k, text in enumerate(escaped))


def seconds(value: float) -> str:
    """A duration for reading."""
    if value < 10:
        return f"{value:.1f} s"
    minutes, remaining_seconds = divmod(round(value), 60)
    if minutes:
        return f"{minutes} min {remaining_seconds} s"
    return f"{remaining_seconds} s"


def duration(value: float) -> str:
    """A duration, rounded to a whole number of hours, minutes or seconds."""
    for size, name in ((3600.0, "hour"), (60.0, "minute")):
        if value >= 1.5 * size:
            return counted(round(value / size), name)
    return counted(max(1, round(value)), "second")
