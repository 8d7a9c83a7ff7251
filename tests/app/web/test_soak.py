"""Long use: many runs leave nothing behind, and a comparison of methods."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from app_server import Person, people, said, serving


def _kept() -> tuple[int, int, int]:
    """Open files, threads and megabytes of this process, which is also the server's."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(os.listdir("/proc/self/fd")), threading.active_count(), (pages * os.sysconf("SC_PAGE_SIZE")) >> 20


@pytest.mark.study
def test_a_thousand_runs_leave_nothing_behind(tmp_path: Path) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people(20))).url.path
        person.submit(f"{data}/choose", target="bought")
        form = {"method": "AverageMKLClassifier", "kernels-0": "linear", "p-C": "1"}
        before = _kept()
        for k in range(int(os.environ.get("MULTIKERNEL_SOAK", "1000"))):
            page = person.learned(person.submit(f"{data}/method", **form))
            assert "How good is it?" in page.text, said(page)
            person.submit(f"{page.url.path}/delete")
            if k == 10:
                before = _kept()
        after = _kept()
        assert after[0] <= before[0] + 5
        assert after[1] <= before[1] + 5
        assert after[2] <= before[2] + 30
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
