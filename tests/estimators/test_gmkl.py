"""Generalised MKL as a user meets it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import multikernel
from cases import one_in
from multikernel import BankSearchCV, GMKLClassifier, GMKLRegressor, GMKLSupportRegressor, bind, kernels, precomputed
from multikernel.banks import DenseGram
from multikernel.machines import SquaredHingeMachine

X, Y = load_breast_cancer(return_X_y=True)
X, Y = scale(X)[::3, :8], Y[::3]
TRAIN, TEST = np.arange(130), np.arange(130, len(Y))
TARGET = X[:, 0] ** 2 + np.sin(X[:, 1])
COMBINATIONS = ("linear", "polynomial", "rbf_product")
FEATURES = kernels.linear_features()
every_combination = pytest.mark.parametrize("combination", COMBINATIONS)


def formula(combination, degree, theta, A, B):
    """K(theta) of linear kernels on the single features."""
    match combination:
        case "linear":
            return (A * theta) @ B.T
        case "polynomial":
            return ((A * theta) @ B.T) ** degree
    return np.exp(-((A[:, None, :] - B[None, :, :]) ** 2) @ theta)


@every_combination
def test_decision_function_is_the_formula(combination):
    model = GMKLClassifier(FEATURES, combination=combination, degree=3).fit(X[TRAIN], Y[TRAIN])
    K = formula(combination, 3, model.weights_, X[TEST], X[TRAIN])
    np.testing.assert_allclose(
        model.decision_function(X[TEST]), K @ model.dual_coef_ + model.intercept_, rtol=1e-8, atol=1e-8
    )
    assert model.score(X[TEST], Y[TEST]) > 0.75


@every_combination
@pytest.mark.parametrize("where", [{"penalty": 0.3}, {"penalty": 0.3, "norm": 2}, {"radius": 0.5, "norm": 1.5}])
def test_objective_is_that_of_ridge_regression(combination, where):
    """T(theta) + r(theta) by a linear system, and the predictor that belongs to it."""
    model = GMKLRegressor(FEATURES, combination=combination, alpha=0.3, **where).fit(X[TRAIN], TARGET[TRAIN])
    theta, y = model.weights_, TARGET[TRAIN] - TARGET[TRAIN].mean()
    a = np.linalg.solve(formula(combination, 2, theta, X[TRAIN], X[TRAIN]) + 0.3 * np.eye(len(y)), y)
    norm = where.get("norm", 1)
    penalty = 0.0 if "radius" in where else 0.3 * (theta**norm).sum()
    assert model.objective_ == pytest.approx(y @ a + penalty, rel=1e-6)
    np.testing.assert_allclose(model.dual_coef_, a, atol=1e-6 * np.abs(a).max())
    assert model.intercept_ == pytest.approx(TARGET[TRAIN].mean())
    if "radius" in where:
        assert np.linalg.norm(theta, 1.5) <= 0.5 + 1e-9


@every_combination
def test_fitted_attributes(combination):
    model = GMKLClassifier(combination=combination).fit(X, Y)
    assert model.converged_
    assert model.dual_coef_.shape == Y.shape
    assert (model.weights_ >= 0).all()
    assert hasattr(model, "duality_gap_") == (combination == "linear")
    assert hasattr(model, "stationarity_") == (combination != "linear")
    assert getattr(model, "duality_gap_", 0.0) <= 1e-4
    assert getattr(model, "stationarity_", 0.0) <= 1e-4
    assert (
        len(model.kernel_names_)
        == len(model.weights_)
        == {"linear": 12, "polynomial": 9, "rbf_product": 8}[combination]
    )
    assert list(model.weights_frame().index) == list(model.kernel_names_)
    model.set_params(combination="linear").fit(X, Y)
    assert hasattr(model, "duality_gap_")
    assert not hasattr(model, "stationarity_")


def planted(n=150, p=8):
    """Whether features 1 and 4 have the same sign: no single one tells anything."""
    Z = np.random.default_rng(5).normal(size=(n, p))
    return Z, Z[:, 1] * Z[:, 4]


def test_widths_of_irrelevant_features_go_to_zero():
    Z, product = planted()
    new, truth = planted(400)
    for model, y, tested in (
        (GMKLClassifier(combination="rbf_product", penalty=30.0), product > 0, truth > 0),
        (GMKLRegressor(combination="rbf_product", alpha=1.0, penalty=10.0), product, truth),
    ):
        weights = model.fit(Z, y).weights_
        assert set(np.argsort(weights)[-2:]) == {1, 4}
        assert np.sort(weights)[-3] < 0.05 * np.sort(weights)[-2]
        assert (weights == 0.0).sum() >= 3
        assert model.score(new[150:], tested[150:]) > 0.65


def test_a_polynomial_finds_products_of_features():
    Z, product = planted()
    model = GMKLRegressor(combination="polynomial", alpha=0.1, penalty=0.1).fit(Z, product)
    new, truth = planted(400)
    assert model.score(new[150:], truth[150:]) > 0.99
    assert set(np.argsort(model.weights_)[-2:]) == {2, 5}  # the constant comes first


@every_combination
def test_bank_data_frame_and_sparse_samples_agree(combination):
    model = GMKLClassifier(FEATURES, combination=combination, tol=1e-6).fit(X[TRAIN], Y[TRAIN])
    expected = model.decision_function(X[TEST])
    frame = pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])
    by_name = clone(model).fit(frame.iloc[TRAIN], Y[TRAIN])
    assert "feature 0" in by_name.kernel_names_[0]
    np.testing.assert_allclose(by_name.decision_function(frame.iloc[TEST]), expected, rtol=1e-3, atol=1e-3)
    thin = clone(model).fit(sparse.csr_array(X[TRAIN]), Y[TRAIN])
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X[TEST])), expected, rtol=1e-3, atol=1e-3)
    bank = bind(FEATURES, X)
    rows = bank.distances() if combination == "rbf_product" else bank
    on_bank = clone(model).fit(rows[TRAIN, TRAIN], Y[TRAIN])
    np.testing.assert_allclose(on_bank.decision_function(rows[TEST, TRAIN]), expected, rtol=1e-3, atol=1e-3)
    kernels_bound = clone(model).fit(bank[TRAIN, TRAIN], Y[TRAIN])  # distances follow from a square bank of kernels
    np.testing.assert_allclose(kernels_bound.weights_, on_bank.weights_)
    np.testing.assert_allclose(
        kernels_bound.decision_function(bank[TRAIN, TRAIN]), on_bank.decision_function(rows[TRAIN, TRAIN])
    )


@every_combination
def test_precomputed_matrices(combination):
    K = bind(FEATURES, X).matrices()
    whole = precomputed(K)
    rows = whole.distances() if combination == "rbf_product" else whole
    model = GMKLClassifier("precomputed", combination=combination, tol=1e-6)
    on_bank = clone(model).fit(rows[TRAIN, TRAIN], Y[TRAIN])
    on_array = clone(model).fit(K[:, TRAIN][:, :, TRAIN], Y[TRAIN])
    np.testing.assert_allclose(on_array.weights_, on_bank.weights_, rtol=1e-3, atol=1e-6)
    expected = on_bank.decision_function(rows[TEST, TRAIN])
    if combination == "rbf_product":
        np.testing.assert_allclose(on_array.decision_function(rows[TEST, TRAIN]), expected, rtol=1e-3, atol=1e-3)
        for matrices in (K[:, TEST][:, :, TRAIN], whole[TEST, TRAIN]):
            with pytest.raises(
                ValueError, match=r"do not determine their distances; take distances = bank.distances\(\)"
            ):
                on_array.predict(matrices)
    else:
        np.testing.assert_allclose(on_array.decision_function(K[:, TEST][:, :, TRAIN]), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.crossed
@every_combination
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_several_classes(combination, multiclass):
    data, y = load_iris(return_X_y=True)
    model = GMKLClassifier(combination=combination, multiclass=multiclass).fit(scale(data), y)
    assert model.weights_.shape[0] == model.objective_.shape[0] == 3
    assert model.decision_function(scale(data)).shape == (150, 3)
    assert model.score(scale(data), y) > 0.95


@every_combination
def test_search_over_C_binds_once(combination):
    """Warm starts from one C to the next lead to models as good as those fitted afresh."""
    grid = {"C": [0.1, 10.0]}
    search = BankSearchCV(GMKLClassifier(combination=combination), grid, cv=2).fit(X, Y)
    assert search.best_score_ > 0.9
    assert search.score(X, Y) > 0.9
    fresh = GridSearchCV(GMKLClassifier(combination=combination), grid, cv=2, error_score="raise").fit(X, Y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], fresh.cv_results_["mean_test_score"], atol=1.5 / len(Y)
    )


def test_distances_stand_where_x_stands():
    distances = bind(FEATURES, X).distances()
    model = GMKLClassifier("precomputed", combination="rbf_product")
    on_bank = cross_val_score(model, distances, Y, cv=2, error_score="raise")
    on_data = cross_val_score(GMKLClassifier(combination="rbf_product"), X, Y, cv=2, error_score="raise")
    np.testing.assert_allclose(on_bank, on_data, atol=2.0 / len(Y))


@every_combination
def test_round_trip_through_a_file(combination, tmp_path):
    for model, y in ((GMKLClassifier(combination=combination), Y), (GMKLRegressor(combination=combination), TARGET)):
        multikernel.save(model.fit(X[TRAIN], y[TRAIN]), tmp_path / "model.mk")
        again = multikernel.load(tmp_path / "model.mk")
        np.testing.assert_array_equal(again.predict(X[TEST]), model.predict(X[TEST]))
        assert again.get_params() == model.get_params() | {"kernels": None}


def test_more_starts_do_no_harm_and_repeat():
    Z, product = planted(80, 5)
    once = GMKLRegressor(combination="rbf_product", alpha=0.1, penalty=0.5).fit(Z, product)
    more = GMKLRegressor(combination="rbf_product", alpha=0.1, penalty=0.5, n_init=4, random_state=0).fit(Z, product)
    assert more.objective_ <= once.objective_ * (1.0 + 1e-9)
    assert more.n_iter_ > once.n_iter_
    np.testing.assert_array_equal(more.weights_, clone(more).fit(Z, product).weights_)


@pytest.mark.crossed
@pytest.mark.parametrize("model", [GMKLClassifier(max_iter=8, tol=1e-8), GMKLRegressor(max_iter=8, tol=1e-8)])
@pytest.mark.parametrize(("combination", "measure"), [("linear", "duality gap"), ("rbf_product", "stationarity")])
def test_not_converged_is_said_with_the_measure_reached(model, combination, measure):
    model = clone(model).set_params(combination=combination)
    y = Y if isinstance(model, GMKLClassifier) else TARGET
    with pytest.warns(ConvergenceWarning, match=f"did not converge: it reached a relative {measure} of"):
        model.fit(X, y)
    assert not model.converged_
    assert model.score(X, y) > 0.3


@pytest.mark.study
def test_regression_of_real_data():
    data, y = load_diabetes(return_X_y=True)
    data, y = scale(data), scale(y)
    for combination in COMBINATIONS:
        model = GMKLRegressor(combination=combination, alpha=10.0, penalty=10.0).fit(data[:300], y[:300])
        assert model.score(data[300:], y[300:]) > 0.4
    without = GMKLRegressor(fit_intercept=False).fit(data, y + 5.0)
    assert without.intercept_ == 0.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"combination": "product"},
            "combination must be 'linear', 'polynomial', 'rbf_product' or 'profile', got 'product'",
        ),
        ({"combination": "polynomial", "degree": 1.5}, "degree must be an integer in"),
        ({"penalty": 0.0}, "penalty must be a finite number > 0.*, got 0.0"),
        ({"norm": 3}, "norm must be 1 or 2 .*, got 3"),
        ({"radius": -1.0}, "radius must be a finite number >= 0"),
        ({"n_init": 0}, "n_init must be an integer in .*, got 0"),
        ({"tol": 0.0}, r"tol must be a number in \(0, 1\]"),
    ],
)
def test_parameters_without_meaning_are_refused(parameters, message):
    for model in (GMKLClassifier(**parameters), GMKLRegressor(**parameters)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y)


def test_machine_parameters_are_refused():
    with pytest.raises(ValueError, match="C must be a finite number > 0"):
        GMKLClassifier(C=0.0).fit(X, Y)
    with pytest.raises(ValueError, match="alpha must be a finite number > 0"):
        GMKLRegressor(alpha=-1.0).fit(X, TARGET)


@pytest.mark.parametrize("combination", ["linear", "polynomial"])
def test_distances_are_no_kernels(combination):
    with pytest.raises(ValueError, match="a bank of distances holds no kernel matrices"):
        GMKLClassifier(combination=combination).fit(bind(FEATURES, X).distances(), Y)


@pytest.mark.study
@parametrize_with_checks(
    [
        # few kernels, and few steps: the checks are about the interface
        GMKLClassifier(kernels.rbf_grid([0.1, 1.0]), combination="polynomial", tol=0.01),
        GMKLRegressor(combination="rbf_product", alpha=0.1, penalty=0.1, tol=0.01),
    ]
)
@pytest.mark.filterwarnings("ignore:generalised MKL. the penalty outweighs:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_check_estimator_with_every_combination(estimator, check):
    """The checks fit noise, which needs no kernel; "linear" is checked with all public estimators."""
    if "sample_weight_equivalence" in check.func.__name__:
        pytest.skip("with few steps only to 1e-2: see test_sample_weights.py")
    check(estimator)


PROFILES = [
    kernels.RBF(),
    kernels.Laplacian(),
    kernels.Matern(nu=0.5),
    kernels.Matern(nu=1.5),
    kernels.RationalQuadratic(),
    kernels.ExponentialPower(power=1.4),
]


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
def test_scales_inside_any_profile_are_stationary(profile: kernels.DistanceKernel) -> None:
    """Two of five features matter; the objective is that of its definition, and no step in one scale lowers it."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 5))
    labels = np.where(np.abs(A[:, 0]) + A[:, 1] > 0.8, 1, -1)
    model = GMKLClassifier(combination="profile", profile=profile, C=3.0, penalty=4.0, tol=1e-3).fit(A, labels)
    assert model.stationarity_ < 1e-3
    assert model.weights_[:2].min() > model.weights_[2:].max()

    def objective(scales: np.ndarray) -> float:
        D = np.einsum("ilj,j->il", np.abs(A[:, None] - A) ** profile.degree, scales)
        found = SquaredHingeMachine(C=3.0, tol=1e-9).solve(DenseGram(profile.profile(D)), labels.astype(float))
        return found.value + 4.0 * float(np.sum(scales))

    best = objective(model.weights_)
    assert best == pytest.approx(model.objective_, rel=1e-4)
    for k in range(5):
        for step in (-0.02, 0.02):
            other = model.weights_ + step * (np.arange(5) == k)
            assert other.min() < 0.0 or objective(other) > best * (1.0 - 1e-3)


