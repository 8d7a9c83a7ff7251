"""The former module of ``typed``: scripts that earlier versions of the application exported import it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from multikernel._warnings import warn_user
from multikernel.tables import columns


def typed(*args: Any, **kwargs: Any) -> Iterator[tuple[columns.Column, Any]]:
    """The columns of a table; see ``multikernel.tables.columns.typed``."""
    warn_user("multikernel.kernels.columns.typed is now multikernel.tables.columns.typed", FutureWarning)
    return columns.typed(*args, **kwargs)
