"""EasyMKL as a user meets it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multikernel import EasyMKLClassifier, bind, kernels, precomputed


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


def dense(model, K, y):
    """The decision values by the formula f(x) = sum_i a_i k(x_i, x) + b on the weighted sum of the matrices."""
    return np.tensordot(model.weights_, K, 1) @ model.dual_coef_ + model.intercept_


def test_decision_function_is_the_formula(cancer):
    X, y = cancer
    train, test = train_test_split(np.arange(len(y)), random_state=0)
    family = kernels.homogeneous_polynomials(5)
    model = EasyMKLClassifier(family).fit(X[train], y[train])
    K = np.stack([k(X[test], X[train]) for k in family])
    np.testing.assert_allclose(model.decision_function(X[test]), dense(model, K, y), atol=1e-10)
    assert roc_auc_score(y[test], model.decision_function(X[test])) > 0.98


def test_fitted_attributes(cancer):
    X, y = cancer
    model = EasyMKLClassifier().fit(X, y)
    assert model.weights_.shape == (11,)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.weights_[0] == pytest.approx(0.0, abs=1e-12)  # the constant kernel tells nothing
    assert model.dual_coef_.shape == y.shape
    assert model.converged_
    assert model.duality_gap_ <= 1e-6
    assert model.history_[0][-1] <= model.duality_gap_  # which is also that of the classifier's own problem
    assert list(model.kernel_names_) == list(kernels.homogeneous_polynomials(10).names)
    frame = model.weights_frame()
    assert list(frame.index) == list(model.kernel_names_)
    assert frame["weight"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("learner", ["margin", "svc"])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_several_classes_share_one_bank(learner, multiclass):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = EasyMKLClassifier(learner=learner, multiclass=multiclass, C=10.0).fit(X, names)
    assert model.weights_.shape == (3, 11)
    assert model.dual_coef_.shape == (3, len(y))
    assert model.decision_function(X).shape == (len(y), 3)
    assert model.score(X, names) > 0.95
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1.0)


def test_one_vs_one_problem_is_the_binary_one():
    X, y = load_iris(return_X_y=True)
    many = EasyMKLClassifier(lam=0.1, multiclass="ovo").fit(X, y)
    pair = y != 0  # the third problem: class 1 (as +1) against class 2
    two = EasyMKLClassifier(lam=0.1).fit(X[pair], -y[pair])
    np.testing.assert_allclose(many.weights_[2], two.weights_, atol=1e-8)
    np.testing.assert_allclose(many.dual_coef_[2][pair], two.dual_coef_, atol=1e-6)
    assert not many.dual_coef_[2][~pair].any()


def test_precomputed_array_list_and_bank_agree(cancer):
    X, y = cancer
    X, y = X[::3], y[::3]
    train, test = np.arange(0, 150), np.arange(150, len(y))
    family = kernels.rbf_grid([0.1, 1.0, 10.0])
    model = EasyMKLClassifier(family).fit(X[train], y[train])
    K = np.stack([k(X[train]) for k in family])
    new = np.stack([k(X[test], X[train]) for k in family])
    whole = bind(family, X)
    for given, asked in [(K, new), (list(K), list(new)), (whole[train, train], whole[test, train])]:
        own = EasyMKLClassifier("precomputed").fit(given, y[train])
        np.testing.assert_allclose(own.weights_, model.weights_, rtol=1e-6)
        np.testing.assert_allclose(own.decision_function(asked), model.decision_function(X[test]), atol=1e-6)
    assert own.kernel_names_[0] == "kernel 0"


def test_a_bank_stands_where_x_stands(cancer):
    X, y = cancer
    bank = bind(kernels.homogeneous_polynomials(4), X)
    on_bank = cross_val_score(EasyMKLClassifier("precomputed"), bank, y, cv=3, error_score="raise")
    on_data = cross_val_score(EasyMKLClassifier(kernels.homogeneous_polynomials(4)), X, y, cv=3, error_score="raise")
    np.testing.assert_allclose(on_bank, on_data)


def test_grid_search_reaches_kernel_parameters(cancer):
    X, y = cancer
    pipeline = make_pipeline(MinMaxScaler(), EasyMKLClassifier(kernels.RBF()))
    grid = {"easymklclassifier__kernels__gamma": [1e-3, 1.0], "easymklclassifier__lam": [0.1]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9


def test_data_frame_columns_by_name(cancer):
    X, y = cancer
    frame = pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])
    views = kernels.column_groups({"first": ["feature 0", "feature 1"], "rest": frame.columns[2:]}, kernels.RBF(1.0))
    model = EasyMKLClassifier(views).fit(frame, y)
    assert list(model.kernel_names_) == ["first", "rest"]
    by_index = EasyMKLClassifier([kernels.RBF(1.0).on([0, 1]), kernels.RBF(1.0).on(range(2, 30))]).fit(X, y)
    np.testing.assert_allclose(model.weights_, by_index.weights_)
    np.testing.assert_allclose(model.decision_function(frame), by_index.decision_function(X))
    with pytest.raises(ValueError, match="unknown column 'weight'"):
        EasyMKLClassifier(kernels.RBF().on("weight")).fit(frame, y)


def test_sparse_and_single_precision(cancer):
    X, y = cancer
    X = np.where(X > 0.2, X, 0.0)
    model = EasyMKLClassifier(kernels.linear_features()).fit(X, y)
    thin = EasyMKLClassifier(kernels.linear_features()).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.weights_, model.weights_, atol=1e-6)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), model.decision_function(X), atol=1e-5)
    single = EasyMKLClassifier().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.weights_, EasyMKLClassifier().fit(X, y).weights_, atol=1e-4)


def test_not_converged_warns_with_the_gap_and_stays_usable(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of [\d.e+-]+ in"):
        model = EasyMKLClassifier(max_iter=3).fit(X, y)
    assert not model.converged_
    assert model.duality_gap_ > 1e-6
    assert model.score(X, y) > 0.8


def test_ends_of_lam(cancer):
    X, y = cancer
    bank = bind(kernels.homogeneous_polynomials(3), X)
    ones = EasyMKLClassifier("precomputed", lam=1.0).fit(bank, y)
    pos, neg = y == 1, y == 0
    means = [
        np.sqrt(K[pos][:, pos].mean() + K[neg][:, neg].mean() - 2 * K[pos][:, neg].mean()) for K in bank.matrices()[1:]
    ]
    np.testing.assert_allclose(ones.weights_[1:], np.square(means) / np.square(means).sum(), rtol=1e-9)
    assert ones.objective_ == pytest.approx(1 / pos.sum() + 1 / neg.sum())
    assert EasyMKLClassifier("precomputed", lam=0.0).fit(bank, y).duality_gap_ <= 1e-6


def test_hulls_that_meet_give_uniform_weights_with_a_warning():
    X = np.repeat([[1.0, 2.0], [2.0, 1.0]], 2, axis=0)
    y = np.array([0, 1, 0, 1])  # each point in both classes
    with pytest.warns(UserWarning, match="hulls of the two classes meet"):
        model = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0]), lam=0.0).fit(X, y)
    np.testing.assert_allclose(model.weights_, 0.5)


def test_threads_do_not_change_the_answer():
    X, y = make_classification(300, 8, n_informative=6, n_classes=4, random_state=0)
    one = EasyMKLClassifier().fit(X, y)
    two = EasyMKLClassifier(n_jobs=2).fit(X, y)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-9)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lam": 1.5}, r"lam must be a number in \[0, 1\] or 'auto', got 1.5"),
        ({"learner": "forest"}, "learner must be 'margin' or 'svc', got 'forest'"),
        ({"learner": "svc", "C": -1.0}, "C must be a finite number > 0"),
        ({"multiclass": "all"}, "multiclass must be 'ovr' or 'ovo'"),
        ({"kernels": "rfb"}, "EasyMKLClassifier: kernels known by name are .*'precomputed' .*got 'rfb'"),
        ({"kernels": []}, "EasyMKLClassifier: kernels must be .* a list of one or more"),
        ({"kernels": kernels.RBF().on(99)}, "column 99 is out of range: the data have 30 columns"),
    ],
)
def test_bad_parameters(cancer, params, message):
    with pytest.raises(ValueError, match=message):
        EasyMKLClassifier(**params).fit(*cancer)


def test_bad_data(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="at least two classes"):
        EasyMKLClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="NaN"):
        EasyMKLClassifier().fit(np.where(X.max() == X, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        EasyMKLClassifier("precomputed").fit(np.eye(5)[None], y)
    K = np.stack([kernels.RBF(1.0)(X[:20])] * 2)
    model = EasyMKLClassifier("precomputed").fit(K, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"expected precomputed kernels of shape \(2, n_new, 20\)"):
        model.predict(K[:, :, :7])
    K[1, 3, 4] += 1.0
    with pytest.raises(ValueError, match=r"kernel 1 is not symmetric: entry \((3, 4|4, 3)\)"):
        precomputed(K)


def test_plot_weights(cancer):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, y = cancer
    model = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0])).fit(X, y)
    ax = model.plot_weights()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(list(model.weights_))
    plt.close("all")


def test_training_bank_of_centred_kernels_predicts_as_the_samples_do():
    """Cutting the bank to the support vectors would move its centre."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:80] / X.max(axis=0), y[:80]
    centred = [kernels.RBF(1.0).centered(), kernels.Polynomial(2).centered()]
    model = EasyMKLClassifier(centred, learner="svc", C=10.0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(bind(centred, X)), model.decision_function(X), atol=1e-9)
