"""Links and files that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "generated", "examples"} & set(page.relative_to(ROOT).parts)]
FOLDERS = (ROOT / "src", ROOT / "tests", ROOT / "docs", ROOT / "benchmarks", ROOT / "examples", ROOT / ".ci")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL))
    dead = [target for target in targets if not (page.parent / target).exists()]
    assert not [target for target in dead if target != "examples/index"]


@pytest.fixture(scope="module")
def python_files() -> list[str]:
    return [f"/{path.relative_to(ROOT).as_posix()}" for folder in FOLDERS for path in folder.rglob("*.py")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_are_named_exist(page: Path, python_files: list[str]) -> None:
    """The path of a Python file in backquotes is the end of the path of a file."""
    named = re.findall(r"`((?:[\w.]+/)+[\w]+\.py)`", page.read_text())
    assert not [name for name in named if not any(file.endswith(f"/{name}") for file in python_files)]


def test_every_file_and_class_of_the_architecture_exists() -> None:
    """By its last name: a Python file anywhere on the page, and what is written like a class in backquotes."""
    text, sources = (ROOT / "docs/design.md").read_text(), [*(ROOT / "src/multikernel").rglob("*.py")]
    files = {path.name for path in [*sources, *(ROOT / "tests").rglob("*.py")]}
    classes = {name for path in sources for name in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE)}
    named = set(re.findall(r"`(?:\w+\.)?([A-Z][a-z]+\w*)[`(.]", text)) - {"ConvergenceWarning"}  # scikit-learn's
    assert {name for name in re.findall(r"\w+\.py\b", text) if name not in files} == set()
    assert named - classes == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_names_somebodys_directories(page: Path) -> None:
    assert not re.findall(r"(?<![\w.])/(?:home|root|tmp|work|Users)/", page.read_text())
