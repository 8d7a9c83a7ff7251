"""Long use: many runs leave nothing behind, and a comparison of methods."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from app_server import Person, people, said, saved, served_by_command, serving

_SETTLED = 50  # runs after which caches are full
_RESTARTS = 4
_TICK = os.sysconf("SC_CLK_TCK")
_METHODS: list[tuple[str, dict[str, str]]] = [  # on classes, then on numbers
    ("AverageMKLClassifier", {"kernels-0": "linear", "p-C": "1"}),
    ("L1MKLClassifier", {"kernels-0": "types", "p-C": "1"}),
    ("EasyMKLClassifier", {"kernels-0": "gaussians", "p-lam": "0.1"}),
    ("RLS2Classifier", {"kernels-0": "linear", "p-alpha": "1"}),
    ("AverageMKLRegressor", {"kernels-0": "gaussians", "p-alpha": "0.1"}),
    ("L1MKLRegressor", {"kernels-0": "types", "p-alpha": "0.1"}),
]


def _numbers(n: int) -> str:
    """A small table of numbers."""
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(n, 3)).round(3)
    return "a,b,y\n" + "".join(f"{a},{b},{a + b * b + 0.1 * c:.3f}\n" for a, b, c in rows)


def _processor(process: int) -> float:
    """Seconds that a process has used."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICK


def _milliseconds(process: int, person: Person, page: str) -> int:
    """Processor time of the server for a page."""
    before = _processor(process)
    for _ in range(10):
        assert person.get(page).status_code == 200
    return round(100 * (_processor(process) - before))


def _kept(process: int, home: Path, person: Person, run: str) -> dict[str, int]:
    """What a server holds and needs.

    Open files, threads, children, kB of memory, of its list of runs and of the whole folder, and milliseconds for the
    first page, for the list of runs and for a result.
    """
    of = Path(f"/proc/{process}")
    status = dict(line.split(":", 1) for line in (of / "status").read_text().splitlines())
    children = [task.read_text().split() for task in of.glob("task/*/children")]
    return {
        "files": len(os.listdir(of / "fd")),
        "threads": int(status["Threads"]),
        "children": sum(map(len, children)),
        "memory": int(status["VmRSS"].split()[0]),
        "list": sum(file.stat().st_size for file in home.glob("multikernel.sqlite*")) >> 10,
        "folder": sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) >> 10,
        "first page": _milliseconds(process, person, "/"),
        "runs": _milliseconds(process, person, "/runs"),
        "result": _milliseconds(process, person, run),
    }


def _learned(person: Person, sets: list[str], k: int) -> httpx.Response:
    """The page of run k: most by a method, some by the automatic estimator."""
    if k % 100 == 0:
        return person.learned(person.submit(f"{sets[0]}/learn", target="bought"))
    name, form = _METHODS[k % len(_METHODS)]
    return person.learned(person.submit(f"{sets[name.endswith('Regressor')]}/method", method=name, **form))


def _used(person: Person, data: str, run: str, rows: str) -> None:
    """What a person does with a run: looks, predicts, explains, takes it home, and compares."""
    assert saved(person.submit(f"{run}/predict", files=[("files", ("new.csv", rows))])).count("\n") == 10
    for page in (
        f"{run}/sample?row=3",
        f"{run}/rows",
        f"{run}/files/report.html",
        f"{run}/files/run.py",
        data,
        "/runs",
    ):
        assert person.get(page).status_code == 200
    assert person.submit(f"{person.upload(('more.csv', rows)).url.path}/delete").status_code == 200


@pytest.mark.study
def test_a_thousand_runs_leave_nothing_behind(tmp_path: Path) -> None:
    count = int(os.environ.get("MULTIKERNEL_SOAK", "1000"))
    starts = {1 + count * part // _RESTARTS for part in range(_RESTARTS)}
    before: dict[str, Any] = {}
    begin = time.monotonic()
    with ExitStack() as last:
        for k in range(1, count + 1):
            if k in starts:  # ended and started again, with the runs of before
                last.close()
                address, process = last.enter_context(served_by_command(tmp_path))
                person = last.enter_context(Person(address))
                start = k
            if k == 1:
                sets = [
                    person.upload((name, text)).url.path
                    for name, text in (("people.csv", people(20)), ("numbers.csv", _numbers(20)))
                ]
                for page, target in zip(sets, ("bought", "y"), strict=True):
                    person.submit(f"{page}/choose", target=target)
            page = _learned(person, sets, k)
            assert "How good is it?" in page.text, (k, said(page))
            run = page.url.path
            if k % 10 == 0:
                classes = k % 100 == 0 or k % len(_METHODS) < 4
                _used(person, sets[not classes], run, people(9, 1) if classes else _numbers(9))
                after = _kept(process.pid, tmp_path, person, run)
                print(k, round(time.monotonic() - begin), after, flush=True)
                before = after if k - start <= _SETTLED else before
                assert after["files"] <= before["files"] + 5
                assert after["threads"] <= before["threads"] + 5
                assert after["children"] <= 1
                assert after["memory"] <= before["memory"] + 30_000
            elif k % 10 == 5:
                assert person.submit(f"{run}/delete").status_code == 200
        for folder in (tmp_path / "runs").iterdir():
            person.submit(f"/runs/{folder.name}/delete")
        assert not list((tmp_path / "runs").iterdir())
        print(_kept(process.pid, tmp_path, person, sets[0]), flush=True)


@pytest.mark.study
def test_methods_are_compared_on_the_same_rows(tmp_path: Path) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people(40))).url.path
        page = person.learned(person.submit(f"{data}/learn", target="bought", how="comparison"))
        assert "All methods were scored on the same held-out rows" in said(page)
        assert page.text.count("random forest") >= 2
        assert person.get(f"{page.url.path}/files/model.mk").status_code == 404
        assert person.get(f"{page.url.path}/files/report.html").status_code == 200
