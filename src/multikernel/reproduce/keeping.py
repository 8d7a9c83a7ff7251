"""The file of finished cells as it is kept with the pages: ``python -m multikernel.reproduce.keeping FILE``.

Writes FILE.gz beside it. All lines stay as they are, but for the decision values of MNIST's ten digits, which are
large: of these it keeps those of the test digits that some pair of digits names wrongly, which give the same votes.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from multikernel.files import write_whole
from multikernel.reproduce.dpp import digits
from multikernel.reproduce.results import Line


def kept(lines: Iterable[Line]) -> list[Line]:
    """The lines, those of ten digits summarised where all pairs of a run are there, and left out where not."""
    others = []
    runs: dict[tuple[str, ...], dict[tuple[int, int], Line]] = {}
    for line in lines:
        if line["experiment"] != digits.EXPERIMENT.key:
            others.append(line)
            continue
        fields = line["fields"]
        run = (line["package"], *(str(fields[name]) for name in ("images", "variant", "train")))
        runs.setdefault(run, {})[fields["a"], fields["b"]] = line
    for pairs in runs.values():
        if len(pairs) == len(digits.PAIRS):
            found = digits.kept([pairs[pair]["found"] for pair in digits.PAIRS])
            others += [{**pairs[pair], "found": each} for pair, each in zip(digits.PAIRS, found, strict=True)]
    return others


def main(file: Path) -> None:
    """Write the cells of a file that pages need beside it, compressed."""
    lines = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps(line) + "\n" for line in kept(lines))
    write_whole(file.with_name(file.name + ".gz"), gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
