"""What all tests share: examples that are the same in every run, and published data where there are any."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from multikernel.datasets import Dataset, available, load

settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--one-case", action="store_true", help="one case of every test, see quick.py")
    parser.addoption("--whole", action="append", default=[], help="files of tests of which all cases run all the same")


@pytest.hookimpl(trylast=True)  # of the cases that are left where those of the studies are gone
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out all cases of a test but the first, where only one was asked for."""
    if not config.getoption("--one-case"):
        return
    whole = config.getoption("--whole")
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    tests: set[str] = set()
    for item in items:
        file, test = item.nodeid.split("::", 1)[0], item.nodeid.split("[", 1)[0]
        wanted = file in whole or test not in tests
        (kept if wanted else others).append(item)
        tests.add(test)
    items[:] = kept
    config.hook.pytest_deselected(items=others)


gc.disable()  # until the tests are collected: nothing is garbage before


def pytest_collection_finish() -> None:
    """Leave the tests themselves, some 700,000 objects, out of every later collection of garbage."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Keep what coverage has seen: a worker that takes longer than 10 s to end is killed before it would be written."""
    if "coverage" in sys.modules and (seen := sys.modules["coverage"].Coverage.current()) is not None:
        seen.save()


@pytest.fixture(autouse=True)
def _the_same_without_a_seed() -> None:
    """An estimator whose ``random_state`` is None draws the same numbers in every run."""
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator of its own for every test."""
    return np.random.default_rng(0)


@pytest.fixture
def published() -> Callable[[str], Dataset]:
    """Load a data set of the directory MULTIKERNEL_DATA; skip the test where it is not there."""

    def loader(name: str) -> Dataset:
        if not any(entry.name == name and entry.origin == "directory" for entry in available()):
            pytest.skip(f"no data set {name}: set MULTIKERNEL_DATA to a directory that has it")
        return load(name)

    return loader
