"""What a run is expected to take, before it is started."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_server import Person, people, said, serving

from multikernel.app.web import expected
from multikernel.app.web.expected import of_automatic, pace_of, room_of
from multikernel.app.web.settings import Settings
from multikernel.app.web.site import duration
from multikernel.app.web.store import StoredRun


def test_a_run_of_the_automatic_estimator_is_forecast_by_measured_ones() -> None:
    assert [round(of_automatic(n, 8, 1e10, 1.0).seconds or 0) for n in (50, 1000, 4000, 20_000)] == [3, 15, 34, 125]
    assert of_automatic(100_000, 8, 1e10, 2.0).seconds == pytest.approx(250 * 5**0.809, rel=0.01)
    held = [of_automatic(n, 8, 1e10, 1.0).bytes / 1e9 for n in (1000, 4000, 20_000)]
    assert held == pytest.approx([0.064, 1.025, 0.735], abs=0.01)
    assert of_automatic(4000, 8, 1e10, 1.0).warning == ""
    assert "needs about 1.0 GB of memory, and 500 MB are free" in of_automatic(4000, 8, 5e8, 1.0).warning


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.01, "1 second"), (34.4, "34 seconds"), (125.0, "2 minutes"), (5000.0, "83 minutes"), (7200.0, "2 hours")],
)
def test_durations_are_told_in_the_unit_that_fits(value: float, words: str) -> None:
    assert duration(value) == words


def test_the_latest_runs_say_how_fast_this_computer_is(tmp_path: Path) -> None:
    def ended(seconds: float, **more: Any) -> StoredRun:
        recipe = {"method": "automatic", "columns": dict.fromkeys("abcdefgh", "number")} | more
        known = {"n": 1000, "seconds": seconds, "parts": 11}
        return StoredRun("r", "d", "n", 0.0, 1.0, "done", recipe, known, "", "", tmp_path)

    others = [ended(900.0, method="comparison"), replace(ended(900.0), status="failed")]
    runs = [*others, ended(61.2), ended(30.6), ended(91.8)]
    assert pace_of(runs) == pytest.approx(2.0)  # 12 fits took 61 s, and 6 were measured to take 15 s
    assert pace_of(others) == pace_of([]) > 0.0


def test_what_a_run_may_take_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "available_memory", lambda: 1e10)
    assert room_of(Settings(tmp_path)) == pytest.approx(4096 * 2**20 - 1.25e9)
    monkeypatch.setattr(expected, "available_memory", lambda: 1e9)
    assert room_of(Settings(tmp_path)) == 1e9


def test_the_pages_say_it_and_warn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people(60))).url.path
        person.submit(f"{data}/choose", target="bought")
        page = person.get(data)
        assert re.search("by itself, in about [0-9]+ seconds? and 1 MB", said(page))
        assert "are free for a run" not in said(page)
        form = said(person.get(f"{data}/method", params={"method": "EasyMKLClassifier"}))
        assert "one fit takes about 1 second and" in form
        monkeypatch.setattr(expected, "available_memory", lambda: 1000.0)
        for path in (data, f"{data}/method"):
            assert "are free for a run: it may end without a result" in said(person.get(path))
