"""Everyday tasks with tables: each works, or ends in one sentence that names the fix."""

from __future__ import annotations

import io

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import multikernel
from cases import one_in
from multikernel import MultiKernelClassifier, MultiKernelRegressor, PredictionWarning

N = 60


@pytest.fixture
def frame() -> pd.DataFrame:
    """Passengers: numbers, categories, dates, booleans and texts, with missing cells."""
    rng = np.random.default_rng(0)
    age = rng.integers(1, 80, N).astype(float)
    age[::7] = np.nan
    sex = rng.choice(["male", "female"], N)
    port = rng.choice(["S", "C", "Q"], N).astype(object)
    port[::11] = None
    return pd.DataFrame(
        {
            "age": age,
            "fare": np.exp(rng.normal(size=N)),
            "sex": sex,
            "embarked": port,
            "alone": rng.random(N) < 0.5,
            "boarded": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 300, N), unit="D"),
        }
    )


@pytest.fixture
def survived(frame: pd.DataFrame) -> np.ndarray:
    return np.where((frame["sex"] == "female") ^ (np.arange(N) % 10 == 0), "yes", "no")


def fitted(X, y, **options):
    return MultiKernelClassifier(random_state=0, **options).fit(X, y)


def test_a_frame_with_strings_dates_and_missing_cells(frame, survived):
    model = fitted(frame[:40], survived[:40])
    assert model.score(frame[40:], survived[40:]) >= 0.8
    assert set(model.predict(frame)) == {"yes", "no"}


def test_labels_of_booleans(frame, survived):
    assert fitted(frame, survived == "yes").predict(frame).dtype == bool


def test_integers_to_regress(frame):
    y = 3 * (frame["sex"] == "female").astype(int) + frame["alone"]
    model = MultiKernelRegressor(random_state=0).fit(frame, y.astype(int))
    assert np.abs(model.predict(frame) - y).mean() < 0.5


def test_cross_validation():
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert cross_val_score(MultiKernelClassifier(random_state=0), X[::3], y[::3], cv=2).mean() > 0.85


def test_a_grid_search_over_nothing(frame, survived):
    search = GridSearchCV(MultiKernelClassifier(random_state=0), {}, cv=2).fit(frame, survived)
    assert search.best_params_ == {}


def test_a_pipeline():
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), MultiKernelRegressor(random_state=0)).fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) > 0.3


def test_joblib_and_save_without_pickle(frame, survived, tmp_path):
    model = fitted(frame, survived)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    multikernel.save(model, tmp_path / "model.mk")
    for again in (joblib.load(file), multikernel.load(tmp_path / "model.mk")):
        assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert again.explain() == model.explain()


def test_a_single_row(frame, survived):
    model = fitted(frame, survived)
    assert model.predict(frame[:1]).tolist() == model.predict(frame)[:1].tolist()


def test_columns_are_matched_by_their_names(frame, survived):
    rows = frame.assign(passenger_id=np.arange(N), empty=np.nan)
    model = fitted(rows, survived)
    expected = model.predict_proba(rows)
    assert np.array_equal(model.predict_proba(rows[rows.columns[::-1]]), expected)
    assert np.array_equal(model.predict_proba(frame), expected)  # without the columns that were left out
    with pytest.raises(ValueError, match="now missing:\n- fare"):
        model.predict(rows.drop(columns="fare"))
    with pytest.raises(ValueError, match="unseen at fit time:\n- other"):
        model.predict(rows.assign(other=1.0))
    views = {"a": rows, "b": np.random.default_rng(0).normal(size=(N, 2))}
    model = fitted(views, survived)
    assert np.array_equal(model.predict_proba(views | {"a": frame[frame.columns[::-1]]}), model.predict_proba(views))


def test_columns_lose_or_get_their_names_after_training(frame, survived):
    model = fitted(frame, survived)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        nameless = model.predict_proba(frame.to_numpy(dtype=object))
    assert np.allclose(nameless, model.predict_proba(frame))
    Z = np.random.default_rng(0).normal(size=(N, 3))
    model = fitted(Z, survived)
    with pytest.warns(UserWarning, match="X has feature names"):
        assert np.allclose(model.predict_proba(pd.DataFrame(Z, columns=["a", "b", "c"])), model.predict_proba(Z))


