"""Hierarchical kernel learning as a user meets it."""

import pickle

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import hkl_reference as enumerated
import multikernel
from multikernel import BankSearchCV, HKLClassifier, HKLRegressor, bind, kernels, path

matplotlib.use("Agg")

CANCER = load_breast_cancer()
X, Y = scale(CANCER.data)[::4, :5], CANCER.target[::4]
TRAIN, TEST = np.arange(100), np.arange(100, len(Y))
DIABETES = load_diabetes(as_frame=True)
FRAME = pd.DataFrame(scale(DIABETES.data), columns=DIABETES.data.columns)[["age", "bmi", "bp", "s5"]][::4]
TARGET = DIABETES.target[::4] / 50.0
DEFAULT = kernels.per_feature(kernels.RBF(0.5))


def gaussians(A, B):
    """exp(-(a_j - b_j)^2 / 2) of every feature j, shape (p, len(A), len(B))."""
    return np.exp(-0.5 * (A.T[:, :, None] - B.T[:, None, :]) ** 2)


def products(model, A, B):
    """The matrices of the selected products, by hand."""
    return enumerated.products(gaussians(A, B), model.nodes_)


def by_hand(model, A, B):
    """f at the rows of A of a model of one problem fitted on B."""
    K = np.tensordot(model.weights_, products(model, A, B), 1)
    return K @ model.dual_coef_ + model.intercept_


@pytest.fixture(scope="module")
def classifier():
    return HKLClassifier(C=10.0).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def regressor():
    return HKLRegressor(C=20.0).fit(FRAME, TARGET)


# -- what is learned ---------------------------------------------------------------------------------------------------


def test_nodes_weights_and_names_agree(classifier):
    assert len(classifier.nodes_) == len(classifier.weights_) == len(classifier.kernel_names_) > 6
    assert (classifier.weights_ >= 0).all()
    assert list(classifier.weights_frame().index) == list(classifier.kernel_names_)
    for node, name in zip(classifier.nodes_, classifier.kernel_names_, strict=True):
        assert name == (" * ".join(f"x{i}" for i in node) or "1")
        for position in range(len(node)):
            assert node[:position] + node[position + 1 :] in classifier.nodes_
    assert classifier.n_nodes_searched_ >= len(classifier.nodes_)
    assert classifier.converged_
    assert classifier.duality_gap_ <= classifier.tol


