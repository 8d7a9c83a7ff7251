"""The process of a run: waits for its order on standard input, learns, and leaves its findings in the run's folder.

Lines on standard output are progress, as JSON. What breaks goes to standard error, which becomes the run's log.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from errno import ENOMEM
from pathlib import Path
from typing import Any, TextIO

from multikernel.app.web.settings import limit_memory
from multikernel.files import write_whole
from multikernel.streams import available_memory

_LIBRARY = 180e6  # bytes of the largest library that is loaded for a run, that of llvmlite


def main() -> int:
    """Learn by one order; exit status 0, or 1 where a sentence says why not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on the terminal is for the server, which ends its runs
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    sys.stdout = sys.stderr  # whatever else is printed is no progress
    from multikernel.app.web.learning import findings  # takes seconds: done before an order comes

    line = sys.stdin.readline()
    if not line:
        return 0
    threading.Thread(target=_end_with_server, daemon=True).start()
    order: dict[str, Any] = json.loads(line)
    folder = Path(order["folder"])
    limit_memory(order["memory"])
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            summary = findings.found(order["recipe"], Path(order["table"]), folder, ProgressLines(channel))
        end = {"summary": summary, "words": " ".join(dict.fromkeys(_plain(str(w.message)) for w in warned))[:1500]}
    except (ValueError, TypeError) as error:
        end = {"error": _plain(str(error)).replace(order["table"], "The table")}
    except (OSError, MemoryError, ImportError) as error:
        end = {"error": told(error, order["memory"] >> 20)}
    write_whole(folder / "end.json", json.dumps(end).encode())
    if "summary" in end:
        return 0
    return 1


def told(error: OSError | MemoryError | ImportError, most: int) -> str:
    """In one sentence what a computer lacked for a run.

    Parameters
    ----------
    error : what ended the run; a refusal of the library's own says what takes how much
    most : int, megabytes that a run may take
    """
    text = _plain(str(error))
    if type(error) is MemoryError and text:
        return f"{text}, or start the server with more --memory than {most} MB."
    if isinstance(error, OSError) and error.errno not in (None, ENOMEM):
        return f"What was learned cannot be written to the disk ({error.strerror}); make room for it."
    # a library for which there is no room cannot be loaded, with words of its own
    if isinstance(error, MemoryError) or available_memory() < _LIBRARY:
        return (
            f"The memory was not enough, of which a run may take {most} MB and other programs take their part: learn "
            "from fewer rows or columns, choose an approximation where the method has one, end other programs, or "
            "start the server with more --memory."
        )
    return f"A library that the run needs cannot be loaded ({text}); install multikernel again."


def _end_with_server() -> None:
    """A server that ends, in whatever way, lets go of our input; then nobody waits for what is learned here."""
    while os.read(sys.stdin.fileno(), 1):  # without the lock of sys.stdin, which the end of Python asks for
        pass
    os._exit(1)


class ProgressLines:
    """Tells where the run is."""

    def __init__(self, channel: TextIO) -> None:
        self.channel = channel

    def __call__(self, stage: str, part: float, said: str = "") -> None:
        """A line of progress.

        Parameters
        ----------
        stage : what is done
        part : how much of the run is done, from 0 to 1
        said : a line about it
        """
        print(json.dumps({"stage": stage, "part": round(part, 4), "said": said}), file=self.channel, flush=True)


def _plain(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    raise SystemExit(main())
