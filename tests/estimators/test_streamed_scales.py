"""Scales learned from a source: chosen on a sample of its rows, trained on all, each once, whatever the chunks."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1

from multikernel import LearnedScalesClassifier, LearnedScalesRegressor, load, save, streams
from multikernel.estimators.scales import from_source
from multikernel.estimators.streamed import source
from multikernel.procedures import centres
from multikernel.procedures.learned_scales import many_samples, trained

FEW = {
    (from_source, "_SAMPLED"): 700,
    (source, "FEWEST_SAMPLED"): 700,
    (many_samples, "ALL_SAMPLES"): 150,
    (centres, "REFINED"): 400,
    (centres, "LANDMARKS"): 50,
}


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Few samples are many, so that tests are fast."""
    for (module, name), value in FEW.items():
        monkeypatch.setattr(module, name, value)


@cache
def regression():
    X, y = make_friedman1(1500, 7, noise=0.5, random_state=0)
    return X, y, np.random.default_rng(0).integers(0, 3, 1500).astype(float)


def regressor(**parameters):
    return LearnedScalesRegressor(**({"approximation": "nystroem", "rank": 80, "penalty": 3.0} | parameters))


def pieces(height, weighted=True, **options):
    X, y, weight = regression()

    def make():
        for start in range(0, len(y), height):
            rows = slice(start, start + height)
            yield (X[rows], y[rows], weight[rows]) if weighted else (X[rows], y[rows])

    return streams.pieces(make, **options)


@cache
def fitted(height):
    return regressor().fit(pieces(height))


def test_every_row_is_trained_on_once():
    X, y, s = regression()
    model = fitted(170)
    Z = model.predictor_.reference.Z
    C, K = model.kernel_(X, Z), model.kernel_(Z, Z)
    mean = np.average(y, weights=s)
    values, V = np.linalg.eigh(0.5 * (K + K.T))
    half = np.sqrt(model.alpha_ * np.maximum(values, 0.0))[:, None] * V.T
    stacked = np.vstack([np.sqrt(s)[:, None] * C, half])
    right = np.append(np.sqrt(s) * (y - mean), np.zeros(len(K)))
    expected = model.kernel_(X, Z) @ np.linalg.lstsq(stacked, right, rcond=1e-13)[0] + mean
    np.testing.assert_allclose(model.predict(X), expected, atol=0.01 * y.std())
    assert model.duality_gap_ <= 1e-3
    assert model.converged_
    assert model.dual_coef_.shape == model.centres_.shape == (80,)
    assert model.relative_scales_[:5].mean() > 10.0 * model.relative_scales_[5:].mean()
    assert model.cv_loss_ < 0.1 * model.cv_loss_constant_


def test_a_random_generator_draws_the_rows_of_a_fit_once():
    """The rows to compare on are left out of the sums by the numbers that they drew for the sample."""
    X = regression()[0]
    drawn = regressor(random_state=np.random.RandomState(3)).fit(pieces(500)).predict(X)
    np.testing.assert_allclose(drawn, regressor(random_state=3).fit(pieces(500)).predict(X), atol=1e-8)


def test_chunks_do_not_matter_and_a_file_keeps_the_model(tmp_path):
    X, _, _ = regression()
    told = fitted(170).predict(X)
    np.testing.assert_allclose(regressor().fit(pieces(1500)).predict(X), told, rtol=1e-4, atol=1e-4)
    save(fitted(170), tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(X), told)


def test_a_source_of_few_rows_is_an_array():
    X, y, s = (each[:600] for each in regression())
    told = regressor().fit(streams.arrays(X, y, s)).predict(X)
    np.testing.assert_array_equal(told, regressor().fit(X, y, s).predict(X))


def test_where_sums_have_too_few_digits_further_passes_follow(monkeypatch):
    monkeypatch.setattr(trained, "GAP", 1e-10)
    passes = []
    over = from_source._Rows.over
    monkeypatch.setattr(from_source._Rows, "over", lambda *given: passes.append(1) or over(*given))
    model = regressor(tol=1e-8, max_iter=1000).fit(pieces(400))
    assert passes
    assert model.duality_gap_ <= 1e-10


