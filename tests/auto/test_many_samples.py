"""Many samples: all are trained on, none that is compared on was learned from, and more of them are never worse."""

from __future__ import annotations

import os
import warnings
from dataclasses import astuple, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold

from cases import one_in
from multikernel import MultiKernelClassifier, MultiKernelRegressor, load, save
from multikernel.auto import in_leaves, limits, many_samples, trained_on_many
from multikernel.auto.centre_sums import CentreSpeed
from multikernel.auto.logistic_sum import LogisticSum
from multikernel.auto.preparation import Preparation
from multikernel.auto.samples import DistanceSimilarity, LinearSimilarity, TurnedSimilarity
from multikernel.auto.table import read
from multikernel.auto.task import RidgeTask
from multikernel.auto.trees import BoostedTrees
from multikernel.banks.threads import one_openmp_thread
from multikernel.kernels import RBF, Laplacian, Matern
from multikernel.procedures import centres


@pytest.fixture
def from_300_on(monkeypatch):
    """Few samples are many, so that tests are fast."""
    monkeypatch.setattr(limits, "MANY", 300)
    monkeypatch.setattr(limits, "LANDMARKS", 60)
    monkeypatch.setattr(limits, "CENTRES", 150)
    monkeypatch.setattr(limits, "_SIFTING", (300, 60))
    monkeypatch.setattr(centres, "LANDMARKS", 60)
    monkeypatch.setattr(in_leaves, "LEAF", 100)


def regression(n=900, seed=0):
    return make_friedman1(n, 8, noise=0.5, random_state=seed)


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_a_regressor():
    X, y = regression(1400)
    model = MultiKernelRegressor(random_state=0).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.9
    told = model.explain()
    assert "Candidates were found on 800 samples, and their scales were learned further on more" in told
    assert "those on 200 others" in told
    assert "The answer was trained on all samples." in told
    assert "Every sample is a centre of 'all samples, in leaves of random trees'" in told
    assert "leaves of boosted trees" in told
    assert len(model.answer_.samples) == 150
    parts = model.contributions(X[:50])
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.predict(X[:50]), rtol=1e-10)
    K = model.kernel_matrix(X[:40])
    assert np.linalg.eigvalsh(K).min() > -1e-5 * np.trace(K)


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_a_regressor_by_few_centres(monkeypatch):
    monkeypatch.setattr(many_samples, "_leaf_candidate", lambda *_: ([], []))
    X, y = regression(1400)
    model = MultiKernelRegressor(random_state=0).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.9
    assert "150 of them are the centres of its kernels" in model.explain()


@pytest.mark.usefixtures("from_300_on")
@pytest.mark.parametrize("classes", one_in(2, [2, 3]))
def test_a_machine_in_leaves_stands_beside_that_of_logistic_losses(classes):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(2000, 3))
    value = np.sin(9.0 * X[:, 0]) * np.sin(9.0 * X[:, 1]) + 0.1 * rng.normal(size=2000)
    y = np.digitize(value, [0.0] if classes == 2 else [-0.3, 0.3])
    model = MultiKernelClassifier(random_state=0).fit(X[:1500], y[:1500])
    told = model.explain()
    assert "one machine of logistic losses by the sum" in told
    assert "'all samples, in leaves of random trees' is added to the sum with a separate weight" in told
    assert isinstance(model.answer_.members[-1], in_leaves.LeafMember)
    parts = model.contributions(X[1500:])
    found = model.decision_function(X[1500:])
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, found, atol=1e-10)
    error = 1.0 - model.score(X[1500:], y[1500:])
    assert abs(error - model.candidates_[-1]["error"]) < 5.0 * model.candidates_[-1]["spread"]


@pytest.mark.usefixtures("from_300_on")
def test_classes_that_need_the_machines_in_leaves_alone(monkeypatch):
    monkeypatch.setattr(many_samples, "_needed_candidates", lambda posed, scores, parted: np.array([len(scores) - 1]))
    X, y = waves(800)
    model = MultiKernelClassifier(random_state=0).fit(X[:600], y[:600])
    assert list(model.kernel_names_) == ["all samples, in leaves of random trees"]
    assert model.score(X[600:], y[600:]) > 0.8


