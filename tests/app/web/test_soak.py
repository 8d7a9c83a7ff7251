"""Long use: many runs leave nothing behind, and a comparison of methods."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from app_server import Person, people, said, saved, served_by_command, serving

_SETTLED = 50  # runs after which caches are full


def _kept(process: int, home: Path) -> dict[str, float]:
    """What a server holds: open files, threads, children, and kB of memory and of its list of runs."""
    of = Path(f"/proc/{process}")
    status = dict(line.split(":", 1) for line in (of / "status").read_text().splitlines())
    children = [task.read_text().split() for task in of.glob("task/*/children")]
    return {
        "files": len(os.listdir(of / "fd")),
        "threads": int(status["Threads"]),
        "children": sum(map(len, children)),
        "memory": int(status["VmRSS"].split()[0]),
        "list": sum(file.stat().st_size for file in home.glob("multikernel.sqlite*")) >> 10,
    }


def _used(person: Person, data: str, run: str) -> None:
    """What a person does with a run: looks, predicts, explains, takes it home, and compares."""
    rows = people(9, 1)
    assert saved(person.submit(f"{run}/predict", files=[("files", ("new.csv", rows))])).count("\n") == 10
    for page in (f"{run}/sample?row=3", f"{run}/files/report.html", f"{run}/files/run.py", data, "/runs", "/"):
        assert person.get(page).status_code == 200
    assert person.submit(f"{person.upload(('more.csv', rows)).url.path}/delete").status_code == 200


@pytest.mark.study
def test_a_thousand_runs_leave_nothing_behind(tmp_path: Path) -> None:
    count = int(os.environ.get("MULTIKERNEL_SOAK", "1000"))
    with served_by_command(tmp_path) as (address, process), Person(address) as person:
        data = person.upload(("people.csv", people(20))).url.path
        person.submit(f"{data}/choose", target="bought")
        form = {"method": "AverageMKLClassifier", "kernels-0": "linear", "p-C": "1"}
        before = _kept(process.pid, tmp_path)
        for k in range(1, count + 1):
            page = person.learned(person.submit(f"{data}/method", **form))
            assert "How good is it?" in page.text, said(page)
            if k % 10 == 0:
                _used(person, data, page.url.path)
                print(k, after := _kept(process.pid, tmp_path), flush=True)
                before = after if k <= _SETTLED else before
        assert after["files"] <= before["files"] + 5
        assert after["threads"] <= before["threads"] + 5
        assert after["children"] <= 1
        assert after["memory"] <= before["memory"] + 30_000
        for run in (tmp_path / "runs").iterdir():
            person.submit(f"/runs/{run.name}/delete")
        assert not list((tmp_path / "runs").iterdir())


@pytest.mark.study
def test_methods_are_compared_on_the_same_rows(tmp_path: Path) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people(40))).url.path
        page = person.learned(person.submit(f"{data}/learn", target="bought", how="comparison"))
        assert "All methods met the same held-out rows" in said(page)
        assert page.text.count("random forest") >= 2
        assert person.get(f"{page.url.path}/files/model.mk").status_code == 404
        assert person.get(f"{page.url.path}/files/report.html").status_code == 200
