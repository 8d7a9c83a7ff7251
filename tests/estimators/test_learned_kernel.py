"""What a fitted model tells of its kernel: the matrix, a step of a pipeline, and what each kernel adds to a value."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import multikernel
from cases import one_in
from multikernel import (
    AverageMKLRegressor,
    EasyMKLClassifier,
    GMKLClassifier,
    GMKLRegressor,
    L1MKLClassifier,
    LearnedScalesRegressor,
    LinearRLS2Classifier,
    MultipleKernelRidgeCV,
    PolynomialMKLRegressor,
    bind,
    kernels,
)
from multikernel.combinations import TiedAndFree

FEW = [kernels.Linear(), kernels.RBF(0.1).on([0, 1]), kernels.RBF(1.0)]
NAMES = [
    name
    for name in multikernel.__all__
    if name.endswith(("Classifier", "Regressor", "RidgeCV", "OneClassMKL")) and "MultiKernel" not in name
]


def data(n=70, classes=3):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150 if classes == 3 else 100)[:n]
    return scale(X)[rows], y[rows]


def made(name, **parameters):
    model = getattr(multikernel, name)(**parameters)
    if "kernels" in model.get_params() and not name.startswith(("LearnedScales", "Linear")):
        model.set_params(kernels=FEW)
    if name.startswith(("BestKernel", "Proportional")):
        model.set_params(cv=2)
    if model.get_params().get("alpha") == "auto":  # small ones make large coefficients, and sums of many digits
        model.set_params(alpha=0.1)
    return model


@cache
def learned(name, classes=2):
    """The model, learned from 50 of 70 samples, for all tests."""
    X, y = data(classes=classes)
    return made(name).fit(X[:50]) if name == "OneClassMKL" else made(name).fit(X[:50], y[:50])


def values(model, X):
    return model._values(X) if is_classifier(model) else model.predict(X)


SHARING = [name for name in NAMES if not name.startswith("TwoLayer")]  # which refuses


@pytest.mark.parametrize(("name", "classes"), one_in(3, product(SHARING, [2, 3])))
def test_contributions_sum_to_the_value(name, classes):
    X, _ = data(classes=classes)
    model = learned(name, classes)
    parts = model.contributions(X[50:])
    assert parts.shape[:2] == (20, np.shape(model.weights_)[-1])
    total = parts.sum(axis=1) + model.intercept_
    wanted = model._values(X[50:])
    np.testing.assert_allclose(total.reshape(wanted.shape), wanted, atol=1e-10, rtol=1e-10)
    assert (parts[:, np.atleast_2d(model.weights_).max(axis=0) == 0] == 0).all()


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_contributions_of_a_sum_are_its_terms(multiclass):
    """Each written out: w_k K_k(X, training) coef."""
    X, y = data()
    bank = bind(FEW, X)
    K = bank.matrices()
    for kernels_, train, test in (
        (FEW, X[:50], X[50:]),
        (FEW, bank[:50, :50], bank[50:, :50]),
        ("precomputed", K[:, :50, :50], K[:, 50:, :50]),
    ):
        model = EasyMKLClassifier(kernels_, multiclass=multiclass).fit(train, y[:50])
        wanted = np.einsum("pk,kij,pj->ikp", model.weights_, K[:, 50:, :50], model.dual_coef_)
        np.testing.assert_allclose(model.contributions(test), wanted, atol=1e-12)


def test_contributions_of_products_are_integrals_of_the_derivative():
    """Of K(t theta) from t = 0 to 1, by a quadrature that is exact for polynomials."""
    bank = bind(FEW, data(30)[0])
    rng = np.random.default_rng(0)
    t, weight = (np.polynomial.legendre.leggauss(4)[0] + 1) / 2, np.polynomial.legendre.leggauss(4)[1] / 2
    C = rng.normal(size=(30, 2))
    for combination, d in (
        (TiedAndFree(3, ((0, 1),)), 4),
        (TiedAndFree(((0, 0, 2), (1,)), ((1, 2), (0,))), 5),
    ):
        theta = rng.uniform(0.5, 1.5, d)
        wanted = np.zeros((d, 30, 2))
        for at, w in zip(t, weight, strict=True):
            wanted += w * theta[:, None, None] * combination.images(bank, at * theta, C)
        np.testing.assert_allclose(combination.shares(bank, theta, C), wanted, atol=1e-10)
        np.testing.assert_allclose(wanted.sum(axis=0), combination.gram(bank, theta).dense() @ C, atol=1e-10)


def test_a_product_of_gaussians_has_no_contributions():
    X, y = data(classes=2)
    model = GMKLClassifier(combination="rbf_product").fit(X, y)
    with pytest.raises(ValueError, match="ProductOfRBF is no sum of products"):
        model.contributions(X)


@pytest.mark.parametrize("name", one_in(2, NAMES))
def test_the_kernel_matrix_is_the_combination_of_the_kernels(name):
    """It gives the predictions, where the training samples stand beside new ones."""
    X, _ = data(classes=2)
    model = learned(name)
    K = model.kernel_matrix(X[50:], X[:50])
    assert K.shape == (20, 50)
    if np.ndim(model.dual_coef_) == 1 and "LinearRLS2" not in name:
        np.testing.assert_allclose(K @ model.dual_coef_ + model.intercept_, model._values(X[50:])[:, 0], atol=1e-9)
    if "LinearRLS2" in name:
        np.testing.assert_allclose(K, (X[50:] * model.weights_ * model.scaling_) @ X[:50].T, atol=1e-12)
    square = model.kernel_matrix(X[50:])
    np.testing.assert_allclose(square, model.kernel_matrix(X[50:], X[50:]), atol=1e-12)
    np.testing.assert_array_equal(square, square.T)
    assert np.linalg.eigvalsh(square)[0] > -1e-9


def test_the_kernel_of_several_problems_is_their_mean():
    X, y = data()
    model = L1MKLClassifier(FEW).fit(X, y)
    wanted = np.tensordot(model.weights_.mean(axis=0), bind(FEW, X).matrices(), 1)
    np.testing.assert_allclose(model.kernel_matrix(X), wanted, atol=1e-12)


def test_banks_matrices_and_widths_from_the_data():
    X, y = data()
    family = [kernels.RBF("median"), kernels.Linear().normalized()]
    model = EasyMKLClassifier(family).fit(X[:50], y[:50])
    bank = bind(family, X[:50])
    wanted = bank.combine(model.weights_.mean(axis=0)).dense()
    np.testing.assert_allclose(model.kernel_matrix(X[:50]), wanted, atol=1e-12)  # the width is that of training
    np.testing.assert_allclose(model.kernel_matrix(X[10:20], X[:50]), wanted[10:20], atol=1e-12)
    np.testing.assert_allclose(model.kernel_matrix(bank), wanted, atol=1e-12)
    given = EasyMKLClassifier("precomputed").fit(bank.matrices(), y[:50])
    np.testing.assert_allclose(given.kernel_matrix(bank.matrices()[:, 10:20]), wanted[10:20], atol=1e-12)
    with pytest.raises(ValueError, match="leave out Z"):
        given.kernel_matrix(bank.matrices(), bank.matrices())


def test_a_fit_to_matrices_knows_no_kernels_of_an_earlier_fit():
    X, y = data(30)
    model = AverageMKLRegressor([kernels.RBF(0.1)], alpha=1.0).fit(X, y).fit(bind([kernels.RBF(1.0)], X), y)
    with pytest.raises(ValueError, match="does not hold the kernels that these come from"):
        model.kernel_matrix(X)
    np.testing.assert_allclose(model.kernel_matrix(bind([kernels.RBF(1.0)], X)), kernels.RBF(1.0)(X))
    K = kernels.RBF(1.0)(X)
    model.fit({"one": X[:, :2], "other": X[:, 2:]}, y).set_params(kernels="precomputed").fit(K, y)
    np.testing.assert_allclose(model.as_transformer().fit(K).transform(K[:5]), K[:5])


def test_centred_kernels_are_known_against_the_training_sample_only():
    X, y = data()
    model = EasyMKLClassifier([kernels.RBF(0.1).centered()]).fit(X, y)
    with pytest.raises(ValueError, match="centred by the training sample"):
        model.kernel_matrix(X)


def test_a_matrix_beyond_the_memory_is_refused_before_it_is_made():
    X, y = data()
    model = EasyMKLClassifier(FEW).fit(X, y)
    with pytest.raises(MemoryError, match="the learned kernel of 3000000 and 3000000 samples"):
        model.kernel_matrix(np.zeros((3_000_000, 4)))


# -- as a step of a pipeline -------------------------------------------------------------------------------------------


def test_the_kernel_in_pipelines():
    X, y = data()
    learned = EasyMKLClassifier(FEW).fit(X[:50], y[:50])
    K = learned.kernel_matrix(X[:50])
    pipeline = make_pipeline(learned.as_transformer(), KernelPCA(2, kernel="precomputed")).fit(X[:50])
    by_hand = KernelPCA(2, kernel="precomputed").fit(K)
    np.testing.assert_allclose(pipeline.transform(X[50:]), by_hand.transform(learned.kernel_matrix(X[50:], X[:50])))
    positive = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0])).fit(X, y)  # affinities have to be
    clusters = make_pipeline(positive.as_transformer(), SpectralClustering(3, affinity="precomputed", random_state=0))
    assert len(set(clusters.fit_predict(X))) == 3
    search = GridSearchCV(make_pipeline(learned.as_transformer(), SVC(kernel="precomputed")), {"svc__C": [0.1, 10.0]})
    assert search.fit(X, y).score(X, y) > 0.9  # clones of the step keep the model


def test_features_whose_inner_products_are_the_kernel():
    X, y = data(classes=2)
    learned = AverageMKLRegressor(FEW, alpha=0.1).fit(X[:50], y[:50])
    step = learned.as_transformer("features")
    F = step.fit_transform(X[:50])
    np.testing.assert_allclose(F @ F.T, learned.kernel_matrix(X[:50]), atol=1e-9)
    np.testing.assert_allclose(step.transform(X[:50]), F, atol=1e-7)
    np.testing.assert_allclose(step.transform(X[50:]) @ F.T, learned.kernel_matrix(X[50:], X[:50]), atol=1e-7)
    process = GaussianProcessRegressor(DotProduct(0, "fixed") + WhiteKernel(0.1, "fixed"))
    pipeline = make_pipeline(learned.as_transformer("features"), process).fit(X[:50], y[:50] - y[:50].mean())
    np.testing.assert_allclose(pipeline.predict(X[50:]) + y[:50].mean(), learned.predict(X[50:]), atol=1e-6)
    assert make_pipeline(learned.as_transformer("features"), PCA(2)).fit_transform(X).shape == (70, 2)


def test_a_step_is_fitted_cloned_and_saved(tmp_path):
    X, y = data()
    learned = EasyMKLClassifier(FEW).fit(X, y)
    step = learned.as_transformer()
    with pytest.raises(NotFittedError):
        step.transform(X)
    with pytest.raises(NotFittedError):
        EasyMKLClassifier().as_transformer()
    with pytest.raises(ValueError, match="output must be"):
        learned.as_transformer("gram").fit(X)
    K = step.fit_transform(X)
    assert clone(step).model is learned
    multikernel.save(step, tmp_path / "step.mk")
    np.testing.assert_allclose(multikernel.load(tmp_path / "step.mk").transform(X), K, atol=1e-12)
    np.testing.assert_allclose(step.transform(X), K, atol=1e-12)
    given = EasyMKLClassifier("precomputed").fit(bind(FEW, X).matrices(), y).as_transformer()
    np.testing.assert_allclose(
        given.fit(bind(FEW, X).matrices()).transform(bind(FEW, X).matrices()[:, :5]), K[:5], rtol=1e-4
    )


# -- names -------------------------------------------------------------------------------------------------------------


def test_frames_name_classes_pairs_and_targets():
    X, y = data()
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    assert list(EasyMKLClassifier(FEW).fit(X, labels).weights_frame()) == ["setosa", "versicolor", "virginica"]
    pairs = list(EasyMKLClassifier(FEW, multiclass="ovo").fit(X, labels).weights_frame())
    assert pairs == ["setosa or versicolor", "setosa or virginica", "versicolor or virginica"]
    assert list(EasyMKLClassifier(FEW).fit(X, labels == "setosa").weights_frame()) == ["weight"]
    targets = MultipleKernelRidgeCV(FEW, tol=0.1).fit(X, np.stack([y, X[:, 0]], axis=1)).weights_frame()
    assert list(targets) == ["target 0", "target 1"]


def test_bars_name_classes_and_shorten_the_names_of_kernels():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = data()
    family = [kernels.RBF(0.12345678 * k).normalized() for k in (1, 2)]
    ax = EasyMKLClassifier(family).fit(X, np.array(["a", "b", "c"])[y]).plot_weights()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["RBF(gamma=0.1235)", "RBF(gamma=0.2469)"]
    plt.close("all")


@pytest.mark.parametrize(
    "cls", one_in(3, [GMKLRegressor, PolynomialMKLRegressor, LearnedScalesRegressor, LinearRLS2Classifier])
)
def test_saved_models_tell_their_kernel(cls, tmp_path):
    X, y = data(classes=2)
    model = cls().fit(X, y)
    multikernel.save(model, tmp_path / "model.mk")
    again = multikernel.load(tmp_path / "model.mk")
    np.testing.assert_allclose(again.kernel_matrix(X[:9]), model.kernel_matrix(X[:9]), atol=1e-12)
    np.testing.assert_allclose(again.contributions(X[:9]), model.contributions(X[:9]), atol=1e-12)
