"""The queue of runs: each run has a separate process, with limits; one run is executed at a time.

A process that has loaded its libraries waits for the next run, so that a run begins at once (``Settings.ready``). Runs
report their progress in lines of JSON; where a process breaks, the end of its log is shown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from multikernel.app.web.private import UMASK, private_file
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import CUT_OFF, Store, StoredRun

_WORDS = 1500  # characters of the end of a log that a page shows
_LOOK = 0.1  # seconds between checks of the limits of a run
_PATIENCE = 2.0  # seconds for which a request to stop a run waits for its end
_KILL = 9  # SIGKILL, which is not defined on every system
FIRST_PAGE = 0.5  # seconds for the first page before libraries are loaded


@dataclass(frozen=True)
class RunProgress:
    """The progress of a run.

    Parameters
    ----------
    status : as in StoredRun
    stage : str, the name of the stage
    said : str, a message about the stage
    part : float, the share of the run that is done, from 0 to 1
    seconds : float, since the run began
    ahead : int, the number of runs before it in the queue
    """

    status: str
    stage: str = ""
    said: str = ""
    part: float = 0.0
    seconds: float = 0.0
    ahead: int = 0

    @property
    def remaining_seconds(self) -> float | None:
        """The remaining seconds at the pace up to now; None at the start of a run."""
        if self.part > 0.02:
            return self.seconds * (1.0 - self.part) / self.part
        return None


class RunQueue:
    """The queue, and the process of the current run."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self._queue: deque[str] = deque()
        self._changed = threading.Condition()
        self._progress: dict[str, RunProgress] = {}
        self._stopped: set[str] = set()
        self._open = True
        self._process: subprocess.Popen[str] | None = None
        self._spare: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._execute_runs, daemon=True, name="runs")
        self._thread.start()

    def submit(self, run: StoredRun) -> None:
        """Put a run at the end of the queue."""
        with self._changed:
            self._queue.append(run.id)
            self._changed.notify_all()

    def stop(self, run: StoredRun) -> None:
        """End a run at once, or remove it from the queue; returns after its end, so that the next page shows it."""
        with self._changed:
            self._stopped.add(run.id)
            if run.id in self._queue:
                self._queue.remove(run.id)
                self._end(run.id, "stopped", "Stopped before it began.")
            self._changed.notify_all()
            self._changed.wait_for(lambda: run.id not in self._stopped, _PATIENCE)

    def progress(self, run: StoredRun) -> RunProgress:
        """The progress of a run."""
        with self._changed:
            if run.id in self._queue:
                return RunProgress("queued", ahead=self._queue.index(run.id) + (self._process is not None))
            return self._progress.get(run.id) or RunProgress(run.status, said=run.words)

    def close(self) -> None:
        """End the queue and its processes."""
        with self._changed:
            self._open = False
            self._changed.notify_all()
        self._thread.join(10.0)
        for process in (self._process, self._spare):
            if process is not None:
                _kill(process)

    # -- on the thread of the queue ------------------------------------------------------------------------------------

    def _execute_runs(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or not self._open, FIRST_PAGE)
        while True:
            if self._spare is None and self._open and self.settings.ready and not self.settings.read_only:
                with suppress(OSError):  # no process can be started now; the next run tries again, and reports why
                    self._spare = _started()
            with self._changed:
                self._changed.wait_for(lambda: self._queue or not self._open)
                if not self._open:
                    return
                name = self._queue.popleft()
                if self._spare is not None and self._spare.poll() is not None:  # killed while it waited
                    _kill(self._spare)
                    self._spare = None
                process = self._process = self._spare
                self._spare = None
                self._progress[name] = RunProgress("running", "Starting")
            try:
                process = self._process = process or _started()
                self.store.set_run(name, status="running")
                self._watch(name, process)
            except Exception as error:  # a failed run does not end the queue
                self._end_unstored(name, f"The server could not follow this run: {error}")
            finally:
                if process is not None:
                    _kill(process)
                self._process = None

    def _watch(self, name: str, process: subprocess.Popen[str]) -> None:
        run = self.store.run(name)
        if run is None:
            return
        start = time.monotonic()
        log = run.folder / "log.txt"
        private_file(log)
        errors = threading.Thread(target=_copy, args=(process.stderr, log), daemon=True)
        lines = threading.Thread(target=self._read_progress, args=(name, process, start), daemon=True)
        errors.start()
        order = {"folder": str(run.folder), "memory": self.settings.run_memory, "recipe": run.recipe}
        order["table"] = str(self.settings.data / run.dataset / "table.csv")
        lines.start()
        with suppress(OSError):  # the process broke before it read its order; its log has the reason
            print(json.dumps(order), file=process.stdin, flush=True)
        late = closing = False
        while process.poll() is None:
            late = time.monotonic() - start > self.settings.run_seconds
            with self._changed:
                closing = not self._open
                if late or closing or name in self._stopped:
                    break
                self._changed.wait(_LOOK)
        stopped = name in self._stopped
        process.kill()
        process.wait()
        lines.join(5.0)
        errors.join(5.0)
        if stopped:
            self._end(name, "stopped", "Stopped; nothing of it was kept.")
        elif late:
            limit = self.settings.run_seconds
            self._end(name, "failed", f"Ended after {limit:g} s, the most that a run may take; learn from fewer rows.")
        elif closing:
            self._end(name, "failed", CUT_OFF)
        else:
            self._store_result(run, process.returncode)

    def _read_progress(self, name: str, process: subprocess.Popen[str], start: float) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                reported: dict[str, Any] = json.loads(line)
            except ValueError:
                continue
            with self._changed:
                last_progress = self._progress.get(name) or RunProgress("running")
                self._progress[name] = replace(last_progress, seconds=time.monotonic() - start, **reported)
                self._changed.notify_all()

    def _store_result(self, run: StoredRun, code: int) -> None:
        """Store the result of a process that ended by itself."""
        end = run.folder / "end.json"
        reported = json.loads(end.read_text()) if end.exists() else {}
        if code == 0 and "summary" in reported:
            self.store.set_run(run.id, summary=reported["summary"])
            self._end(run.id, "done", reported.get("words", ""))
        elif "error" in reported:
            self._end(run.id, "failed", reported["error"])
        else:
            log = run.folder / "log.txt"
            error = f"The process of this run {_end_of(code)}. "
            words = ""
            if log.exists():
                words = log.read_text(errors="replace")[-_WORDS:].strip()
            if words:
                error += f"Its last words: {words}"
            self._end(run.id, "failed", error)

    def _end_unstored(self, name: str, words: str) -> None:
        """End a run; where nothing can be stored, as on a full disk, its end is kept in memory only."""
        try:
            self._end(name, "failed", words)
        except Exception:
            with self._changed:
                self._progress[name] = RunProgress("failed", "This run did not come to an end", words)
                self._stopped.discard(name)
                self._changed.notify_all()

    def _end(self, name: str, status: str, words: str) -> None:
        self.store.set_run(name, status=status, words=words.strip(), finished=time.time())
        with self._changed:
            self._progress.pop(name, None)
            self._stopped.discard(name)
            self._changed.notify_all()


def _end_of(code: int) -> str:
    """How a process ended that did not report its end."""
    if code == -_KILL:
        return (
            f"was killed by signal {_KILL}, as the system does where memory is short: learn from fewer rows, or end "
            "other programs"
        )
    if code < 0:
        return f"was killed by signal {-code}"
    return f"broke with status {code}"


def _started() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "multikernel.app.web.worker"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, errors="replace", umask=UMASK)


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process whose output is no longer read."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if stream is not None:
                stream.close()


def _copy(stream: Any, path: Path) -> None:
    """Copy the output of a process to its log, up to a limit, and as long as there is room on the disk."""
    remaining_characters = 1 << 20
    for line in stream:  # read to the end, or the process would wait for a reader
        if remaining_characters > 0:
            with suppress(OSError), path.open("a") as file:
                file.write(line)
        remaining_characters -= len(line)
