"""What a server on a person's computer has to refuse."""

from __future__ import annotations

import errno
import gzip
import io
import logging
import os
import re
import socket
import sqlite3
import struct
import sys
import threading
import time
import webbrowser
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
import uvicorn
from app_server import KEY, TWO_FOLDS, Person, people, said, serving, token_of

from multikernel.app.web import jobs, reading
from multikernel.app.web.security import Tokens
from multikernel.app.web.server import serve
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import Store
from multikernel.app.web.views import UploadedFile, join_files


def test_other_hosts_and_origins_are_refused(person: Person) -> None:
    assert person.get("/", headers={"Host": "evil.example"}).status_code == 400
    assert person.get("/", headers={"Host": "127.0.0.1.evil.example"}).status_code == 400
    other = person.post("/data", headers={"Origin": "http://evil.example"}, data={"token": person.token})
    assert other.status_code == 403


def test_a_form_without_the_token_of_its_session_changes_nothing(person: Person, address: str) -> None:
    for token in ("", "0" * 64, "é"):
        assert person.post("/data/known", data={"token": token, "name": "iris"}).status_code == 403
    with Person(address) as other:
        assert other.token != person.token
        assert other.post("/data/known", data={"token": person.token, "name": "iris"}).status_code == 403
    assert person.post("/data/known", data={"name": "iris"}).status_code == 403


def test_bodies_over_the_limit_are_refused_also_where_their_length_is_not_told(person: Person) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'

    def chunks() -> Iterator[bytes]:
        yield head
        for _ in range(64):
            yield b"x" * (1 << 16)

    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    told = person.post("/data", content=head + b"x" * (3 << 20), headers=kind)
    assert told.status_code == 413
    assert "larger than 2 MB" in said(told)
    assert "To the data" in said(told)  # a page like any other
    with suppress(httpx.WriteError):  # the server may have answered and hung up before all was sent
        assert person.post("/data", content=chunks(), headers=kind).status_code == 413
    assert person.get("/").status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/%2e%2e/server.py", "/data/..%2f..", "/runs/%2e%2e/files/model.mk", "/runs/x"],
)
def test_paths_lead_nowhere_else(person: Person, path: str) -> None:
    assert person.get(person.base_url.copy_with(raw_path=path.encode())).status_code == 404


def test_an_address_without_a_page_says_where_to_begin(person: Person) -> None:
    assert "There is no page at this address; begin at the data." in said(person.get("/data/x/y"))
    back = {"Referer": str(person.base_url.copy_with(path="//elsewhere.example/x"))}
    assert "elsewhere" not in person.post("/data", data={"token": person.token}, headers=back).text


def test_pages_may_not_run_scripts_of_their_own_nor_load_from_elsewhere(person: Person) -> None:
    page = person.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script>|\sstyle=|\son\w+=|https?://", page.text)


def _bomb() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"")
        archive.writestr("xl/worksheets/sheet1.xml", b"<" * (16 << 20))
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.xlsx", _bomb(), "unpacks to more than 8 MB"),
        ("a.csv.gz", gzip.compress(b"a,b\n" * (3 << 20)), "unpacks to more than 8 MB"),
        ("a.csv", ",".join(f"c{k}" for k in range(10_000)) + "\n" + "1," * 9_999 + "1\n", "has 10000 columns"),
        ("a.csv", "a,b\n1,2,3\n", "row 2 has 3 cells"),
        ("a.csv", 'a,b\n1,"2\n', "is not CSV"),
        ("a.csv", "a,a\n1,2\n", "'a'"),
        ("a.csv", b"\xff\xfe\x00", "a.csv"),
        ("a.csv", b"a,b\n\xff\x81,1\n", "not UTF-8"),
        ("a.csv", "", "empty"),
        ("a.csv", "a,b\n", "no row after it"),
        ("a.xlsx", b"PK\x03\x04 and no zip", "damaged"),
        ("a.parquet", b"PAR1 and no more", "cannot be read"),
        ("../../a.csv", "a,a\n", "a.csv"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(
    person: Person, name: str, content: bytes | str, sentence: str
) -> None:
    answer = person.upload((name, content))
    assert answer.status_code == 400
    assert sentence in said(answer).replace("&#39;", "'")
    assert "/tmp" not in answer.text


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("import os; os.kill(os.getpid(), 9)", "broke the program that reads it (signal 9)"),
        ("import sys; sys.exit('Segmentation fault')", "Its last words: Segmentation fault"),
        ("import time; time.sleep(60)", "Reading took longer than 0.5 s"),
    ],
)
def test_a_file_that_breaks_its_reader_does_not_break_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, sentence: str
) -> None:
    monkeypatch.setattr(reading, "_COMMAND", [sys.executable, "-c", program])
    with serving(tmp_path, read_seconds=0.5 if "sleep" in program else 60.0) as address, Person(address) as person:
        answer = person.upload(("a.xlsx", b"PK\x03\x04"))
        assert answer.status_code == 400
        assert sentence in said(answer)
        assert person.get("/").status_code == 200
        assert not list((tmp_path / "data").iterdir())


