"""``multikernel fit`` without a method: tables as people have them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from csv_tables import Invoke, write_table

from multikernel import PredictionWarning
from multikernel.app.jobs.predict import predictions
from multikernel.app.tables.table import read_table
from multikernel.persistence import read


def _mixed(n: int, seed: int, kind: str) -> str:
    """A table with an identifier, gaps, categories, dates and a constant; spending and colour decide the target."""
    rng = np.random.default_rng(seed)
    lines = ["client,spent,colour,day,unit,y"]
    for i in range(n):
        spent, colour = rng.uniform(0.0, 9.0), str(rng.choice(["red", "blue", ""]))
        high = (spent > 4.5) != (colour == "red")
        target = ("=yes" if high else "no") if kind == "word" else f"{spent + 3.0 * (colour == 'red'):.3f}"
        cell = "n/a" if i % 9 == 4 else f"{spent:.2f}"
        lines.append(f"C{seed}{i:03d},{cell},{colour},2024-0{1 + i % 9}-1{i % 7},7,{target}")
    return "\n".join(lines) + "\n"


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_a_mixed_table_is_fitted_explained_and_predicted(invoke: Invoke) -> None:
    Path("train.csv").write_text(_mixed(80, 0, "word"))
    Path("new.csv").write_text(_mixed(30, 1, "word").replace(",blue,", ",violet,", 1))
    done = invoke("fit", "train.csv", "--target", "y")
    assert done.exit_code == 0, done.output
    for said in (
        "1 category (colour)",
        "1 date (day)",
        "1 number (spent)",
        "Missing cells of spent",
        "Column 'client' is left out: it names its row",
        "Column 'unit' is left out: it has one value only",
        "their blend",
        "model written to model.mk",
    ):
        assert said in done.stdout
    found = invoke("predict", "model.mk", "new.csv")
    assert found.exit_code == 0, found.output
    assert found.stderr.count("\n") == 1
    assert found.stderr.startswith("warning: ")
    assert "'colour' of X has categories, 'violet' for one, that the training sample does not have" in found.stderr
    rows, truth = _rows(found.stdout), _rows(Path("new.csv").read_text())
    assert list(rows[0]) == ["prediction", "decision"]
    assert {row["prediction"] for row in rows} == {"'=yes", "no"}, "a spreadsheet must not run a label"
    assert np.mean([row["prediction"].lstrip("'") == true["y"] for row, true in zip(rows, truth, strict=True)]) > 0.7

    sure = _rows(invoke("predict", "model.mk", "new.csv", "--proba").stdout)
    assert list(sure[0]) == ["prediction", "probability =yes", "probability no"]
    for row in sure:
        yes, no = float(row["probability =yes"]), float(row["probability no"])
        assert yes + no == pytest.approx(1.0)
        assert (row["prediction"] == "no") == (no > yes)


def test_numbers_are_predicted_and_have_no_probabilities(invoke: Invoke) -> None:
    Path("train.csv").write_text(_mixed(80, 0, "number"))
    Path("new.csv").write_text(_mixed(30, 1, "number"))
    assert "'y' holds numbers, which have no" in invoke("fit", "train.csv", "--target", "y", "--proba").stderr
    assert invoke("fit", "train.csv", "--target", "y").exit_code == 0
    rows, truth = _rows(invoke("predict", "model.mk", "new.csv").stdout), _rows(Path("new.csv").read_text())
    known = [i for i, row in enumerate(truth) if row["spent"] != "n/a"]
    pairs = np.array([[float(rows[i]["prediction"]), float(truth[i]["y"])] for i in known])
    assert np.corrcoef(pairs.T)[0, 1] > 0.9
    refused = invoke("predict", "model.mk", "new.csv", "--proba")
    assert refused.exit_code == 1
    assert "MultiKernelRegressor, which gives no probabilities" in refused.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("client,spent,day\nX,1,2024-01-01\n", "lacks 'colour'; the model needs the columns spent, colour, day"),
        ("client,spent,colour,day,unit\nX,many,red,2024-01-01,7\n", "row 2, column 'spent': 'many' is not a number"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused_with_their_cell(invoke: Invoke, text: str, complaint: str) -> None:
    Path("train.csv").write_text(_mixed(40, 0, "word"))
    assert invoke("fit", "train.csv", "--target", "y").exit_code == 0
    Path("new.csv").write_text(text)
    refused = invoke("predict", "model.mk", "new.csv")
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert complaint in refused.stderr


def test_a_misprint_among_numbers_is_refused_and_no_category(invoke: Invoke) -> None:
    Path("train.csv").write_text(_mixed(40, 0, "word").replace(",7,", ",7O,", 1))
    refused = invoke("fit", "train.csv", "--target", "y")
    assert refused.exit_code == 1
    assert "row 2, column 'unit': '7O' is not a number while most of the column is" in refused.stderr


@pytest.mark.study
def test_an_option_of_the_machine_asks_for_a_method_of_its_own(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 30)
    assert "EasyMKLClassifier" in invoke("fit", "train.csv", "--target", "target", "--lam", "0.1").stdout
    assert "columns" not in read("model.mk")[1]


def test_columns_that_were_left_out_may_be_missing(invoke: Invoke) -> None:
    rows = [f"{i},{i % 7},{'ab'[i % 2]},const,{0.5 * (i % 7) + (i % 2):.1f}" for i in range(40)]
    Path("t.csv").write_text("\n".join(["row_id,x,word,same,y", *rows]) + "\n")
    assert invoke("fit", "t.csv", "--target", "y").exit_code == 0
    whole = invoke("predict", "model.mk", "t.csv")
    Path("new.csv").write_text("\n".join(["word,x", *(f"{'ab'[i % 2]},{i % 7}" for i in range(40))]) + "\n")
    less = invoke("predict", "model.mk", "new.csv")
    assert (less.exit_code, less.stdout) == (0, whole.stdout)
    Path("new.csv").write_text("word,same\na,b\n")
    refused = invoke("predict", "model.mk", "new.csv")
    assert refused.exit_code == 1
    assert "new.csv lacks 'x'" in refused.stderr


def test_dates_beyond_training_and_empty_rows_are_said(invoke: Invoke) -> None:
    Path("train.csv").write_text(_mixed(60, 0, "number"))
    assert invoke("fit", "train.csv", "--target", "y", "--out", "model.mk").exit_code == 0
    Path("new.csv").write_text("spent,colour,day\n4.5,red,2024-05-12\n,,\n4.5,red,2950-01-02\n")
    with pytest.warns(PredictionWarning) as warned:
        assert len(predictions(Path("model.mk"), read_table(Path("new.csv")), proba=False).labels) == 3
    said = " ".join(str(each.message) for each in warned)
    assert "1 cell of 'day', such as 2950-01-02 in row 4 (in training 2024-01-10 to 2024-09-15)" in said
    assert "1 row is empty in all columns that the model learned from, such as row 3" in said