@pytest.mark.usefixtures("from_300_on")
@pytest.mark.parametrize("part", one_in(2, [1.0, 0.5]))
def test_groups_that_are_held_out_are_unknown_to_machines_in_leaves(monkeypatch, part):
    """Groups differ by chance alone: who has seen one of its samples predicts the others."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 20)
    X = np.column_stack([groups / 60.0 + 1e-3 * rng.normal(size=1200), rng.normal(size=1200)])
    y = rng.normal(size=60)[groups] + 0.1 * rng.normal(size=1200)
    original = limits.CentreLimits.to_train

    def fewer(self, *args):
        size = original(self, *args)
        rows = int(part * size.rows)
        return replace(size, rows=rows, centres=min(size.centres, rows))

    monkeypatch.setattr(limits.CentreLimits, "to_train", fewer)
    monkeypatch.setattr(many_samples, "_needed_candidates", lambda posed, scores, parted: np.array([len(scores) - 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of what time is said to have cut
        model = MultiKernelRegressor(random_state=0).fit(X, y, groups=groups)
    assert model.candidates_[-2]["error"] > 0.2  # 0.01 is that of a machine that knows the groups


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_what_is_said_of_samples_with_equal_cells_is_true(monkeypatch):
    monkeypatch.setattr(many_samples, "_needed_candidates", lambda posed, scores, parted: np.array([len(scores) - 1]))
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.integers(0, 2, (3000, 7)), np.where(rng.random(3000) < 0.7, 0.0, rng.normal(size=3000))])
    y = np.sin(2.0 * X[:, -1]) + (X[:, -1] == 0.0) + X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=3000)
    model = MultiKernelRegressor(random_state=0).fit(X[:1200], y[:1200])
    said = model.candidates_[-1]
    error = 1.0 - model.score(X[1200:], y[1200:])
    assert abs(error - said["error"]) < 4.0 * said["spread"]
    one_by_one = [model.predict(X[[i]])[0] for i in range(1200, 1230)]
    np.testing.assert_allclose(one_by_one, model.predict(X[1200:])[:30], atol=1e-4)


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_what_is_said_of_new_samples_is_true():
    X, y = regression(2000)
    model = MultiKernelRegressor(random_state=0).fit(X[:800], y[:800])
    said = model.candidates_[-1]
    error = 1.0 - model.score(X[800:], y[800:])
    assert abs(error - said["error"]) < 4.0 * said["spread"]


@pytest.mark.usefixtures("from_300_on")
@pytest.mark.parametrize("classes", one_in(2, [3, 2]))
def test_a_classifier_of_mixed_columns(classes):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 900)
    X = pd.DataFrame({"a": rng.normal(size=900), "b": rng.normal(size=900), "colour": colour})
    X.loc[::7, "a"] = np.nan
    value = np.where(colour == "red", X["b"], -X["b"]) + 0.3 * X["a"].fillna(0.0)
    y = np.array(["low", "middle", "high"])[np.digitize(value, [0.0] if classes == 2 else [-0.5, 0.5])]
    model = MultiKernelClassifier(random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.85
    proba = model.predict_proba(X[600:])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.usefixtures("from_300_on")
def test_a_seed_decides_everything_and_a_file_keeps_it(tmp_path):
    X, y = regression(400)
    first, second = (MultiKernelRegressor(random_state=3).fit(X, y) for _ in range(2))
    assert np.array_equal(first.predict(X), second.predict(X))
    save(first, tmp_path / "model.mk")
    assert np.array_equal(load(tmp_path / "model.mk").predict(X), first.predict(X))


@pytest.mark.usefixtures("from_300_on")
def test_groups_are_not_torn_apart(monkeypatch):
    X, y = regression(420)
    groups = np.repeat(np.arange(60), 7)
    seen = []
    original = many_samples.answer_of_many

    def spied(posed, searched, parted):
        seen.append(parted)
        return original(posed, searched, parted)

    monkeypatch.setattr("multikernel.auto.answering.answer_of_many", spied)
    model = MultiKernelRegressor(random_state=0).fit(X, y, groups=groups)
    (parted,) = seen
    out = np.append(parted.compared, parted.rest)
    assert not set(groups[parted.learning]) & set(groups[out])
    assert len(parted.learning) + len(out) == 420
    assert "whole groups" in model.explain()
    two = MultiKernelRegressor(random_state=0, cv=GroupKFold(2)).fit(X, y, groups=groups)
    assert two.score(X, y) > 0.8


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_samples_of_no_weight_do_not_take_part():
    X, y = regression(700)
    weight = np.ones(700)
    weight[350:] = 0.0
    wrong = np.where(weight > 0, y, 1000.0)
    model = MultiKernelRegressor(random_state=0).fit(X, wrong, sample_weight=weight)
    assert model.score(X, y) > 0.8


@pytest.mark.usefixtures("from_300_on")
def test_several_targets_and_sparse_words():
    X, y = regression(400)
    two = MultiKernelRegressor(random_state=0).fit(X, np.column_stack([y, -2.0 * y + X[:, 7]]))
    assert two.score(X, np.column_stack([y, -2.0 * y + X[:, 7]])) > 0.85
    rng = np.random.default_rng(0)
    words = sparse.random(400, 400, density=0.02, format="csr", random_state=rng)
    y = np.asarray(words[:, :40].sum(axis=1)).ravel()
    model = MultiKernelRegressor(random_state=0).fit(words, y)
    assert model.score(words, y) > 0.5


@pytest.mark.usefixtures("from_300_on")
def test_little_time_is_kept_to_and_said():
    X, y = regression(900)
    with pytest.warns(ConvergenceWarning, match="cut the choice") as warned:
        model = MultiKernelRegressor(time_budget=1e-6, random_state=0).fit(X, y)
    message = str(warned[-1].message)
    assert "leaves of boosted trees" in message
    assert "before these were learned to their end: Gaussian, one width" in message
    assert "60 samples are the centres of its kernels and not 150" in message
    assert [row["candidate"] for row in model.candidates_] == ["Gaussian, one width", "their blend"]
    assert model.score(X, y) > 0.4


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_scores_do_not_fall_where_samples_become_many():
    X, y = regression(1700, seed=1)
    scores = []
    for n in (250, 400, 1200):  # exactly, and by centres
        model = MultiKernelRegressor(random_state=0).fit(X[:n], y[:n])
        scores.append(model.score(X[1200:], y[1200:]))
    assert np.diff(scores).min() > -0.01
    assert scores[-1] > scores[0]


def test_more_seconds_are_more_centres_and_rows():
    of = limits.CentreLimits.of(200_000, 1e10)
    few = limits.Size(10_000, 1000)
    two = [CentreSpeed(1e-9, 1e-11), CentreSpeed(3e-9, 1e-11)]
    sizes = [of.to_train(seconds, few, two) for seconds in (0.1, 1.0, 10.0, 100.0, 10_000.0)]
    assert [size.rows for size in sizes] == sorted(size.rows for size in sizes)
    assert [size.centres for size in sizes] == sorted(size.centres for size in sizes)
    assert sizes[0].rows < 200_000
    assert sizes[-1] == limits.Size(200_000, 12_000)
    assert of.to_train(np.inf, few, two) == limits.Size(200_000, 3000)
    middle = of.to_train(30.0, few, two)
    assert 0.99 * 24.0 <= sum(speed.seconds(*astuple(middle)) for speed in two) <= 24.0
    assert limits.CentreLimits.of(200_000, 1e7).to_train(np.inf, few, two).centres < 1300


@pytest.mark.parametrize(("rows", "trees"), [(5000, 200), (53_200, 400), (1_000_000, 600)])
def test_more_rows_have_more_trees_up_to_a_limit(rows, trees):
    few = BoostedTrees().work(rows, 0).seconds / BoostedTrees().work(100, 0).seconds
    assert 200 * few == pytest.approx(trees)


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize(
    "similarity",
    [
        DistanceSimilarity(Matern(), np.array([0.5, 0.0, 2.0, 1.0]), ranked=True),
        DistanceSimilarity(Laplacian(), np.array([0.5, 0.0, 2.0, 1.0])),
        TurnedSimilarity(RBF(), np.linspace(-1.0, 1.0, 8).reshape(4, 2)),
        LinearSimilarity((0, 3)),
    ],
)
def test_functions_are_kernels_times_coefficients(similarity, dtype):
    table = read(np.random.default_rng(0).normal(size=(40, 4)))
    samples = Preparation.of(table).samples(table)
    old, new = samples.of(np.arange(15)), samples.of(np.arange(15, 40))
    coef = np.random.default_rng(1).normal(size=(15, 3))
    expected = similarity(new, old) @ coef
    atol = 1e-12 if dtype is float else 1e-5
    np.testing.assert_allclose(similarity.function(old, coef, dtype)(new), expected, atol=atol)


def test_a_candidate_is_needed_that_lowers_the_blend_by_a_tenth_of_its_standard_error(monkeypatch):
    values = {(0,): 1.1, (1,): 1.0, (2,): 1.2, (0, 1): 0.985, (1, 2): 0.988, (0, 1, 2): 0.98}  # of 200 samples: by 1 %

    def blend(posed, scores, parted, index):
        return SimpleNamespace(objective=values[tuple(sorted(index))])

    monkeypatch.setattr(many_samples, "blend_of", blend)
    parted = SimpleNamespace(compared=np.zeros(200))
    np.testing.assert_array_equal(many_samples._needed_candidates(None, np.zeros((3, 200)), parted), [0, 1])
    values[0, 1, 2] = 0.97
    np.testing.assert_array_equal(many_samples._needed_candidates(None, np.zeros((3, 200)), parted), [0, 1, 2])


def test_leaves_are_those_of_the_trees():
    X, y = regression(300)
    table = read(X)
    samples = Preparation.of(table).samples(table)
    task = RidgeTask.of(y[:, None], None, np.zeros(300, dtype=int), 0)
    found = BoostedTrees().learn(samples, task)
    model = HistGradientBoostingRegressor(max_iter=200, early_stopping=False, random_state=0)
    with one_openmp_thread():  # several wait for each other at every split
        model.fit(samples.plain, y)
        plain = model.predict(samples.plain)
    numbers = found.similarity._leaves(samples)
    total = np.full(300, float(np.ravel(model._baseline_prediction)[0]))
    for trees, own in zip(model._predictors, numbers.T, strict=True):
        nodes = trees[0].nodes
        total += nodes["value"][nodes["is_leaf"] == 1][own]
    np.testing.assert_allclose(total, plain, rtol=1e-6)
    K = found.similarity(samples, samples)
    np.testing.assert_allclose(K, (numbers[:, None] == numbers).mean(axis=2), atol=1e-6)
    coef = np.random.default_rng(0).normal(size=(300, 2))
    exact = (numbers[:, None] == numbers).mean(axis=2) @ coef
    np.testing.assert_allclose(found.similarity.function(samples, coef)(samples), exact, atol=1e-12)
    many = replace(task, Y=np.repeat(task.Y, 21, axis=1))
    assert BoostedTrees().learn(samples, many) is None


@pytest.mark.study
@pytest.mark.parametrize("name", ["protein", "friedman"])
def test_more_rows_are_never_worse(name):
    rng = np.random.default_rng(0)
    if name == "protein":
        if "MULTIKERNEL_DATA" not in os.environ:
            pytest.skip("MULTIKERNEL_DATA names no folder of data sets")
        table = pd.read_csv(os.path.join(os.environ["MULTIKERNEL_DATA"], "protein.csv.gz"))
        X, y = table.drop(columns="target").to_numpy(), table["target"].to_numpy()
        sizes = [1000, 4000, 16_000, 40_000]
    else:
        X, y = make_friedman1(69_000, 20, noise=1.0, random_state=0)
        sizes = [1000, 4000, 16_000, 64_000]
    order = rng.permutation(len(X))
    test, rest = order[:5000], order[5000:]
    scores = [MultiKernelRegressor(random_state=0).fit(X[rest[:n]], y[rest[:n]]).score(X[test], y[test]) for n in sizes]
    assert scores == sorted(scores)


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_a_metric_finds_the_direction_that_a_target_depends_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    direction = np.array([1.0, -1.0, 0.5, 0.0, 1.0, -0.5])
    y = np.sin(2.0 * X @ direction / np.linalg.norm(direction)) + 0.1 * rng.normal(size=2000)
    model = MultiKernelRegressor(random_state=0).fit(X[:1000], y[:1000])
    assert "Gaussian, a metric" in model.kernel_names_
    assert model.score(X[1000:], y[1000:]) > 0.95
    turned = next(each for each in model.answer_.members if isinstance(each.similarity, TurnedSimilarity)).similarity
    values, vectors = np.linalg.eigh(turned.turn @ turned.turn.T)
    along = vectors[:, -1] @ (direction * X[:1000].std(axis=0))  # columns have spread 1 where it is learned
    assert abs(along) > 0.99 * np.linalg.norm(direction * X[:1000].std(axis=0))
    assert values[-1] > 10.0 * values[-2]
    new = model.preparation_.samples(read(X[:5]))
    A, Z = new.plain @ turned.turn, model.answer_.samples.plain @ turned.turn
    expected = [[np.exp(-((a - z) @ (a - z))) for z in Z] for a in A]
    for dtype, tolerance in ((float, 1e-12), (np.float32, 1e-4)):
        np.testing.assert_allclose(turned.to(model.answer_.samples, dtype)(new), expected, atol=tolerance)


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_a_metric_has_no_categories_and_no_more_parameters_than_samples_allow():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(500, 30))
    mixed = pd.DataFrame({"a": wide[:, 0], "b": wide[:, 1], "c": rng.choice(["x", "y", "z"], 500)})
    for X in (wide, mixed):
        model = MultiKernelRegressor(random_state=0).fit(X, np.sin(wide[:, 0] + wide[:, 1]))
        assert "Gaussian, a metric" not in [row["candidate"] for row in model.candidates_]


def waves(n, seed=0, classes=2):
    """Classes by two of six columns, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    value = 2.0 * np.sin(2.0 * X[:, 0]) * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)
    return X, np.digitize(value, [0.0] if classes == 2 else [-0.8, 0.8])