def test_decision_function_is_the_sum_of_products(classifier, regressor):
    found = classifier.decision_function(X[TEST])
    np.testing.assert_allclose(found, by_hand(classifier, X[TEST], X[TRAIN]), rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(classifier.predict(X[TEST]), classifier.classes_[(found > 0).astype(int)])
    assert classifier.score(X[TEST], Y[TEST]) > 0.8
    A = FRAME.to_numpy()
    np.testing.assert_allclose(regressor.predict(FRAME[:20]), by_hand(regressor, A[:20], A), rtol=1e-9)


@pytest.mark.parametrize("rho", [2.0, 1.3])
@pytest.mark.parametrize("loss", ["hinge", "squares"])
def test_value_and_gap_from_the_model_alone(loss, rho):
    """The pair is enclosed by bounds that need its weights and coefficients only, with all 16 products at hand."""
    A, tol, beta, C = X[:60, :4], 1e-5, 1.5, 2.0
    y = 2.0 * Y[:60] - 1.0 if loss == "hinge" else A[:, 0] * A[:, 1] + np.sin(A[:, 2])
    cls = HKLClassifier if loss == "hinge" else HKLRegressor
    model = cls(C=C, rho=rho, beta=beta, tol=tol).fit(A, y)
    K, b = products(model, A, A), model.dual_coef_
    f = by_hand(model, A, A)
    losses = np.maximum(1.0 - y * f, 0.0).sum() if loss == "hinge" else ((y - f) ** 2).sum()
    norms = model.weights_ * np.sqrt(np.maximum(np.einsum("i,wij,j->w", b, K, b), 0.0))
    upper = 0.5 * enumerated.omega(norms, list(model.nodes_), beta, rho) ** 2 + C * losses
    nodes = enumerated.lattice(4)
    forms = np.einsum("i,wij,j->w", b, enumerated.products(gaussians(A, A), nodes), b)
    dual = enumerated.dual_norm(np.maximum(forms, 0.0), nodes, beta, rho)[1]
    gains = (y * b).sum() if loss == "hinge" else (y - y.mean()) @ b - b @ b / (4.0 * C)
    lower = gains - 0.5 * dual**2
    assert model.duality_gap_ <= tol
    assert lower <= upper
    assert upper == pytest.approx(model.objective_, rel=2.0 * tol)
    assert lower == pytest.approx(model.objective_, rel=1e-3)  # coefficients are known to the root of the gap
    if loss == "hinge":
        assert ((y * b >= 0) & (y * b <= C * (1 + 1e-12))).all()
        assert abs(b.sum()) <= 1e-9 * C * len(y)
    else:
        np.testing.assert_allclose(b, 2.0 * C * (y - f), atol=1e-7)


def test_an_interaction_that_is_there_is_found_and_others_are_not():
    rng = np.random.default_rng(0)
    A, new = rng.uniform(-2.0, 2.0, size=(2, 200, 6))
    y = np.sin(A[:, 0]) + A[:, 2] * A[:, 4] + 0.1 * rng.normal(size=200)
    model = HKLRegressor(C=30.0).fit(A, y)
    larger = {node: weight for node, weight in zip(model.nodes_, model.weights_, strict=True) if len(node) > 1}
    found = larger.pop((2, 4))
    assert sum(larger.values()) < 0.05 * found
    assert model.score(new, np.sin(new[:, 0]) + new[:, 2] * new[:, 4]) > 0.9


@pytest.mark.crossed
@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("cls", [HKLClassifier, HKLRegressor])
def test_rho_near_one_with_a_large_C(cls, C):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 3))
    target = np.sin(Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.1 * rng.normal(size=50)
    model = cls(C=C, rho=1.01).fit(Z, target if cls is HKLRegressor else target > 0)
    assert model.converged_
    assert model.duality_gap_ <= 1e-3


def test_small_kernels_with_a_C_that_matches():
    """Products of small kernels vanish beside the kernels themselves, which with C / c are those of c = 1."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 4))
    signs = Z[:, 0] + 0.5 * Z[:, 1] + 0.3 * rng.normal(size=50) > 0
    models = [HKLClassifier(kernels.linear_features(), C=1.0 / c).fit(np.sqrt(c) * Z, signs) for c in (1e-6, 1e-9)]
    for model, c in zip(models, (1e-6, 1e-9), strict=True):
        assert model.converged_
        assert c * model.objective_ == pytest.approx(1e-6 * models[0].objective_, rel=1e-3)
        assert model.score(np.sqrt(c) * Z, signs) > 0.85


def test_smaller_rho_selects_fewer_products():
    counts = [len(HKLClassifier(C=10.0, rho=rho).fit(X, Y).nodes_) for rho in (1.1, 2.0)]
    assert counts[0] < counts[1]


@pytest.mark.parametrize(("multiclass", "problems"), [("ovr", 3), ("ovo", 3)])
def test_several_classes_have_products_of_their_own(multiclass, problems):
    A, y = load_iris(return_X_y=True)
    A = scale(A)
    model = HKLClassifier(C=10.0, multiclass=multiclass).fit(A, y)
    assert model.weights_.shape == (problems, len(model.nodes_))
    assert model.dual_coef_.shape == (problems, len(y))
    assert model.score(A, y) > 0.95
    K = products(model, A, A)
    values = [
        np.tensordot(w, K, 1) @ c + b
        for w, c, b in zip(model.weights_, model.dual_coef_, model.intercept_, strict=True)
    ]
    if multiclass == "ovr":
        np.testing.assert_allclose(model.decision_function(A), np.transpose(values), atol=1e-9)
        alone = HKLClassifier(C=10.0).fit(A, y == 1)
        own = [model.nodes_.index(node) for node in alone.nodes_]
        np.testing.assert_array_equal(model.weights_[1, own], alone.weights_)
        assert not np.delete(model.weights_[1], own).any()


# -- what may be given -------------------------------------------------------------------------------------------------


def test_columns_of_a_frame_give_the_names(regressor):
    assert list(regressor.base_kernel_names_) == list(FRAME.columns)
    columns = kernels.column_groups({name: name for name in FRAME.columns}, kernels.RBF(0.5))
    named = HKLRegressor(columns, C=20.0).fit(FRAME, TARGET)
    assert list(named.base_kernel_names_) == list(FRAME.columns)
    assert "age * bmi" in named.kernel_names_
    assert named.nodes_ == regressor.nodes_
    np.testing.assert_allclose(named.predict(FRAME[::-1]), regressor.predict(FRAME)[::-1])


def test_banks_and_matrices_give_the_same_model(classifier):
    bank, K = bind(DEFAULT, X), gaussians(X, X)
    own = HKLClassifier(DEFAULT, C=10.0).fit(bank.block(TRAIN, TRAIN), Y[TRAIN])
    given = HKLClassifier("precomputed", C=10.0).fit(K[:, TRAIN][:, :, TRAIN], Y[TRAIN])
    expected = classifier.decision_function(X[TEST])
    assert own.nodes_ == given.nodes_ == classifier.nodes_
    assert given.kernel_names_[-1] == " * ".join(f"kernel {i}" for i in given.nodes_[-1])
    np.testing.assert_allclose(own.decision_function(bank.block(TEST, TRAIN)), expected, atol=1e-4)
    np.testing.assert_allclose(given.decision_function(K[:, TEST][:, :, TRAIN]), expected, atol=1e-4)
    with pytest.raises(ValueError, match="5 kernels against the 100 training samples"):
        own.decision_function(bank.block(TEST, TRAIN).select([0, 1]))


@pytest.mark.parametrize(("model", "y"), [(HKLClassifier(tol=1e-2), Y), (HKLRegressor(tol=1e-2), X[:, 0] * X[:, 1])])
def test_search_over_C(model, y):
    search = BankSearchCV(model, {"C": [0.01, 1.0, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_["C"] > 0.01
    alone = clone(model).set_params(**search.best_params_).fit(X, y)
    assert search.best_estimator_.nodes_ == alone.nodes_
    np.testing.assert_allclose(search.predict(X), alone.predict(X), atol=1e-6)


def test_path_along_rho_starts_from_its_neighbour():
    found = path(HKLClassifier(C=10.0), X, Y, "rho", [1.1, 1.5, 2.0])
    assert found.converged.all()
    assert (np.diff(found.objective) < 0).all()  # a larger rho is a smaller norm
    assert found.weights.shape == (3, len(found.kernel_names))
    np.testing.assert_array_equal(found.predict(X), [model.predict(X) for model in found.models])


# -- afterwards --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["classifier", "regressor"])
def test_on_disk_and_copied(what, tmp_path, request):
    model = request.getfixturevalue(what)
    new = X[TEST] if what == "classifier" else FRAME
    multikernel.save(model, tmp_path / "model.mk")
    for again in (multikernel.load(tmp_path / "model.mk"), pickle.loads(pickle.dumps(model))):
        assert again.nodes_ == model.nodes_
        assert list(again.kernel_names_) == list(model.kernel_names_)
        np.testing.assert_array_equal(again.predict(new), model.predict(new))
    fresh = clone(model)
    assert not hasattr(fresh, "nodes_")
    assert fresh.get_params() == model.get_params()


@pytest.mark.parametrize("cls", [HKLClassifier, HKLRegressor])
def test_a_search_that_is_cut_short_says_how_far_it_came(cls):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 6))
    y = A[:, 0] * A[:, 1] + A[:, 2] * A[:, 3]
    y = y > 0 if cls is HKLClassifier else y
    with pytest.warns(
        ConvergenceWarning,
        match=r"reached a relative duality gap of [0-9.e-]+ in .* is at most [0-9.e-]+ of its value above",
    ):
        short = cls(C=10.0, max_nodes=8).fit(A, y)
    assert not short.converged_
    assert short.n_nodes_searched_ <= 8
    assert short.duality_gap_ > short.tol
    whole = cls(C=10.0).fit(A, y)
    assert short.objective_ * (1.0 - short.duality_gap_) <= whole.objective_ <= short.objective_ * (1.0 + whole.tol)
    assert np.isfinite(short.predict(A)).all()
    with pytest.warns(ConvergenceWarning):
        assert cls(C=10.0, max_iter=1).fit(A, y).score(A, y) > 0.0


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"rho": 1.0}, r"rho must be a number in \(1, 2\] .*, got 1.0"),
        ({"rho": 2.5}, r"rho must be a number in \(1, 2\] .*, got 2.5"),
        ({"C": 0.0}, "C must be .*> 0.*, got 0.0"),
        ({"C": float("inf")}, "C must be .*> 0.*, got inf"),
        ({"beta": 0.0}, "beta must be a finite number > 0, got 0.0"),
        ({"tol": -1.0}, r"tol must be a number in \(0, 1\], got -1.0"),
        ({"tol": float("nan")}, r"tol must be a number in \(0, 1\], got nan"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"max_nodes": 0}, "max_nodes must be an integer >= 1, got 0"),
    ],
    ids=lambda v: "=".join(map(str, *v.items())) if isinstance(v, dict) else "",
)
@pytest.mark.parametrize("cls", [HKLClassifier, HKLRegressor])
def test_refusals(cls, parameters, match):
    with pytest.raises(ValueError, match=match) as refused:
        cls(**parameters).fit(X, Y)
    assert "\n" not in str(refused.value)


def test_figures(classifier, regressor):
    import matplotlib.pyplot as plt

    ax = classifier.plot_lattice()
    assert ax.texts[0].get_text() == "1"
    _, given = plt.subplots()
    assert regressor.plot_lattice(given) is given
    bars = regressor.plot_weights()
    assert [label.get_text() for label in bars.get_yticklabels()] == list(regressor.kernel_names_)
    plt.close("all")
