"""The process that opens model files: it reads its order from standard input, and answers on standard output.

A malicious file may fill the memory or break the code that reads it; it then ends only this process.
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

_LONGEST = 400  # characters of an error message in a sentence


def main() -> int:
    """Answer one order; exit status 0, also where the answer is a sentence about why the file cannot be used."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr  # other printed text is not the answer
    order: dict[str, Any] = json.load(sys.stdin)
    limit_memory(order["memory"])
    limit_file_size(order["file_size"])
    print(json.dumps(answer(order)), file=channel, flush=True)
    return 0


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """The description or the predictions of a model file, or, as "error", a sentence about why it cannot be used.

    Parameters
    ----------
    order : the path ("model") and the name of the file ("name"); to predict a table also its path ("table"), its name
        in sentences ("rows"), whether its columns are put before the predictions ("columns"), the number of rows in the
        answer ("shown"), and the path of the file of all predictions ("out")
    """
    name = order["name"]
    try:
        return _answer(order)
    except MemoryError:
        return {"error": f"{name} needs more than {order['memory'] >> 20} MB; it may be damaged."}
    except ValueError as error:
        return {"error": _sentence(error, order)}
    except Exception as error:  # a malicious file can raise any error
        return {"error": f"{name} cannot be used as a model ({type(error).__name__}: {_sentence(error, order)})."}


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    """The answer to an order; its errors may be of any type."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        opened = OpenedModel.of(Path(order["model"]))
    messages = [_plain(str(warning.message)).replace(order["model"], order["name"]) for warning in warned]
    if "table" not in order:
        return opened.about() | {"messages": messages}
    predictions = opened.answers(Path(order["table"]), order["rows"], order["columns"])
    write_whole(Path(order["out"]), as_csv(predictions.frame).encode())
    return {
        "names": list(map(str, predictions.frame.columns)),
        "rows": predictions.frame.head(order["shown"]).to_numpy(dtype=object).tolist(),
        "count": len(predictions.frame),
        "messages": [*messages, *predictions.messages],
        "tests": predictions.tests,
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
