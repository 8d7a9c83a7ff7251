"""The application as a Starlette app, and its server on this machine."""

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

from multikernel.app.web.connections import MOST_WAITING, few_waiting
from multikernel.app.web.jobs import FIRST_PAGE, RunQueue
from multikernel.app.web.pages import data, errors, explore, learn, models, predict, result, runs, take_home
from multikernel.app.web.private import held_alone, private_file, private_folder
from multikernel.app.web.security import Guard, Tokens
from multikernel.app.web.settings import Settings
from multikernel.app.web.site import Site, environment, page_of, posted
from multikernel.app.web.store import Store

if TYPE_CHECKING:
    import uvicorn

_SHORTEST_KEY = 20  # characters of a key that a person chose: 95 bits, where they are letters and digits
_TAKES_FORMS = "This address takes what a form sends, and is no page to look at; begin at the data."
_LOST = "A file of this page is no longer there; delete what it belongs to, and do it again."
_WRITING = (OSError, sqlite3.OperationalError)  # what a full disk gives
_TITLES = {400: "That did not work", 403: "Not allowed", 404: "Not found", 413: "Too large", 507: "No room"}


def create_app(settings: Settings, tokens: Tokens | None = None) -> Starlette:
    """The application.

    Parameters
    ----------
    settings : how it is started
    tokens : with the key by which it is entered; None for a new one
    """
    store = Store(settings)
    jobs = RunQueue(store, settings)
    known = tokens or Tokens()
    site = Site(settings, store, jobs, known, environment(settings))

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        libraries = threading.Timer(FIRST_PAGE, _load_libraries)
        libraries.daemon = True
        libraries.start()
        yield
        libraries.cancel()
        jobs.close()

    app = Starlette(
        routes=_routes(),
        middleware=[Middleware(Guard, settings=settings, tokens=known, page=_refusal, locked=_locked)],
        exception_handlers={
            HTTPException: _refused,
            ClientDisconnect: _left,
            ValueError: _wrong,
            Exception: _broken,
            **dict.fromkeys(_WRITING, _unwritten),
        },
        lifespan=life,
    )
    app.state.site = site
    app.state.ending = lambda: False
    return app


def end_streams_with(app: Starlette, server: uvicorn.Server) -> None:
    """Pages that follow a run are let go once their server ends, which waits for them otherwise.

    Parameters
    ----------
    app : of ``create_app``
    server : that serves it
    """
    app.state.ending = lambda: server.should_exit


def _routes() -> list[Route | Mount]:
    static = StaticFiles(directory=str(files("multikernel.app.web") / "static"))
    one = "/data/{dataset}"
    own = "/runs/{run}"
    model = "/models/{model}"

    def post(path: str, handler: object, changes: bool = True) -> Route:
        return Route(path, posted(handler, changes=changes), methods=["POST"])  # type: ignore[arg-type]

    return [
        Route("/", page_of(data.start)),
        post("/data", data.upload),
        post("/data/known", data.known),
        Route(one, page_of(data.look)),
        post(f"{one}/learn", learn.start),
        post(f"{one}/choose", data.choose),
        post(f"{one}/settings", learn.from_file),
        post(f"{one}/rename", data.rename),
        post(f"{one}/delete", data.delete),
        Route(f"{one}/method", page_of(learn.choose)),
        post(f"{one}/method/form", learn.another, changes=False),
        post(f"{one}/method", learn.by_method),
        post("/models", models.load),
        Route(model, page_of(models.look)),
        post(f"{model}/predict", models.predict, changes=False),
        post(f"{model}/rename", models.rename),
        post(f"{model}/delete", models.delete),
        Route("/runs", page_of(runs.index)),
        Route("/runs/compare", page_of(runs.compare)),
        Route("/runs/delete", page_of(runs.delete_asked)),
        post("/runs/delete", runs.delete_several),
        Route(own, page_of(result.look)),
        Route(f"{own}/events", runs.events),
        post(f"{own}/stop", runs.stop),
        post(f"{own}/again", runs.again),
        post(f"{own}/worth", learn.worth),
        post(f"{own}/rename", runs.rename),
        post(f"{own}/note", runs.note),
        post(f"{own}/delete", runs.delete),
        Route(f"{own}/rows", page_of(errors.look)),
        Route(f"{own}/columns", page_of(explore.columns)),
        Route(f"{own}/columns.svg", page_of(explore.columns_file)),
        Route(f"{own}/map", page_of(explore.mapped)),
        Route(f"{own}/map.svg", page_of(explore.map_file)),
        Route(f"{own}/kernels", page_of(explore.kernels)),
        Route(f"{own}/kernels.svg", page_of(explore.kernels_file)),
        Route(f"{own}/sample", page_of(predict.sample)),
        post(f"{own}/predict", predict.table, changes=False),
        post(f"{own}/predict-one", predict.one, changes=False),
        Route(f"{own}/charts/{{name}}.svg", page_of(take_home.chart)),
        Route(f"{own}/files/{{name}}", page_of(take_home.file)),
        Mount("/static", static),
    ]


