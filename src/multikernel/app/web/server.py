"""The application as a Starlette app, and its server on this computer."""

from __future__ import annotations

import contextlib
import secrets
import socket
import sqlite3
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from markupsafe import escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from multikernel.app.web.connections import MOST_WAITING, limit_waiting
from multikernel.app.web.jobs import FIRST_PAGE, RunQueue
from multikernel.app.web.pages import data, downloads, errors, explore, learn, models, predict, result, runs
from multikernel.app.web.private import exclusive_lock, private_file, private_folder
from multikernel.app.web.security import Guard, Tokens
from multikernel.app.web.settings import Settings
from multikernel.app.web.site import Site, environment, form_endpoint, page_endpoint
from multikernel.app.web.store import Store

if TYPE_CHECKING:
    import uvicorn

_SHORTEST_KEY = 20  # characters of a key that a person chose: 95 bits, where they are letters and digits
_TAKES_FORMS = "This address takes what a form sends, and is no page to look at; begin at the data."
_LOST = "A file of this page is no longer there; delete what it belongs to, and do it again."
_WRITING = (OSError, sqlite3.OperationalError)  # raised on a full disk
_TITLES = {400: "That did not work", 403: "Not allowed", 404: "Not found", 413: "Too large", 507: "No room"}


def create_app(settings: Settings, tokens: Tokens | None = None) -> Starlette:
    """The application.

    Parameters
    ----------
    settings : the settings of the application
    tokens : the tokens with the key of the address; None for a new key
    """
    store = Store(settings)
    jobs = RunQueue(store, settings)
    session_tokens = tokens or Tokens()
    site = Site(settings, store, jobs, session_tokens, environment(settings))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        libraries = threading.Timer(FIRST_PAGE, _load_libraries)
        libraries.daemon = True
        libraries.start()
        yield
        libraries.cancel()
        jobs.close()

    app = Starlette(
        routes=_routes(),
        middleware=[Middleware(Guard, settings=settings, tokens=session_tokens, page=_refusal, locked=_locked)],
        exception_handlers={
            HTTPException: _http_error,
            ClientDisconnect: _disconnected,
            ValueError: _value_error,
            Exception: _unexpected_error,
            **dict.fromkeys(_WRITING, _write_error),
        },
        lifespan=lifespan,
    )
    app.state.site = site
    app.state.ending = lambda: False
    return app


def end_streams_with(app: Starlette, server: uvicorn.Server) -> None:
    """End the streams of pages that follow a run when their server ends, which would wait for them otherwise.

    Parameters
    ----------
    app : the result of ``create_app``
    server : its server
    """
    app.state.ending = lambda: server.should_exit


def _routes() -> list[Route | Mount]:
    static = StaticFiles(directory=str(files("multikernel.app.web") / "static"))
    dataset = "/data/{dataset}"
    run = "/runs/{run}"
    model = "/models/{model}"

    def post(path: str, handler: object, changes: bool = True) -> Route:
        return Route(path, form_endpoint(handler, changes=changes), methods=["POST"])  # type: ignore[arg-type]

    return [
        Route("/", page_endpoint(data.start)),
        post("/data", data.upload),
        post("/data/known", data.load_named),
        Route(dataset, page_endpoint(data.look)),
        post(f"{dataset}/learn", learn.start),
        post(f"{dataset}/choose", data.choose),
        post(f"{dataset}/settings", learn.from_file),
        post(f"{dataset}/rename", data.rename),
        post(f"{dataset}/delete", data.delete),
        Route(f"{dataset}/method", page_endpoint(learn.choose)),
        post(f"{dataset}/method/form", learn.other_method, changes=False),
        post(f"{dataset}/method", learn.by_method),
        post("/models", models.load),
        Route(model, page_endpoint(models.look)),
        post(f"{model}/predict", models.predict, changes=False),
        post(f"{model}/rename", models.rename),
        post(f"{model}/delete", models.delete),
        Route("/runs", page_endpoint(runs.index)),
        Route("/runs/compare", page_endpoint(runs.compare)),
        Route("/runs/delete", page_endpoint(runs.delete_asked)),
        post("/runs/delete", runs.delete_several),
        Route(run, page_endpoint(result.look)),
        Route(f"{run}/events", runs.events),
        post(f"{run}/stop", runs.stop),
        post(f"{run}/again", runs.again),
        post(f"{run}/worth", learn.worth),
        post(f"{run}/rename", runs.rename),
        post(f"{run}/note", runs.note),
        post(f"{run}/delete", runs.delete),
        Route(f"{run}/rows", page_endpoint(errors.look)),
        Route(f"{run}/columns", page_endpoint(explore.columns)),
        Route(f"{run}/columns.svg", page_endpoint(explore.columns_file)),
        Route(f"{run}/map", page_endpoint(explore.map_page)),
        Route(f"{run}/map.svg", page_endpoint(explore.map_file)),
        Route(f"{run}/kernels", page_endpoint(explore.kernels)),
        Route(f"{run}/kernels.svg", page_endpoint(explore.kernels_file)),
        Route(f"{run}/sample", page_endpoint(predict.sample)),
        post(f"{run}/predict", predict.table, changes=False),
        post(f"{run}/predict-one", predict.one, changes=False),
        Route(f"{run}/charts/{{name}}.svg", page_endpoint(downloads.chart)),
        Route(f"{run}/files/{{name}}", page_endpoint(downloads.file)),
        Mount("/static", static),
    ]