def test_a_file_that_needs_too_much_memory_is_given_up(tmp_path: Path) -> None:
    with serving(tmp_path, read_memory=60 << 20) as address, Person(address) as person:
        answer = person.upload(("a.csv", "a,b\n" + "1,2\n" * 500_000))
        assert answer.status_code == 400
        assert "Reading needs more than 60 MB" in said(answer)


def test_a_process_that_cannot_be_started_is_told_and_the_queue_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(jobs, "_started", refused)
    store = Store(Settings(tmp_path))
    queue = jobs.RunQueue(store, store.settings)
    for _ in range(2):
        run = store.add_run("data", "name", {"target": "y"})
        queue.submit(run)
        for _ in range(500):
            found = store.run(run.id)
            assert found is not None
            if found.ended:
                break
            time.sleep(0.02)
        assert found.status == "failed"
        assert "Cannot allocate memory" in found.words
    queue.close()


def test_a_full_disk_is_told_and_the_queue_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people())).url.path
        with monkeypatch.context() as patch:
            patch.setattr(Store, "set_detail", full)
            answer = person.submit(f"{data}/choose", target="bought")
            assert answer.status_code == 507
            assert "database or disk is full" in said(answer)
        person.submit(f"{data}/choose", target="bought", **TWO_FOLDS)
        with monkeypatch.context() as patch:
            patch.setattr(Store, "set_run", full)
            run = person.submit(f"{data}/method", method="AverageMKLClassifier", **{"p-C": "1"}).url.path
            for _ in range(3000):
                if "did not come to an end" in person.get(run).text:
                    break
                time.sleep(0.02)
            assert "database or disk is full" in said(person.get(run))
        second = person.submit(f"{data}/learn", target="bought").url.path
        assert "was stopped" in said(person.learned(person.submit(f"{second}/stop")))


def test_hostile_names_are_text(person: Person, address: str) -> None:
    name = '<img src=x onerror="alert(1)">'
    table = "\n".join(
        [f'"{name.replace(chr(34), chr(34) * 2)}",{{{{7*7}}}},y', *(f"{k},<b>{k % 3}</b>,{k % 2}" for k in range(30))]
    )
    page = person.upload((f"{name}.csv", table))
    assert page.status_code == 200
    assert "<img" not in page.text
    assert "<b>0</b>" not in page.text
    assert "&lt;img src=x onerror=" in page.text
    assert "{{7*7}}" in page.text
    assert "<img" not in person.get("/").text


def test_views_are_matched_by_a_column_that_names_rows() -> None:
    left = UploadedFile("lab", {"id": ["a", "b", "c"], "x": ["1", "2", "3"]})
    right = UploadedFile("form", {"x": ["7", "8", "9"], "id": ["c", "a", "d"]})
    found = join_files([left, right], "")
    assert found.columns == {"id": ["a", "b", "c", "d"], "lab: x": ["1", "2", "3", ""], "form: x": ["8", "", "7", "9"]}
    assert found.views == {"lab": ["lab: x"], "form": ["form: x"]}
    assert (found.match["samples"], found.match["in_all"]) == (4, 2)
    lab = {"rows": 3, "unnamed": 0, "unmatched": 1, "examples": ("b",), "lacking": 1}
    assert found.match["files"]["lab"] == lab
    with pytest.raises(ValueError, match="share no column"):
        join_files([left, UploadedFile("other", {"y": ["1"]})], "")
    with pytest.raises(ValueError, match="has no column 'x2'"):
        join_files([left, right], "x2")
    with pytest.raises(ValueError, match="occur twice"):
        join_files([left, UploadedFile("form", {"id": ["a", "a"]})], "id")


