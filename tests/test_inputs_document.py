"""The code of docs/inputs.md runs as it stands."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

TEXT = (Path(__file__).parents[1] / "docs" / "inputs.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
WANTED = [("sex", 0.0), ("text", 0.75), ("mrna", 0.0), ("", 0.0)]  # what it prints, and the least that a score may be


@pytest.mark.filterwarnings("ignore:column 'asin' of X has categories")
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs(number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, (printed, least) = BLOCKS[number], WANTED[number]
    needed = re.match(r"# needs (\S+)", code)
    if needed:
        folder = Path(os.environ.get("MULTIKERNEL_DATA", ""))
        if not (folder / needed[1]).is_file():
            pytest.skip(f"{needed[1]} is not at hand")
        monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(compile(code, "docs/inputs.md", "exec"), names)
    assert printed in capsys.readouterr().out
    assert names.get("score", 1.0) >= least