@pytest.mark.parametrize("degree", one_in(2, [1, 2]))
def test_numbers_that_are_chosen_in_a_ball_follow_the_unit_of_the_kernels(degree: int) -> None:
    A = np.random.default_rng(0).normal(size=(40, 3))
    K = bind([kernels.RBF(0.3), kernels.RBF(1.0).on([0])], A).matrices()
    given = {"kernels": "precomputed", "combination": "polynomial", "degree": degree, "radius": 1.0, "norm": 2}
    for model, target, name, unit in (
        (GMKLRegressor(**given), A[:, 0], "alpha_", 2.0**20),
        (GMKLSupportRegressor(**given), A[:, 0], "C_", 2.0**-20),
        (GMKLClassifier(C="auto", **given), A[:, 0] > 0, "C_", 2.0**-20),
    ):
        one, other = (getattr(clone(model).fit(times * K, target), name) for times in (1.0, 2.0**20))
        assert other == pytest.approx(unit**degree * one)


def test_a_large_penalty_makes_scales_zero() -> None:
    A, labels = load_breast_cancer(return_X_y=True)
    model = GMKLClassifier(combination="profile", profile=kernels.Matern(nu=1.5), penalty=10.0)
    model.fit(scale(A)[:200], labels[:200])
    assert 2 <= (model.weights_ > 0.0).sum() < 20
    assert model.score(scale(A)[200:], labels[200:]) > 0.9


def test_a_profile_of_gaussians_is_their_product() -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(50, 3))
    target = np.sin(2.0 * A[:, 0])
    one = GMKLRegressor(combination="rbf_product", alpha=0.1, tol=1e-8).fit(A, target)
    other = GMKLRegressor(combination="profile", profile=kernels.RBF(), alpha=0.1, tol=1e-8).fit(A, target)
    np.testing.assert_allclose(other.weights_, one.weights_, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(other.predict(A[:5] + 0.1), one.predict(A[:5] + 0.1), atol=1e-4)
    np.testing.assert_allclose(other.kernel_matrix(A[:5] + 0.1, A), one.kernel_matrix(A[:5] + 0.1, A), atol=1e-4)
    with pytest.raises(ValueError, match="profile must be None or a kernel of a distance"):
        GMKLRegressor(combination="profile", profile=kernels.Linear()).fit(A, target)