@pytest.mark.usefixtures("from_300_on")
@pytest.mark.parametrize("classes", one_in(2, [2, 3]))
def test_classes_are_learned_by_one_machine_of_logistic_losses(monkeypatch, classes):
    X, y = waves(800, classes=classes)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 600)
    seen = []
    original = trained_on_many.trained_sum

    def spied(posed, chosen, parted, rows, Z, report):
        made = original(posed, chosen, parted, rows, Z, report)
        seen.append((posed, chosen, rows, Z))
        return made

    monkeypatch.setattr(trained_on_many, "trained_sum", spied)
    monkeypatch.setattr(many_samples, "_leaf_candidate", lambda *_: ([], []))
    model = MultiKernelClassifier(random_state=0).fit(X[:600], y[:600], sample_weight=weight)
    ((posed, chosen, rows, Z),) = seen
    assert "one machine of logistic losses by the sum" in model.explain()
    assert sum(row["weight"] for row in model.candidates_[:-1]) == pytest.approx(1.0)

    # the same machine by SciPy, each column of labels alone
    new = model.preparation_.samples(model._table(X[600:], reset=False))
    samples = posed.samples.of(rows)
    K, C, H = (
        sum(
            share / ridge * part(one, Z)
            for share, ridge, part in zip(model.weights_, chosen.ridges, chosen.parts, strict=True)
        )
        for one in (Z, samples, new)
    )
    s = posed.task.weight[rows]
    columns = []
    for labels in posed.task.Y[rows].T:

        def problem(x, labels=labels):
            margins = labels * (C @ x[:-1] + x[-1])
            p = -s * labels * expit(-margins)
            Ka = chosen.alpha * (K @ x[:-1])
            value = s @ np.logaddexp(0.0, -margins) + 0.5 * x[:-1] @ Ka
            return value, np.append(C.T @ p + Ka, p.sum())

        x = minimize(problem, np.zeros(len(K) + 1), jac=True, options={"maxiter": 5000}).x
        columns.append(H @ x[:-1] + x[-1])
    blend = model.answer_.blend
    expected = blend.weights.sum() * posed.goal.scores(np.column_stack(columns)) + blend.bias
    expected = expected[:, 1] - expected[:, 0] if classes == 2 else expected
    found = model.decision_function(X[600:])
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    parts = model.contributions(X[600:])
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, found, atol=1e-10)
    assert model.score(X[600:], y[600:]) > (0.8 if classes == 2 else 0.65)
    error = 1.0 - model.score(X[600:], y[600:])
    assert abs(error - model.candidates_[-1]["error"]) < 5.0 * model.candidates_[-1]["spread"]


@pytest.mark.study
@pytest.mark.usefixtures("from_300_on")
def test_a_blend_of_squared_losses_stays_where_it_has_less_loss(monkeypatch):
    X, y = waves(400)
    original = LogisticSum.of
    monkeypatch.setattr(LogisticSum, "of", lambda *args: replace(original(*args), value=np.inf))
    model = MultiKernelClassifier(random_state=0).fit(X, y)
    assert "logistic" not in model.explain()
    assert model.score(X, y) > 0.8


def test_kernels_are_kept_within_a_quarter_of_the_memory():
    size = limits.Size(10_000, 3000)
    of = limits.CentreLimits.of(10_000, 4.0 * 4.0 * 10_000 * 3000 / 8.0)
    assert of.keeps(size)
    assert not of.keeps(limits.Size(10_001, 3000))
