"""The application on a port of its own, and a person who uses it by requests."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import httpx
import numpy as np
import pandas as pd
import uvicorn
from forked_worker import ForkedWorker

from multikernel.app.web import jobs
from multikernel.app.web.security import Tokens
from multikernel.app.web.server import create_app, end_streams_with
from multikernel.app.web.settings import Settings

PATIENTS = 40
KEY = "of-the-servers-of-these-tests"
TWO_FOLDS = {"m-how": "rows", "m-folds": "2"}  # fields of the form of a data set: few, so that a run is quick
STARTED = jobs._started  # a process of its own


@contextmanager
def started(settings: Settings, port: int = 0, http: Any = "auto") -> Iterator[tuple[str, uvicorn.Server]]:
    """The address of a server, and the server."""
    with patch.object(jobs, "_started", STARTED if settings.ready else ForkedWorker):
        app = create_app(settings, Tokens(KEY))
        server = uvicorn.Server(uvicorn.Config(app, port=port, http=http, log_level="error", lifespan="on"))
        end_streams_with(app, server)
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}", server
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def serving(home: Path, port: int = 0, **changes: Any) -> Iterator[str]:
    """The address of a server with its data in a folder, where no process waits for a run that may never come."""
    with started(replace(Settings(home, ready=False), **changes), port) as (address, _):
        yield address


def app_command(home: Path) -> list[str]:
    """What starts the application, with its data in a folder."""
    return [sys.executable, "-m", "multikernel.app.cli.main", "app", "--no-browser", "--port", "0", "--home", str(home)]


@contextmanager
def served_by_command(home: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address, with its key, and the process of a server."""
    with subprocess.Popen(app_command(home), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(word for word in process.stdout.readline().split() if word.startswith("http")), process
        finally:
            process.terminate()


class Person(httpx.Client):
    """Somebody with a browser and the key: sends forms with their token, and follows where they lead."""

    def __init__(self, address: str, host: str = "") -> None:
        address, _, key = address.partition("?token=")  # as the command prints it, or without a key
        self.key = key or KEY
        super().__init__(base_url=address, follow_redirects=True, timeout=60, headers={"Host": host} if host else None)
        self.token = ""

    def __enter__(self) -> Self:
        super().__enter__()
        self.token = token_of(self.get("/", params={"token": self.key}))
        return self

    def submit(self, address: str, /, files: Any = None, **fields: Any) -> httpx.Response:
        """A form."""
        return self.post(address, data={"token": self.token} | fields, files=files)

    def upload(self, *tables: tuple[str, bytes | str], **fields: Any) -> httpx.Response:
        """Tables by name."""
        return self.submit("/data", files=[("files", table) for table in tables], **fields)

    def learned(self, response: httpx.Response) -> httpx.Response:
        """The page of a run once it has ended."""
        page = str(response.url)
        with self.stream("GET", f"{page}/events") as events:
            for _ in events.iter_lines():
                pass
        return self.get(page)


def saved(response: httpx.Response) -> str:
    """The CSV file that a page of predictions offers."""
    links = re.findall(r'href="data:text/csv;charset=utf-8;base64,([^"]*)"', response.text)
    assert links, said(response)
    return b64decode(links[0]).decode()


def said(response: httpx.Response) -> str:
    """The text of a page."""
    return " ".join(re.sub(r"<[^>]*>", " ", response.text).split())


def people(n: int = 60, seed: int = 0) -> str:
    """A small table with categories, dates and missing cells, whose target follows from two of its columns."""
    rng = np.random.default_rng(seed)
    lines = ["age,city,joined,score,bought"]
    for _ in range(n):
        age, city, score = rng.integers(20, 70), rng.choice(["Padua", "Bologna", "Rome"]), rng.normal()
        bought = "yes" if (age > 45) ^ (city == "Rome") else "no"
        day = f"20{rng.integers(10, 24)}-{rng.integers(1, 13):02}-{rng.integers(1, 28):02}"
        cell = "" if rng.random() < 0.1 else f"{score:.3f}"
        lines.append(
            f"{'' if rng.random() < 0.05 else age},{'' if rng.random() < 0.05 else city},{day},{cell},{bought}"
        )
    return "\n".join(lines) + "\n"


def files_with_gaps() -> list[tuple[str, str]]:
    """A file of 40 patients, and one of laboratory values that lacks six of them and has two others."""
    rng = np.random.default_rng(0)
    a, age = rng.normal(size=PATIENTS + 2), rng.normal(size=PATIENTS)
    names = [f"p{k:02}" for k in range(PATIENTS + 2)]
    clinic = pd.DataFrame({"nr": names[:PATIENTS], "age": age.round(3), "sex": rng.choice(["f", "m"], PATIENTS)})
    clinic["ill"] = np.where(a[:PATIENTS] + age > 0, "yes", "no")
    lab = pd.DataFrame({"nr": names, "a": a.round(3), "b": rng.normal(size=PATIENTS + 2).round(3)})[6:].iloc[::-1]
    return [("clinic.csv", clinic.to_csv(index=False)), ("lab.csv", lab.to_csv(index=False))]


def token_of(page: httpx.Response) -> str:
    """The token that the forms of a page carry."""
    return next(iter(re.findall(r'name="token" value="(\w+)"', page.text)), "")
