"""What the command line shows of a long fit."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from csv_tables import Invoke

from multikernel import L1MKLClassifier, kernels
from multikernel.app.cli import console
from multikernel.app.jobs import fit

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


def test_a_large_fit_says_what_it_takes_or_is_refused_before_it_begins(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fit, "_LARGE", 50)
    monkeypatch.setattr(fit, "_MUCH", 1e5)
    Path("t.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{a > 0}\n" for a, b in X))
    told = invoke("fit", "t.csv", "--target", "y", "--method", "l1mkl", "--C", "1")
    assert told.exit_code == 0
    first = told.stderr.splitlines()[0]
    assert first.startswith("L1MKLClassifier: ")
    assert "kernels of 60 samples, stored; fewer rows take less, and so does --approximation nystroem" in first
    monkeypatch.setattr("multikernel._memory.available_memory", lambda: 1e5)
    refused = invoke("fit", "t.csv", "--target", "y", "--method", "l1mkl", "--C", "1", "--out", "n.mk")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: there is not enough memory for this job: L1MKLClassifier: ")
    assert "are available" in refused.stderr
    assert not Path("n.mk").exists()


def test_a_terminal_is_told_what_a_command_reads(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    console.begin("Reading model.mk")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    console.begin("Reading model.mk")
    assert capsys.readouterr().err == "Reading model.mk ...\n"
