"""The compressed file of finished cells that is kept with the pages: ``python -m multikernel.reproduce.archive FILE``.

Writes FILE.gz beside FILE. All lines are unchanged, except that the decision values of MNIST's ten digits, which are
large, are kept only for the test digits that some pair of digits classifies wrongly. These decide the number of errors.
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


def lines_to_keep(lines: Iterable[Line]) -> list[Line]:
    """The lines, where those of the ten digits are reduced; the last line of each pair of digits counts.

    Runs of the ten digits without all pairs are left out.
    """
    kept_lines = []
    runs: dict[tuple[str, ...], dict[tuple[int, int], Line]] = {}
    for line in lines:
        if line["experiment"] != digits.EXPERIMENT.key:
            kept_lines.append(line)
            continue
        fields = line["fields"]
        run = (str(line["protocol"]), *(str(fields[name]) for name in ("images", "variant", "train")))
        runs.setdefault(run, {})[fields["a"], fields["b"]] = line
    for pairs in runs.values():
        if len(pairs) == len(digits.PAIRS):
            results = digits.reduced([pairs[pair]["found"] for pair in digits.PAIRS])
            kept_lines += [{**pairs[pair], "found": result} for pair, result in zip(digits.PAIRS, results, strict=True)]
    return kept_lines


def main(file: Path) -> None:
    """Write the compressed file beside the file."""
    lines = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps(line) + "\n" for line in lines_to_keep(lines))
    write_whole(file.with_name(file.name + ".gz"), gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
