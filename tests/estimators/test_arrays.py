"""Samples that are arrays of other libraries: results agree with NumPy's, and are where the samples are."""

from functools import cache

import numpy as np
import pytest

import multikernel
from cases import one_in
from multikernel import (
    BankSearchCV,
    Delayer,
    EasyMKLClassifier,
    L1MKLClassifier,
    LearnedScalesRegressor,
    LinearRLS2Regressor,
    LpMKLClassifier,
    MultiKernelClassifier,
    MultiKernelRegressor,
    MultipleKernelRidgeCV,
    OneClassMKL,
    PolynomialMKLRegressor,
    RLS2Classifier,
    RLS2Regressor,
    kernels,
)
from multikernel._arrays import host
from multikernel.statistics import Moments

_rng = np.random.default_rng(0)
X, NEW = _rng.normal(size=(90, 4)), _rng.normal(size=(25, 4))
Y = np.sin(X[:, 0]) + 0.1 * _rng.normal(size=90)
CLASSES = np.array(["no", "yes"])[(X[:, 0] * X[:, 1] > 0).astype(int)]
FAMILY = [
    kernels.RBF("median"),
    kernels.Laplacian(0.2),
    kernels.Matern(0.5, nu=2.5).on([0, 1]),
    2.0 * kernels.HomogeneousPolynomial(3).normalized(),
    kernels.RBF(1.0) * kernels.Linear() + kernels.ExponentialPower(0.7),
    kernels.RationalQuadratic(0.5),
]
LOW_RANK = {"kernels": [kernels.RBF(0.1), kernels.Polynomial(2), kernels.Laplacian(0.2)], "rank": 30}


def on_torch(A):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.asarray(np.array(A))


def on_graphics(A):
    """In the memory of a graphics processor, as torch has it."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no graphics processor")
    return torch.asarray(np.array(A), device="cuda")


def on_cupy(A):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    if not cupy.cuda.is_available():
        pytest.skip("cupy sees no graphics processor")
    return cupy.asarray(np.array(A))


def on_device(A):
    """On a device whose arrays refuse to become NumPy arrays by themselves."""
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    return strict.asarray(np.array(A), device=strict.Device("device1"))


ELSEWHERE = [on_torch, on_device, on_graphics, on_cupy]


@pytest.mark.parametrize("put", ELSEWHERE)
def test_the_same_way_is_chosen_wherever_the_samples_are(put):
    """From some hundred samples on there are two, whose answers differ within the gap that is allowed."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(400, 3))
    y = np.sign(np.sin(A[:, 0]) + A[:, 1] ** 2 - 1.0 + 0.5 * rng.normal(size=400))
    model = LpMKLClassifier(kernels.rbf_grid([0.01, 0.1, 1.0]), C=1.0)
    truth = model.fit(A, y).decision_function(A)
    np.testing.assert_allclose(host(model.fit(put(A), y).decision_function(put(A))), truth, rtol=0, atol=1e-8)


MODELS = {
    "ridge": (lambda: MultipleKernelRidgeCV(FAMILY), Y),
    "ridge-loo": (lambda: MultipleKernelRidgeCV(FAMILY[:3], cv="loo"), np.stack([Y, Y**2], axis=1)),
    "rls2": (lambda: RLS2Regressor(FAMILY, alpha=0.1), Y),
    "rls2-classes": (lambda: RLS2Classifier(FAMILY, alpha=0.1), CLASSES),
    "easymkl": (lambda: EasyMKLClassifier(FAMILY, lam=0.1, tol=1e-13), CLASSES),
    "easymkl-powers": (lambda: EasyMKLClassifier(lam=0.3, tol=1e-13), CLASSES),
    "polynomial": (lambda: PolynomialMKLRegressor(FAMILY[:3]), Y),
    "hinge": (lambda: L1MKLClassifier(FAMILY), CLASSES),
    "one-class": (lambda: OneClassMKL(FAMILY[:2]), None),
    "nystroem": (lambda: RLS2Regressor(approximation="nystroem", **LOW_RANK), Y),
    "fourier": (lambda: MultipleKernelRidgeCV(approximation="fourier", **LOW_RANK), Y),
}


@cache
def on_numpy(name):
    make, y = MODELS[name]
    return make().fit(X, y)


