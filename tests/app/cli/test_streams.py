"""Files in chunks, from the command line."""

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from cases import one_in
from multikernel.app.cli.program import app

ROWS = 450


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)})
    frame["word"] = pd.Categorical(np.where(rng.random(ROWS) > 0.5, "up", "down, left"))
    frame["y"] = np.sin(frame["a"]) + (frame["word"] == "up")
    frame.to_parquet(tmp_path / "big.parquet")
    frame.drop(columns="y")[:50].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return frame


def run(words, code=0):
    found = CliRunner().invoke(app, words.split())
    assert found.exit_code == code, found.output
    return found.output


def test_fit_and_predict_in_chunks(folder):
    told = run("fit big.parquet --target y --approximation nystroem --rank 20 --set alpha=1e-5 --out m.mk")
    assert "RLS2Regressor" in told
    assert "model written to m.mk" in told
    assert "50 predictions written to said.csv" in run("predict m.mk new.csv --out said.csv")
    said = pd.read_csv("said.csv")["prediction"]
    assert np.corrcoef(said, folder["y"][:50])[0, 1] > 0.95
    assert run("predict m.mk new.csv").splitlines()[1] == str(said[0])
    words = "fit big.parquet --target word --method rls2 --rank 20 --out c.mk --json"
    found = json.loads(CliRunner().invoke(app, words.split()).stdout)
    assert found["task"] == "classification"
    assert found["weights"]
    assert run("predict c.mk big.parquet --out said.parquet").startswith(f"{ROWS} predictions")
    assert set(pd.read_parquet("said.parquet")["prediction"]) <= {"up", "down, left"}
    printed = pd.read_csv(StringIO(run("predict c.mk big.parquet")))
    assert printed["prediction"].tolist() == pd.read_parquet("said.parquet")["prediction"].tolist()


def test_the_automatic_estimator_learns_in_chunks(folder, monkeypatch):
    monkeypatch.setattr("multikernel.auto.from_source._SAMPLED", 300)
    for module in ("auto.from_source", "estimators.streamed.source"):
        monkeypatch.setattr(f"multikernel.{module}.FEWEST_SAMPLED", 150)
    monkeypatch.setattr("multikernel.auto.limits.MANY", 150)
    folder.assign(code=np.arange(ROWS) % 7, _note="x").to_parquet("big.parquet")
    told = run("fit big.parquet --target y --memory 1GB --leave-out b --type code=category --out m.mk")
    assert "450 samples, of which 300 were looked at" in told
    assert "The answer was trained on all samples" in told
    assert "2 categories (word, code)" in told
    assert "450 predictions written to said.csv" in run("predict m.mk big.parquet --out said.csv")
    said = pd.read_csv("said.csv")["prediction"]
    assert np.corrcoef(said, folder["y"])[0, 1] > 0.95
    words = "fit big.parquet --target word --memory 1GB --out c.mk --json"
    found = json.loads(CliRunner().invoke(app, words.split()).stdout)
    assert (found["task"], found["samples"], found["left_out"]) == ("classification", ROWS, ["_note"])
    assert run("predict c.mk big.parquet --proba").splitlines()[0] == '"probability down, left",probability up'
    assert "--leave-out names" in run("fit big.parquet --target y --memory 1GB --leave-out z --out n.mk", 1)


@pytest.mark.parametrize("values", one_in(3, [[0, 1, 2], [0.5, 1, 2], [0.0, 1.0, float("nan")]]))
def test_the_task_is_that_of_the_same_file_read_at_once(folder, values):
    rows = pd.DataFrame({"a": np.arange(30) % 7, "y": np.resize(values, 30)}).dropna()
    Path("many").mkdir()
    for path in ("many/part.csv", "one.csv"):
        rows.assign(a=rows["a"] + 0.1 * rows["y"]).to_csv(path, index=False, float_format="%g")
    words = "--target y --method rls2 --set alpha=1e-3 --json --force"
    fits = [CliRunner().invoke(app, f"fit {path} {words}".split()) for path in ("many", "one.csv")]
    tasks = [json.loads(done.stdout)["task"] for done in fits]
    assert tasks == ["regression" if 0.5 in values else "classification"] * 2


