"""The command line as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest
from csv_tables import Invoke
from typer.testing import CliRunner

from multikernel.app.cli.program import app


@pytest.fixture(autouse=True)
def _no_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests name the data directory that they mean."""
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run the command line in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])
