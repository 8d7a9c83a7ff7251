"""The examples of the gallery run, and each makes a point."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

from multikernel.datasets import available

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


def test_there_are_examples_with_a_title_and_a_point():
    assert len(EXAMPLES) >= 15
    for path in EXAMPLES:
        text = ast.get_docstring(ast.parse(path.read_text()))
        title, line, *point = text.splitlines()
        assert line == "=" * len(title), path.name
        assert len(" ".join(point).split()) > 15, f"{path.name} makes no point"


@pytest.mark.study
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    for name in re.findall(r"^# needs (\S+)", path.read_text(), re.MULTILINE):
        if name not in {entry.name for entry in available()}:
            pytest.skip(f"{name} is not at hand")
    runpy.run_path(str(path))
    assert plt.get_fignums()
    plt.close("all")
