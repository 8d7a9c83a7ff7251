"""What stands for a source that a sample lacks, against ridge regressions that are written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from cases import one_in
from multikernel import (
    AverageMKLClassifier,
    AverageMKLRegressor,
    EasyMKLClassifier,
    L1MKLClassifier,
    LpMKLRegressor,
    MultiKernelClassifier,
    MultiKernelRegressor,
    MultipleKernelRidgeCV,
    PredictionWarning,
    bind,
    kernels,
    load,
    save,
    views,
)
from multikernel.sources.completion import _RIDGES, Regression, anchor_rows

Array = Any
RNG = np.random.default_rng(1)
N = 60
HIDDEN = RNG.normal(size=(N, 2))
FIRST = HIDDEN @ RNG.normal(size=(2, 6)) + 0.3 * RNG.normal(size=(N, 6))
SECOND = np.tanh(HIDDEN @ RNG.normal(size=(2, 4))) + 0.3 * RNG.normal(size=(N, 4))
THIRD = RNG.normal(size=(N, 3))
Y = (HIDDEN[:, 0] + HIDDEN[:, 1] > 0).astype(int)
ROWS = [f"s{i}" for i in range(N)]
LACKING = np.array([2, 11, 30, 47])


def frames(without: Array = LACKING) -> dict[str, pd.DataFrame]:
    first = pd.DataFrame(FIRST, index=ROWS)
    return {"first": first, "second": pd.DataFrame(SECOND, index=ROWS).drop(index=np.array(ROWS)[without])}


def ridge_error(G: Array, K: Array, ridge: float) -> float:
    """Every sample left out of a ridge regression with an intercept, whose target are the features of K."""
    n, total = len(G), 0.0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        a = written_out(G[np.ix_(rest, rest)], G[[i]][:, rest], ridge)[0]
        total += K[i, i] - 2.0 * a @ K[rest, i] + a @ K[np.ix_(rest, rest)] @ a
    return total


def written_out(G: Array, g: Array, ridge: float) -> Array:
    """1/n + J (J G J + ridge I)^-1 J (g - G 1/n)."""
    n = len(G)
    J = np.eye(n) - 1.0 / n
    c = np.linalg.solve(J @ G @ J + ridge * np.eye(n), J @ (g - G.mean(axis=1)).T)
    return 1.0 / n + (J @ c).T


def test_weights_are_those_of_the_ridge_regression_with_the_least_error_left_out() -> None:
    G, K = kernels.RBF(0.1)(FIRST), kernels.RBF(0.2)(SECOND)
    some = np.arange(25)
    found = Regression.of(G[np.ix_(some, some)], K[np.ix_(some, some)])
    errors = [ridge_error(G[np.ix_(some, some)], K[np.ix_(some, some)], ridge) for ridge in _RIDGES]
    assert found.ridge == pytest.approx(_RIDGES[int(np.argmin(errors))])
    new = G[25:, :25]
    np.testing.assert_allclose(found.weights(new), written_out(G[:25, :25], new, found.ridge), atol=1e-9)


def test_what_says_nothing_gives_the_mean() -> None:
    noise = kernels.RBF(0.3)(THIRD)
    found = Regression.of(noise, kernels.RBF(0.2)(SECOND))
    assert found.ridge == pytest.approx(_RIDGES[-1])
    for g in (np.zeros((1, N)), np.ones((2, N))):
        constant = Regression.of(np.ones((N, N)), kernels.RBF(0.2)(SECOND))
        np.testing.assert_allclose(constant.weights(g), 1.0 / N)


@pytest.mark.parametrize("lacking_in", ["training", "prediction"])
def test_kernels_are_those_of_weighted_sums_of_samples(lacking_in: str) -> None:
    """Against matrices made by hand; the completed kernel is positive semi-definite."""
    here = np.setdiff1d(np.arange(N), LACKING)
    own = {"first": kernels.RBF(0.1), "second": kernels.Linear()}
    G, K = kernels.RBF(0.1)(FIRST), kernels.Linear()(SECOND)
    known = np.ix_(here, here)
    a = Regression.of(G[known], K[known] / np.trace(K[known]) * len(here)).weights(G[np.ix_(LACKING, here)])
    L = np.eye(N)
    L[LACKING] = 0.0
    L[np.ix_(LACKING, here)] = a
    completed = G + L @ K @ L.T
    model = AverageMKLClassifier(own)
    if lacking_in == "training":
        model.fit(views(frames(), rows="index", missing="keep"), Y)
        want = completed
    else:
        part = {name: frame.iloc[here] for name, frame in frames(np.arange(0)).items()}
        model.fit(views(part), Y[here])
        want = completed
    V = views(frames(), rows="index", missing="keep")
    found = model.kernel_matrix(V)
    np.testing.assert_allclose(found, want / want[0, 0] * found[0, 0], rtol=1e-6, atol=1e-9)
    assert np.linalg.eigvalsh(found)[0] > -1e-9 * np.trace(found)


def test_a_fold_has_its_own_centre() -> None:
    """Of samples that have all sources it is theirs, though others lack one."""
    own = {"first": kernels.RBF(0.1), "second": kernels.RBF(0.2).centered()}
    bank = bind(own, views(frames(), rows="index", missing="keep"))
    here = np.setdiff1d(np.arange(N), LACKING)
    fold, held_out = here[:40], here[40:]
    J = np.eye(40) - 1.0 / 40
    K = kernels.RBF(0.2)(SECOND)
    np.testing.assert_allclose(bank.block(fold, fold).matrix(1), J @ K[np.ix_(fold, fold)] @ J, atol=1e-12)
    against = (K[np.ix_(held_out, fold)] - K[np.ix_(fold, fold)].mean(axis=0)) @ J
    np.testing.assert_allclose(bank.block(held_out, fold).matrix(1), against, atol=1e-12)
    mixed = bank.block(np.arange(N), np.arange(N))
    np.testing.assert_allclose(mixed.matrices(), bank.matrices(), atol=1e-12)


@pytest.mark.parametrize(
    "model",
    one_in(
        2,
        [
            L1MKLClassifier(),
            EasyMKLClassifier(kernels=kernels.RBF("median"), lam=0.1),
            MultiKernelClassifier(random_state=0),
            AverageMKLClassifier(kernels=kernels.RBF("median"), approximation="nystroem", rank=20),
        ],
    ),
    ids=lambda model: type(model).__name__,
)
def test_a_source_may_lack_in_training_and_in_prediction(model: Any, tmp_path: Any) -> None:
    V = views(frames(), rows="index", missing="keep")
    model = clone(model).fit(V, pd.Series(Y, index=ROWS))
    assert model.score(V, pd.Series(Y, index=ROWS)[::-1]) > 0.7
    assert cross_val_score(model, V, Y, cv=2).mean() > 0.6
    complete = model.predict_proba(V) if hasattr(model, "predict_proba") else model.decision_function(V)
    order = np.array([47, 3, 2])
    some = model.predict_proba(V[order]) if hasattr(model, "predict_proba") else model.decision_function(V[order])
    np.testing.assert_allclose(some, complete[order], atol=1e-8)
    first = {"first": frames()["first"]}
    with pytest.warns(PredictionWarning, match="second"):
        without = model.decision_function(first)
    np.testing.assert_allclose(without[LACKING], model.decision_function(V)[LACKING], atol=1e-8)
    save(model, tmp_path / "model.mk")
    with pytest.warns(PredictionWarning, match="second"):
        np.testing.assert_allclose(load(tmp_path / "model.mk").decision_function(first), without)


@pytest.mark.parametrize(
    "model", one_in(2, [MultipleKernelRidgeCV(), LpMKLRegressor(), MultiKernelRegressor(random_state=0)])
)
def test_completing_is_better_than_nothing(model: Any) -> None:
    """The target is a function of the source that is missing for half of the samples, and the other one knows it."""
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(160, 2))
    one = pd.DataFrame(hidden + 0.1 * rng.normal(size=hidden.shape))
    two = pd.DataFrame(np.column_stack([hidden.sum(axis=1), rng.normal(size=160)]))
    target = hidden.sum(axis=1)
    keep = np.setdiff1d(np.arange(160), np.arange(0, 160, 2))
    V = views({"one": one, "two": two.iloc[keep]}, rows="index", missing="keep")
    y = target[V.index.to_numpy()]
    model = clone(model).fit(V[:120], y[:120])
    test = V[120:]
    assert model.score(test[~test.has("two")], y[120:][~test.has("two")]) > 0.8


def test_text_strings_and_sparse_sources_are_completed() -> None:
    from scipy import sparse

    words = np.array(["red apple pie", "green pear tart"])
    text = pd.Series(words[Y], index=ROWS).drop(index=ROWS[4])
    wide = sparse.csr_matrix(np.repeat(FIRST, 50, axis=1))
    V = views({"first": pd.DataFrame(FIRST, index=ROWS), "text": text}, rows="index", missing="keep")
    for model in (L1MKLClassifier({"first": "rbf", "text": "words"}), MultiKernelClassifier(random_state=0)):
        assert model.fit(V, Y).score(V, Y) > 0.9
    beside = views({"wide": wide, "second": np.where(np.arange(N)[:, None] == 5, np.nan, SECOND)})
    for model in (
        L1MKLClassifier({"wide": kernels.Linear().normalized(), "second": "rbf"}),
        MultiKernelClassifier(random_state=0),
    ):
        model.fit(beside, Y)
        with pytest.warns(PredictionWarning, match="wide"):
            assert model.predict({"second": SECOND}).shape == (N,)


def test_many_samples_have_a_bounded_number_of_anchors() -> None:
    first, second = np.ones(5000, dtype=bool), np.zeros(5000, dtype=bool)
    second[:7] = True
    rows = anchor_rows([first, second])
    assert len(rows) <= 2200
    assert second[rows].sum() == 7
    np.testing.assert_array_equal(anchor_rows([first[:50], first[:50]]), np.arange(50))


def test_deviations_of_samples_without_a_source_are_those_of_the_completed_kernels() -> None:
    """k(x, x) of a sample that lacks a view, given as samples or as a kernel matrix."""
    K = pd.DataFrame(SECOND @ SECOND.T, index=ROWS, columns=ROWS)
    kept = np.setdiff1d(np.array(ROWS), np.array(ROWS)[LACKING])
    matrices = {"first": pd.DataFrame(FIRST, index=ROWS), "second": K.loc[kept, kept]}
    kernel = {"first": kernels.RBF(0.1), "second": kernels.Linear()}
    found = []
    for sources in (frames(), matrices):
        V = views(sources, rows="index", missing="keep")
        model = AverageMKLRegressor(kernel, alpha=0.1).fit(V, HIDDEN[[ROWS.index(label) for label in V.index], 0])
        with pytest.warns(PredictionWarning, match="standard deviations of samples that lack a view"):
            deviations = model.predict(V, return_std=True)[1]
        with pytest.warns(PredictionWarning, match="standard deviations of samples that lack a view"):
            few = model.predict(V[LACKING], return_std=True)[1]
        np.testing.assert_allclose(few, deviations[LACKING], rtol=1e-6)
        found.append(deviations)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
