"""The suites themselves: what they require is required however Python is started."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from multikernel import testing
from multikernel.testing.assertions import require


@pytest.mark.parametrize("file", sorted(Path(testing.__file__).parent.glob("*.py")), ids=lambda file: file.stem)
def test_a_suite_has_one_way_to_complain(file: Path) -> None:
    """``python -O`` leaves assert statements out."""
    assert not [node.lineno for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Assert)]


def test_a_requirement_that_is_not_met_says_what_is_wrong() -> None:
    require(True, "never said")
    with pytest.raises(AssertionError, match="the kernel is asymmetric"):
        require(False, "the kernel is asymmetric")
