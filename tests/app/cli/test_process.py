"""The command as a process: what a pipe gets, and what happens without the extra's libraries."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from csv_tables import Invoke, write_table

from multikernel.app.cli.console import show_table


def _run(*words: str, cwd: Path, code: str | None = None) -> subprocess.CompletedProcess[bytes]:
    start = [sys.executable, "-c", code] if code else [sys.executable, "-m", "multikernel.app.cli.main"]
    return subprocess.run([*start, *words], cwd=cwd, capture_output=True, timeout=600, check=False)


def test_a_pipe_gets_plain_lines(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number")
    done = invoke("fit", "train.csv", "--target", "target", "--lam", "0.1")
    assert done.exit_code == 0, done.stderr
    assert all(character >= " " or character == "\n" for character in done.output)
    assert done.stderr.splitlines() == [f"cross-validation: fold {k} of 5" for k in range(1, 6)]


def test_a_failure_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    done = _run("fit", "nothing.csv", "--target", "y", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"error: nothing.csv: No such file or directory\n"


def test_bad_usage_is_status_two(tmp_path: Path) -> None:
    done = _run("fit", cwd=tmp_path)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_version_and_help(tmp_path: Path) -> None:
    assert _run("--version", cwd=tmp_path).stdout.decode() == f"multikernel {version('multikernel')}\n"
    shown = _run("--help", cwd=tmp_path).stdout.decode()
    assert all(command in shown for command in ("demo", "fit", "predict", "datasets"))


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import importlib.util, sys; whole = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'jinja2' else whole(name, *more)\n"
        "from multikernel.app.cli.main import main; main()"
    )
    done = _run(cwd=tmp_path, code=code)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"the command line needs jinja2: install multikernel[app]" in done.stderr


def test_names_with_brackets_are_not_markup(capsys) -> None:  # type: ignore[no-untyped-def]
    show_table("Kernels", ["name", "weight"], [["RBF(gamma=1).on(['age'])[bold]", "0.5"]])
    assert "RBF(gamma=1).on(['age'])[bold]" in capsys.readouterr().out
