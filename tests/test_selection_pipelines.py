"""Searches over pipelines: the same result as scikit-learn's, whatever is done to samples before kernels are bound."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC

from cases import one_in
from multikernel import (
    AverageMKLClassifier,
    AverageMKLRegressor,
    BankSearchCV,
    EasyMKLClassifier,
    GMKLClassifier,
    L1MKLClassifier,
    OneClassMKL,
    kernels,
)
from multikernel.banks.packed import PackedBank
from multikernel.estimators import several
from multikernel.estimators.support import method as support

FAMILY = kernels.rbf_grid([0.01, 0.1, 1.0])


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:150], np.array(["benign", "malignant"])[y[:150]]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return 100.0 * X[:150] + 3.0, y[:150]


def same(ours, theirs):
    for key in [key for key in theirs.cv_results_ if key.startswith(("split", "mean_test", "std_test"))]:
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=1e-9)


CASES = {
    "lam": (EasyMKLClassifier(FAMILY), {"model__lam": [0.01, 0.1, 0.9]}),
    "C, kernels": (
        AverageMKLClassifier(FAMILY),
        {"model__C": [0.1, 10.0], "model__kernels": [FAMILY, kernels.polynomials([1, 2])]},
    ),
    "widths from the fold": (EasyMKLClassifier([kernels.RBF("median"), kernels.Linear()]), {"model__lam": [0.1, 0.5]}),
    "distances": (GMKLClassifier(kernels.rbf_grid([0.01]), combination="rbf_product"), {"model__penalty": [0.01, 0.1]}),
}


@pytest.mark.crossed
@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scaler", [StandardScaler(), Normalizer()], ids=["learns", "learns nothing"])
def test_the_result_is_that_of_grid_search(case, scaler, cancer):
    model, grid = CASES[case]
    pipeline = Pipeline([("scale", scaler), ("model", model)])
    ours = BankSearchCV(pipeline, grid, cv=3).fit(*cancer)
    theirs = GridSearchCV(pipeline, grid, cv=3).fit(*cancer)
    same(ours, theirs)
    assert isinstance(ours.best_estimator_, Pipeline)
    if ours.best_params_ == theirs.best_params_:
        new = cancer[0] + 0.01
        np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
        np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-6)
    assert list(ours.classes_) == ["benign", "malignant"]
    assert ours.n_features_in_ == 30
    assert ours.score(*cancer) == theirs.best_estimator_.score(*cancer) or ours.best_params_ != theirs.best_params_


def test_alphas_share_a_decomposition_of_each_fold(diabetes):
    pipeline = make_pipeline(StandardScaler(), AverageMKLRegressor(FAMILY))
    grid = {"averagemklregressor__alpha": [0.01, 0.1, 1.0, 10.0]}
    cv = KFold(3, shuffle=True, random_state=0)
    ours, theirs = (
        BankSearchCV(pipeline, grid, cv=cv).fit(*diabetes),
        GridSearchCV(pipeline, grid, cv=cv).fit(*diabetes),
    )
    same(ours, theirs)
    np.testing.assert_allclose(ours.predict(diabetes[0]), theirs.predict(diabetes[0]), rtol=1e-6)


@pytest.mark.parametrize("form", ["a column", "a frame"])
def test_labels_in_a_column_are_scored_one_by_one(form, cancer):
    X, y = cancer[0][:40], cancer[1][:40]
    pipeline = make_pipeline(StandardScaler(), AverageMKLClassifier(kernels.RBF(0.1)))
    grid = {"averagemklclassifier__C": [0.1, 1.0]}
    column = y[:, None] if form == "a column" else pd.DataFrame({"y": y})
    truth = BankSearchCV(pipeline, grid, cv=2).fit(X, y).cv_results_["mean_test_score"]
    with pytest.warns(DataConversionWarning):
        found = BankSearchCV(pipeline, grid, cv=2).fit(X, column).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, truth)


def test_a_pipeline_without_a_target(cancer):
    X = cancer[0][:40]
    pipeline = make_pipeline(StandardScaler(), OneClassMKL(kernels.RBF(0.1)))

    def inside(model, X, y=None):
        return float((model.predict(X) == 1).mean())

    grid = {"oneclassmkl__nu": [0.1, 0.5]}
    ours, theirs = (search(pipeline, grid, cv=KFold(2), scoring=inside) for search in (BankSearchCV, GridSearchCV))
    same(ours.fit(X, None), theirs.fit(X))
    classifier = make_pipeline(StandardScaler(), AverageMKLClassifier(kernels.RBF(0.1)))
    with pytest.raises(ValueError, match="AverageMKLClassifier requires y to be passed"):
        BankSearchCV(classifier, {"averagemklclassifier__C": [1.0]}).fit(X, None)


def test_the_scaler_is_tuned_with_the_model(cancer):
    pipeline = Pipeline([("scale", StandardScaler()), ("pca", PCA(5)), ("model", EasyMKLClassifier(FAMILY))])
    grid = {"scale": [StandardScaler(), MinMaxScaler()], "pca__n_components": [2, 5], "model__lam": [0.1, 0.5]}
    ours, theirs = BankSearchCV(pipeline, grid, cv=3).fit(*cancer), GridSearchCV(pipeline, grid, cv=3).fit(*cancer)
    same(ours, theirs)
    assert len(ours.cv_results_["params"]) == 8


def test_steps_that_learn_nothing_are_done_once(cancer, monkeypatch):
    calls = []
    monkeypatch.setattr(Normalizer, "transform", lambda self, X, copy=None: calls.append(len(X)) or X)
    BankSearchCV(make_pipeline(Normalizer(), EasyMKLClassifier(FAMILY)), {"easymklclassifier__lam": [0.1, 0.5]}).fit(
        *cancer
    )
    assert calls == [150]


def weighted(X, weights):
    return X * weights[: X.shape[1]]


def test_steps_are_told_apart_by_all_that_they_hold(cancer):
    """Long arrays print alike: only their ends are shown."""
    X, y = cancer
    weights = np.ones((2, 2000))
    weights[1, 5:1000] = 0.0
    steps = [FunctionTransformer(weighted, kw_args={"weights": each}) for each in weights]
    model = Pipeline([("scale", MinMaxScaler()), ("weigh", steps[0]), ("model", EasyMKLClassifier(FAMILY))])
    ours, theirs = (search(model, {"weigh": steps}, cv=KFold(3)).fit(X, y) for search in (BankSearchCV, GridSearchCV))
    same(ours, theirs)
    assert np.ptp(ours.cv_results_["mean_test_score"]) > 0.0


def test_several_metrics(cancer):
    pipeline = Pipeline([("scale", StandardScaler()), ("model", AverageMKLClassifier(FAMILY))])
    grid, scoring = {"model__C": [0.01, 1.0, 100.0]}, ["accuracy", "roc_auc"]
    for estimator, params in ((pipeline, grid), (pipeline[-1], {"C": grid["model__C"]})):
        ours = BankSearchCV(estimator, params, cv=3, scoring=scoring, refit="roc_auc").fit(*cancer)
        theirs = GridSearchCV(estimator, params, cv=3, scoring=scoring, refit="roc_auc").fit(*cancer)
        same(ours, theirs)
        assert ours.best_score_ == ours.cv_results_["mean_test_roc_auc"].max()
        assert "rank_test_accuracy" in ours.cv_results_
        assert ours.score(*cancer) > 0.9
    with pytest.raises(ValueError, match="say by refit which one decides: accuracy, roc_auc"):
        BankSearchCV(pipeline, grid, scoring=scoring).fit(*cancer)
    with pytest.raises(ValueError, match="refit must be one of"):
        BankSearchCV(pipeline, grid, scoring=scoring, refit="f1").fit(*cancer)


def test_several_metrics_of_alphas_found_together(diabetes):
    X, y = StandardScaler().fit_transform(diabetes[0]), diabetes[1]
    scoring = {"error": "neg_mean_squared_error", "r2": "r2"}
    grid = {"alpha": [0.1, 1.0]}
    ours = BankSearchCV(AverageMKLRegressor(FAMILY), grid, scoring=scoring, refit="r2").fit(X, y)
    same(ours, GridSearchCV(AverageMKLRegressor(FAMILY), grid, scoring=scoring, refit="r2").fit(X, y))


def test_one_standard_error_of_a_pipeline(cancer):
    pipeline = Pipeline([("scale", StandardScaler()), ("model", AverageMKLClassifier(FAMILY))])
    grid = {"model__C": [0.001, 0.01, 0.1, 1.0, 10.0]}
    search = BankSearchCV(pipeline, grid, one_standard_error=True).fit(*cancer)
    mean, std = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
    within = mean >= mean.max() - std[int(mean.argmax())] / np.sqrt(4)
    assert search.best_params_["model__C"] == min(C for C, near in zip(grid["model__C"], within, strict=True) if near)


def test_the_weights_of_every_fold_are_kept(cancer):
    pipeline = make_pipeline(StandardScaler(), L1MKLClassifier(FAMILY))
    search = BankSearchCV(pipeline, {"l1mklclassifier__C": [0.1, 1.0]}, cv=3).fit(*cancer)
    assert np.shape(search.fold_weights_) == (2, 3, 3)
    np.testing.assert_allclose(np.sum(search.fold_weights_, axis=2), 1.0)
    alphas = BankSearchCV(AverageMKLRegressor(FAMILY), {"alpha": [0.1, 1.0]}, cv=4).fit(
        cancer[0][:, :4], cancer[0][:, 5]
    )
    assert np.shape(alphas.fold_weights_) == (2, 4, 3)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_backends_of_joblib_give_the_same(backend, cancer):
    pipeline = make_pipeline(StandardScaler(), EasyMKLClassifier(FAMILY))
    grid = {"easymklclassifier__lam": [0.1, 0.5]}
    alone = BankSearchCV(pipeline, grid, cv=3).fit(*cancer)
    with joblib.parallel_config(backend, n_jobs=2):
        beside = BankSearchCV(pipeline, grid, cv=3).fit(*cancer)
    same(beside, alone)


def test_rows_ordered_by_the_target_are_shuffled_and_it_is_said(diabetes):
    X, y = diabetes
    order = np.argsort(y)
    model, grid = AverageMKLRegressor(kernels.rbf_grid([1e-4, 1e-3])), {"alpha": [0.1, 1.0]}
    mixed = BankSearchCV(model, grid).fit(X, y)
    with pytest.warns(UserWarning, match="ordered by the target"):
        ordered = BankSearchCV(model, grid).fit(X[order], y[order])
    assert abs(mixed.best_score_ - ordered.best_score_) < 0.1
    with pytest.warns(UserWarning, match="ordered by the target"):
        BankSearchCV(make_pipeline(StandardScaler(), model), {"averagemklregressor__alpha": [1.0]}).fit(
            X[order], y[order]
        )
    assert BankSearchCV(model, grid, cv=KFold(5)).fit(X[order], y[order]).best_score_ < mixed.best_score_


def test_other_pipelines_are_refused(cancer):
    with pytest.raises(TypeError, match=r"at the end of a Pipeline, got Pipeline that ends in SVC"):
        BankSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0]}).fit(*cancer)


def test_all_candidates_of_a_fold_are_told_in_one_pass(cancer, monkeypatch):
    """No test matrix is stored, and each fold asks the kernels of its test samples once."""
    passes, whole = [], several._sums
    monkeypatch.setattr(several, "DenseBank", lambda *given: pytest.fail("test matrices were stored"))
    monkeypatch.setattr(several, "_sums", lambda bank, *given: passes.append(bank.shape) or whole(bank, *given))
    pipeline = make_pipeline(StandardScaler(), EasyMKLClassifier(kernels.per_feature(kernels.RBF(0.3))))
    BankSearchCV(pipeline, {"easymklclassifier__lam": [0.1, 0.5, 0.9]}, cv=3).fit(*cancer)
    assert [rows for rows, _ in passes] == [50, 50, 50]


@pytest.mark.parametrize("steps", one_in(2, [[StandardScaler()], []]), ids=["a scaler", "no step before"])
def test_candidates_are_compared_on_the_kernels_as_stored_and_the_best_is_certified(steps, cancer, monkeypatch):
    """Kernels in double precision are evaluated anew in every pass: for the model that is kept, and for no other."""
    monkeypatch.setattr(support, "STACK_TINY", 0)
    X, y = cancer
    X = X if steps else StandardScaler().fit_transform(X)
    pipeline = make_pipeline(*steps, L1MKLClassifier(kernels.per_feature(kernels.rbf_grid([0.1, 1.0])), tol=1e-6))
    grid = {"l1mklclassifier__C": [0.1, 1.0]}
    passed = []
    whole = PackedBank.unrounded
    monkeypatch.setattr(PackedBank, "unrounded", lambda bank: passed.append(bank) or whole(bank))
    ours = BankSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(passed) == 1
    theirs = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    same(ours, theirs)
    kept, exact = ours.best_estimator_[-1], theirs.best_estimator_[-1]
    assert kept.duality_gap_ <= 1e-6
    np.testing.assert_allclose(kept.weights_, exact.weights_, atol=1e-3)
