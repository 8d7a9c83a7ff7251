"""The process that opens model files: takes its order from standard input, and answers on standard output.

A file may be made to fill the memory or to break what reads it; then it ends this process and no more.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from multikernel.app.web.learning.opened import OpenedModel
from multikernel.app.web.learning.predicting import as_csv
from multikernel.app.web.settings import limit_file_size, limit_memory
from multikernel.files import write_whole

_LONGEST = 400  # characters of an error of no sentence of ours


def main() -> int:
    """Answer one order; exit status 0, also where a sentence says why the file cannot be used."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr  # whatever else is printed is no answer
    order: dict[str, Any] = json.load(sys.stdin)
    limit_memory(order["memory"])
    limit_file_size(order["file_size"])
    print(json.dumps(answer(order)), file=channel, flush=True)
    return 0


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """What the model of a file is or predicts, or one sentence that says why the file cannot be used, as "error".

    Parameters
    ----------
    order : the file as "model" and what it is called as "name"; where there is a "table", this is predicted: its rows
        are called "rows", its "columns" stand before the predictions or not, and all go to the file "out"
    """
    name = order["name"]
    try:
        return _answer(order)
    except MemoryError:
        return {"error": f"{name} needs more than {order['memory'] >> 20} MB; it may be damaged."}
    except ValueError as error:
        return {"error": _sentence(error, order)}
    except Exception as error:  # a file that was made by hand leads anywhere
        return {"error": f"{name} cannot be used as a model ({type(error).__name__}: {_sentence(error, order)})."}


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    """The same, whose errors are not sentences yet."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        opened = OpenedModel.of(Path(order["model"]))
    messages = [_plain(str(each.message)).replace(order["model"], order["name"]) for each in warned]
    if "table" not in order:
        return opened.about() | {"messages": messages}
    found = opened.answers(Path(order["table"]), order["rows"], order["columns"])
    write_whole(Path(order["out"]), as_csv(found.frame).encode())
    return {
        "names": list(map(str, found.frame.columns)),
        "rows": found.frame.head(order["shown"]).to_numpy(dtype=object).tolist(),
        "count": len(found.frame),
        "messages": [*messages, *found.messages],
        "tests": found.tests,
    }


def _sentence(error: Exception, order: dict[str, Any]) -> str:
    text = _plain(str(error)).replace(order["model"], order["name"])
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} ..."


def _plain(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    raise SystemExit(main())
