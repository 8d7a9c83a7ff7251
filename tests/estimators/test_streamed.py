"""Models of sums over samples are those of one fit to all samples, on the same features."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from threadpoolctl import threadpool_info, threadpool_limits

import multikernel as mk
from cases import one_in
from multikernel import kernels, streams
from multikernel.estimators.streamed import solving
from multikernel.estimators.streamed.checkpoint import PassFile
from multikernel.estimators.streamed.learning import pass_of
from multikernel.estimators.streamed.row_folds import fold_of_rows
from multikernel.estimators.streamed.rows import Pass
from multikernel.statistics import Moments, Summing, coordinates

N = 900
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
SCORE = np.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=N) + 3.0
LABELS = np.array(["low", "middle", "high"])[np.digitize(SCORE, [2.7, 3.4])]
FAMILY = [kernels.RBF(0.03), kernels.RBF(0.3), kernels.RBF(0.1).on([0, 1]), kernels.Linear()]
APPROXIMATE = {"approximation": "nystroem", "rank": 30}
MODELS = {
    "rls2": mk.RLS2Regressor(FAMILY, alpha=1e-4, tol=1e-10, **APPROXIMATE),
    "rls2 unscaled": mk.RLS2Regressor(FAMILY, alpha=0.1, tol=1e-10, scaling="none", fit_intercept=False, **APPROXIMATE),
    "polynomial": mk.PolynomialMKLRegressor(FAMILY, degree=1, alpha=0.1, tol=1e-10, **APPROXIMATE),
    "average": mk.AverageMKLRegressor(FAMILY, alpha=0.1, **APPROXIMATE),
    "classes": mk.RLS2Classifier(FAMILY, alpha=1e-4, tol=1e-10, **APPROXIMATE),
    "shared classes": mk.RLS2Classifier(FAMILY, alpha=1e-4, tol=1e-10, multiclass="shared", **APPROXIMATE),
    "polynomial classes": mk.PolynomialMKLClassifier(FAMILY, degree=1, alpha=0.1, tol=1e-10, **APPROXIMATE),
}
PARTS = np.split(np.arange(N), [400, 401, 650])
WEIGHT = RNG.integers(0, 3, N).astype(float)


def target(model):
    return LABELS if is_classifier(model) else SCORE


def chunked(model, rows=PARTS, weight=None):
    model, y = clone(model), target(model)
    more = {"classes": np.unique(LABELS)} if is_classifier(model) else {}
    for part in rows:
        model.partial_fit(X[part], y[part], None if weight is None else weight[part], **more)
    return model


def at_once(model, of, rows, weight=None):
    """One fit to some samples, on the features of a model that has learned, and its values at all samples."""
    bank = of._state.bank
    whole = clone(model).fit(
        bank.on(X[rows]), target(model)[rows], **({} if weight is None else {"sample_weight": weight[rows]})
    )
    return np.asarray(whole._values(bank.on(X).block(slice(None), rows)))


@pytest.mark.parametrize("name", one_in(3, MODELS))
def test_chunks_are_one_fit(name):
    model = MODELS[name]
    learned = chunked(model)
    assert np.allclose(learned._values(X), at_once(model, learned, np.arange(N)), rtol=0, atol=1e-8)
    assert learned.converged_
    learned.forget(X[:200], target(model)[:200])
    assert np.allclose(learned._values(X), at_once(model, learned, np.arange(200, N)), rtol=0, atol=1e-8)
    assert learned.dual_coef_.shape[-1] == 0


@pytest.mark.parametrize("name", ["rls2", "classes"])
def test_weights_are_repeated_samples(name):
    model = MODELS[name]
    learned = chunked(model, weight=WEIGHT)
    assert np.allclose(learned._values(X), at_once(model, learned, np.arange(N), WEIGHT), rtol=0, atol=1e-8)


@pytest.mark.parametrize(("offset", "fit_intercept"), one_in(3, [(0.0, True), (0.0, False), (1e8, True)]))
def test_cross_validated_ridge_from_sums(offset, fit_intercept):
    model = mk.MultipleKernelRidgeCV(FAMILY[1:3], tol=1e-6, fit_intercept=fit_intercept, **APPROXIMATE)
    several, single, y = clone(model), clone(model), SCORE + offset
    for rows in PARTS:
        several.partial_fit(X[rows], y[rows])
    for rows in (np.arange(400), np.arange(400, N)):
        single.partial_fit(X[rows], y[rows])
    assert np.allclose(several.predict(X), single.predict(X), rtol=1e-15, atol=1e-8)
    fold = fold_of_rows(X, y[:, None], 5)
    error, bank = 0.0, several._state.bank.on(X)
    K = bank.combine(several.weights_).dense()
    for f in range(5):  # the error of the definition, fold by fold
        train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        mean = y[train].mean() if fit_intercept else 0.0
        coef = np.linalg.solve(K[np.ix_(train, train)] + several.alpha_ * np.eye(len(train)), y[train] - mean)
        error += ((y[test] - mean - K[np.ix_(test, train)] @ coef) ** 2).sum()
    assert several.cv_loss_ == pytest.approx(error / N, rel=1e-8 if offset == 0.0 else 1e-6)
    cv = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(5)]
    whole = clone(model).set_params(cv=cv).fit(bank, y)
    assert several.cv_loss_ == pytest.approx(whole.cv_loss_, rel=1e-4)
    assert np.bincount(fold).min() > 0.7 * N / 5


def test_sums_know_no_fixed_columns_of_an_earlier_fit():
    source, model = streams.arrays(X, SCORE), mk.MultipleKernelRidgeCV(FAMILY[1:3], **APPROXIMATE)
    again = clone(model).set_params(fixed=[3]).fit(X[:100], SCORE[:100]).set_params(fixed=None).fit(source)
    np.testing.assert_array_equal(again.predict(X), model.fit(source).predict(X))


def test_several_targets_and_centred_kernels():
    Y = np.column_stack([SCORE, X[:, 3] ** 2])
    family = [kernels.RBF(0.1).centered(), kernels.RBF(0.3)]
    model = mk.AverageMKLRegressor(family, alpha=0.1, **APPROXIMATE)
    learned = clone(model).partial_fit(X[:500], Y[:500]).partial_fit(X[500:], Y[500:])
    F = learned._state.bank.on(X).bank.F
    F = np.where(np.repeat([True, False], learned._state.bank.bank.sizes), F - F.mean(axis=0), F)
    K, mean = 0.5 * F @ F.T, Y.mean(axis=0)
    expected = K @ np.linalg.solve(K + 0.1 * np.eye(N), Y - mean) + mean
    assert np.allclose(learned.predict(X), expected, rtol=0, atol=1e-8)


def test_numbers_that_are_auto_are_chosen_once():
    model = mk.RLS2Regressor(FAMILY, **APPROXIMATE)
    learned = chunked(model)
    assert learned.alpha_ > 0
    assert learned.score(X, SCORE) > 0.95
    assert learned.alpha_ == pytest.approx(chunked(model, [np.arange(400)]).alpha_ * 400 / N)


def test_a_source_is_a_fit_of_all_rows():
    source = streams.pieces(lambda: ((X[part], SCORE[part]) for part in PARTS))
    model = clone(MODELS["rls2"]).fit(source)
    assert model._state.rows == N
    assert np.allclose(model._values(X), at_once(MODELS["rls2"], model, np.arange(N)), rtol=0, atol=1e-8)
    other = clone(MODELS["rls2"]).fit(streams.arrays(X, SCORE))
    assert np.allclose(other.predict(X), model.predict(X), rtol=0, atol=1e-8)
    assert np.allclose(np.concatenate(list(streams.predict(model, source))), model.predict(X))
    labels = clone(MODELS["classes"]).fit(streams.arrays(X, LABELS))
    assert labels.classes_.tolist() == ["high", "low", "middle"]
    assert labels.score(X, LABELS) > 0.85


def test_frames_with_categories(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "word": pd.Categorical(np.where(X[:, 1] > 0, "up", "down")), "y": SCORE})
    frame["y"] += 2.0 * (frame["word"] == "up")
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    source = streams.parquet(tmp_path / "a.parquet", target="y")
    model = mk.RLS2Regressor(kernels.for_columns(frame[["a", "word"]]), alpha=1e-5, **APPROXIMATE).fit(source)
    assert model.score(frame[["a", "word"]], frame["y"]) > 0.9
    written = streams.write_predictions(model, source, tmp_path / "said.parquet")
    said = pd.read_parquet(tmp_path / "said.parquet")["prediction"]
    assert written == N
    assert np.allclose(said, model.predict(frame[["a", "word"]]))
    streams.write_predictions(model, source, tmp_path / "said.csv")
    assert np.allclose(pd.read_csv(tmp_path / "said.csv")["prediction"], said)
    frame.loc[345, "a"] = None
    frame.to_parquet(tmp_path / "a.parquet")
    seen = streams.survey(streams.parquet(tmp_path / "a.parquet", target="y"), 300, seed=1)
    assert np.isfinite(seen.sample.X["a"]).all()
    plain = mk.RLS2Regressor([kernels.RBF(0.1).on(["a"])], alpha=1e-5, **APPROXIMATE)
    with pytest.raises(ValueError, match=r"a\.parquet, row 345, column 'a': the cell is missing"):
        pass_of(plain, plain.partial_fit(frame[["a", "word"]][:300], SCORE[:300])._state).of(
            list(streams.parquet(tmp_path / "a.parquet", target="y").chunks())[-1]
        )


def test_a_missing_cell_is_told_with_its_place():
    bad = X.copy()
    bad[640, 2] = np.nan
    model = clone(MODELS["rls2"]).partial_fit(X[:400], SCORE[:400])
    before = model.predict(X)
    with pytest.raises(ValueError, match="row 240, column 2: the cell is missing or infinite"):
        model.partial_fit(bad[400:], SCORE[400:])
    assert np.array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="row 3: the target is missing"):
        model.partial_fit(X[:4], [1.0, 2.0, 3.0, np.nan])


HALF_A_FIT = {  # chunks that cannot be learned from, and where Ctrl-C may come
    "a cell is missing": lambda: {"X": np.where(np.arange(4) == 2, np.nan, X[:9])},
    "too few columns": lambda: {"X": X[:9, :3]},
    "too many columns": lambda: {"X": np.hstack([X, X])[:9]},
    "words": lambda: {"X": np.full((9, 4), "word")},
    "no row": lambda: {"X": X[:0], "y": SCORE[:0]},
    "too few targets": lambda: {"y": SCORE[:8]},
    "too many targets": lambda: {"y": np.column_stack([SCORE, SCORE])[:9]},
    "an infinite target": lambda: {"y": np.full(9, np.inf)},
    "sums beyond all numbers": lambda: {"y": np.full(9, 1e300)},
    "weights below zero": lambda: {"sample_weight": -np.ones(9)},
    "weights that are missing": lambda: {"sample_weight": np.full(9, np.nan)},
    "interrupted while sums are made": Summing,
    "interrupted while weights are learned": solving,
    "interrupted while the model is published": mk.RLS2Regressor,
}
WHERE = {"sums are made": "add", "weights are learned": "coordinates", "the model is published": "publish"}


@pytest.fixture(scope="module")
def learned():
    return clone(MODELS["rls2"]).partial_fit(X[:400], SCORE[:400])


@pytest.mark.parametrize("call", ["partial_fit", "forget"])
@pytest.mark.parametrize("case", HALF_A_FIT)
def test_a_chunk_is_learned_whole_or_not_at_all(monkeypatch, learned, case, call):
    model = copy(learned)
    before, sums = dict(vars(model)), {name: np.copy(value) for name, value in vars(model._state.total).items()}
    given, error = {"X": X[:9], "y": SCORE[:9]}, ValueError
    if case.startswith("interrupted"):
        method, error = WHERE[case.removeprefix("interrupted while ")], KeyboardInterrupt
        original = getattr(HALF_A_FIT[case], method)

        def interrupted(*values, **named):
            original(*values, **named)
            raise KeyboardInterrupt

        monkeypatch.setattr(HALF_A_FIT[case], method, interrupted)
    else:
        given |= HALF_A_FIT[case]()
    with pytest.raises(error):
        getattr(model, call)(**given)
    monkeypatch.undo()
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())
    assert all(np.array_equal(value, sums[name]) for name, value in vars(model._state.total).items())


def test_threads_share_a_pass(monkeypatch):
    """Strips of the sums, with one thread of BLAS for each; the same sums."""
    blas, add, added = [], Summing.add, Pass.add

    def told(*given):
        blas.append(max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"))
        return add(*given)

    def with_two(*given):
        with threadpool_limits(2, user_api="blas"):  # not in all of the fit, where they would wait for each other
            return added(*given)

    monkeypatch.setattr(Summing, "add", told)
    monkeypatch.setattr(Pass, "add", with_two)
    monkeypatch.setattr("multikernel.estimators.streamed.rows._MANY", 1)
    found = {}
    for threads in "12":
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found[threads] = clone(MODELS["average"]).fit(streams.arrays(X, SCORE))._state.total
    assert set(blas) == {1}
    for name, value in vars(found["1"]).items():
        np.testing.assert_allclose(vars(found["2"])[name], value, rtol=1e-10, atol=1e-10, err_msg=name)


def test_what_is_refused():
    assert not hasattr(mk.RLS2Regressor(FAMILY), "partial_fit")
    source = streams.arrays(X, SCORE)
    for model, sentence in (
        (mk.RLS2Regressor(FAMILY), "give approximation='nystroem'"),
        (mk.L1MKLRegressor(FAMILY, **APPROXIMATE), "does not learn from a source in chunks"),
        (mk.PolynomialMKLRegressor(FAMILY, **APPROXIMATE), "use degree=1"),
        (mk.PolynomialMKLRegressor(FAMILY, degree=1, tied=((0, 1),), **APPROXIMATE), "no tied or free products"),
        (mk.RLS2Classifier(FAMILY, multiclass="ovo", **APPROXIMATE), "use multiclass='ovr'"),
        (mk.RLS2Classifier(FAMILY, class_weight="balanced", **APPROXIMATE), "give a dict of weights"),
        (mk.RLS2Classifier(FAMILY, scaling="fisher", **APPROXIMATE), "use 'trace' or 'none'"),
        (mk.MultipleKernelRidgeCV(FAMILY, cv="loo", **APPROXIMATE), "give cv as a number of folds"),
        (mk.MultipleKernelRidgeCV(FAMILY, criterion="evidence", **APPROXIMATE), "use criterion='held_out'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.fit(source)
    unknown = clone(MODELS["classes"]).set_params(class_weight={"low": 2.0, "lowest": 3.0})
    with pytest.raises(ValueError, match="not in class_weight"):
        unknown.partial_fit(X, LABELS)
    with pytest.raises(ValueError, match="leave no sample of class low"):
        unknown.set_params(class_weight={"low": 0.0}).partial_fit(X, LABELS)
    with pytest.raises(ValueError, match="a source holds its target"):
        MODELS["rls2"].fit(source, SCORE)
    with pytest.raises(ValueError, match="takes its rows only: leave unlabeled out"):
        clone(MODELS["rls2"]).fit(source, unlabeled=X)
    with pytest.raises(ValueError, match="no target"):
        clone(MODELS["rls2"]).fit(streams.arrays(X))
    with pytest.raises(MemoryError, match="or take rank="):
        clone(MODELS["rls2"]).set_params(rank=600).fit(streams.arrays(X, SCORE, memory="100MB"))
    learned = chunked(MODELS["classes"], [np.arange(300)])
    with pytest.raises(ValueError, match="row 0: the label 'huge' is none of those known"):
        learned.partial_fit(X[:1], ["huge"])
    with pytest.raises(ValueError, match="cannot be taken off"):
        learned.forget(X, LABELS)
    with pytest.raises(ValueError, match="not among those"):
        chunked(MODELS["rls2"], [np.arange(400)]).forget(X[:9], 1e3 * SCORE[:9])
    with pytest.raises(ValueError, match="every sample has weight 0"):
        clone(MODELS["rls2"]).partial_fit(X, SCORE, np.zeros(N))
    with pytest.raises(ValueError, match="take a target y"):
        clone(MODELS["rls2"]).partial_fit(X, None)
    with pytest.raises(TypeError, match="takes a function"):
        streams.pieces((X, SCORE))
    with pytest.raises(ValueError, match="learned from sums over rows"):
        chunked(MODELS["rls2"], [np.arange(300)]).predict(X, return_std=True)
    for call in ("partial_fit", "forget"):
        with pytest.raises(ValueError, match="keeps no sums"):
            getattr(clone(MODELS["average"]).fit(X, SCORE), call)(X, SCORE)


@pytest.mark.parametrize("count", [20, 300])
def test_samples_that_were_never_given_are_not_taken_off(count):
    rng = np.random.default_rng(3)
    model = clone(MODELS["rls2"]).partial_fit(X[:600], SCORE[:600])
    before = model.predict(X)
    with pytest.raises(ValueError, match=f"these {count} samples are not among those that were given"):
        model.forget(rng.normal(size=(count, X.shape[1])), rng.normal(size=count))
    assert np.array_equal(model.predict(X), before)


CHANGES = {
    "kernels": {"kernels": "rbf"},
    "a kernel": {"kernels": FAMILY[:-1]},
    "rank": {"rank": 20},
    "class_weight": {"class_weight": {"low": 2.0}},
    "a number that was auto": {"alpha": 0.5},
}


@pytest.mark.crossed
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", ["partial_fit", "forget"])
def test_what_the_first_samples_settled_is_not_changed(change, call):
    alpha = "auto" if change == "a number that was auto" else 0.1
    model = mk.PolynomialMKLClassifier(FAMILY, degree=1, alpha=alpha, **APPROXIMATE)
    before = model.partial_fit(X[:300], LABELS[:300]).decision_function(X)
    own = model.get_params(deep=False)
    model.set_params(**CHANGES[change])
    (name,) = CHANGES[change]
    with pytest.raises(ValueError, match=f"PolynomialMKLClassifier: {name} was changed after the first samples"):
        getattr(model, call)(X[:9], LABELS[:9])
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.set_params(**{name: own[name]}).partial_fit(X[300:600], LABELS[300:600])


def test_a_kernel_that_is_changed_in_place_and_a_number_that_becomes_auto_are_refused():
    model = mk.RLS2Regressor([kernels.RBF(0.3), kernels.Linear()], alpha=0.1, **APPROXIMATE)
    model.partial_fit(X[:300], SCORE[:300])
    with pytest.raises(ValueError, match="RLS2Regressor: alpha was changed after the first samples"):
        model.set_params(alpha="auto").partial_fit(X[300:], SCORE[300:])
    model.set_params(alpha=0.1).kernels[0].set_params(gamma=0.5)
    with pytest.raises(ValueError, match="RLS2Regressor: kernels was changed after the first samples"):
        model.partial_fit(X[300:], SCORE[300:])


def test_a_number_that_is_changed_counts_from_the_next_samples_on(tmp_path):
    model = chunked(mk.AverageMKLRegressor(FAMILY, alpha=5.0, **APPROXIMATE), PARTS[:2])
    mk.save(model, tmp_path / "model.mk")
    model = mk.load(tmp_path / "model.mk").set_params(alpha=0.1)  # a model from a file knows what was settled, too
    for part in PARTS[2:]:
        model.partial_fit(X[part], SCORE[part])
    np.testing.assert_allclose(model.predict(X), chunked(MODELS["average"]).predict(X), atol=1e-8)
    with pytest.raises(ValueError, match="rank was changed"):
        model.set_params(rank=7).partial_fit(X, SCORE)


@pytest.mark.parametrize("classes", [["low", "high"], [7, 8], ["low", "middle", "high", "highest"], "low", 3])
def test_other_labels_than_those_of_the_first_samples_are_refused(classes):
    model = chunked(MODELS["classes"], PARTS[:1])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="RLS2Classifier: classes"):
        model.partial_fit(X[400:], LABELS[400:], classes=classes)
    np.testing.assert_array_equal(model.decision_function(X), before)
    with pytest.raises(ValueError, match="RLS2Regressor predicts numbers, which are of no class: leave classes out"):
        clone(MODELS["rls2"]).partial_fit(X, SCORE, classes=[1, 2])


@pytest.mark.parametrize("call", ["partial_fit", "forget"])
@pytest.mark.parametrize("name", ["rls2", "polynomial", "average"])
def test_samples_too_large_for_sums_are_refused(name, call):
    model = chunked(MODELS[name], PARTS[:1])
    before = model.predict(X)
    large = X[400:420].copy()
    large[3] *= 1e300
    with pytest.raises(ValueError, match=r"row 3: the features that kernels make of this sample are beyond 1e\+140"):
        getattr(model, call)(large, SCORE[400:420])
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("wrong", [{"a": X[:, :2], "b": X[:, 2:]}, 3.0, None, "text"])
def test_what_holds_no_rows_is_refused(wrong):
    model = chunked(MODELS["average"], PARTS[:1])
    for fresh in (model, clone(model)):
        with pytest.raises(ValueError, match=r"partial_fit and forget take .*a row for each sample"):
            fresh.partial_fit(wrong, SCORE)
    with pytest.raises(ValueError, match="take a target y for every sample, got 3"):
        model.partial_fit(X, 3)


def test_samples_are_taken_off_once():
    model = chunked(MODELS["average"], [np.arange(30)])
    model.forget(X[:20], SCORE[:20])
    before = model.predict(X)
    with pytest.raises(ValueError, match="20 of 10 samples cannot be taken off"):
        model.forget(X[:20], SCORE[:20])
    np.testing.assert_array_equal(model.predict(X), before)


def test_few_first_samples_are_said():
    with pytest.warns(mk.PredictionWarning, match="the first 3 samples settle widths, .* and rank=.* asks for more"):
        model = clone(MODELS["rls2"]).partial_fit(X[:3], SCORE[:3])
    model.partial_fit(X[3:], SCORE[3:])  # which says nothing any more


@pytest.mark.study
def test_single_precision_after_double(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X).add_prefix("x").assign(y=SCORE)
    model = clone(MODELS["rls2"]).partial_fit(X[:400], SCORE[:400])
    model.partial_fit(X[400:].astype(np.float32), SCORE[400:])
    whole = clone(MODELS["rls2"]).partial_fit(X[:400], SCORE[:400]).partial_fit(X[400:], SCORE[400:])
    assert np.allclose(model.predict(X), whole.predict(X), atol=1e-4)
    for name, changes in (("single", {"x0": "float32", "y": "float32"}), ("double", {})):
        frame[:400].to_parquet(tmp_path / "0.parquet")
        frame[400:].astype(changes).to_parquet(tmp_path / "1.parquet")
        source = streams.parquet([tmp_path / "0.parquet", tmp_path / "1.parquet"], target="y")
        assert clone(MODELS["rls2"]).fit(source).score(frame.drop(columns="y"), SCORE) == pytest.approx(
            clone(MODELS["rls2"]).fit(streams.arrays(X, SCORE)).score(X, SCORE), abs=1e-4
        ), name
    frame[400:].astype({"x0": str}).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"column 'x0' is of type .*string, and in"):
        list(source.chunks())


class Killed(Exception):
    """What ends a pass in the middle."""


def test_a_pass_that_was_killed_goes_on(tmp_path, monkeypatch):
    path, read = tmp_path / "state", []

    def make(stop=10**9):
        read.clear()
        for k, part in enumerate(np.split(np.arange(N), 9)):
            if k == stop:
                raise Killed
            read.append(k)
            yield X[part], SCORE[part]

    seen = streams.survey(streams.pieces(make), 2000)
    monkeypatch.setattr("multikernel.estimators.streamed.source.survey", lambda *_, **__: seen)

    def source(stop=10**9):
        return streams.pieces(lambda: make(stop), name="rows", checkpoint=path, every=150)

    model = clone(MODELS["rls2"])
    with pytest.raises(Killed):
        model.fit(source(7))
    kept = path.read_bytes()
    monkeypatch.setattr("multikernel.estimators.streamed.checkpoint.archive.write", full_disk)
    with pytest.raises(OSError, match="could not be written at row 800"):
        model.fit(source())
    assert path.read_bytes() == kept
    monkeypatch.undo()
    monkeypatch.setattr("multikernel.estimators.streamed.source.survey", lambda *_, **__: seen)
    with pytest.raises(ValueError, match="to other parameters"):
        clone(model).set_params(alpha=0.5).fit(source())
    counted = []
    monkeypatch.setattr(
        Summing, "add", lambda self, F, *more, add=Summing.add: (counted.append(len(F)), add(self, F, *more))
    )
    again = clone(model).fit(source())
    assert sum(counted) == 300  # of 900, 600 were in the state
    assert not path.exists()
    whole = clone(model).fit(streams.pieces(make, name="rows"))
    assert np.allclose(again.predict(X), whole.predict(X), rtol=0, atol=1e-10)
    middle = len(kept) // 2
    for content in (b"no state", kept[:middle], kept[:-30], kept[:middle] + b"other" + kept[middle + 5 :]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is no checkpoint"):
            clone(model).fit(source())


@pytest.mark.parametrize("content", ["words", "a model"])
@pytest.mark.parametrize(
    "model", [MODELS["rls2"], mk.LearnedScalesRegressor(approximation="nystroem"), mk.MultiKernelRegressor()], ids=repr
)
def test_a_file_that_is_no_checkpoint_is_kept(model, content, tmp_path):
    """Also where all rows are in the sample, and nothing is kept on the way."""
    path = tmp_path / "notes"
    if content == "words":
        path.write_text(content)
    else:
        mk.save(mk.AverageMKLRegressor(alpha=1.0).fit(X[:20], SCORE[:20]), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="notes is no checkpoint of a fit, or is damaged"):
        clone(model).fit(streams.arrays(X, SCORE, checkpoint=path))
    assert path.read_bytes() == before
    with pytest.raises(TypeError, match="checkpoint must be the name of a file"):
        clone(model).fit(streams.arrays(X, SCORE, checkpoint=3))


def full_disk(path, *given):
    path.write_bytes(b"half of it")
    raise OSError(28, "No space left on device")


def test_a_pass_is_known_by_all_that_its_sums_depend_on(tmp_path):
    def key(value=0.0, source=None, **parameters):
        metric = np.zeros(2000)
        metric[1500] = value
        model = mk.LearnedScalesRegressor(**({"random_state": np.random.RandomState(1), "groups": metric} | parameters))
        return PassFile.of(model, source or streams.arrays(X, SCORE, checkpoint=tmp_path / "state")).key

    assert key() == key() == key(verbose=2)
    others = [key(1.0), key(random_state=np.random.RandomState(2)), key(rank=7), key(random_state=1)]
    others.append(key(source=streams.arrays(X + 1.0, SCORE, checkpoint=tmp_path / "state")))
    assert len({key(), *others}) == 6


def test_progress_is_told_in_rows(capsys):
    clone(MODELS["rls2"]).set_params(verbose=2).fit(streams.arrays(X, SCORE))
    assert "RLS2Regressor: 900 of 900 rows," in capsys.readouterr().out


def test_sums_of_few_samples():
    rng = np.random.default_rng(1)
    F, Y, w = rng.normal(size=(50, 6)), rng.normal(size=(50, 2)), rng.uniform(size=50)
    F[:, 5] = F[:, 0] - F[:, 1]
    sums = Summing(6, 2)
    sums.add(F[:20], Y[:20], w[:20])
    sums.add(F[20:], Y[20:], w[20:])
    found, truth = sums.moments(), Moments.of(F, Y, w)
    for name, value in vars(truth).items():
        assert np.allclose(getattr(found, name), value), name
    G, Z = coordinates(found)
    assert G.shape == (5 + 2, 6)
    assert np.allclose(G.T @ G, found.squares)
    assert np.allclose(G.T @ Z, found.products)
    assert np.allclose((Z * Z).sum(axis=0), found.target_squares)
    shift = rng.normal(size=6)
    moved, direct = truth.moved(shift), Moments.of(F - shift, Y, w)
    assert all(np.allclose(getattr(moved, name), value) for name, value in vars(direct).items())
