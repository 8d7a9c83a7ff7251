"""The reference has every public name, once, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import multikernel
from multikernel import combinations, datasets, diagnostics, domains, kernels, machines, optimizers, testing

ROOMS = (multikernel, combinations, datasets, diagnostics, domains, kernels, machines, optimizers, testing)
API = Path(__file__).parents[2] / "docs" / "api"


def listed() -> Counter[str]:
    """The names of all autosummary lists with the module that stands above them."""
    found: Counter[str] = Counter()
    for page in API.glob("*.rst"):
        module, listing = "", False
        for line in page.read_text().splitlines():
            if heading := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
                module = heading[1]
            listing = line.startswith(".. autosummary::") or (listing and (not line or line.startswith("   ")))
            if listing and re.fullmatch(r"   \w+", line):
                found[f"{module}.{line.strip()}"] += 1
    return found


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_every_public_name_is_in_the_reference_once(room: ModuleType) -> None:
    names = {name for name in room.__all__ if not isinstance(getattr(room, name), ModuleType)}
    shown = {name.removeprefix(f"{room.__name__}."): times for name, times in listed().items()}
    of_room = {name: times for name, times in shown.items() if "." not in name}
    assert set(of_room) == names
    assert set(of_room.values()) == {1}
