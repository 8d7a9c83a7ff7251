"""A server for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from app_server import Person, serving
from forked_worker import WIDTHS

from multikernel.app.jobs import compare


@pytest.fixture(scope="session", autouse=True)
def _one_width() -> Iterator[None]:
    """The tuned kernel beside each run has one width: the choice among several took a third of a run of few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "_GAMMAS", WIDTHS)
        yield


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with small limits."""
    limits = {"upload_limit": 2 << 20, "unpacked_limit": 8 << 20, "most_columns": 500}
    with serving(tmp_path_factory.mktemp("home"), **limits) as found:
        yield found


@pytest.fixture(scope="module")
def person(address: str) -> Iterator[Person]:
    """Somebody who uses it."""
    with Person(address) as found:
        yield found