def test_a_read_only_server_shows_and_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people()))
        token = person.token
    with serving(tmp_path, read_only=True) as address, Person(address) as person:
        page = person.get(data.url.path)
        assert page.status_code == 200
        assert "read-only" in page.text
        person.token = token_of(page)
        assert person.token != token
        for path in ("/data", f"{data.url.path}/learn", f"{data.url.path}/delete"):
            answer = person.submit(path)
            assert answer.status_code == 403
            assert "nothing can be changed" in said(answer)


def test_a_root_path_stands_before_every_address(tmp_path: Path) -> None:
    known = {"root_path": "/kernels", "hosts": ("kernels.example",)}
    with serving(tmp_path, **known) as address, Person(f"{address}/kernels", host="kernels.example") as person:
        for stripped in (f"{address}/", f"{address}/kernels"):  # by a proxy that takes it off, and without a slash
            entered = httpx.get(stripped, params={"token": KEY}, headers={"Host": "kernels.example"})
            assert entered.headers["location"] == "/kernels/"
            assert "Path=/kernels;" in entered.headers["set-cookie"]
        assert httpx.get(address, headers={"Host": "127.0.0.1"}).status_code == 400
        data = str(person.upload(("people.csv", people(20))).url)
        assert data.startswith(f"{address}/kernels/data/")
        person.submit(f"{data}/choose", target="bought", **TWO_FOLDS)
        run = str(person.submit(f"{data}/method", method="AverageMKLClassifier", **{"p-C": "1"}).url)
        with person.stream("GET", f"{run}/events") as events:
            assert "event: end" in list(events.iter_lines())
        own = ("", "/method", "?target=city")
        for page in ("/", "/runs", "/runs/compare", "/no", "/data/x", run, *(f"{data}{each}" for each in own)):
            answer = person.get(page, headers={"Referer": run})
            links = set(re.findall(r'(?:href|src|action|data-\w+)="(/[^"]*)"', answer.text))
            assert len(links) >= 4
            assert [link for link in links if not link.startswith("/kernels/")] == []
            for link in re.findall(r'(?:href|src)="(/[^"]*)"', answer.text):
                assert person.head(address + link).status_code == 200, link
        assert str(person.submit(f"{run}/delete").url) == f"{address}/kernels/runs"


@pytest.mark.study
def test_fifty_requests_at_once_are_served(person: Person) -> None:
    data = person.upload(("people.csv", people()))
    with ThreadPoolExecutor(50) as pool:
        codes = list(pool.map(lambda k: person.get("/" if k % 2 else data.url.path).status_code, range(50)))
    assert codes == [200] * 50


def test_without_the_key_nothing_is_answered(person: Person, address: str) -> None:
    run = person.upload(("people.csv", people())).url.path
    forged = {"Cookie": f"multikernel_{person.base_url.port}={'a' * 32}.{'0' * 64}"}
    for path in ("/", run, "/runs", "/static/style.css", "/no", "/?token=wrong", "/?token="):
        for headers in ({}, forged):
            answer = httpx.get(f"{address}{path}", headers=headers)
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers
            assert "Open the address that multikernel app has printed" in said(answer)
    assert httpx.post(f"{address}/data", data={"token": person.token}).status_code == 403
    assert httpx.post(f"{address}/data?token={KEY}", data={"token": person.token}).status_code == 403


