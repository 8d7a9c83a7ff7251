"""The walks of docs/design.md, from ``fit`` to the solver, are those that fits take."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import multikernel as mk
from multikernel import kernels

Array = Any
ROOT = Path(mk.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "design.md"
X = np.random.default_rng(0).normal(size=(200, 6))
NUMBERS = X[:, 0] * X[:, 1] + X[:, 2]
FAMILY = kernels.rbf_grid([0.1, 1.0])
FITS: dict[str, tuple[Any, Array]] = {
    "L1MKLClassifier": (mk.L1MKLClassifier(FAMILY), X[:, 0] > 0),
    "RLS2Regressor": (mk.RLS2Regressor(FAMILY, alpha=0.1), NUMBERS),
    "MultiKernelRegressor": (mk.MultiKernelRegressor(random_state=0), NUMBERS),
}


def walk(name: str) -> tuple[int, list[str]]:
    """How many calls the page counts, and the functions that it names, ``file:function``."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^    {name}\b.*?: (\d+) calls.*\n((?:        .*\n)+)", text, flags=re.MULTILINE)
    assert found is not None
    return int(found[1]), [line.split()[0] for line in found[2].splitlines()]


def deepest(model: Any, y: Array, last: str) -> list[str]:
    """The package's functions that are under way when the last one is called first."""
    stack: list[FrameType] = []
    way: list[str] = []

    def named(frame: FrameType) -> str:
        return f"{Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()}:{frame.f_code.co_name}"

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if not frame.f_code.co_filename.startswith(str(ROOT)):
            return
        if event == "call":
            stack.append(frame)
            if not way and named(frame) == last:
                way.extend(map(named, stack))
        elif event == "return" and stack and stack[-1] is frame:
            stack.pop()

    sys.setprofile(watch)
    try:
        model.fit(X, y)
    finally:
        sys.setprofile(None)
    return way


@pytest.mark.parametrize("name", FITS)
def test_a_fit_takes_the_walk_that_the_page_shows(name: str) -> None:
    count, named = walk(name)
    model, y = FITS[name]
    way = deepest(model, y, named[-1])
    assert len([function for function in way if "<" not in function]) == count  # lambdas and comprehensions aside
    assert [function for function in way if function in named] == named