def _load_libraries() -> None:
    """What the first page does not need, and the others do."""
    from multikernel.app.web import profile  # noqa: F401


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = _TAKES_FORMS if error.status_code == 405 else str(error.detail)
    if sentence == "Not Found":  # there is no sentence of our own
        sentence = "There is no page at this address; begin at the data."
    return _page(request, error.status_code, sentence, dict(error.headers or {}))


def _refusal(scope: Scope, status: int, sentence: str) -> Response:
    """A page that refuses a request before anything of it is read."""
    return _page(Request(scope), status, sentence, {"Connection": "close"})


def _locked(scope: Scope) -> Response:
    """The page for who has no session; it needs no other file."""
    site: Site = scope["app"].state.site
    return HTMLResponse(site.templates.get_template("locked.html").render(), 403, {"Connection": "close"})


async def _left(request: Request, error: Exception) -> Response:
    """To who closed the page while sending a form; nobody reads it."""
    return Response(status_code=400)


async def _wrong(request: Request, error: Exception) -> Response:
    return _page(request, 400, str(error))


async def _unwritten(request: Request, error: Exception) -> Response:
    if isinstance(error, FileNotFoundError):
        return _page(request, 404, _LOST, delete=_deleted_by(request))
    why = getattr(error, "strerror", None) or str(error)
    return _page(request, 507, f"The server cannot write to its folder ({why}); make room on the disk and try again.")


async def _broken(request: Request, error: Exception) -> Response:
    return _page(request, 500, f"The server ran into an error of its own: {type(error).__name__}: {error}")


def _deleted_by(request: Request) -> str:
    """The address that deletes the data set, the run or the model whose own page this is; "" on other pages."""
    site: Site = request.app.state.site
    path: str = request.url.path.removeprefix(site.settings.root_path)
    own = len(request.path_params) == 1 and path.count("/") == 2
    if own and not site.settings.read_only:
        return site.url(f"{path}/delete")
    return ""


def _page(
    request: Request, status: int, sentence: str, headers: dict[str, str] | None = None, delete: str = ""
) -> Response:
    if "session_name" not in request.scope:  # what was sent broke off before it was looked at
        return _locked(request.scope)
    site: Site = request.app.state.site
    title = _TITLES.get(status, "That did not work")
    before = urlsplit(request.headers.get("referer", ""))
    ours = status in (400, 413) and before.netloc == request.headers.get("host", "")
    if ours and before.path[:2] not in ("", "//"):
        back = f"{before.path}?{before.query}".rstrip("?")
    else:
        back = ""
    answer = site.page(request, "error.html", status, title=title, said=sentence, back=back, delete=delete)
    answer.headers.update(headers or {})
    return answer


def serve(settings: Settings, port: int, *, browser: bool, report: Callable[[str], object], key: str = "") -> None:
    """Serve on this machine until Ctrl-C.

    Parameters
    ----------
    settings : how it is started
    port : int, 0 for a free one
    browser : bool, whether the first page is opened
    report : called with the address, which holds the key
    key : str, by which it is entered; "" for a new one

    Raises
    ------
    ValueError : where the key is one that can be guessed
    OSError : where another program has the port or the folder, or the folder is another user's
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
                http=few_waiting(),  # type: ignore[arg-type]
                backlog=MOST_WAITING,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=1,
            )
        )
        end_streams_with(application, server)
        report(f"multikernel is at {address}  (Ctrl-C ends it; who has this address can use it)")
        if browser:
            stack.enter_context(_opened(address, settings.home))
        stack.enter_context(contextlib.suppress(KeyboardInterrupt))  # which is how a person ends it
        server.run(sockets=[listener])


@contextlib.contextmanager
def _only_server_of(home: Path) -> Iterator[None]:
    """No other server that changes the folder meanwhile, whose runs would be taken for those of a server that ended."""
    with held_alone(private_folder(home) / "lock") as alone:
        if not alone:
            raise OSError(f"another server uses {home}; use that one, end it, or give another folder by --home")
        yield


@contextlib.contextmanager
def _opened(address: str, home: Path) -> Iterator[None]:
    """The address in the browser, led there by a file: other users see the commands that are run, and so an address."""
    leads = home / f"open-{secrets.token_hex(4)}.html"
    private_file(leads, new=True)
    leads.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>multikernel</title>'
        f'<meta http-equiv="refresh" content="0; url={escape(address)}"></head>'
        f'<body><p><a href="{escape(address)}">Open multikernel</a></p></body></html>',
        encoding="utf-8",
    )
    opens = threading.Timer(0.3, webbrowser.open, [leads.as_uri()])
    opens.start()
    try:
        yield
    finally:
        opens.cancel()
        leads.unlink(missing_ok=True)
