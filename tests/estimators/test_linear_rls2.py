"""Linear RLS2 estimators: the published table, the kernel form, sparse samples, paths and searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

import multikernel
from multikernel import BankSearchCV, LinearRLS2Classifier, LinearRLS2Regressor, RLS2Regressor, bind, kernels, path

Array = Any
RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 70)) * RNG.uniform(0.1, 10.0, 70)
Y = X[:, 0] / X[:, 0].std() - X[:, 5] / X[:, 5].std() + 0.2 * RNG.normal(size=40) + 1.0
NEW = RNG.normal(size=(10, 70))
IRIS, SPECIES = load_iris(return_X_y=True)


def test_attributes():
    model = LinearRLS2Regressor(alpha=0.05).fit(X, Y)
    np.testing.assert_allclose(model.scaling_, 1.0 / (X**2).sum(axis=0))
    np.testing.assert_allclose(model.coef_, model.weights_ * model.scaling_ * (X.T @ model.dual_coef_), atol=1e-12)
    np.testing.assert_allclose(model.predict(NEW), NEW @ model.coef_ + model.intercept_)
    assert model.intercept_ == Y.mean()
    assert model.duality_gap_ < 1e-12
    K = (X * (model.weights_ * model.scaling_)) @ X.T
    assert model.degrees_of_freedom_ == pytest.approx(np.trace(np.linalg.solve(K + 0.05 * np.eye(40), K)))


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 1.0])
def test_is_rls2_on_linear_kernels(alpha):
    linear = LinearRLS2Regressor(alpha=alpha).fit(X, Y)
    general = RLS2Regressor(kernels.linear_features(), alpha=alpha, tol=1e-10).fit(X, Y)
    assert linear.objective_ == pytest.approx(general.objective_, rel=1e-9)
    np.testing.assert_allclose(linear.predict(NEW), general.predict(NEW), atol=1e-4)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_transductive_scaling(make):
    """Rule 17 over all inputs, and the same model as RLS2 on these kernels."""
    model = LinearRLS2Regressor(alpha=0.01, scaling="transductive").fit(make(X), Y, unlabeled=make(NEW))
    np.testing.assert_allclose(model.scaling_, 1.0 / ((X**2).sum(axis=0) + (NEW**2).sum(axis=0)))
    general = RLS2Regressor(kernels.linear_features(), alpha=0.01, scaling="transductive", tol=1e-10)
    assert model.objective_ == pytest.approx(general.fit(X, Y, unlabeled=NEW).objective_, rel=1e-9)
    both = LinearRLS2Classifier(alpha=0.1, scaling="transductive").fit(IRIS[::2], SPECIES[::2], unlabeled=IRIS[1::2])
    np.testing.assert_allclose(both.scaling_[0], 1.0 / (IRIS**2).sum(axis=0))
    with pytest.raises(ValueError, match="unlabeled"):
        LinearRLS2Regressor(scaling="transductive").fit(X, Y)
    with pytest.raises(ValueError, match="transductive"):
        LinearRLS2Regressor().fit(X, Y, unlabeled=NEW)


def test_a_bank_of_features_stands_for_samples():
    bank = bind(kernels.linear_features(), IRIS)
    model, own = LinearRLS2Classifier(alpha=0.1).fit(IRIS, SPECIES), LinearRLS2Classifier(alpha=0.1).fit(bank, SPECIES)
    np.testing.assert_allclose(own.coef_, model.coef_)
    np.testing.assert_allclose(own.decision_function(bank), model.decision_function(IRIS), atol=1e-10)
    np.testing.assert_allclose(own.decision_function(bank.cross(IRIS[:7])), model.decision_function(IRIS[:7]))
    with pytest.raises(ValueError, match="linear_features"):
        LinearRLS2Classifier().fit(bind(kernels.rbf_grid([0.1, 1.0]), IRIS), SPECIES)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_fisher_is_of_every_problem(multiclass):
    model = LinearRLS2Classifier(alpha=0.1, scaling="fisher", multiclass=multiclass).fit(IRIS, SPECIES)
    assert model.coef_.shape == model.weights_.shape == model.scaling_.shape == (3, 4)
    assert model.degrees_of_freedom_.shape == (3,)
    members = SPECIES == 0
    others = SPECIES == 1 if multiclass == "ovo" else SPECIES > 0
    np.testing.assert_allclose(model.scaling_[0], 1.0 / (IRIS[members].var(axis=0) + IRIS[others].var(axis=0)))
    assert model.score(IRIS, SPECIES) > 0.7


def test_sparse_samples_stay_sparse():
    dense = np.where(RNG.random((50, 300)) < 0.05, RNG.exponential(size=(50, 300)), 0.0)
    dense[:, 0] = 1.0
    y = 3.0 * dense[:, 3] + dense[:, 9]
    model = LinearRLS2Regressor(alpha=0.02).fit(sparse.csr_matrix(dense), y)
    own = LinearRLS2Regressor(alpha=0.02).fit(dense, y)
    np.testing.assert_allclose(model.coef_, own.coef_, atol=1e-10)
    np.testing.assert_allclose(model.predict(sparse.csr_matrix(dense[:7])), own.predict(dense[:7]), atol=1e-10)
    assert sparse.issparse(model.predictor_.reference.H)
    assert not model.coef_[~dense.any(axis=0)].any()


def test_path_and_search():
    alphas = np.logspace(2, -4, 12)
    found = path(LinearRLS2Regressor(), X, Y, "alpha", alphas)
    for model, alpha in zip(found.models, alphas, strict=True):
        np.testing.assert_allclose(model.coef_, LinearRLS2Regressor(alpha=alpha).fit(X, Y).coef_, atol=1e-9)
    degrees = [model.degrees_of_freedom_ for model in found.models]
    assert (np.diff(degrees) > 0).all()
    assert (found.duality_gap < 1e-8).all()
    search = BankSearchCV(LinearRLS2Regressor(), {"alpha": list(alphas)}, cv=KFold(5), one_standard_error=True)
    best = search.fit(X, Y).best_estimator_
    assert best.alpha >= alphas[int(np.argmax(search.cv_results_["mean_test_score"]))]
    again = LinearRLS2Regressor(alpha=best.alpha)
    scores = []
    for train, test in KFold(5).split(X):
        scores.append(again.fit(X[train], Y[train]).score(X[test], Y[test]))
    assert np.mean(scores) == pytest.approx(search.best_score_, abs=1e-9)


def test_figure_of_the_coefficients():
    pytest.importorskip("matplotlib").use("Agg")
    found = path(LinearRLS2Regressor(), X, Y, "alpha", np.logspace(1, -3, 9), validation=(X, Y))
    ax = found.plot("coefficients")
    drawn = {line.get_label(): line for line in ax.lines}
    largest = int(np.abs(found.models[-1].coef_).argmax())
    expected = {(model.degrees_of_freedom_, model.coef_[largest]) for model in found.models}
    assert set(zip(*drawn[str(largest)].get_data(), strict=True)) == expected
    assert "best, alpha = 0.001" in drawn
    with pytest.raises(ValueError, match="several"):
        path(LinearRLS2Classifier(), IRIS, SPECIES, "alpha", [1.0]).plot("coefficients")
    with pytest.raises(ValueError, match="weights"):
        path(RLS2Regressor(kernels.linear_features()), X, Y, "alpha", [1.0]).plot("coefficients")


def test_many_genes_few_patients():
    """More features than any matrix of one n x n kernel each could hold."""
    genes = RNG.normal(size=(60, 8000))
    y = genes[:, :3].sum(axis=1)
    model = LinearRLS2Regressor(alpha=0.01).fit(genes, y)
    assert set(np.argsort(-np.abs(model.coef_))[:3]) == {0, 1, 2}
    assert model.duality_gap_ < 1e-10


def test_on_disk(tmp_path):
    model = LinearRLS2Classifier(alpha=0.1).fit(IRIS, SPECIES)
    multikernel.save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(multikernel.load(tmp_path / "model.mk").predict(IRIS), model.predict(IRIS))


@pytest.mark.parametrize(
    ("parameters", "word"), [({"alpha": -1.0}, "alpha"), ({"scaling": "fisher"}, "scaling"), ({"tol": -1.0}, "tol")]
)
def test_refuses(parameters, word):
    with pytest.raises(ValueError, match=word):
        LinearRLS2Regressor(**parameters).fit(X, Y)


def test_published_coefficients_of_prostate_are_on_the_path(published):
    """Table 1 of the paper: a point of the path has the coefficients to all digits, and the test error."""
    data = published("prostate")
    samples = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0, ddof=1)
    train = data.split == "train"

    def model(log_alpha: float) -> LinearRLS2Regressor:
        return LinearRLS2Regressor(alpha=10.0**log_alpha).fit(samples[train], data.y[train])

    published = np.array([0.544, 0.207, 0.0, 0.104, 0.170, 0.0, 0.0, 0.064])
    nearest = minimize_scalar(lambda g: np.abs(model(g).coef_ - published).max(), bounds=(-2.0, 0.0), method="bounded")
    found = model(nearest.x)
    np.testing.assert_allclose(found.coef_, published, atol=5e-4)
    assert found.intercept_ == pytest.approx(2.452, abs=5e-4)
    squares = (found.predict(samples[~train]) - data.y[~train]) ** 2
    assert squares.mean() == pytest.approx(0.454, abs=5e-4)
    assert squares.std(ddof=1) / np.sqrt(30) == pytest.approx(0.152, abs=5e-4)


def test_a_bank_of_a_data_frame_is_the_bank_of_its_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    frame = pd.DataFrame(X, columns=list("abcd"))
    family = kernels.linear_features()
    found, known = (LinearRLS2Regressor(alpha=1.0).fit(bind(family, Z), X[:, 0]) for Z in (frame, X))
    np.testing.assert_allclose(found.weights_, known.weights_)