def test_classes_strings_and_missing_cells_of_a_file(tmp_path):
    X, y, _ = regression()
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    frame["size"] = np.where(frame["d"] > 0.5, "large", "small")
    frame.loc[::7, "d"] = np.nan
    label = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.4, 0.8]))]
    label[11] = "rare"  # a label that the sample need not have
    frame.assign(label=label).to_parquet(tmp_path / "rows.parquet", row_group_size=400)
    source = streams.parquet(tmp_path / "rows.parquet", "label")
    weights = {"high": 2.0}
    model = LearnedScalesClassifier(approximation="nystroem", rank=80, penalty=3.0, class_weight=weights).fit(source)
    assert model.classes_.tolist() == ["high", "low", "middle", "rare"]
    assert model.dual_coef_.shape == (4, 80)
    assert model.score(frame, label) > 0.75
    assert streams.write_predictions(model, source, tmp_path / "said.csv", "decision_function") == 1500


def test_what_a_source_cannot_have_is_said():
    X, y, _ = regression()
    source = streams.arrays(X, y)
    with pytest.raises(ValueError, match="give approximation='nystroem'"):
        LearnedScalesRegressor().fit(source)
    with pytest.raises(ValueError, match="not held out together"):
        regressor().fit(source, groups=y)
    with pytest.raises(ValueError, match="cv as a number of folds"):
        regressor(cv="loo").fit(source)
    with pytest.raises(ValueError, match="leave probability out"):
        LearnedScalesClassifier(approximation="nystroem", probability="platt").fit(source)
    with pytest.raises(ValueError, match="has no target"):
        regressor().fit(streams.arrays(X))
    with pytest.raises(ValueError, match="0 of 700 rows of the source that were drawn have a weight"):
        regressor().fit(streams.arrays(X, y, np.zeros(len(y))))
    with pytest.raises(ValueError, match="at least two classes, got one class: 1"):
        LearnedScalesClassifier(approximation="nystroem").fit(streams.arrays(X, np.ones(len(y), dtype=int)))
    with pytest.raises(MemoryError, match=r"20,000 centres .* is given 0\.2 GB: give it .* or take rank=1,"):
        regressor(rank=20_000).fit(streams.arrays(X, y, memory="200MB"))
    holes = X.copy()
    holes[777, 1] = np.inf
    with pytest.raises(ValueError, match="inf"):
        regressor().fit(streams.arrays(holes, y))


KILLED = """
import os, signal
from importlib import import_module
from multikernel import LearnedScalesRegressor, streams
from multikernel.estimators.scales import from_source
for module, name, value in {few!r}:
    setattr(import_module(module), name, value)
add = from_source.TileMaker.add
def killing(self, sums, chunks):
    if chunks[0].first >= 900:
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, sums, chunks)
from_source.TileMaker.add = killing
source = streams.parquet("rows.parquet", "y", checkpoint="state", every=250)
type(source).height = property(lambda self: 100)
LearnedScalesRegressor(approximation="nystroem", rank=80, penalty=3.0).fit(source)
"""


@pytest.mark.study
def test_a_fit_that_was_killed_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, _ = regression()
    pd.DataFrame(X, columns=list("abcdefg")).assign(y=y).to_parquet("rows.parquet", row_group_size=300)
    few = [(module.__name__, name, value) for (module, name), value in FEW.items()]
    done = subprocess.run([sys.executable, "-c", KILLED.format(few=few)], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    source = streams.parquet("rows.parquet", "y", checkpoint="state", every=250)
    begun = []
    chunks = type(source).chunks
    monkeypatch.setattr(type(source), "chunks", lambda self, start=0: begun.append(start) or chunks(self, start))
    with pytest.raises(ValueError, match="belongs to other rows"):
        regressor(rank=70).fit(source)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    told = regressor().fit(source).predict(frame)
    assert {600, 900} & set(begun)
    assert not (tmp_path / "state").exists()
    whole = regressor().fit(streams.parquet("rows.parquet", "y"))
    np.testing.assert_allclose(told, whole.predict(frame), rtol=1e-4, atol=1e-4)
