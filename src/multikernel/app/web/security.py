"""Who may ask, and for how much: hosts, origins, tokens, sizes, and what a page may do in the browser.

A page of another site can send requests to this machine, and a name of another site can be made to point here. So a
request must name a host that is known, come from a page of that host where it says from where it comes, and carry a
token that only our pages hold where it changes something.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from multikernel.app.web.settings import Settings

_COOKIE = "multikernel_session"
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


@dataclass(frozen=True)
class Tokens:
    """Tokens of sessions: what a page carries and another site cannot know."""

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def of(self, session: str) -> str:
        """The token of a session."""
        return hmac.new(self.secret, session.encode(), sha256).hexdigest()

    def check(self, session: str, token: Any) -> None:
        """HTTPException 403 where the token is not that of the session."""
        if not (isinstance(token, str) and token.isascii() and hmac.compare_digest(self.of(session), token)):
            raise HTTPException(
                403,
                "This form is no longer valid, because the server was restarted; load the page again and repeat it.",
            )


class Guard:
    """Refuses requests of other sites and too large ones, names the session, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, settings: Settings, page: Callable[[Scope, int, str], ASGIApp]) -> None:
        self.app = app
        self.settings = settings
        self.page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        session, is_new = _session(headers)
        scope["session_name"] = session

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    own.setdefault(name, value)
                own.setdefault("Cache-Control", "no-store")
                if is_new:
                    path = self.settings.root_path or "/"
                    own.append("Set-Cookie", f"{_COOKIE}={session}; Path={path}; HttpOnly; SameSite=Strict")
            await send(message)

        refusal = self._refusal(headers, scope)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        root = self.settings.root_path
        if root and (scope["path"] == root or scope["path"].startswith(f"{root}/")):  # a proxy that does not strip it
            scope = {**scope, "path": scope["path"][len(root) :] or "/"}
        await self.app(scope, _limited(receive, self.settings.upload_limit), answer)

    def _refusal(self, headers: Headers, scope: Scope) -> ASGIApp | None:
        host = headers.get("host", "")
        if _name(host) not in self.settings.hosts:
            return PlainTextResponse(
                f"This server is not known as {host!r}; open it as http://127.0.0.1, or start it with --host-name.", 400
            )
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return PlainTextResponse("This request comes from a page of another site, and is refused.", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.settings.upload_limit:
            return self.page(scope, 413, _too_large(self.settings.upload_limit))
        return None


def _name(host: str) -> str:
    """A host without its port."""
    if host.rpartition(":")[2].isdecimal():
        return host.rpartition(":")[0]
    return host


def _session(headers: Headers) -> tuple[str, bool]:
    """The name of the session, and whether it is new."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
    except Exception:  # a cookie that is none
        morsel = None
    if morsel is not None and 20 <= len(morsel.value) <= 100:
        return morsel.value, False
    return secrets.token_urlsafe(24), True


def _limited(receive: Receive, limit: int) -> Receive:
    """A body that is refused once it is too large, also where its length was not given."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise HTTPException(413, _too_large(limit), headers={"Connection": "close"})
        return message

    return counted


def _too_large(limit: int) -> str:
    return (
        f"The file is larger than {limit >> 20} MB, the most that is taken; give fewer rows, or start the server with "
        "a larger --limit."
    )
