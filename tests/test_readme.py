"""The README's examples run as they stand, and what it promises in numbers is so."""

import re
from pathlib import Path

import multikernel

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {})


def test_the_ten_lines_run(capsys):
    assert len(BLOCKS[0].strip().splitlines()) == 10
    run(BLOCKS[0])
    printed = capsys.readouterr().out
    score, gap = (float(word) for word in printed.split()[-2:])
    assert all(view in printed for view in ("upper half", "lower half", "ink by row"))
    assert score > 0.95
    assert gap <= 1e-4


def test_the_answer_without_tuning_runs(capsys):
    run(BLOCKS[1])
    printed = capsys.readouterr().out
    assert float(printed.split()[0]) > 0.9
    assert "13 numbers" in printed
    assert "what predicts" in printed


def test_no_other_code_is_shown():
    assert len(BLOCKS) == 2


def test_names_in_code_are_there():
    """Public names that the text speaks of exist, and an attribute is told by some estimator's docstring."""
    names = set(re.findall(r"`([A-Z]\w+(?:Classifier|Regressor|CV|MKL))`", README)) - {"GridSearchCV"}
    assert names <= set(multikernel.__all__)


def test_commands_are_those_of_the_command_line():
    from multikernel.app.cli.program import app

    commands = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert set(re.findall(r"^    multikernel (\w+)", README, re.MULTILINE)) <= commands


def test_targets_of_make_are_there():
    makefile = (Path(__file__).parents[1] / "Makefile").read_text()
    for target in re.findall(r"make (\w+)`|^    make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{max(target)}:", makefile, re.MULTILINE)
