"""Files in chunks, from the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from multikernel.app.cli.program import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=900), "b": rng.normal(size=900)})
    frame["word"] = pd.Categorical(np.where(rng.random(900) > 0.5, "up", "down"))
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
    found = json.loads(run("fit big.parquet --target word --method rls2 --rank 20 --out c.mk --json"))
    assert found["task"] == "classification"
    assert found["weights"]
    assert run("predict c.mk big.parquet --out said.parquet").startswith("900 predictions")
    assert set(pd.read_parquet("said.parquet")["prediction"]) <= {"up", "down"}


def test_the_automatic_estimator_learns_in_chunks(folder, monkeypatch):
    monkeypatch.setattr("multikernel.auto.from_source._SAMPLED", 600)
    monkeypatch.setattr("multikernel.auto.from_source._FEWEST", 300)
    monkeypatch.setattr("multikernel.auto.limits._MANY", 300)
    folder.assign(code=np.arange(900) % 7, _note="x").to_parquet("big.parquet")
    told = run("fit big.parquet --target y --memory 1GB --leave-out b --type code=category --out m.mk")
    assert "900 samples, of which 600 were looked at" in told
    assert "The answer was trained on all samples" in told
    assert "2 categories (word, code)" in told
    assert "900 predictions written to said.csv" in run("predict m.mk big.parquet --out said.csv")
    said = pd.read_csv("said.csv")["prediction"]
    assert np.corrcoef(said, folder["y"])[0, 1] > 0.95
    words = "fit big.parquet --target word --memory 1GB --out c.mk --json"
    found = json.loads(CliRunner().invoke(app, words.split()).stdout)
    assert (found["task"], found["samples"], found["left_out"]) == ("classification", 900, ["_note"])
    assert run("predict c.mk big.parquet --proba").splitlines()[0] == "probability down,probability up"
    assert "--leave-out names" in run("fit big.parquet --target y --memory 1GB --leave-out z --out n.mk", 1)


def test_what_is_refused_in_chunks(folder):
    assert "has no column 'z'" in run("fit big.parquet --target z --memory 1GB", 1)
    assert "does not learn from a source" in run("fit big.parquet --target y --method l1mkl --C 1 --memory 1GB", 1)
    assert "memory must be" in run("fit big.parquet --target y --memory lots", 1)


def test_a_small_parquet_file_is_read_as_a_csv_file_with_the_same_cells(folder):
    folder[:80].assign(code=1.0).to_parquet("small.parquet")
    folder[:80].assign(code=1.0).to_csv("small.csv", index=False)
    for name in ("parquet", "csv"):
        run(f"fit small.{name} --target word --leave-out code --out {name}.mk")
    told = [run(f"predict {name}.mk small.{name}") for name in ("parquet", "csv")]
    assert told[0] == told[1]
    assert "L1MKLRegressor" in run("fit small.parquet --target y --method l1mkl --C 1 --out l.mk")