def _load_libraries() -> None:
    """Import the libraries that all pages except the first need."""
    from multikernel.app.web import profile  # noqa: F401


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = _TAKES_FORMS if error.status_code == 405 else str(error.detail)
    if sentence == "Not Found":  # the default sentence of Starlette
        sentence = "There is no page at this address; begin at the data."
    return _page(request, error.status_code, sentence, dict(error.headers or {}))


def _refusal(scope: Scope, status: int, sentence: str) -> Response:
    """A page that refuses a request before its body is read."""
    return _page(Request(scope), status, sentence, {"Connection": "close"})


def _locked(scope: Scope) -> Response:
    """The page for requests without a session; it needs no other file."""
    site: Site = scope["app"].state.site
    return HTMLResponse(site.templates.get_template("locked.html").render(), 403, {"Connection": "close"})


async def _disconnected(request: Request, error: Exception) -> Response:
    """The answer where a browser disconnected while it sent a form; nobody reads it."""
    return Response(status_code=400)


async def _value_error(request: Request, error: Exception) -> Response:
    return _page(request, 400, str(error))


async def _write_error(request: Request, error: Exception) -> Response:
    if isinstance(error, FileNotFoundError):
        return _page(request, 404, _LOST, delete=_deleted_by(request))
    why = getattr(error, "strerror", None) or str(error)
    return _page(request, 507, f"The server cannot write to its folder ({why}); make room on the disk and try again.")


async def _unexpected_error(request: Request, error: Exception) -> Response:
    return _page(request, 500, f"The server ran into an error of its own: {type(error).__name__}: {error}")


def _deleted_by(request: Request) -> str:
    """The address that deletes the data set, run or model of this page; "" on other pages."""
    site: Site = request.app.state.site
    path: str = request.url.path.removeprefix(site.settings.root_path)
    is_item_page = len(request.path_params) == 1 and path.count("/") == 2
    if is_item_page and not site.settings.read_only:
        return site.url(f"{path}/delete")
    return ""


def _page(
    request: Request, status: int, sentence: str, headers: dict[str, str] | None = None, delete: str = ""
) -> Response:
    if "session_name" not in request.scope:  # the request ended before its session was checked
        return _locked(request.scope)
    site: Site = request.app.state.site
    title = _TITLES.get(status, "That did not work")
    referer = urlsplit(request.headers.get("referer", ""))
    from_this_site = status in (400, 413) and referer.netloc == request.headers.get("host", "")
    if from_this_site and referer.path[:2] not in ("", "//"):
        back = f"{referer.path}?{referer.query}".rstrip("?")
    else:
        back = ""
    answer = site.page(request, "error.html", status, title=title, said=sentence, back=back, delete=delete)
    answer.headers.update(headers or {})
    return answer


def serve(settings: Settings, port: int, *, browser: bool, report: Callable[[str], object], key: str = "") -> None:
    """Serve on this machine until Ctrl-C.

    Parameters
    ----------
    settings : the settings of the application
    port : int, 0 for a free port
    browser : bool, whether the first page is opened in the browser
    report : called with a line about the address, which contains the key
    key : str, the key of the address; "" for a new key

    Raises
    ------
    ValueError : where the key is so short that it can be guessed
    OSError : where another program uses the port or the folder, or the folder belongs to another user
    """
    import uvicorn

    if key and len(key) < _SHORTEST_KEY:
        raise ValueError(f"the token has {len(key)} characters, and {_SHORTEST_KEY} are the fewest; give a longer one")
    tokens = Tokens(key) if key else Tokens()
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise OSError(f"port {port} cannot be had ({error.strerror}); give another one by --port") from None
        query = urlencode({"token": tokens.key})
        address = f"http://127.0.0.1:{listener.getsockname()[1]}{settings.root_path}/?{query}"
        if not settings.read_only:
            stack.enter_context(_only_server_of(settings.home))
        application = create_app(settings, tokens)
        server = uvicorn.Server(
            uvicorn.Config(
                application,
                http=limit_waiting(),  # type: ignore[arg-type]
                backlog=MOST_WAITING,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=1,
            )
        )
        end_streams_with(application, server)
        report(f"multikernel is at {address}  (Ctrl-C ends it; who has this address can use it)")
        if browser:
            stack.enter_context(_open_browser(address, settings.home))
        stack.enter_context(contextlib.suppress(KeyboardInterrupt))  # by which a person ends the server
        server.run(sockets=[listener])


@contextlib.contextmanager
def _only_server_of(home: Path) -> Iterator[None]:
    """Lock the folder: two servers would take each other's runs for those of a server that has ended."""
    with exclusive_lock(private_folder(home) / "lock") as exclusive:
        if not exclusive:
            raise OSError(f"another server uses {home}; use that one, end it, or give another folder by --home")
        yield


@contextlib.contextmanager
def _open_browser(address: str, home: Path) -> Iterator[None]:
    """Open the address in the browser by a file that leads to it: other users can see the arguments of commands."""
    redirect = home / f"open-{secrets.token_hex(4)}.html"
    private_file(redirect, recreate=True)
    redirect.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>multikernel</title>'
        f'<meta http-equiv="refresh" content="0; url={escape(address)}"></head>'
        f'<body><p><a href="{escape(address)}">Open multikernel</a></p></body></html>',
        encoding="utf-8",
    )
    timer = threading.Timer(0.3, webbrowser.open, [redirect.as_uri()])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        redirect.unlink(missing_ok=True)