@pytest.mark.crossed
@pytest.mark.filterwarnings("ignore::multikernel.PredictionWarning")
@pytest.mark.parametrize("conv", ELSEWHERE)
@pytest.mark.parametrize("name", MODELS)
def test_arrays_of_other_libraries_give_what_numpy_gives(name, conv):
    make, y = MODELS[name]
    given = y if y is None or y.dtype.kind == "U" else conv(y)
    model, plain = make().fit(conv(X), given), on_numpy(name)
    np.testing.assert_allclose(model.weights_, plain.weights_, rtol=1e-8, atol=1e-8)
    found, truth = model.predict(conv(NEW)), plain.predict(NEW)
    if truth.dtype.kind == "U":
        np.testing.assert_array_equal(found, truth)
        found, truth = model.decision_function(conv(NEW)), plain.decision_function(NEW)
    assert type(found) is type(conv(NEW))
    assert found.device == conv(NEW).device
    np.testing.assert_allclose(host(found), truth, rtol=1e-8, atol=1e-8)


def test_samples_of_training_decide_where_a_model_works_and_those_of_a_prediction_what_it_returns():
    model = MultipleKernelRidgeCV(FAMILY[:3]).fit(on_device(X), Y)
    plain = MultipleKernelRidgeCV(FAMILY[:3]).fit(X, Y)
    truth, deviations = plain.predict(NEW, return_std=True)
    for fitted in (model, plain):
        for conv in (np.asarray, on_torch, on_device):
            mean, spread = fitted.predict(conv(NEW), return_std=True)
            assert type(mean) is type(spread) is type(conv(NEW))
            np.testing.assert_allclose(host(mean), truth, atol=1e-8)
            np.testing.assert_allclose(host(spread), deviations, atol=1e-8)
    np.testing.assert_allclose(model.kernel_matrix(on_device(NEW)), plain.kernel_matrix(NEW), atol=1e-8)
    np.testing.assert_allclose(model.contributions(on_device(NEW)), plain.contributions(NEW), atol=1e-8)
    assert model.score(on_device(X), on_device(Y)) == pytest.approx(plain.score(X, Y))


def test_a_saved_model_works_on_numpy_arrays_where_it_is_loaded(tmp_path):
    for name in ("ridge", "nystroem", "easymkl-powers"):
        make, y = MODELS[name]
        model = make().fit(on_device(X), y)
        multikernel.save(model, tmp_path / "model")
        loaded = multikernel.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.weights_, model.weights_)
        truth = host(model.predict(on_device(NEW)))
        if truth.dtype.kind == "f":
            np.testing.assert_allclose(loaded.predict(NEW), truth, atol=1e-10)
        else:
            np.testing.assert_array_equal(loaded.predict(NEW), truth)


def test_searches_and_paths_slice_the_bank_where_it_is():
    search = BankSearchCV(RLS2Regressor(FAMILY[:3]), {"alpha": [0.01, 0.1, 1.0]}, cv=3).fit(on_device(X), Y)
    plain = BankSearchCV(RLS2Regressor(FAMILY[:3]), {"alpha": [0.01, 0.1, 1.0]}, cv=3).fit(X, Y)
    assert search.best_params_ == plain.best_params_
    path, truth = (multikernel.path(RLS2Regressor(FAMILY[:3]), S, Y, "alpha", [1.0, 0.1]) for S in (on_device(X), X))
    np.testing.assert_allclose(path.weights, truth.weights, atol=1e-8)


def test_sums_of_products_are_made_where_the_features_are():
    weight = np.linspace(0.5, 1.5, 90)
    truth = Moments.of(X, Y, weight)
    for conv in (on_torch, on_device):
        found = (
            Moments.of(conv(X), conv(Y), conv(weight)).update(conv(NEW), np.ones(25)).less(Moments.of(NEW, np.ones(25)))
        )
        for name, value in vars(truth).items():
            np.testing.assert_allclose(getattr(found, name), value, atol=1e-10)
            assert not hasattr(getattr(found, name), "to_device") or isinstance(value, np.ndarray)


