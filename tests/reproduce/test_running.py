"""Cells are measured once, after what they need; a failure is told and stops nothing; a killed run goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multikernel.reproduce import catalogue, running
from multikernel.reproduce.command import CELLS, reproduce
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.experiment import Cell, Experiment, Figure, Scope, grid
from multikernel.reproduce.pages import write as pages
from multikernel.reproduce.published import PAPERS, published
from multikernel.reproduce.results import Ledger, Results
from multikernel.reproduce.running import results_of, run


def measure(cell: Cell, source: DataSource, given: Mapping[str, Any]) -> Mapping[str, Any]:
    if cell["seed"] == 3:
        raise ArithmeticError("no number")
    return {"value": given.get("value", 10) + cell["seed"]}


def cells(quick: bool) -> list[Cell]:
    first = Cell.of(data="", seed=1)
    return [Cell.of(data="", seed=seed).after(first) for seed in (2, 3, 4)]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Experiment:
    made = Experiment("nkrr", "made-up", "", "", cells, measure)
    monkeypatch.setitem(catalogue._BY_KEY, made.key, made)
    return made


def test_order_failures_and_what_is_kept(made_up: Experiment, tmp_path: Path) -> None:
    told: list[str] = []
    ledger = Ledger(tmp_path / "cells.jsonl")
    for _ in range(2):  # the second time nothing is left but what failed
        with pytest.raises(ValueError, match=r"1 cells could not be measured.*ArithmeticError: no number"):
            run([made_up], ledger, DataSource(), scope=Scope.USUAL, jobs=1, report=told.append)
    assert [found["value"] for found in results_of(made_up, ledger).measurements] == [13, 15]
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 3
    assert [line.split(":")[0] for line in told if not line.startswith("failed")] == [
        "nkrr/made-up 1",
        "nkrr/made-up 2",
        "nkrr/made-up 4",
    ]
    assert "cell 1 of 4, " in told[0]


def test_a_killed_process_is_told_in_a_sentence(
    made_up: Experiment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def submit(*task: Any) -> Any:
        raise BrokenExecutor("A child process terminated abruptly")

    monkeypatch.setattr(running, "_workers", lambda jobs, source: nullcontext(submit))
    ledger = Ledger(tmp_path / "cells.jsonl")
    with pytest.raises(ValueError, match=r"was killed, .*; finished cells are kept"):
        run([made_up], ledger, DataSource(), scope=Scope.USUAL, jobs=2, report=len)


def test_a_system_that_does_not_say_the_peak_of_the_memory_measures_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "status").write_text("Name:\tpython\nVmRSS:\t 1024 kB\n")
    monkeypatch.setattr(running, "_STATUS", tmp_path / "status")
    assert running._peak_memory() == 0.0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak of the memory cannot begin anew")
def test_a_line_says_the_memory_of_its_own_cell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def filled(cell: Cell, source: DataSource, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"sum": float(np.ones(cell["megabytes"] << 17).sum())}

    made = Experiment("nkrr", "made-up", "", "", lambda quick: grid(data=[""], megabytes=[300, 1]), filled)
    monkeypatch.setitem(catalogue._BY_KEY, made.key, made)
    ledger = Ledger(tmp_path / "cells.jsonl")
    run([made], ledger, DataSource(), scope=Scope.USUAL, jobs=1, report=len)
    large, small = (json.loads(line)["megabytes"] for line in ledger.file.read_text().splitlines())
    assert 270 < large - small < 330


def test_a_report_is_written_where_some_cells_fail(
    monkeypatch: pytest.MonkeyPatch, small_data: Path, tmp_path: Path
) -> None:
    surfaces = catalogue.experiment("nkrr/surfaces")

    def some(cell: Cell, source: DataSource, given: Mapping[str, Any]) -> Mapping[str, Any]:
        if cell["lambda"] == 10:
            raise ArithmeticError("no number")
        return surfaces.measure(cell, source, given)

    monkeypatch.setattr(catalogue, "EXPERIMENTS", (replace(surfaces, measure=some),))
    monkeypatch.setitem(catalogue._BY_KEY, surfaces.key, replace(surfaces, measure=some))
    monkeypatch.setattr(pages, "published", lambda: [row for row in published() if row.place == "Figure 1"])
    with pytest.raises(ValueError, match="1 cells could not be measured"):
        reproduce("nkrr", tmp_path, figure=1, quick=True, data_dir=small_data, report=len)
    page = (tmp_path / "nkrr.html").read_text()
    assert page.count('<tr class="not-run') == 1
    assert "cells measured" in (tmp_path / "index.html").read_text()


def tables(out: Path) -> str:
    """The page without what differs from run to run: the time and the machine."""
    return re.sub(r"<footer>.*?</footer>", "", (out / "nkrr.html").read_text(), flags=re.DOTALL)


@pytest.mark.study
def test_a_run_that_is_killed_goes_on_to_the_same_report(small_data: Path, tmp_path: Path) -> None:
    where = ["--figure", "1", "--quick", "--data-dir", str(small_data), "--out", str(tmp_path / "killed")]
    command = [sys.executable, "-m", "multikernel.app.cli.main", "reproduce", "nkrr", *where]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stderr is not None
        assert "cell 1 of 3" in process.stderr.readline()
        process.send_signal(signal.SIGKILL)
    kept = (tmp_path / "killed" / CELLS).read_text()
    assert 1 <= len(kept.splitlines()) <= 3

    told: list[str] = []
    for name in ("killed", "whole"):
        reproduce("nkrr", tmp_path / name, figure=1, quick=True, data_dir=small_data, report=told.append)
    assert len(told) == 3 - len(kept.splitlines()) + 3
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")
    assert "lambda=100" in tables(tmp_path / "whole")


def test_a_whole_run_has_more_than_a_usual_one_and_says_how_long_that_takes(tmp_path: Path) -> None:
    cut = [each for each in catalogue.EXPERIMENTS if each.whole is not None]
    assert {each.key for each in cut} == {"dpp/curves", "dpp/parity", "dpp/structure"}
    for each in catalogue.EXPERIMENTS:
        assert bool(each.part) is (each in cut)
        assert re.search(r"hours", each.part) or each not in cut
        own = {cell.fields for cell in each.planned(Scope.WHOLE)}
        assert (own != {cell.fields for cell in each.planned(Scope.USUAL)}) is (each in cut)
    with pytest.raises(ValueError, match="either quick or whole"):
        reproduce("nkrr", tmp_path, quick=True, whole=True)


def test_a_figure_shows_a_whole_run_once_all_its_cells_are_finished() -> None:
    def planned(folds: int) -> list[Cell]:
        return grid(data=["a", "b"], folds=[folds], fold=range(folds))

    def draw(ax: Any, results: Results) -> None:
        drawn.append([entry[0]["folds"] for entry in results])

    figures = tuple(Figure(name, "See.", draw, {"data": name}) for name in "ab")
    made = Experiment(
        "nkrr", "made-up", "", "", lambda quick: planned(2), measure, draw=figures, whole=lambda: planned(3)
    )
    usual, whole = (Results(tuple((dict(cell.fields), {}) for cell in planned(folds))) for folds in (2, 3))
    drawn: list[list[int]] = []
    found = pages.Section(made, usual, Results(whole.entries[:-1]), ()).figures
    assert drawn == [[3, 3, 3], [2, 2]]
    assert [figure.see for figure in found] == ["See. The whole protocol.", "See. A part of the protocol."]


def test_data_that_are_not_there_are_told_and_left_out(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "data").mkdir()
    first = reproduce("nkrr", tmp_path, table=1, quick=True, data_dir=tmp_path / "data", report=told.append)
    assert told == ["left out, since the data are not there: breast_wisconsin, ionosphere, kin8nm, parkinsons, sonar"]
    assert "not run" in first.with_name("nkrr.html").read_text()


LONG = ("report/curves", "report/tables")  # first cells of seconds, which the studies measure


@pytest.mark.parametrize(
    "each",
    [
        pytest.param(each, id=each.key, marks=[pytest.mark.study] if each.key in LONG else [])
        for each in catalogue.EXPERIMENTS
    ],
)
def test_every_experiment_measures_a_cell_of_a_quick_run(each: Experiment, small_data: Path) -> None:
    cell = each.cells(True)[0]
    given = each.measure(cell.needs, DataSource(small_data), {}) if cell.needs else {}
    assert each.measure(cell, DataSource(small_data), given)


@pytest.mark.study
def test_a_quick_run_of_everything(small_data: Path, tmp_path: Path) -> None:
    data_dir = Path(os.environ["MULTIKERNEL_DATA"]) if "MULTIKERNEL_DATA" in os.environ else small_data
    first = reproduce("all", tmp_path, quick=True, data_dir=data_dir, jobs=2, report=len)
    pages = {page.name: page.read_text() for page in first.parent.glob("*.html")}
    assert set(pages) == {"index.html", *(f"{paper}.html" for paper in PAPERS)}
    for text in pages.values():
        assert not re.search(r'(src|href)="https?:|<script|@import', text)
    for each in catalogue.EXPERIMENTS:
        assert f'id="{each.name}"' in pages[f"{each.paper}.html"]
    assert pages["nkrr.html"].count("<svg") >= 5