def test_nameless_columns_are_in_the_order_of_training_whatever_their_names_were(frame, survived):
    Z = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 2)), columns=["x1", "x0"])
    model = fitted(Z, survived)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        nameless = model.predict_proba(Z.to_numpy())
    assert np.array_equal(nameless, model.predict_proba(Z))
    assert np.array_equal(nameless, model.predict_proba(Z[["x0", "x1"]]))
    views = {"a": Z, "b": Z**2}
    model = fitted(views, survived)
    with pytest.warns(UserWarning, match="columns of view 'a' have no names, and are taken in the order of training"):
        nameless = model.predict_proba(views | {"a": Z.to_numpy()})
    assert np.array_equal(nameless, model.predict_proba(views))


def test_a_category_that_training_did_not_have(frame, survived):
    model = fitted(frame, survived)
    new = frame.assign(embarked="Liverpool")
    with pytest.warns(UserWarning, match="'embarked' of X has categories, 'Liverpool' for one, that the training"):
        assert len(model.predict(new)) == N


@pytest.mark.parametrize(
    ("cells", "why"),
    one_in(
        3,
        [
            (np.full(N, np.nan), "has no value at all"),
            (np.full(N, 7.0), "has one value only"),
            (np.full(N, None, dtype=object), "has no value at all"),
            (np.array([f"p{i}" for i in range(N)], dtype=object), "names its row"),
        ],
    ),
)
def test_a_column_that_cannot_help_is_left_out(frame, survived, cells, why):
    model = fitted(frame.assign(extra=cells), survived)
    assert f"Column 'extra' is left out: it {why}" in model.explain()
    plain = fitted(frame, survived)
    assert np.allclose(model.predict_proba(frame.assign(extra=cells)), plain.predict_proba(frame))


def test_numbers_that_name_the_rows_are_left_out(frame, survived):
    model = fitted(frame.assign(passenger_id=np.arange(N)), survived)
    assert "Column 'passenger_id' is left out" in model.explain()


def test_dates_as_strings(survived):
    days = pd.Series(pd.date_range("2020-01-01", periods=N, freq="D").strftime("%Y-%m-%d"))
    model = MultiKernelRegressor(random_state=0).fit(pd.DataFrame({"day": days}), np.arange(N))
    assert "1 date (day)" in model.explain()
    assert model.score(pd.DataFrame({"day": days}), np.arange(N)) > 0.95


def test_text():
    rng = np.random.default_rng(0)
    kinds = ["awful", "poor", "broken", "dull"], ["wonderful", "great", "lovely", "fine"]
    X = pd.DataFrame({"review": [" ".join([*rng.permutation(kinds[i % 2]), f"item {i}"]) for i in range(N)]})
    model = fitted(X[:40], np.arange(40) % 2)
    assert model.score(X[40:], np.arange(40, N) % 2) > 0.9
    assert "1 text (review)" in model.explain()


