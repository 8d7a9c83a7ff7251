"""The README's examples run as they stand."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {})


def test_the_answer_without_tuning_runs(capsys):
    run(BLOCKS[0])
    printed = capsys.readouterr().out
    assert float(printed.split()[0]) > 0.9
    assert "13 numbers" in printed
    assert "what predicts" in printed


def test_the_ten_lines_run(capsys):
    run(BLOCKS[1])
    score, rest = capsys.readouterr().out.split("\n", 1)
    assert float(score) > 0.9
    assert float(rest.split()[-1]) <= 1e-6  # the duality gap


def test_no_other_code_is_shown():
    assert len(BLOCKS) == 2
