"""The process of a run: it reads its order from standard input, learns, and writes its findings to the run's folder.

Lines on standard output report progress, as JSON. Standard error becomes the log of the run.
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
    """Execute one order; exit status 0, or 1 where the run failed, with a sentence about the reason in its folder."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal ends the server, which ends its runs
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    sys.stdout = sys.stderr  # other printed text is not progress
    from multikernel.app.web.learning import findings  # takes seconds: imported before an order comes

    line = sys.stdin.readline()
    if not line:
        return 0
    threading.Thread(target=_end_with_server, daemon=True).start()
    order: dict[str, Any] = json.loads(line)
    folder = Path(order["folder"])
    limit_memory(order["memory"])
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            summary = findings.execute_run(order["recipe"], Path(order["table"]), folder, ProgressLines(channel))
        end = {
            "summary": summary,
            "words": " ".join(dict.fromkeys(_plain(str(warning.message)) for warning in caught))[:1500],
        }
    except (ValueError, TypeError) as error:
        end = {"error": _plain(str(error)).replace(order["table"], "The table")}
    except (OSError, MemoryError, ImportError) as error:
        end = {"error": shortage_sentence(error, order["memory"] >> 20)}
    write_whole(folder / "end.json", json.dumps(end).encode())
    if "summary" in end:
        return 0
    return 1


def shortage_sentence(error: OSError | MemoryError | ImportError, limit: int) -> str:
    """One sentence about the resource that was missing for a run: memory, room on the disk, or a library.

    Parameters
    ----------
    error : the error that ended the run; the MemoryError of a refused fit has a message about the memory that it needs
    limit : int, megabytes that a run may take
    """
    text = _plain(str(error))
    if type(error) is MemoryError and text:
        return f"{text}, or start the server with more --memory than {limit} MB."
    if isinstance(error, OSError) and error.errno not in (None, ENOMEM):
        return f"What was learned cannot be written to the disk ({error.strerror}); make room for it."
    # where memory is short, the import of a library may fail with an ImportError or an OSError
    if isinstance(error, MemoryError) or available_memory() < _LIBRARY:
        return (
            f"The memory was not enough, of which a run may take {limit} MB and other programs take their part: learn "
            "from fewer rows or columns, choose an approximation where the method has one, end other programs, or "
            "start the server with more --memory."
        )
    return f"A library that the run needs cannot be loaded ({text}); install multikernel again."


def _end_with_server() -> None:
    """End this process when its standard input is closed, which happens when the server ends in any way."""
    while os.read(sys.stdin.fileno(), 1):  # not by sys.stdin, whose lock the interpreter needs to exit
        pass
    os._exit(1)


class ProgressLines:
    """Reports the progress of the run."""

    def __init__(self, channel: TextIO) -> None:
        self.channel = channel

    def __call__(self, stage: str, part: float, said: str = "") -> None:
        """A line of progress.

        Parameters
        ----------
        stage : the name of the stage
        part : the share of the run that is done, from 0 to 1
        said : a message about the stage
        """
        print(json.dumps({"stage": stage, "part": round(part, 4), "said": said}), file=self.channel, flush=True)


def _plain(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    raise SystemExit(main())