@pytest.mark.parametrize("p", [20, 400])
def test_sparse_features(p):
    X = sparse.random_array((N, p), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(X[:, [0, 1, 2]].sum(axis=1)).ravel()
    model = MultiKernelRegressor(random_state=0).fit(X, y)
    assert model.predict(X[:3]).shape == (3,)


def test_views_of_an_array_a_frame_and_a_kernel_matrix(frame, survived):
    Z = np.random.default_rng(0).normal(size=(N, 5))
    views = {"clinical": frame, "genes": Z, "kernel": Z @ Z.T}
    model = fitted(views, survived)
    new = {"clinical": frame[:4], "genes": Z[:4], "kernel": Z[:4] @ Z.T}
    assert np.allclose(model.predict_proba(new), model.predict_proba(views)[:4])
    with pytest.warns(PredictionWarning, match=r"missing views \('kernel'\) are completed"):
        assert model.predict({"clinical": frame, "genes": Z}).shape == (N,)
    with pytest.raises(ValueError, match="view 'kernel' is a kernel matrix: new samples need a row each with 60"):
        model.predict(new | {"kernel": np.ones((4, 4))})


def test_a_bank_and_a_list_of_its_matrices():
    X, y = load_iris(return_X_y=True)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    bank = multikernel.bind([multikernel.kernels.RBF(0.1), multikernel.kernels.Linear()], X)
    square, new = bank.block(train, train), bank.block(test, train)
    by_bank = MultiKernelClassifier().fit(square, y[train])
    by_list = MultiKernelClassifier().fit([square.matrix(0), square.matrix(1)], y[train])
    assert by_bank.score(new, y[test]) > 0.9
    np.testing.assert_array_equal(by_bank.predict(new), by_list.predict([new.matrix(0), new.matrix(1)]))


def test_a_list_of_texts():
    words = np.random.default_rng(0).choice(["table", "chair", "lamp", "garden", "window"], (60, 3))
    liked = np.arange(60) % 2 == 0
    notes = [f"a {'good' if like else 'bad'} {' '.join(three)}" for like, three in zip(liked, words, strict=True)]
    model = MultiKernelClassifier().fit(notes, liked)
    assert list(model.predict(["a good table", "a bad lamp"])) == [True, False]


def test_few_texts_that_repeat_are_texts_where_they_are_all_there_is():
    notes = ["good movie", "bad film", "nice evening", "awful evening"] * 10
    model = MultiKernelClassifier().fit(notes, [1, 0, 1, 0] * 10)
    assert "1 text" in model.explain()
    assert list(model.predict(["good evening", "bad evening"])) == [1, 0]
    model = MultiKernelClassifier(types={"x0": "category"}).fit(notes, [1, 0, 1, 0] * 10)
    assert "1 category" in model.explain()


def test_a_frame_of_polars(frame, survived):
    polars = pytest.importorskip("polars")
    cells = {name: [None if value is None or value != value else value for value in frame[name]] for name in frame}
    same = polars.DataFrame(cells)
    assert np.allclose(fitted(same, survived).predict_proba(same), fitted(frame, survived).predict_proba(frame))


def test_twelve_samples():
    X, y = load_iris(return_X_y=True)
    model = fitted(X[::13], y[::13])
    assert model.score(X, y) > 0.8


def test_a_class_of_two_samples():
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:40, 50:90, 100:102]
    probabilities = fitted(X[rows], y[rows]).predict_proba(X)
    assert probabilities.shape == (150, 3)
    assert np.allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("model", [MultiKernelClassifier(), MultiKernelRegressor()])
def test_a_target_with_a_missing_value(model, frame):
    y = np.arange(N) % 2.0
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(frame, y)


def test_one_class_is_refused_in_a_sentence(frame):
    with pytest.raises(ValueError, match="needs samples with a weight of each of two classes or more"):
        fitted(frame, np.ones(N))


def test_two_columns_of_one_name(frame, survived):
    twice = pd.concat([frame, frame[["age"]]], axis=1)
    with pytest.raises(ValueError, match="two columns of X are named 'age'"):
        fitted(twice, survived)


def test_nothing_to_learn_from_gives_a_constant(survived):
    model = fitted(pd.DataFrame({"a": np.ones(N)}), survived)
    assert len(set(model.predict(pd.DataFrame({"a": [1.0, 2.0]})))) == 1
    assert "the answer is a constant" in model.explain()


def test_a_constant_target():
    model = MultiKernelRegressor().fit(np.arange(10.0)[:, None], np.full(10, 3.0))
    assert np.array_equal(model.predict([[4.0]]), [3.0])


def test_several_targets():
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, -2 * y])[:80]
    predicted = MultiKernelRegressor(random_state=0).fit(X[:80], Y).predict(X[80:90])
    assert predicted.shape == (10, 2)
    assert np.allclose(predicted[:, 1], -2 * predicted[:, 0])


def test_a_column_that_holds_the_answer_is_named(frame, survived):
    model = fitted(frame.assign(outcome=(survived == "yes").astype(float)), survived)
    assert "Column 'outcome' alone predicts the target almost exactly" in model.explain()


@pytest.mark.parametrize(("n", "folds"), [(2, 2), (4, 4), (6, 5)])
def test_few_samples_have_fewer_folds_which_is_said(n, folds):
    X = np.random.default_rng(0).normal(size=(n, 3))
    numbers = MultiKernelRegressor(random_state=0).fit(X, X[:, 0])
    labels = MultiKernelClassifier(random_state=0).fit(X, np.arange(n) % 2)
    for model in (numbers, labels):
        assert f"learned their kernels and ridges on {folds} folds" in model.explain()
        assert np.isfinite(model.predict(X).astype(float)).all()


def test_many_classes_of_three_samples_that_nothing_tells_apart_are_a_constant_which_is_said():
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.repeat(np.arange(30), 3)
    model = MultiKernelClassifier(random_state=0).fit(X, y)
    assert "is the answer: no weight of any of them lowers the loss on the same folds" in model.explain()
    assert not len(model.kernel_names_)
    np.testing.assert_allclose(model.predict_proba(X), 1.0 / 30.0, atol=1e-6)
