"""What all tests share: examples that are the same in every run, and published data where there are any."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Generator

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


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Leave combinations to the studies where a test is marked ``crossed``; at the end see to ``--one-case``."""
    tests: dict[str, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("crossed"):
            tests.setdefault(_test(item), []).append(item)
    for cases in tests.values():
        for case in _further(cases):
            case.add_marker("study")
    yield
    if config.getoption("--one-case"):
        _leave_one_case(config, items)


def _test(item: pytest.Item) -> str:
    return item.nodeid.split("[", 1)[0]


def _further(cases: list[pytest.Function]) -> list[pytest.Function]:
    """The cases without which every value of every argument still is in a case, and none much oftener than others."""
    seen: Counter[tuple[str, int]] = Counter()

    def values(case: pytest.Function) -> list[tuple[str, int]]:
        return [(name, id(value)) for name, value in case.callspec.params.items()]

    left = [case for case in cases if not case.get_closest_marker("study")]
    while new := [case for case in left if any(seen[value] == 0 for value in values(case))]:
        kept = min(new, key=lambda case: sum(seen[value] for value in values(case)))
        seen.update(values(kept))
        left.remove(kept)
    return left


def _leave_one_case(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect all cases of a test but the first, those of whole files excepted."""
    whole = config.getoption("--whole")
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    tests: set[str] = set()
    for item in items:
        wanted = item.nodeid.split("::", 1)[0] in whole or _test(item) not in tests
        (kept if wanted else others).append(item)
        tests.add(_test(item))
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
