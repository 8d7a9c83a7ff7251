"""What a release says in several places is the same in all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEEDED = dict(re.split(r">=", each) for each in PROJECT["dependencies"])  # type: ignore[misc]


def test_the_oldest_dependencies_are_those_that_are_allowed() -> None:
    lines = (ROOT / ".ci" / "constraints" / "oldest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))  # type: ignore[misc]
    assert {name: pinned[name].split(".")[:2] for name in NEEDED} == {name: v.split(".") for name, v in NEEDED.items()}


def test_the_recipe_asks_for_the_same() -> None:
    recipe = (ROOT / "conda" / "meta.yaml").read_text()
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    asked = dict(line.strip("- ").split(" >=") for line in run.splitlines())  # type: ignore[misc]
    assert asked == {"python": PROJECT["requires-python"].strip(">="), **NEEDED}
    assert PROJECT["description"] in recipe
    assert PROJECT["license"] in recipe


def test_the_citation_names_the_licence_and_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"license: {PROJECT['license']}\n" in citation
    assert f'title: "{PROJECT["name"]}: ' in citation
