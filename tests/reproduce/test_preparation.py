"""Scaling and centring beside their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel.reproduce.data import FeatureScaling, folds, random_split

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(20, 3)) * [1.0, 5.0, 0.1] + 2.0, np.ones(20)])
TRAIN = np.arange(12)


@pytest.mark.parametrize(("rows", "by"), [("training", TRAIN), ("all", np.arange(20))])
def test_features_are_scaled_by_the_rows_that_count(rows: str, by: np.ndarray) -> None:
    low, high = X[by, :3].min(axis=0), X[by, :3].max(axis=0)
    interval = FeatureScaling("interval", rows=rows)(X, TRAIN)  # type: ignore[arg-type]
    assert interval == pytest.approx((X[:, :3] - low) / (high - low))
    signed = FeatureScaling("signed", rows=rows)(X, TRAIN)  # type: ignore[arg-type]
    assert signed == pytest.approx(2.0 * (X[:, :3] - low) / (high - low) - 1.0)
    standard = FeatureScaling("standard", rows=rows)(X, TRAIN)  # type: ignore[arg-type]
    assert standard[by].mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert standard[by].std(axis=0) == pytest.approx(np.ones(3))


def test_centring_of_features_and_of_examples() -> None:
    features = FeatureScaling("interval", "features")(X, TRAIN)
    assert features[TRAIN].mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    examples = FeatureScaling("interval", "examples")(X, TRAIN)
    assert examples.mean(axis=1) == pytest.approx(np.zeros(20), abs=1e-12)


def test_a_constant_is_added_after_centring() -> None:
    assert FeatureScaling("raw", "features", constant=True)(X, TRAIN)[:, -1].tolist() == [1.0] * 20


def test_splits_are_stratified_where_they_say_so() -> None:
    y = np.repeat([1.0, -1.0], [40, 10])
    for seed in range(5):
        train, _ = random_split(y, 0.5, seed, stratified=True)
        assert (y[train] < 0).sum() == 5
        assert all((y[test] < 0).sum() == 2 for _, test in folds(y, 5, seed, stratified=True))
    assert len({(y[random_split(y, 0.5, seed, stratified=False)[0]] < 0).sum() for seed in range(10)}) > 1
    rows = np.arange(0, 50, 2)
    assert sorted(np.concatenate([t for _, t in folds(y, 5, 0, stratified=False, rows=rows)])) == rows.tolist()
