"""A limit for connections that have sent no request: where there are more, the oldest is closed.

Every user of this computer can connect to the server without sending a request. Each connection is an open file, of
which a process may have a few hundred; without a limit, idle connections could lock out the person who runs the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

MOST_WAITING = 100  # a browser opens up to 6 connections to a server, and macOS allows 256 open files
_Protocol = Any  # of uvicorn, which has two classes of protocols


def limit_waiting(limit: int = MOST_WAITING) -> Callable[..., asyncio.Protocol]:
    """A factory of the protocols of connections, for the argument ``http`` of a uvicorn server.

    Parameters
    ----------
    limit : int, the largest number of connections whose first request has not arrived yet
    """
    waiting: dict[_Protocol, None] = {}  # in the order of their arrival

    def protocol_of_connection(**options: Any) -> asyncio.Protocol:
        protocol: _Protocol = AutoHTTPProtocol(**options)
        begin = protocol.connection_made

        def connection_made(transport: asyncio.Transport) -> None:
            begin(transport)
            for connection in [
                connection
                for connection in waiting
                if connection.cycle is not None or connection.transport.is_closing()
            ]:
                del waiting[connection]
            if len(waiting) >= limit:
                oldest = next(iter(waiting))
                del waiting[oldest]
                oldest.transport.abort()
            waiting[protocol] = None

        protocol.connection_made = connection_made
        return protocol

    return protocol_of_connection
