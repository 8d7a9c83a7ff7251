"""Connections that ask for nothing: there may be so many, and the oldest is closed for the next.

Every user of this machine can connect to the server, and say nothing or little. Each connection is an open file, of
which a process may have some hundred; so who holds a thousand of them would keep out the person who runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

MOST_WAITING = 100  # a browser opens up to 6 connections to a server, and macOS allows 256 open files
_Protocol = Any  # of uvicorn, which has two of them


def few_waiting(most: int = MOST_WAITING) -> Callable[..., asyncio.Protocol]:
    """What makes the protocol of each connection of a server of uvicorn, as its ``http``.

    Parameters
    ----------
    most : int, connections whose first request is not there yet
    """
    waiting: dict[_Protocol, None] = {}  # in the order in which they came

    def made(**given: Any) -> asyncio.Protocol:
        protocol: _Protocol = AutoHTTPProtocol(**given)
        begin = protocol.connection_made

        def begun(transport: asyncio.Transport) -> None:
            begin(transport)
            for each in [each for each in waiting if each.cycle is not None or each.transport.is_closing()]:
                del waiting[each]
            if len(waiting) >= most:
                oldest = next(iter(waiting))
                del waiting[oldest]
                oldest.transport.abort()
            waiting[protocol] = None

        protocol.connection_made = begun
        return protocol

    return made
