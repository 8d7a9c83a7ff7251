"""The command line as a fixture."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from csv_tables import Invoke
from typer.testing import CliRunner

from multikernel.app.cli.program import app


@pytest.fixture(scope="session", autouse=True)
def _one_command() -> Iterator[None]:
    """The tree of commands is built once, and not in every call: that took a third of the tests of the command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(autouse=True)
def _no_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests name the data directory that they mean."""
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run the command line in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])
