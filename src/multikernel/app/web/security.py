"""Which requests are answered: keys, hosts, origins, tokens, sizes, and what a page may do in the browser.

Other users of this computer can send requests to the server as well. Therefore the address that is opened and printed
contains a key; a browser that sends the key gets a cookie, and requests without this cookie are refused.

A page of another site can send requests to this server, and the name of another site can be made to point to this
computer. Therefore a request must name a known host; where it has an origin, this must be a page of the same host; and
where it changes something, it must carry a token that only the pages of this server contain.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from h11 import LocalProtocolError
from markupsafe import escape
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from multikernel.app.web.settings import Settings

_COOKIE = "multikernel"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

# The browser keeps a private copy of a page that answers a form: without it, the back button would ask whether to send
# the form again.
_FORM_ANSWER = "private, no-cache"


@dataclass(frozen=True)
class Tokens:
    """The secrets of the server: its key, the tokens of forms, and the cookies of sessions.

    Parameters
    ----------
    key : str, part of the address that is opened and printed; it signs sessions, so that they remain valid for a server
        that is started again with the same key
    """

    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def opens(self, key: str) -> bool:
        """Whether this is the key of the server."""
        return hmac.compare_digest(self.key.encode(), key.encode("utf-8", "surrogateescape"))

    def of(self, session: str) -> str:
        """The token of the forms of a session."""
        return self._signed("form", session)

    def cookie(self, session: str) -> str:
        """The cookie of a session."""
        return f"{session}.{self._signed('cookie', session)}"

    def session(self, cookie: str) -> str | None:
        """The session of a cookie; None where the cookie is not from this server."""
        session, _, signature = cookie.partition(".")
        valid = cookie.isascii() and hmac.compare_digest(self._signed("cookie", session), signature)
        if valid:
            return session
        return None

    def check(self, session: str, token: Any) -> None:
        """HTTPException 403 where the token does not belong to the session."""
        if not (isinstance(token, str) and token.isascii() and hmac.compare_digest(self.of(session), token)):
            raise HTTPException(
                403,
                "This form is no longer valid, because it was opened in another session; load the page again and "
                "repeat it.",
            )

    def _signed(self, purpose: str, session: str) -> str:
        return hmac.new(
            self.key.encode("utf-8", "surrogateescape"), f"{purpose} {session}".encode(), sha256
        ).hexdigest()


class Guard:
    """Refuses requests without a session, from other sites, and of too large size; sets the headers of all answers."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        tokens: Tokens,
        page: Callable[[Scope, int, str], ASGIApp],
        locked: Callable[[Scope], ASGIApp],
    ) -> None:
        self.app = app
        self.settings = settings
        self.tokens = tokens
        self.page = page
        self.locked = locked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    response_headers.setdefault(name, value)
                response_headers.setdefault("Cache-Control", _FORM_ANSWER if scope["method"] == "POST" else "no-store")
            with suppress(LocalProtocolError):  # the client broke the protocol, and was already answered with an error
                await send(message)

        refusal = (
            _refuse_foreign(headers, self.settings) or self._entry(headers, scope) or self._oversize(headers, scope)
        )
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        root = self.settings.root_path
        if root and (scope["path"] == root or scope["path"].startswith(f"{root}/")):  # a proxy that does not strip it
            scope = {**scope, "path": scope["path"][len(root) :] or "/"}
        await self.app(scope, _limit_body(receive, self.settings.upload_limit), answer)

    def _entry(self, headers: Headers, scope: Scope) -> ASGIApp | None:
        """Set the session of a request; returns the answer to requests with the key, or without a session."""
        session = self.tokens.session(_cookie(headers))
        query_fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        key = dict(query_fields).get("token")
        if scope["method"] in ("GET", "HEAD") and key is not None and (session or self.tokens.opens(key)):
            root = self.settings.root_path
            remaining_query = urlencode([(name, value) for name, value in query_fields if name != "token"])
            path = scope["path"].removeprefix(root) if root else scope["path"]
            address = f"{root}/{quote(path.lstrip('/'))}" + (f"?{remaining_query}" if remaining_query else "")
            cookie = self.tokens.cookie(session or secrets.token_hex(16))
            return _admit(address, f"{_cookie_name(headers)}={cookie}; Path={root or '/'}", headers)
        if session is None:
            return self.locked(scope)
        scope["session_name"] = session
        return None

    def _oversize(self, headers: Headers, scope: Scope) -> ASGIApp | None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.settings.upload_limit:
            return self.page(scope, 413, _too_large(self.settings.upload_limit))
        return None


def _refuse_foreign(headers: Headers, settings: Settings) -> ASGIApp | None:
    """The refusal of a request to another host, or from a page of another site; None otherwise."""
    host = headers.get("host", "")
    if _name(host) not in settings.hosts:
        return PlainTextResponse(
            f"This server is not known as {host!r}; open it as http://127.0.0.1, or start it with --host-name.", 400
        )
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return PlainTextResponse("This request comes from a page of another site, and is refused.", 403)
    return None


def _admit(address: str, cookie: str, headers: Headers) -> Response:
    """Lead the browser to the address without the key, and set the cookie.

    A browser that came from another page or from a file sends no strict cookie with a redirection; it does send the
    cookie when a page of this server leads on, so such browsers get a page.
    """
    answer: Response
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        answer = RedirectResponse(address, 303)
    else:
        answer = HTMLResponse(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>multikernel</title>'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}"></head>'
            f'<body><p><a href="{escape(address)}">Go on</a></p></body></html>'
        )
    answer.headers["Set-Cookie"] = f"{cookie}; HttpOnly; SameSite=Strict"
    return answer


def _name(host: str) -> str:
    """A host without its port."""
    if host.rpartition(":")[2].isdecimal():
        return host.rpartition(":")[0]
    return host


def _cookie_name(headers: Headers) -> str:
    """The name of the cookie, with the port: a browser sends all cookies of a host to each server of this host."""
    port = headers.get("host", "").rpartition(":")[2]
    if port.isdecimal():
        return f"{_COOKIE}_{port}"
    return _COOKIE


def _cookie(headers: Headers) -> str:
    """The cookie of this server in a request; "" where there is none."""
    return cookie_parser(headers.get("cookie", "")).get(_cookie_name(headers), "")


def _limit_body(receive: Receive, limit: int) -> Receive:
    """Refuse a body as soon as it exceeds the limit, also where its length was not declared."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, _too_large(limit), headers={"Connection": "close"})
        return message

    return counted


def _too_large(limit: int) -> str:
    return (
        f"The file is larger than {limit >> 20} MB, the most that is taken; give fewer rows, or start the server with "
        "a larger --limit."
    )
