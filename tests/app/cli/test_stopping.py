"""Ctrl-C, and the shell's completion: what only a process can show."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from csv_tables import write_table
from typer.testing import CliRunner

from cases import one_in
from multikernel.app.cli.program import app

_START = [sys.executable, "-m", "multikernel.app.cli.main"]
_FIT = ("fit", "train.csv", "--target", "target", "--lam", "0.1", "--kernels", "rls2")


@pytest.mark.parametrize("number", one_in(2, [signal.SIGINT, signal.SIGTERM]))
def test_a_stopped_fit_leaves_one_line_and_no_file(tmp_path: Path, number: signal.Signals) -> None:
    write_table(tmp_path / "train.csv", "word", 300)
    words = [*_START, *_FIT, "--save-config", "run.toml"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline() == "cross-validation: fold 1 of 5\n"
        process.send_signal(number)
        said = process.stderr.read().splitlines()
        assert process.wait(30) == 1
        assert process.stdout.read() == ""
    assert said[-1] == "error: stopped before the end"
    assert all(line.startswith("cross-validation: ") for line in said[:-1])
    assert [path.name for path in tmp_path.iterdir()] == ["train.csv"]


def test_a_terminal_gets_a_bar_and_the_results_stay_plain(tmp_path: Path) -> None:
    write_table(tmp_path / "train.csv", "number", 40)
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [*_START, *_FIT[:-2], "--json"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
            timeout=600,
            check=True,
        )
        shown = os.read(ours, 1 << 16).decode(errors="replace")  # what is read at once may end within a character
    finally:
        os.close(ours)
        os.close(theirs)
    assert "cross-validation" in shown
    assert "\x1b[" in shown  # the bar is drawn over itself
    assert done.stdout.startswith(b'{\n  "command": "fit"')
    assert b"\x1b" not in done.stdout


def _asked(line: str) -> dict[str, str]:
    """The variables by which a shell asks how a line may go on."""
    return {"_MULTIKERNEL_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}


def _completed(line: str) -> list[str]:
    return CliRunner().invoke(app, [], prog_name="multikernel", env=_asked(line)).stdout.split()


def test_the_shell_completes_commands(tmp_path: Path) -> None:
    asked = os.environ | _asked("multikernel me")
    done = subprocess.run(_START, cwd=tmp_path, env=asked, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout.split() == ["methods"]


def test_methods_columns_and_parameters_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "train.csv", "number", 20)
    assert _completed("multikernel fit train.csv --method l") == ["l1mkl", "lpmkl", "localized", "linearrls2"]
    assert _completed("multikernel fit train.csv --target ") == ["age", "colour", "height", "target"]
    assert "smoothing=" in _completed("multikernel fit train.csv --method smkl --set s")
    assert _completed("multikernel fit train.csv --kernels r") == ["rbf:0.01,0.1,1", "rls2"]