def test_the_key_is_exchanged_for_a_cookie(address: str) -> None:
    entered = httpx.get(f"{address}/runs?q=a%20b&token={KEY}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/runs?q=a+b")
    cookie = entered.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert KEY not in cookie
    assert httpx.get(f"{address}//evil.example/?token={KEY}").headers["location"] == "/evil.example/"
    strange = httpx.get(f"{address}/%5Cevil.example%0A?token={KEY}", headers={"Sec-Fetch-Site": "cross-site"})
    assert 'content="0; url=/%5Cevil.example%0A"' in strange.text
    led = httpx.get(f"{address}/?token={KEY}", headers={"Sec-Fetch-Site": "cross-site"})
    assert led.status_code == 200  # to whom a strict cookie would not be sent along with a redirection
    assert 'content="0; url=/"' in led.text
    name, _, value = cookie.partition(";")[0].partition("=")
    others = 'settings={"a": [1, 2]}; a b; =; '  # of other servers on this machine
    assert httpx.get(f"{address}/", headers={"Cookie": f"{others}{name}={value}"}).status_code == 200


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_files_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    (tmp_path / "data" / "old").mkdir(parents=True)
    (tmp_path / "data" / "old" / "table.csv").write_text("x\n1\n")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    before = os.umask(0)
    try:
        with serving(tmp_path) as address, Person(address) as person:
            data = person.upload(("people.csv", people(20))).url.path
            person.submit(f"{data}/choose", target="bought", **TWO_FOLDS)
            form = {"method": "AverageMKLClassifier", "kernels-0": "linear", "p-C": "1"}
            assert "How good is it?" in person.learned(person.submit(f"{data}/method", **form)).text
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in (tmp_path, *tmp_path.rglob("*"))}
    assert {path.name for path in modes} >= {"multikernel.sqlite", "table.csv", "model.mk", "result.json", "log.txt"}
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


def test_the_browser_is_led_to_the_key_by_a_file_of_the_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, int, str]] = []
    opened = threading.Event()

    def look(url: str) -> None:
        file = Path(url.removeprefix("file://"))
        seen.append((url, file.stat().st_mode & 0o777, file.read_text()))
        opened.set()

    monkeypatch.setattr(webbrowser, "open", look)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: opened.wait(30))
    printed: list[str] = []
    settings = Settings(tmp_path, ready=False)  # no process waits for runs of a server that does not run
    serve(settings, 0, browser=True, report=printed.append)
    [(url, mode, page)] = seen
    address = next(word for word in printed[0].split() if word.startswith("http"))
    assert "token" not in url
    assert mode == 0o600
    assert f'url={address}"' in page
    assert not list(tmp_path.glob("*.html"))
    with pytest.raises(ValueError, match="the token has 5 characters"):
        serve(settings, 0, browser=False, report=printed.append, key="short")


def _left_at_once(address: str, person: Person, request: str) -> None:
    """A request, and a browser that resets the connection before the answer, as for a closed tab."""
    place = address.removeprefix("http://")
    host, _, port = place.partition(":")
    cookie = "; ".join(f"{each.name}={each.value}" for each in person.cookies.jar)
    first, _, rest = request.partition("\n")
    with socket.create_connection((host, int(port))) as tab:
        tab.sendall(f"{first} HTTP/1.1\nHost: {place}\nCookie: {cookie}\n{rest}".replace("\n", "\r\n").encode())
        tab.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_closed_tabs_leave_nothing_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    multipart = "Content-Type: multipart/form-data; boundary=b\nContent-Length: 9000\n\n--b\nContent-Disposition: "
    half = f'{multipart}form-data; name="files"; filename="a.csv"\n\na,b\n1,2\n'
    with serving(tmp_path) as address, Person(address) as person:
        logging.getLogger("uvicorn.error").addHandler(caplog.handler)  # which does not propagate
        try:
            data = person.upload(("people.csv", people())).url.path
            person.submit(f"{data}/choose", target="bought")
            run = person.submit(f"{data}/learn").url.path
            for _ in range(5):
                _left_at_once(address, person, f"POST /data\n{half}")
                _left_at_once(address, person, f"POST {data}/learn\nContent-Length: 900\n\ntoken=a")
                _left_at_once(address, person, f"GET {data}\n\n")
                _left_at_once(address, person, f"GET {run}/events\n\n")
            assert person.get(data).status_code == 200
            with person.stream("GET", f"{run}/events") as events:
                next(events.iter_lines())
                person.submit(f"{run}/stop")
        finally:
            logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert not caplog.records


def test_a_server_that_ends_lets_go_of_pages_that_follow_a_run(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with serving(tmp_path) as address:
            person = stack.enter_context(Person(address))
            data = person.upload(("people.csv", people())).url.path
            run = person.submit(f"{data}/learn", target="bought").url.path
            lines = stack.enter_context(person.stream("GET", f"{run}/events")).iter_lines()
            next(lines)
        assert "event: end" not in list(lines)


def test_a_server_started_again_with_its_key_knows_its_sessions() -> None:
    cookie = Tokens("a key of some length").cookie("me")
    assert Tokens("a key of some length").session(cookie) == "me"
    assert Tokens("another key of a length").session(cookie) is None
    assert Tokens().session(cookie) is None
