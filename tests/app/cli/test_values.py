"""``multikernel values``: what each source of a table is worth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from csv_tables import Invoke

from multikernel.app.jobs.source_values import sources_of


@pytest.fixture
def patients(tmp_path: Path) -> None:
    """Genes and proteins that say the same, an age that says something else, and a sex."""
    rng = np.random.default_rng(0)
    genes, age = rng.normal(size=(40, 2)), rng.normal(size=40)
    table = pd.DataFrame(genes, columns=["gene_a", "gene_b"])
    table["protein_a"] = genes[:, 0] + 0.05 * rng.normal(size=40)
    table["age"], table["sex"] = age, rng.choice(["f", "m"], 40)
    table["outcome"] = genes[:, 0] + age
    table["visit"] = np.arange(40) // 2
    table.round(4).to_csv(tmp_path / "patients.csv", index=False)


SOURCES = ("--source", "genes=gene_*", "--source", "proteins=protein_a", "--source", "clinic=age,sex")
QUICK = ("--method", "average", "--set", "alpha=0.1", "--kernels", "linear", "--groups", "visit")


@pytest.mark.usefixtures("patients")
def test_each_source_has_a_line_and_a_report(invoke: Invoke) -> None:
    words = ("values", "patients.csv", "--target", "outcome", *SOURCES, *QUICK, "--folds", 4)
    done = invoke(*words, "--permutations", 3, "--report", "worth.html")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert "R2 on 4 held-out folds" in lines[0]
    assert [line.split()[0] for line in lines[2:5]] == ["genes", "proteins", "clinic"]
    assert lines[1].split() == ["source", "alone", "without", "adds", "p"]
    assert lines[5].startswith("alone: a model of this source only")
    assert lines[6].startswith("Pairs of sources")
    page = Path("worth.html").read_text()
    assert "What is each source worth?" in page
    assert "<svg" in page
    assert "it exists" in invoke(*words, "--report", "worth.html").stderr
    found = json.loads(invoke(*words, "--json", "--no-pairs").stdout)
    assert [row["source"] for row in found["sources"]] == ["genes", "proteins", "clinic"]
    assert found["sources"][2]["adds"] > 0.2
    assert found["sources"][2]["p"] is None
    assert found["pairs"] == []


@pytest.mark.usefixtures("patients")
def test_each_column_is_a_source_by_default(invoke: Invoke) -> None:
    left_out = (word for name in ("gene_b", "protein_a", "visit") for word in ("--leave-out", name))
    words = ("--target", "outcome", "--folds", 2, *left_out, "--no-pairs")
    done = invoke("values", "patients.csv", *words, "--type", "sex=category", "--json")
    assert done.exit_code == 0, done.output
    assert [row["source"] for row in json.loads(done.stdout)["sources"]] == ["gene_a", "age", "sex"]


@pytest.mark.usefixtures("patients")
def test_what_is_measured_is_called_by_its_name(invoke: Invoke) -> None:
    one = ("values", "patients.csv", "--target", "outcome", *QUICK, "--folds", 2)
    done = invoke(*one, "--report", "columns.html")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].endswith("with a constant prediction")
    assert "with all columns" in lines[0]
    assert lines[1].split() == ["column", "alone", "without", "adds"]  # no p without permutations
    assert "-0.0000" not in done.stdout
    page = Path("columns.html").read_text()
    assert "patients.csv: what its columns say about outcome" in page
    assert "source" not in f"{done.stdout}{page}".lower().replace('id="sources"', "")
    table = pd.read_csv("patients.csv")
    table[["gene_a", "gene_b", "outcome"]].assign(nr=range(40)).to_csv("genes.csv", index=False)
    table[["age"]].assign(nr=range(40)).to_csv("clinic.csv", index=False)
    two = ("--view", "clinic.csv", "--key", "nr", "--method", "average", "--set", "alpha=0.1", "--kernels", "linear")
    done = invoke("values", "genes.csv", "--target", "outcome", *two, "--folds", 2)
    assert done.exit_code == 0, done.output
    assert "with all views" in done.stdout
    assert "source" not in done.stdout


@pytest.mark.usefixtures("patients")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--source", "genes"), "is written like genes=gene_*"),
        (("--source", "genes=dna_*"), "no column to learn from is named 'dna_*'"),
        (("--source", "a=age", "--source", "b=a*"), "column 'age' is in 'a' and in 'b'"),
        (("--source", "a=age", "--type", "sex=text"), "--type sex=text"),
        (("--source", "a=age", "--folds", "30"), "ask for --folds 20 or fewer"),
    ],
)
def test_mistakes_are_said_in_a_sentence(invoke: Invoke, words: tuple[str, ...], sentence: str) -> None:
    done = invoke("values", "patients.csv", "--target", "outcome", *words)
    assert done.exit_code == 1
    assert sentence in done.stderr


def test_columns_of_a_source_stand_in_the_order_of_the_table() -> None:
    assert sources_of(["a=z,x*", "a=y"], ["x1", "y", "x2", "z"]) == {"a": ["x1", "x2", "z", "y"]}
    assert sources_of([], ["x", "y"]) == {"x": ["x"], "y": ["y"]}
    assert sources_of(["a=dose [mg]", "a=dose*", "b=x"], ["dose [mg]", "x"]) == {"a": ["dose [mg]"], "b": ["x"]}
