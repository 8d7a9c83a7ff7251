"""A run as a TOML file: what one run writes, a later one takes, and it gives the same numbers."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from csv_tables import Invoke, write_table

from multikernel.app.cli.config import config_of
from multikernel.persistence import load

_RUN = (
    *("fit", "train.csv", "--target", "target", "--method", "easymkl", "--kernels", "hpk:3", "--kernels", "rbf:1,4"),
    *("--set", "lam=0.25", "--set", "tol=1e-4", "--set", "probability='isotonic'", "--seed", "3", "--out", "one.mk"),
)


def _results(invoke: Invoke, *words: object) -> dict[str, object]:
    done = invoke(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_saved_run_gives_the_same_numbers_and_the_command_line_wins(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "word", 45)
    first = _results(invoke, *_RUN, "--save-config", "run.toml")
    model = load("one.mk")
    assert (model.lam, model.tol, model.probability) == (0.25, 1e-4, "isotonic")
    written = tomllib.loads(Path("run.toml").read_text())["fit"]
    assert written["set"] == {"lam": 0.25, "tol": 1e-4, "probability": "isotonic"}
    assert written["kernels"] == ["hpk:3", "rbf:1,4"]
    assert not {"force", "json", "config"} & written.keys()

    refused = invoke("fit", "--config", "run.toml")
    assert refused.exit_code == 1  # one.mk is there already
    again = _results(invoke, "fit", "--config", "run.toml", "--out", "two.mk")
    assert again == first | {"model": "two.mk"}
    other = _results(invoke, "fit", "--config", "run.toml", "--out", "three.mk", "--set", "lam=0.5", "--seed", 4)
    assert load("three.mk").lam == 0.5
    assert other["score_folds"] != first["score_folds"]
    assert other["kernels"] == first["kernels"]


def test_other_commands_take_their_options_from_the_same_file(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "real", 40)
    options = ("train.csv", "--target", "target", "--method", "average", "--values", "0.1,10", "--folds", "3")
    first = _results(invoke, "path", *options, "--save-config", "run.toml")
    again = _results(invoke, "path", "--config", "run.toml")
    for found in (first, again):
        for step in found["steps"]:  # type: ignore[attr-defined]
            del step["seconds"]
    assert first == again
    assert invoke("path", "--config", "run.toml", "--save-config", "run.toml").exit_code == 1
    assert invoke("path", "--config", "run.toml", "--save-config", "run.toml", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[fit", "run.toml: The file is no TOML (Expected ']'"),
        ("x = " + "{a=" * 5000, "run.toml: The file is no TOML"),
        (".".join(["a"] * 20_000) + " = 1", "run.toml: The file has keys of fifty parts"),
        ("#" * 2**20 + "\n", "run.toml: The file is larger than 1 MB"),
        ("[path]\nseed = 1\n", "has no options of this command; it needs a table [fit]"),
        ("fit = 3\n", "it needs a table [fit]"),
        ("[fit]\nsede = 1\n", "fit has no option 'sede'; did you mean 'seed'?"),
        ("[fit]\nforce = true\n", "fit has no option 'force'"),
        ("[fit]\nseed = 'many'\n", "--seed"),
        ("[fit]\nkernels = 3\n", "run.toml: kernels is 3, and has to be a list of words"),
        ("[fit]\nkernels = 'magic'\n", "unknown kernels 'magic'"),
        ("[fit]\nview = {a = 1}\n", "view is {'a': 1}, and has to be a list of words"),
        ("[fit]\nmethod = 'magic'\n", "'magic' is not one of"),
        ("[fit]\nset = {lam = 0.1, 'a b' = 1}\n", "is written like lam=0.5"),
    ],
)
def test_a_file_that_is_no_run_is_bad_usage(invoke: Invoke, text: str, complaint: str) -> None:
    write_table(Path("train.csv"), "number", 30)
    Path("run.toml").write_text(text)
    refused = invoke("fit", "train.csv", "--target", "target", "--config", "run.toml")
    assert refused.exit_code == 2
    assert complaint in " ".join(refused.stderr.replace("│", " ").split())
    missing = invoke("fit", "train.csv", "--target", "target", "--config", "no.toml")
    assert missing.exit_code == 2
    assert "no.toml: No such file or directory" in missing.stderr


def test_every_text_survives_a_file() -> None:
    texts = ['a "b" \\ c', "tab\there\nline", "größe 😀", "\x7f\x01", "'"]
    options = {"target": texts[0], "kernels": texts, "seed": 3, "alpha": 1e-7, "C": float("inf"), "proba": True}
    assert tomllib.loads(config_of("fit", options))["fit"] == options
