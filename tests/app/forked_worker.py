"""The process of a run, forked from one that has loaded its libraries: tests have many runs, and loading takes longest.

Servers that keep a process ready, and those of the command, start ``python -m multikernel.app.web.worker`` itself.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection

from multikernel.app.jobs import compare
from multikernel.app.web.private import UMASK

WIDTHS = (0.01, 1.0, 100.0)  # of the tuned kernel beside a run, which tries those between the ends: one
_LOADED = multiprocessing.get_context("forkserver")
_LOADED.set_forkserver_preload(["multikernel.app.web.learning.findings"])


class ForkedWorker:
    """What the queue of runs needs of a ``subprocess.Popen``."""

    def __init__(self) -> None:
        order, our_stdin = _LOADED.Pipe(duplex=False)
        our_stdout, progress = _LOADED.Pipe(duplex=False)
        our_stderr, log = _LOADED.Pipe(duplex=False)
        self._process = _LOADED.Process(target=_work, args=(order, progress, log))
        self._process.start()
        self.stdin = os.fdopen(os.dup(our_stdin.fileno()), "w")
        self.stdout = os.fdopen(os.dup(our_stdout.fileno()), errors="replace")
        self.stderr = os.fdopen(os.dup(our_stderr.fileno()), errors="replace")
        for end in (order, our_stdin, our_stdout, progress, our_stderr, log):
            end.close()

    def poll(self) -> int | None:
        """Its status, or None as long as it works."""
        return self._process.exitcode

    @property
    def returncode(self) -> int | None:
        """The same."""
        return self._process.exitcode

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def wait(self) -> None:
        """Until it has ended."""
        self._process.join()


def _work(*pipes: Connection) -> None:
    for number, pipe in enumerate(pipes):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    sys.stdin = os.fdopen(0)
    sys.stdout = os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", errors="replace")
    os.umask(UMASK)
    compare._GAMMAS = WIDTHS
    from multikernel.app.web import worker

    sys.exit(worker.main())
