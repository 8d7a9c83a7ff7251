"""Several files of the same samples, joined by the column that names the rows."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from csv_tables import Invoke

from multikernel import MultiKernelRegressor, PredictionWarning, load, views
from multikernel.app.jobs.predict import Predictions
from multikernel.app.tables.views import files_by_view, matched, view_name

N = 40
QUICK = ("--method", "average", "--kernels", "linear")
FILES = ("clinic.csv", "--view", "genes.csv.gz", "--view", "scan.parquet")


@pytest.fixture
def clinic(tmp_path: Path) -> dict[str, pd.DataFrame]:
    """Three files of 40 patients, of whom one lacks 4 and another 6; genes are written with decimal commas."""
    rng = np.random.default_rng(0)
    patient = pd.Series([f"p{k}" for k in range(N)], name="patient")
    own = pd.DataFrame({"age": rng.normal(50, 10, N).round(1), "sex": rng.choice(["f", "m"], N)})
    genes = pd.DataFrame(rng.normal(size=(N, 3)).round(3), columns=["a", "b", "c"])
    scan = pd.DataFrame({"volume": rng.normal(size=N), "age": rng.normal(size=N)})
    own["cost"] = (genes["a"] + own["age"] / 10).round(3)
    own["ill"] = np.where(genes["a"] + scan["volume"] > 0, "yes", "no")
    found = {name: pd.concat([patient, part], axis=1) for name, part in (("clinic", own), ("genes", genes))}
    found["scan"] = pd.concat([patient, scan], axis=1)
    found["genes"] = found["genes"][4:].sample(frac=1.0, random_state=0)
    found["scan"] = found["scan"][:-6]
    found["clinic"].to_csv(tmp_path / "clinic.csv", index=False)
    found["genes"].to_csv(tmp_path / "genes.csv.gz", index=False, sep=";", decimal=",")
    found["scan"].to_parquet(tmp_path / "scan.parquet")
    return found


@pytest.mark.usefixtures("clinic")
def test_a_method_learns_from_the_rows_of_all_files_and_predicts_without_one(invoke: Invoke) -> None:
    done = invoke(
        "fit", *FILES, "--target", "ill", "--leave-out", "cost", *QUICK, "--C", 1, "--save-config", "run.toml"
    )
    assert done.exit_code == 0, done.output
    assert "matched by 'patient': 30 rows are in all 3 files, 10 were left out" in done.stderr
    assert "decimal comma" in done.stderr
    assert "genes   0.3333" in done.stdout
    again = invoke("fit", "--config", "run.toml", "--out", "again.mk", "--json")
    assert json.loads(again.stdout)["samples"] == 30, again.output
    assert json.loads(again.stdout)["target"] == "clinic: ill"
    whole = invoke("predict", "model.mk", *FILES)
    assert list(pd.read_csv(StringIO(whole.stdout)).columns) == ["patient", "prediction", "decision"]
    without = invoke("predict", "model.mk", *FILES[:3])
    assert "view 'scan' is missing" in without.stderr
    assert len(pd.read_csv(StringIO(without.stdout))) == 36
    alone = invoke("predict", "model.mk", "genes=genes.csv.gz")
    assert len(alone.stdout.splitlines()) == 37, alone.output


def test_samples_that_a_file_lacks_are_kept(invoke: Invoke, clinic: dict[str, pd.DataFrame]) -> None:
    words = ("--target", "ill", "--leave-out", "cost", "--missing", "keep", "--key", "patient")
    done = invoke("fit", *FILES, *words, *QUICK, "--C", 1, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["samples"] == N
    assert "4 of 40 lack genes, 6 of 40 lack scan" in done.stderr
    found = json.loads(invoke("predict", "model.mk", *FILES, "--missing", "keep", "--json").stdout)
    assert found["names"] == clinic["clinic"]["patient"].tolist()
    tested = invoke("report", "model.mk", *FILES, "--missing", "keep", "--json")
    assert json.loads(tested.stdout)["test"]["rows"] == N, tested.output
    alone = invoke("report", "model.mk", "clinic.csv", "--force", "--json")
    assert json.loads(alone.stdout)["test"]["rows"] == N, alone.output


def test_the_automatic_estimator_is_that_of_python(invoke: Invoke, clinic: dict[str, pd.DataFrame]) -> None:
    words = ("--target", "cost", "--leave-out", "ill", "--missing", "keep")
    done = invoke("fit", *FILES[:3], *words)
    assert done.exit_code == 0, done.output
    assert "clinic: age" in done.stdout
    frames = {name: clinic[name].set_index("patient") for name in ("clinic", "genes")}
    y = frames["clinic"]["cost"]
    frames["clinic"] = frames["clinic"][["age", "sex"]]
    X = views(frames, rows="index", missing="keep")
    own = MultiKernelRegressor(random_state=0).fit(X, y).predict(X)
    told = pd.read_csv(StringIO(invoke("predict", "model.mk", *FILES[:3], "--missing", "keep").stdout))
    assert np.allclose(told["prediction"], own)
    new = invoke("predict", "model.mk", "clinic.csv")
    assert "missing views ('genes')" in new.stderr
    with pytest.warns(PredictionWarning, match="missing views"):
        own = load("model.mk").predict({"clinic": X.part("clinic")})
    assert np.allclose(pd.read_csv(StringIO(new.stdout))["prediction"], own)


@pytest.mark.usefixtures("clinic")
def test_values_and_comparisons_take_files_as_sources(invoke: Invoke) -> None:
    words = (*FILES, "--target", "ill", "--leave-out", "cost", "--missing", "keep", "--folds", 3, "--json")
    worth = invoke("values", *words, *QUICK, "--set", "C=1.0", "--no-pairs")
    assert worth.exit_code == 0, worth.output
    assert [row["source"] for row in json.loads(worth.stdout)["sources"]] == ["clinic", "genes", "scan"]
    assert "leave it out" in invoke("values", *words, "--source", "x=a").stderr
    found = invoke("compare", *words, "--only", "average of kernels")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["samples"] == N


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("clinic.csv", "--view", "genes.csv.gz", "--key", "age"), "genes has no column 'age'"),
        (("clinic.csv", "--view", "visits.csv"), "In visits, cells of 'patient' occur twice, such as 'p1'"),
        (
            (*FILES[:3], "--view", "others.csv"),
            "in all files; match by another column, correct the names, or leave others out, which has 'q1', 'q2' where "
            "clinic has 'p0', 'p1'.",
        ),
        (("clinic.csv", "--view", "nothing.csv"), "share no column"),
        ((*FILES[:3], "--view", "nothing.csv"), "such as 'patient', to nothing."),
        (("clinic.csv", "--view", "clinic.csv"), "the view 'clinic' is given twice"),
        (("clinic.csv", "--view", "="), "is no view"),
        (("genes.csv.gz", "--view", "clinic.csv"), "the target 'ill' is in the view 'clinic'; give its file first"),
        (("clinic.csv", "--view", "again=clinic.csv"), "--leave-out 'again: ill'"),
        (("clinic.csv", "--view", "genes.csv.gz", "--leave-out", "q"), "has no column 'q'"),
        (("clinic.csv", "--view", "scan.parquet", "--leave-out", "age"), "'clinic: age' or 'scan: age'"),
        (("clinic.csv", "--view", "genes.csv.gz", "--memory", "1GB"), "leave --memory"),
        (("clinic.csv", "--view", "none.csv"), "none.csv"),
        (("clinic.csv", "--missing", "keep"), "give the others by --view"),
    ],
)
def test_mistakes_are_said_in_a_sentence(invoke: Invoke, words: tuple[str, ...], sentence: str) -> None:
    Path("visits.csv").write_text("patient,dose\np1,3\np1,4\n")
    Path("others.csv").write_text("patient,dose\nq1,3\nq2,4\n")
    Path("nothing.csv").write_text("dose\n3\n4\n")
    done = invoke("fit", *words, "--target", "ill")
    assert done.exit_code == (2 if "leave --memory" in sentence or "by --view" in sentence else 1)
    assert sentence in done.stderr, done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("error: ")]) == 1


@pytest.mark.usefixtures("clinic")
def test_the_key_is_no_target_and_a_model_knows_its_views(invoke: Invoke) -> None:
    assert "is the key" in invoke("fit", *FILES, "--target", "patient").stderr
    assert invoke("fit", *FILES[:3], "--target", "cost", *QUICK, "--alpha", 0.1).exit_code == 0
    assert "'scan' is none of them" in invoke("predict", "model.mk", "clinic.csv", "--view", "scan.parquet").stderr
    Path("new.csv").write_text(Path("clinic.csv").read_text())
    by_columns = invoke("predict", "model.mk", "new.csv")
    assert "new.csv is taken for the view 'clinic', all columns of which it has" in by_columns.stderr
    assert by_columns.stdout == invoke("predict", "model.mk", "clinic=new.csv").stdout
    Path("half.csv").write_text("patient,age\np9,40\n")
    assert "such as clinic=FILE" in invoke("predict", "model.mk", "half.csv").stderr
    lacks = invoke("predict", "model.mk", "clinic=half.csv", "--view", "genes.csv.gz")
    assert "half.csv lacks 'sex', 'ill', which the model needs of the view 'clinic'" in lacks.stderr
    new = f"clinic={Path('new.csv').resolve()}"
    assert invoke("predict", "model.mk", new, "--view", "genes.csv.gz").exit_code == 0
    assert "is the file to be read" in invoke("predict", "model.mk", new, "--out", "new.csv", "--force").stderr
    assert "give the first one" in invoke("report", "model.mk", "--view", "genes.csv.gz").stderr


def test_the_first_file_may_hold_the_target_alone(invoke: Invoke, clinic: dict[str, pd.DataFrame]) -> None:
    clinic["clinic"][["patient", "ill"]].to_csv("labels.csv", index=False)
    files = ("labels.csv", *FILES[1:])
    assert invoke("fit", *files, "--target", "ill", *QUICK, "--C", 1).exit_code == 0
    tested = invoke("report", "model.mk", *files, "--json")
    assert json.loads(tested.stdout)["test"]["rows"] == 30, tested.output
    new = invoke("predict", "model.mk", "genes.csv.gz", "--view", "scan.parquet")
    assert new.exit_code == 0, new.output
    assert "'labels' is none of them" in invoke("predict", "model.mk", "labels.csv").stderr


@pytest.mark.usefixtures("clinic")
def test_numbers_that_can_be_read_in_two_ways_are_read_as_in_training(invoke: Invoke) -> None:
    assert invoke("fit", *FILES[:3], "--target", "cost", *QUICK, "--alpha", 0.1).exit_code == 0
    Path("tabs.csv").write_text("patient\ta\tb\tc\np1\t1,234\t2,125\t1,111\n")
    Path("points.csv").write_text("patient,a,b,c\np1,1.2340,2.1250,1.1110\n")
    told = [invoke("predict", "model.mk", "clinic.csv", "--view", f"genes={file}.csv") for file in ("tabs", "points")]
    assert told[0].stdout == told[1].stdout, told[0].output
    assert "p1," in told[0].stdout


@pytest.mark.usefixtures("clinic")
def test_a_column_that_a_file_lacks_is_neither_target_nor_group(invoke: Invoke) -> None:
    words = ("clinic.csv", "--view", "genes.csv.gz", "--target", "cost", "--missing", "keep")
    assert "lacks 4 of them" in invoke("fit", *words, "--groups", "a").stderr


def test_the_key_is_the_column_that_matches_rows() -> None:
    left = {"id": ["a", "b", "c"], "x": ["1", "2", "3"]}
    assert matched({"l": left, "r": {"x": ["7", "8"], "id": ["c", "a"]}}).key == "id"
    with pytest.raises(ValueError, match="'id', 'x' each name the rows"):
        matched({"l": left, "r": {"x": ["1", "2"], "id": ["c", "a"]}})
    fewer = {"id": ["a", "b", "c"], "x": ["1", "", "3"]}
    assert matched({"l": {"x": left["x"], "id": left["id"]}, "r": fewer}).key == "id"
    same = {"id": ["b", "", "d"], "x": ["2", "9", "8"]}
    found = matched({"l": left, "r": same}, "id", keep=True)
    assert found.names == ("a", "b", "c", "d")
    assert found.rows["r"] == [-1, 0, -1, 2]
    assert "1 without a name was left out" in found.note
    assert matched({"l": left, "r": same}, "id", keep=True, of_first=True).names == ("a", "b", "c")


def test_a_view_has_the_name_of_its_file() -> None:
    assert view_name("a/b/genes.v2.csv.gz") == "genes.v2"
    assert files_by_view(["x/a.csv", "b=x/a.csv"]) == {"a": Path("x/a.csv"), "b": Path("x/a.csv")}


def test_a_key_column_called_prediction_stands_beside_the_predictions() -> None:
    table = Predictions(["u", "v"], ["u", "v"], None, np.eye(2), key="prediction", names=["r1", "r2"]).to_csv()
    assert table.splitlines() == [
        "prediction,prediction,probability u,probability v",
        "r1,u,1.0,0.0",
        "r2,v,0.0,1.0",
    ]
