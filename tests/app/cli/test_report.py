"""``multikernel report``: what the page of a saved model says, beside the model itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from multikernel import load


@pytest.fixture
def flowers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    frame = load_iris(as_frame=True).frame.iloc[::3]
    frame.to_csv("iris.csv", index=False)
    return frame


def test_the_page_of_an_automatic_model_has_its_table_of_candidates(invoke: Any, flowers: pd.DataFrame) -> None:
    invoke("fit", "iris.csv", "--target", "target", "--out", "m.mk")
    invoke("report", "m.mk", "iris.csv")
    page = Path("report.html").read_text()
    told = load("m.mk").explanation_
    for row in told.rows:
        assert f"<td>{row.candidate}</td><td>{row.error:.4g}</td>" in page
    lines = re.findall(r"<tr><td>[012]</td>(.*)", page)  # one for each true class
    counts = [int(count) for line in lines for count in re.findall(r"<td>(\d+)</td>", line)]
    assert sum(counts) == len(flowers)
    assert f"<strong>{load('m.mk').duality_gap_:.1e}</strong>" in page


@pytest.mark.study
def test_the_page_of_a_method_has_its_weights_and_its_certificate(invoke: Any, flowers: pd.DataFrame) -> None:
    invoke(
        "fit",
        "iris.csv",
        "--target",
        "target",
        "--method",
        "l1mkl",
        "--C",
        "10",
        "--kernels",
        "rbf:0.1,1",
        "--out",
        "m.mk",
    )
    invoke("report", "m.mk")
    page = Path("report.html").read_text()
    assert "The 2 largest weights of 2" in page
    assert f"{load('m.mk').duality_gap_:.1e}" in page
    assert "Candidates" not in page
