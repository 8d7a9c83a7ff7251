"""A server that is killed, that others hold connections to, and that has no room on the disk."""

from __future__ import annotations

import logging
import socket
import sqlite3
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from app_server import Person, app_command, people, said, served_by_command, serving, started

from multikernel.app.web.connections import limit_waiting
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import Store


def _children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(word) for task in tasks for word in task.read_text().split()]


def _there(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.study
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are looked at in /proc")
def test_of_a_killed_server_nothing_runs_on_and_nothing_is_left_but_what_its_list_names(tmp_path: Path) -> None:
    left = tmp_path / "data" / "0123456789abcdef"  # of an upload that was cut off
    with served_by_command(tmp_path) as (address, process), Person(address) as person:
        data = person.upload(("people.csv", people(20))).url.path
        person.submit(f"{data}/learn", target="bought")
        second = subprocess.run(app_command(tmp_path), capture_output=True, text=True)
        assert second.returncode == 1
        assert f"another server uses {tmp_path}; use that one" in " ".join(second.stderr.split())
        learns = _children(process.pid)
        assert learns
        left.mkdir()
        (left / "upload-0").write_text("a,b")
        process.kill()
        process.wait()
    for _ in range(3000):
        if not any(map(_there, learns)):
            break
        time.sleep(0.02)
    assert not any(map(_there, learns))
    store = Store(Settings(tmp_path))
    assert [run.words for run in store.runs()] == ["The server was ended before this run was; start it again."]
    assert not left.exists()
    assert [each.folder.name for each in store.datasets()] == [path.name for path in (tmp_path / "data").iterdir()]


def test_who_holds_connections_keeps_nobody_out(tmp_path: Path) -> None:
    with ExitStack() as stack:
        address, server = stack.enter_context(started(Settings(tmp_path, ready=False), http=limit_waiting(10)))
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        person = stack.enter_context(Person(address))
        held = []
        for k in range(40):
            held.append(stack.enter_context(socket.create_connection(place)))
            if k % 2:
                held[-1].sendall(b"GET / HTTP/1.1\r\nX: ")  # and no end of it
        assert person.get("/").status_code == 200
        assert len(server.server_state.connections) <= 12
        held[0].settimeout(10)
        with suppress(ConnectionResetError):
            assert held[0].recv(1) == b""  # the oldest was closed


def test_what_is_no_longer_http_leaves_no_traceback(address: str, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)  # which does not propagate
    place = address.removeprefix("http://")
    host, _, port = place.partition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=10) as stranger:
            head = f"POST /data HTTP/1.1\r\nHost: {place}\r\nTransfer-Encoding: chunked\r\n\r\n"
            stranger.sendall(f"{head}zzz\r\n".encode())
            while stranger.recv(4096):
                pass
    finally:
        logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert [each.getMessage() for each in caplog.records if each.exc_info] == []


def test_what_has_lost_its_files_is_said_and_can_be_deleted(tmp_path: Path) -> None:
    recipe = Recipe("d", "y", "regression", {"x": "number"})
    with serving(tmp_path) as address, Person(address) as person:
        store = Store(Settings(tmp_path))
        run = store.add_run("a set", "a run", recipe.to_json())
        store.set_run(run.id, status="done")
        person.follow_redirects = False  # a table that was looked at is remembered
        data = person.upload(("a.csv", "x,y\n" + "1,2\n3,4\n" * 9)).headers["location"]
        next((tmp_path / "data").rglob("table.csv")).unlink()
        for path, own in ((data, True), (f"/runs/{run.id}", True), (f"/runs/{run.id}/files/model.mk", False)):
            answer = person.get(path)
            assert answer.status_code == 404
            assert "A file of this page is no longer there" in said(answer)
            assert str(tmp_path) not in answer.text
            assert (f'action="{path}/delete"' in answer.text) == own
        assert person.submit(f"{data}/delete").headers["location"] == "/"
        assert person.get(data).status_code == 404


def test_on_a_full_disk_runs_are_deleted_and_their_list_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    store = Store(Settings(tmp_path))
    run = store.add_run("a set", "a run", {"data": "", "method": "", "target": ""})
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_opened", full)
        with pytest.raises(sqlite3.OperationalError):
            store.delete_run(run.id)
        assert not run.folder.exists()  # so there is room for the list to change
        with pytest.raises(sqlite3.OperationalError):
            store.add_run("a set", "another", {})
        assert not list((tmp_path / "runs").iterdir())
        with pytest.raises(OSError, match=r"multikernel.sqlite, the list of .* is full\); make room"):
            Store(Settings(tmp_path))
    store.set_run(run.id, status="done")
    with serving(tmp_path) as address, Person(address) as person:
        answer = person.get(f"/runs/{run.id}")  # it was killed before its list changed
        assert answer.status_code == 404
        assert "A file of this page is no longer there" in said(answer)
        assert person.submit(f"/runs/{run.id}/delete").status_code == 200
    (tmp_path / "multikernel.sqlite").write_bytes(b"no list " * 1000)
    with pytest.raises(OSError, match="file is not a database"):
        Store(Settings(tmp_path))
