"""What the command line shows of a long fit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from multikernel import L1MKLClassifier, kernels
from multikernel.app.cli import console

X = np.random.default_rng(0).normal(size=(60, 2))
MODEL = L1MKLClassifier(kernels.rbf_grid([0.1, 1.0, 10.0]))


def test_a_pipe_gets_a_line_after_each_long_silence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with console.ConsoleWatch().fitting("fit"):
        MODEL.fit(X, X[:, 0] > 0)
    assert capsys.readouterr().err == ""  # nobody had to wait
    monkeypatch.setattr(console, "_SILENCE", 0.0)
    with console.ConsoleWatch().fitting("fit"):
        MODEL.fit(X, X[:, 0] > 0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 3
    assert all(line.startswith("fit: L1MKLClassifier: step ") and "duality gap" in line for line in lines)


def test_a_terminal_gets_a_bar_with_the_certificate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with console.ConsoleWatch().fitting("fit"):
        MODEL.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    shown = capsys.readouterr().err
    assert "duality gap" in shown
    assert "100 %" in shown
