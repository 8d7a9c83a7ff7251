"""Rows that are read in chunks: chosen on a sample of them, trained on all, each once, whatever the chunks."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest

from multikernel import MultiKernelClassifier, MultiKernelRegressor, load, save, streams
from multikernel.auto import from_source, limits
from multikernel.estimators.streamed import source
from multikernel.estimators.streamed.checkpoint import PassFile

FEW = {
    (limits, "MANY"): 300,
    (limits, "LANDMARKS"): 60,
    (limits, "CENTRES"): 100,
    (limits, "_SIFTING"): (200, 60),
    (from_source, "_SAMPLED"): 400,
    (from_source, "FEWEST_SAMPLED"): 400,
    (source, "FEWEST_SAMPLED"): 400,
}


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few samples are many, so that tests are fast."""
    for (module, name), value in FEW.items():
        monkeypatch.setattr(module, name, value)


@cache
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=1000) for name in "abc"})
    frame["colour"] = rng.choice(["red", "green"], 1000)
    frame["y"] = np.sin(2.0 * frame["a"]) + frame["b"] * (frame["colour"] == "red") + 0.1 * rng.normal(size=1000)
    frame.loc[::9, "a"] = np.nan
    frame["w"] = rng.integers(0, 3, 1000).astype(float)
    return frame


def pieces(height: int, **options) -> streams.Source:
    frame = table()

    def make():
        for start in range(0, len(frame), height):
            part = frame[start : start + height]
            yield part[["a", "b", "c", "colour"]], part["y"], part["w"]

    return streams.pieces(make, **options)


@cache
def fitted(height: int) -> MultiKernelRegressor:
    return MultiKernelRegressor(random_state=0).fit(pieces(height))


def test_every_row_is_trained_on_once():
    model, frame = fitted(170), table()
    rows = frame[["a", "b", "c", "colour"]]
    new = model.preparation_.samples(model.preparation_.read(rows))
    Z, weight = model.answer_.samples, frame["w"].to_numpy()
    assert model.n_samples_ == 1000
    assert len(Z) == 100
    assert "1000 samples, of which 400 were looked at before all were trained on" in model.explain()
    centred = frame["y"] - np.average(frame["y"], weights=weight)
    assert len(model.answer_.members) == len(model.kernel_names_) > 0
    for member in model.answer_.members:
        C, K = member.similarity.to(Z, np.float32)(new).astype(float), member.similarity(Z, Z)
        # the residuals of the weighted problem are orthogonal to the kernels of the centres, up to alpha K a
        parts = C @ member.coef
        slope = C.T @ (weight[:, None] * (centred.to_numpy()[:, None] / model._spread - parts))
        ratio = (slope.T @ (K @ member.coef)).item() / np.square(K @ member.coef).sum()
        np.testing.assert_allclose(slope, ratio * (K @ member.coef), atol=1e-4)


def test_chunks_do_not_matter_and_a_file_keeps_the_model(tmp_path):
    rows = table()[["a", "b", "c", "colour"]]
    told = fitted(170).predict(rows)
    np.testing.assert_allclose(fitted(1000).predict(rows), told, rtol=1e-5, atol=1e-5)
    assert np.corrcoef(told, table()["y"])[0, 1] > 0.95
    save(fitted(170), tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(rows), told)


def test_classes_of_a_parquet_file(tmp_path):
    label = np.where(table()["y"] > 0.5, "high", np.where(table()["y"] > -0.5, "middle", "low"))
    frame = table().drop(columns=["y", "w"]).assign(label=label)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    source = streams.parquet(tmp_path / "rows.parquet", "label")
    model = MultiKernelClassifier(random_state=0, class_weight="balanced").fit(source)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.score(frame.drop(columns="label"), label) > 0.8
    written = streams.write_predictions(model, source, tmp_path / "said.csv", "predict_proba")
    assert written == 1000
    assert pd.read_csv(tmp_path / "said.csv").columns[0] == "probability high"


def test_a_source_of_few_rows_is_learned_as_an_array():
    X, y = table()[["b", "c"]].to_numpy()[:200], table()["b"].to_numpy()[:200]
    model = MultiKernelRegressor(random_state=0).fit(streams.arrays(X, y))
    assert "200 samples." in model.explain()
    assert model.score(X, y) > 0.95


def test_what_a_source_cannot_have_is_said(tmp_path):
    X, y = table()[["b", "c"]].to_numpy(), table()["y"].to_numpy()
    with pytest.raises(ValueError, match="the source has no target"):
        MultiKernelRegressor().fit(streams.arrays(X))
    with pytest.raises(ValueError, match="a source holds its target"):
        MultiKernelRegressor().fit(streams.arrays(X, y), y)
    with pytest.raises(ValueError, match="held out by chance"):
        MultiKernelRegressor().fit(streams.arrays(X, y), groups=np.arange(1000))
    with pytest.raises(ValueError, match="requires y to be passed"):
        MultiKernelRegressor().fit(X)
    with pytest.raises(ValueError, match="no classes"):
        MultiKernelClassifier().fit(streams.arrays(X, np.stack([y, y], axis=1)))
    holes = X.copy()
    holes[777, 1] = np.inf
    with pytest.raises(ValueError, match=r"row \d+ or one of the .* holds inf"):
        MultiKernelRegressor(random_state=3).fit(streams.arrays(holes, y))


KILLED = """
import os, signal
from importlib import import_module
from multikernel import MultiKernelRegressor, streams
from multikernel.auto import all_rows
for module, name, value in {few!r}:
    setattr(import_module(module), name, value)
add = all_rows.CentrePass.add
def killing(self, sums, chunk):
    if chunk.first >= 600:
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, sums, chunk)
all_rows.CentrePass.add = killing
source = streams.parquet("rows.parquet", "y", memory="1GB", checkpoint="state", every=250)
type(source).height = property(lambda self: 100)
MultiKernelRegressor(random_state=0).fit(source)
"""


def test_a_fit_that_was_killed_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().drop(columns="w").to_parquet("rows.parquet", row_group_size=300)
    few = [(module.__name__, name, value) for (module, name), value in FEW.items()]
    done = subprocess.run([sys.executable, "-c", KILLED.format(few=few)], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    source = streams.parquet("rows.parquet", "y", memory="1GB", checkpoint="state", every=250)
    model = MultiKernelRegressor(random_state=0)
    kept = PassFile.of(model, source).read()
    assert kept.rows in (300, 600)
    begun = []
    chunks = type(source).chunks
    monkeypatch.setattr(type(source), "chunks", lambda self, start=0: begun.append(start) or chunks(self, start))
    rows = table().drop(columns=["y", "w"])
    with pytest.raises(ValueError, match="belongs to other rows"):
        MultiKernelRegressor(random_state=1).fit(source)
    told = model.fit(source).predict(rows)
    assert begun[-1] == kept.rows
    assert not (tmp_path / "state").exists()
    whole = MultiKernelRegressor(random_state=0).fit(streams.parquet("rows.parquet", "y", memory="1GB"))
    np.testing.assert_allclose(told, whole.predict(rows), rtol=1e-5, atol=1e-5)
