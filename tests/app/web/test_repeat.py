"""Exported runs on the command line, and the options of the server."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from app_server import people
from csv_tables import Invoke

from multikernel.app.web.exports import toml
from multikernel.app.web.learning.recipe import Recipe


def test_an_exported_run_is_repeated(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(people(20))
    columns = {"age": "number", "city": "category"}
    recipe = Recipe("p", "bought", "classification", columns, method="AverageMKLClassifier", parameters={"C": 1.0})  # type: ignore[arg-type]
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    found = invoke("repeat", "run.toml", "--json")
    assert found.exit_code == 0, found.output
    assert len(json.loads(found.stdout)["scores"]["own"]) == 5
    assert (tmp_path / "model.mk").exists()
    assert "it exists" in invoke("repeat", "run.toml").stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no toml", "is no run that the application has exported"),
        ('target = "y"', "is no run that the application has exported"),
        (toml(Recipe("p", "y", "classification", {"a": "number"}, method="comparison").to_json()), "is a comparison"),
    ],
)
def test_what_is_no_run_is_refused(invoke: Invoke, tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "run.toml").write_text(text)
    found = invoke("repeat", "run.toml")
    assert found.exit_code == 1
    assert sentence in found.stderr
    assert not (tmp_path / "model.mk").exists()


def test_a_port_that_is_taken_is_told(invoke: Invoke, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = invoke("app", "--no-browser", "--home", tmp_path / "home", "--port", taken.getsockname()[1])
    assert found.exit_code == 1
    assert "give another one by --port" in found.stderr


def test_names_of_columns_survive_toml() -> None:
    import tomllib

    names = ['a"b', "a.b", "é\\n", "\x7f", "[x]", "="]
    values = {"columns": dict.fromkeys(names, "number"), "views": {"v w": names}, "parameters": {"C": 0.1, "p": True}}
    assert tomllib.loads(toml(values)) == values