@pytest.mark.parametrize("conv", ELSEWHERE)
def test_scores_are_split_and_features_delayed_of_arrays_of_other_libraries(conv):
    model = MultipleKernelRidgeCV(FAMILY[:3]).fit(X, Y)
    truth = model.score_split(X, Y, sample_weight=np.linspace(0.5, 1.5, 90))
    found = model.score_split(conv(X), conv(Y), sample_weight=conv(np.linspace(0.5, 1.5, 90)))
    np.testing.assert_allclose(found, truth, atol=1e-8)
    delayed = Delayer([0, 2]).fit_transform(conv(X), groups=conv(np.arange(90) // 30))
    assert type(delayed) is type(conv(X))
    np.testing.assert_array_equal(host(delayed), Delayer([0, 2]).fit_transform(X, groups=np.arange(90) // 30))
    views = Delayer([1]).fit_transform({"one": conv(X), "other": X[:, :2]})
    np.testing.assert_array_equal(host(views.part("one")), Delayer([1]).fit_transform(X))


@pytest.mark.parametrize("conv", one_in(3, ELSEWHERE))
def test_the_automatic_estimators_work_in_the_memory_of_the_computer_and_answer_where_samples_are(conv):
    regressor = MultiKernelRegressor(random_state=0)
    truth = regressor.fit(X, Y).predict(NEW)
    found = regressor.fit(conv(X), conv(Y), sample_weight=conv(np.ones(90))).predict(conv(NEW))
    assert found.device == conv(NEW).device
    np.testing.assert_allclose(host(found), truth, atol=1e-8)
    assert regressor.score(conv(X), conv(Y)) == pytest.approx(regressor.score(X, Y))
    classifier = MultiKernelClassifier(random_state=0)
    truth = classifier.fit({"one": X, "other": X[:, :2]}, CLASSES).predict_proba({"one": NEW, "other": NEW[:, :2]})
    there = {"one": conv(NEW), "other": conv(NEW[:, :2])}
    found = classifier.fit({"one": conv(X), "other": conv(X[:, :2])}, CLASSES).predict_proba(there)
    np.testing.assert_allclose(found, truth, atol=1e-8)


def test_what_has_no_way_on_other_arrays_says_so_in_a_sentence():
    cases = {
        r"Hamming\(\) cannot be evaluated on arrays of array_api_strict": RLS2Regressor([kernels.Hamming()]),
        r"is centred by the training sample": RLS2Regressor([kernels.RBF(1.0).centered()]),
        r"LearnedScalesRegressor works on NumPy arrays": LearnedScalesRegressor(),
        r"LinearRLS2Regressor works on NumPy arrays": LinearRLS2Regressor(),
    }
    for words, model in cases.items():
        with pytest.raises(ValueError, match=words):
            model.fit(on_device(X), Y)
    holes = X.copy()
    holes[3, 1] = np.nan
    for wrong, words in (
        (on_torch(holes), "NaN or infinity, first at row 3"),
        (on_torch(X[0]), "Expected 2D array, got 1D array"),
        (on_torch(X[:0]), r"0 sample\(s\)"),
        (on_torch(X[:1]), r"1 sample\(s\) while a minimum of 2"),
        (on_torch(X + 1j), "Complex data not supported"),
        (on_torch(X).to_sparse(), "sparse torch tensor"),
    ):
        with pytest.raises(ValueError, match=words):
            RLS2Regressor(FAMILY[:1]).fit(wrong, Y[: len(wrong)])
    with pytest.raises(ValueError, match="X has 3 features"):
        RLS2Regressor(FAMILY[:1]).fit(on_torch(X), Y).predict(on_torch(NEW[:, :3]))


def test_single_precision_and_integers_become_double():
    single = RLS2Regressor(FAMILY[:2]).fit(on_torch(X.astype(np.float32)), Y)
    np.testing.assert_allclose(
        single.weights_, RLS2Regressor(FAMILY[:2]).fit(X.astype(np.float32).astype(float), Y).weights_, atol=1e-8
    )
    whole = RLS2Regressor(FAMILY[:2]).fit(on_torch(np.round(3 * X).astype(int)), Y)
    np.testing.assert_allclose(whole.weights_, RLS2Regressor(FAMILY[:2]).fit(np.round(3 * X), Y).weights_, atol=1e-8)


def test_arrays_are_refused_where_their_common_interface_is_missing(monkeypatch):
    import sys

    given = on_torch(X)
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(ImportError, match=r"pip install multikernel\[gpu\]"):
        RLS2Regressor(FAMILY[:1]).fit(given, Y)


@pytest.mark.parametrize("conv", ELSEWHERE)
def test_chunks_of_other_libraries_add_up_where_they_are(conv):
    models = {
        made: MultipleKernelRidgeCV(approximation="nystroem", tol=0.1, **LOW_RANK).partial_fit(
            made(X[:60]), made(Y[:60])
        )
        for made in (np.asarray, conv)
    }
    for made, model in models.items():
        model.partial_fit(made(X[60:]), made(Y[60:]))
    found, truth = models[conv], models[np.asarray]
    for one, other in zip(found._state.sums, truth._state.sums, strict=True):
        np.testing.assert_allclose(one.squares, other.squares, atol=1e-10)
    np.testing.assert_allclose(host(found.predict(conv(NEW))), truth.predict(NEW), atol=1e-8)