def test_what_is_refused_in_chunks(folder):
    assert "has no column 'z'" in run("fit big.parquet --target z --memory 1GB", 1)
    assert "does not learn from a source" in run("fit big.parquet --target y --method l1mkl --C 1 --memory 1GB", 1)
    assert "memory must be" in run("fit big.parquet --target y --memory lots", 1)
    fit = "fit big.parquet --target word --method rls2 --rank 20 --set alpha=1e-3 --out c.mk"
    assert "leave --proba out" in run(f"{fit} --proba", 1)
    run(fit)
    assert "leave --json out" in run("predict c.mk new.csv --json", 2)
    assert "leave --sheet out" in run("predict c.mk new.csv --sheet one", 2)
    assert "leave new.csv out" in run("report c.mk new.csv", 1)
    run("report c.mk")
    assert "RLS2Classifier learned about word" in Path("report.html").read_text()
    run("fit big.parquet --target y --method average --alpha 1 --out at_once.mk")
    assert "leave --memory out" in run("predict at_once.mk new.csv --memory 1GB", 2)


@pytest.mark.study
def test_a_small_parquet_file_is_read_as_a_csv_file_with_the_same_cells(folder):
    folder[:80].assign(code=1.0).to_parquet("small.parquet")
    folder[:80].assign(code=1.0).to_csv("small.csv", index=False)
    for name in ("parquet", "csv"):
        run(f"fit small.{name} --target word --leave-out code --out {name}.mk")
    told = [run(f"predict {name}.mk small.{name}") for name in ("parquet", "csv")]
    assert told[0] == told[1]
    assert "L1MKLRegressor" in run("fit small.parquet --target y --method l1mkl --C 1 --out l.mk")


def test_new_rows_are_warned_of_as_for_a_small_table(folder, tmp_path):
    run("fit big.parquet --target y --approximation nystroem --rank 20 --set alpha=1e-5 --out m.mk")
    low, high = folder["a"].min(), folder["a"].max()
    (tmp_path / "far.csv").write_text('a,b,word\n0,0,up\n77.5,0,up\n-2000,0,"down, left"\n')
    for words in ("predict m.mk far.csv", "predict m.mk far.csv --out far.out.csv"):
        said = " ".join(run(words).split())
        assert f"2 cells of 'a', such as -2000.0 in row 4 (in training {low:.6g} to {high:.6g})" in said
    (tmp_path / "written.csv").write_text('a,b,word\n"1,234",0,up\n"0,5",0,up\n"2,5",1,down\n')
    assert "a decimal comma in 'a' ('1,234' is 1.234)" in run("predict m.mk written.csv")
    (tmp_path / "twofold.csv").write_text('a,b,word\n"1,234",0,up\n"2,345",1,down\n')
    assert "'1,234' is 1234" in run("predict m.mk twofold.csv")
    (tmp_path / "bad.csv").write_text("a,b,word\n1,0,up\nfoo,1,down\n")
    assert run("predict m.mk bad.csv", 1) == (
        "error: bad.csv: row 3, column 'a': 'foo' is not a number, and the column was numeric in training\n"
    )
    folder[:5].assign(a="x").to_parquet("bad.parquet")
    assert "column 'a' holds" in run("predict m.mk bad.parquet", 1)


def test_numbers_that_can_be_read_in_two_ways_are_read_as_in_training(folder, tmp_path):
    (tmp_path / "days").mkdir()
    rows = [f"{a:.3f};{k % 2};{a + k % 2:.3f}".replace(".", ",") for k, a in enumerate(folder["a"])]
    (tmp_path / "days" / "german.csv").write_text("\n".join(["a;b;y", *rows]))
    run("fit days --target y --rank 20 --set alpha=1e-5 --out g.mk")
    (tmp_path / "comma.csv").write_text('a,b\n"1,234",0\n')
    (tmp_path / "point.csv").write_text("a,b\n1.234,0\n")
    comma, point = (run(f"predict g.mk {name}.csv").splitlines() for name in ("comma", "point"))
    assert comma[-1] == point[-1]
    assert "a decimal comma in 'a' ('1,234' is 1.234)" in comma[0]
