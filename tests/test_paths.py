"""Paths along one parameter: the same solutions as separate fits, found on one bank."""

import inspect

import matplotlib
import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

import multikernel as mk
import multikernel.estimators
import multikernel.estimators.binding as base
import multikernel.estimators.several as prediction
from cases import one_in
from multikernel import bind, kernels, path
from multikernel.banks.lazy import LazyBank
from multikernel.paths.plots import _KINDS

matplotlib.use("Agg")

FEW = kernels.Kernels(
    tuple(k.normalized() for k in [kernels.RBF(0.02), kernels.RBF(0.2), *kernels.polynomials((1, 2))])
)
VALUES = {  # in no order, on purpose
    "lam": [0.5, 0.05, 0.9],
    "p": [2.0, 1.2, 4.0],
    "smoothing": [1.0, 30.0, 0.1],
    "alpha": [1.0, 0.03, 10.0],
    "C": [1.0, 0.05, 20.0],
    "nu": [0.2, 0.6, 0.4],
    "penalty": [1.0, 0.1, 10.0],
}


BY_START = (mk.GatedMKLClassifier, mk.GatedMKLRegressor)  # which of several stationary points is found
WITH_SCALES = (mk.LearnedScalesClassifier, mk.LearnedScalesRegressor)  # they take kernels of a distance


def steerable():
    """Every estimator of the package, with every parameter of it that a path is for."""
    for name in multikernel.estimators.__all__:
        cls = getattr(multikernel.estimators, name)
        known = inspect.signature(cls).parameters
        if "kernels" in known:
            yield from ((cls, parameter) for parameter in VALUES if parameter in known)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :8], np.array(["malignant", "benign"])[y]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), y / 50.0


def samples(cls, cancer, diabetes):
    X, y = cancer if is_classifier(cls()) else diabetes
    return X[:50], y[:50], X[90:130], y[90:130]


def by_name(model, names):
    """The weights of the kernels of these names; zero where the model selects kernels, and not this one."""
    if not hasattr(model, "nodes_"):
        return model.weights_
    own = dict(zip(model.kernel_names_, model.weights_, strict=True))
    return [own.get(name, 0.0) for name in names]


@pytest.mark.parametrize(("cls", "parameter"), one_in(4, steerable()), ids=lambda v: getattr(v, "__name__", v))
def test_every_estimator_as_in_separate_fits(cls, parameter, cancer, diabetes):
    X, y, new, truth = samples(cls, cancer, diabetes)
    family = kernels.RBF() if cls in WITH_SCALES else FEW
    known = inspect.signature(cls).parameters
    given = {name: value for name, value in (("random_state", 0), ("second", "linear")) if name in known}
    estimator = cls(family, **given)
    found = path(estimator, X, y, parameter, VALUES[parameter])
    assert list(found.values) == VALUES[parameter]
    assert found.converged.all()
    gaps = 1e-12 + found.duality_gap
    for s, value in enumerate(VALUES[parameter]):
        assert getattr(found.models[s], parameter) == value
        alone = clone(estimator).set_params(**{parameter: value}).fit(X, y)
        if alone.objective_ is not None and cls not in BY_START:
            own = 1e-12 + getattr(alone, "duality_gap_", getattr(alone, "stationarity_", 0.0))
            assert found.objective[s] == pytest.approx(alone.objective_, rel=4.0 * max(gaps[s], own))
        if cls not in BY_START:
            np.testing.assert_allclose(found.weights[s], by_name(alone, found.kernel_names), atol=0.02)
        same = np.testing.assert_array_equal if is_classifier(alone) else np.testing.assert_allclose
        same(found.predict(new)[s], found.models[s].predict(new))
        if hasattr(alone, "decision_function"):
            np.testing.assert_allclose(
                found.decision_function(new)[s], found.models[s].decision_function(new), rtol=1e-7, atol=1e-9
            )
        if found.train_score is not None:
            assert found.train_score[s] == pytest.approx(found.models[s].score(X, y), abs=1e-9)
            assert found.score(new, truth)[s] == pytest.approx(found.models[s].score(new, truth), abs=1e-9)


@pytest.mark.parametrize("model", [mk.L1MKLClassifier(FEW), mk.LpMKLClassifier(FEW, p=1.5, solver="block_norm")])
def test_order_of_the_values_does_not_matter(model, cancer):
    X, y = cancer
    C = np.logspace(-2, 1, 5)
    up, mixed = path(model, X[:150], y[:150], "C", C), path(model, X[:150], y[:150], "C", C[[3, 0, 4, 1, 2]])
    np.testing.assert_array_equal(mixed.weights, up.weights[[3, 0, 4, 1, 2]])
    np.testing.assert_array_equal(mixed.dual_coef, up.dual_coef[[3, 0, 4, 1, 2]])
    assert (np.diff(up.objective) > 0).all()  # a larger box of the dual variables


@pytest.mark.parametrize(
    ("model", "parameter", "values"),
    [
        (mk.L1MKLClassifier(FEW, solver="reduced_gradient", tol=1e-3), "C", [0.1, 1.0, 10.0]),
        (mk.L1MKLClassifier(FEW, solver="level"), "C", [0.1, 1.0, 10.0]),
        (mk.LpMKLClassifier(FEW, solver="block_norm"), "p", [1.0, 1.5, 3.0]),
        (mk.SMKLClassifier(FEW), "C", [0.1, 1.0]),
        (mk.EasyMKLClassifier(FEW, learner="svc"), "lam", [1.0, 0.3, 0.01]),
        (mk.L1MKLClassifier(FEW, class_weight="balanced"), "C", [0.1, 1.0]),
        (mk.GMKLClassifier(kernels.linear_features(), combination="rbf_product"), "penalty", [10.0, 100.0]),
    ],
    ids=["reduced gradient", "level", "block norm", "smkl", "easymkl", "balanced", "product"],
)
def test_other_solvers_and_learners(model, parameter, values, cancer):
    X, y = cancer[0][:150], cancer[1][:150]
    found = path(model, X, y, parameter, values)
    assert found.converged.all()
    for s, value in enumerate(values):
        alone = clone(model).set_params(**{parameter: value}).fit(X, y)
        assert found.objective[s] == pytest.approx(alone.objective_, rel=2.0 * max(model.tol, 1e-6))
        assert found.duality_gap[s] <= model.tol
        np.testing.assert_array_equal(found.predict(X)[s], found.models[s].predict(X))


def test_the_estimator_is_not_changed(cancer):
    X, y = cancer
    family = kernels.rbf_grid([0.1, 1.0])
    model = mk.L1MKLClassifier(family, C=3.0)
    before = model.get_params()
    path(model, X[:100], y[:100], "C", [0.1, 1.0])
    assert model.get_params() == before
    assert model.kernels is family
    assert [name for name in vars(model) if name.endswith("_") or name.startswith("_")] == []


def test_samples_banks_and_matrices(cancer):
    X, y = cancer[0][:150], cancer[1][:150]
    new = cancer[0][150:200]
    C = [0.1, 1.0, 10.0]
    on_samples = path(mk.L1MKLClassifier(FEW), X, y, "C", C, validation=(new, cancer[1][150:200]))
    bank = bind(FEW, X)
    cross = bank.cross(new)
    on_bank = path(mk.L1MKLClassifier(FEW), bank, y, "C", C, validation=(cross, cancer[1][150:200]))
    on_matrices = path(mk.L1MKLClassifier("precomputed"), bank.matrices(), y, "C", C)
    for other, asked in ((on_bank, new), (on_bank, cross), (on_matrices, cross.matrices()), (on_matrices, cross)):
        np.testing.assert_allclose(other.weights, on_samples.weights, atol=1e-3)
        np.testing.assert_allclose(other.decision_function(asked), on_samples.decision_function(new), atol=1e-2)
    np.testing.assert_allclose(on_bank.decision_function(bank), on_bank.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(on_bank.validation_score, on_samples.validation_score)
    assert on_samples.models[0].n_features_in_ == 8
    assert on_matrices.kernel_names[0] == "kernel 0"
    with pytest.raises(ValueError, match="4 kernels against the 150 training samples, got 4 kernels against 149"):
        on_bank.predict(cross.block(slice(None), slice(149)))
    with pytest.raises(ValueError, match="X has 7 features, but L1MKLClassifier is expecting 8 features"):
        on_samples.predict(new[:, :7])


@pytest.mark.parametrize("scheme", one_in(2, ["ovr", "ovo"]))
def test_several_classes(scheme):
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::2], np.array(["setosa", "versicolor", "virginica"])[y[::2]]
    found = path(mk.L1MKLClassifier(FEW, multiclass=scheme), X, y, "C", [0.1, 1.0, 10.0])
    assert found.weights.shape == (3, 3, 4)
    assert found.intercept.shape == found.objective.shape == (3, 3)
    assert found.decision_function(X).shape == (3, 75, 3)
    for model, labels, scores in zip(found.models, found.predict(X), found.decision_function(X), strict=True):
        np.testing.assert_array_equal(labels, model.predict(X))
        np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-9)
    assert (found.n_kernels >= 1).all()


@pytest.mark.parametrize("model", [mk.LpMKLClassifier(FEW), mk.AverageMKLClassifier(FEW)])
def test_one_bank_and_one_pass(model, cancer, monkeypatch):
    X, y = cancer[0][:150], cancer[1][:150]
    bound, crossed, evaluated = [], [], []
    original = base.bind_kernels
    monkeypatch.setattr(base, "bind_kernels", lambda *args, **kw: bound.append(1) or original(*args, **kw))
    found = path(model, X, y, "C", [0.1, 1.0, 10.0])
    assert len(bound) == 1
    assert all(m.predictor_.reference is found.models[0].predictor_.reference for m in found.models)
    reference = type(found.models[0].predictor_.reference)
    cross, of_samples = reference.cross, kernels.RBF.__call__
    monkeypatch.setattr(reference, "cross", lambda bank, X: crossed.append(len(X)) or cross(bank, X))
    monkeypatch.setattr(kernels.RBF, "__call__", lambda *args: evaluated.append(1) or of_samples(*args))
    expected = found.decision_function(X)
    assert crossed == [150]
    assert len(evaluated) == 2  # the family has two Gaussians
    crossed.clear()
    monkeypatch.setattr(base, "LARGE_VALUES", 3 * len(found.models[0].predictor_.support) * 70)
    np.testing.assert_allclose(found.decision_function(X), expected, atol=1e-12)
    assert crossed == [70, 70, 10]
    monkeypatch.setattr(prediction, "LARGE_VALUES", 1)  # sums of kernels in place of products
    np.testing.assert_allclose(found.decision_function(X), expected, atol=1e-12)


def test_training_scores_with_centred_kernels(cancer):
    X, y = cancer[0][:150], cancer[1][:150]
    centred = [kernels.RBF(0.2).centered(), kernels.Linear().normalized().centered()]
    found = path(mk.L1MKLClassifier(centred), X, y, "C", [0.1, 10.0])
    np.testing.assert_allclose(found.decision_function(bind(centred, X)), found.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(found.train_score, found.score(X, y))


def test_validation_and_the_best_model(cancer):
    X, y = cancer
    C = [100.0, 0.001, 1.0, 200.0]
    found = path(mk.L1MKLClassifier(FEW), X[:150], y[:150], "C", C, validation=(X[150:300], y[150:300]))
    np.testing.assert_array_equal(found.validation_score, found.score(X[150:300], y[150:300]))
    best = found.best()
    assert best.score(X[150:300], y[150:300]) == found.validation_score.max()
    equal = found.validation_score == found.validation_score.max()
    assert min(np.array(C)[equal]) == best.C
    assert found.best(X[:150], y[:150]).score(X[:150], y[:150]) == found.train_score.max()
    with pytest.raises(ValueError, match="best needs samples and targets"):
        path(mk.L1MKLClassifier(FEW), X[:150], y[:150], "C", C).best()


def test_table(cancer):
    X, y = cancer
    found = path(mk.L1MKLClassifier(FEW), X[:150], y[:150], "C", [1.0, 0.1])
    frame = found.frame()
    assert frame.index.name == "C"
    assert list(frame.index) == [1.0, 0.1]
    assert list(frame.columns) == ["kernels", "objective", "duality gap", "iterations", "seconds", "train score"]
    np.testing.assert_array_equal(frame["objective"], found.objective)
    np.testing.assert_array_equal(frame["kernels"], (found.weights > 1e-6).sum(axis=1))
    assert len(found) == 2
    rule = path(mk.AverageMKLClassifier(FEW), X[:150], y[:150], "C", [1.0, 0.1])
    assert np.isnan(rule.objective).all()


def test_outliers_have_no_score(diabetes):
    X, _ = diabetes
    found = path(mk.OneClassMKL(FEW), X[:100], None, "nu", [0.1, 0.5])
    assert found.train_score is None
    values = np.array([model.decision_function(X) for model in found.models])
    np.testing.assert_allclose(found.decision_function(X), values, atol=1e-12)
    clear = np.abs(values) > 1e-12  # those of support vectors on the boundary are zero but for rounding
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(
        found.predict(X)[clear], np.array([model.predict(X) for model in found.models])[clear]
    )
    with pytest.raises(ValueError, match="OneClassMKL has no score"):
        found.plot("error")


def test_progress(cancer, capsys):
    X, y = cancer[0][:100], cancer[1][:100]
    path(mk.L1MKLClassifier(FEW), X, y, "C", [1.0, 0.1])
    assert capsys.readouterr().out == ""
    path(mk.L1MKLClassifier(FEW), X, y, "C", [1.0, 0.1], verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["C = 0.1", "C = 1"]
    assert lines[1].endswith("[2/2]")


@pytest.mark.parametrize(
    ("model", "parameter", "values", "error", "match"),
    [
        (
            mk.L1MKLClassifier(),
            "lam",
            [1.0],
            ValueError,
            "L1MKLClassifier has no parameter 'lam'; it has C, approximation, checkpoint, class_w",
        ),
        (mk.L1MKLClassifier(FEW), "kernels", [1.0], ValueError, "'kernels' changes the kernels"),
        (mk.L1MKLClassifier(kernels.RBF()), "kernels__gamma", [1.0], ValueError, "changes the kernels"),
        (mk.L1MKLClassifier(approximation="nystroem"), "rank", [5, 9], ValueError, "'rank' changes the kernels"),
        (mk.GMKLRegressor(profile=kernels.Matern()), "profile__nu", [0.5], ValueError, "'profile__nu' changes the ker"),
        (mk.L1MKLClassifier(), "C__C", [1.0], ValueError, "has no parameter 'C__C'"),
        (mk.L1MKLClassifier(), "C", [], ValueError, r"values of 'C' must be a list of finite numbers, .* got \[\]"),
        (mk.L1MKLClassifier(), "C", 1.0, ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", "1.0", ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", ["one"], ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", [1.0, np.nan], ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", [[1.0, 2.0]], ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", [[1.0], [1.0, 2.0]], ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", np.array(1.0), ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", b"12", ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", {1.0: "small"}, ValueError, "must be a list of finite numbers"),
        (mk.L1MKLClassifier(), "C", [1.0, -1.0], ValueError, "C must be"),
        (make_pipeline(StandardScaler(), SVC()), "C", [1.0], TypeError, "got Pipeline that ends in SVC"),
    ],
)
def test_bad_use(model, parameter, values, error, match, cancer, monkeypatch):
    monkeypatch.setattr(base, "bind_kernels", lambda *args, **kw: pytest.fail("bound before it was checked"))
    with pytest.raises(error, match=match):
        path(model, *cancer, parameter, values)


def test_a_pipeline_is_followed_behind_its_fitted_steps(cancer, tmp_path):
    X, y = cancer[0][:200] * np.logspace(-3, 3, cancer[0].shape[1]), cancer[1][:200]
    train, test = np.arange(120), np.arange(120, 200)
    pipeline = make_pipeline(StandardScaler(), mk.L1MKLClassifier(FEW))
    values = [0.1, 1.0, 10.0]
    found = path(pipeline, X[train], y[train], "C", values, validation=(X[test], y[test]))
    named = path(pipeline, X[train], y[train], "l1mklclassifier__C", values)
    scaler = StandardScaler().fit(X[train])
    by_hand = path(mk.L1MKLClassifier(FEW), scaler.transform(X[train]), y[train], "C", values)
    np.testing.assert_array_equal(found.weights, by_hand.weights)
    np.testing.assert_array_equal(named.weights, by_hand.weights)
    assert found.parameter == named.parameter == "C"
    np.testing.assert_array_equal(found.train_score, by_hand.train_score)
    np.testing.assert_array_equal(found.predict(X[test]), by_hand.predict(scaler.transform(X[test])))
    np.testing.assert_array_equal(found.validation_score, by_hand.score(scaler.transform(X[test]), y[test]))
    best = found.best()
    assert best.score(X[test], y[test]) == found.validation_score.max()
    assert not hasattr(pipeline[0], "mean_")
    mk.save(found, tmp_path / "path.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "path.mk").predict(X[test]), found.predict(X[test]))


def test_validation_must_be_a_pair(cancer):
    with pytest.raises(ValueError, match="validation must be a pair"):
        path(mk.L1MKLClassifier(), *cancer, "C", [1.0], validation=(cancer[0],))


def test_on_disk(cancer, tmp_path):
    X, y = cancer[0][:150], cancer[1][:150]
    found = path(mk.L1MKLClassifier(FEW), X, y, "C", [0.1, 1.0], validation=(X, y))
    mk.save(found, tmp_path / "path.mk")
    again = mk.load(tmp_path / "path.mk")
    assert isinstance(again, mk.Path)
    assert again.parameter == "C"
    np.testing.assert_array_equal(again.weights, found.weights)
    np.testing.assert_array_equal(again.validation_score, found.validation_score)
    np.testing.assert_array_equal(again.decision_function(X), found.decision_function(X))
    mk.save(found.models[1], tmp_path / "model.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "model.mk").predict(X), found.models[1].predict(X))


def test_kernels_made_on_demand(cancer):
    X, y = cancer[0][:60], cancer[1][:60]
    stored, lazy = bind(FEW, X), LazyBank(tuple(FEW), X, X)
    expected = path(mk.L1MKLClassifier("precomputed"), stored, y, "C", [0.1, 1.0])
    found = path(mk.L1MKLClassifier("precomputed"), lazy, y, "C", [0.1, 1.0])
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-3)


# -- figures: what is drawn, by the axes' own account


@pytest.fixture(scope="module")
def drawn(cancer):
    X, y = cancer
    family = kernels.per_feature(kernels.rbf_grid([0.1, 1.0]))
    return path(mk.L1MKLClassifier(family), X[:150], y[:150], "C", np.logspace(1, -2, 4), validation=(X[150:], y[150:]))


@pytest.fixture(autouse=True)
def closed_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.mark.parametrize("what", one_in(2, _KINDS))
def test_every_kind_of_figure(drawn, what, tmp_path):
    ax = drawn.plot(what)
    ax.figure.savefig(tmp_path / "figure.png")
    assert ax.get_xlabel() == "C"
    assert ax.get_ylabel()
    assert ax.get_xscale() == "log"
    x = ax.get_lines()[0].get_xdata()
    np.testing.assert_array_equal(x, np.logspace(-2, 1, 4))


def test_the_best_step_of_a_pipeline_is_drawn(diabetes):
    X, y = diabetes
    pipeline = make_pipeline(StandardScaler(), mk.LinearRLS2Regressor())
    found = path(pipeline, X[:150], y[:150], "alpha", [10.0, 1.0, 0.1], validation=(X[150:], y[150:]))
    best = found.best()[-1]
    for what, place in (("error", best.alpha), ("coefficients", best.degrees_of_freedom_)):
        lines = {line.get_label(): line for line in found.plot(what).get_lines()}
        assert list(lines[f"best, alpha = {best.alpha:.3g}"].get_xdata()) == [place, place]


def test_lines_of_weights_carry_the_names_of_the_largest(drawn):
    ax = drawn.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    largest = drawn.kernel_names[int(drawn.weights.max(axis=0).argmax())]
    assert labels[0] == largest
    assert len(ax.get_lines()) >= len(labels)
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_array_equal(lines[largest], drawn.weights[::-1, list(drawn.kernel_names).index(largest)])


def test_line_of_error_is_one_minus_the_score(drawn):
    ax = drawn.plot("error")
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), 1.0 - drawn.train_score[::-1])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:2] == ["training", "validation"]
    assert labels[2].startswith("best, C = ")


def test_given_axes_and_linear_scale(diabetes):
    import matplotlib.pyplot as plt

    X, y = diabetes
    found = path(mk.AverageMKLRegressor(FEW), X[:100], y[:100], "alpha", [0.01, 0.5, 1.0])
    _, given = plt.subplots()
    assert found.plot("error", ax=given) is given
    assert given.get_xscale() == "linear"
    assert given.get_ylabel() == "squared error / variance"


def test_unknown_kind_of_figure(drawn):
    with pytest.raises(ValueError, match=r"a path draws 'weights', 'kernels', 'error', .* got 'colours'"):
        drawn.plot("colours")


@pytest.mark.crossed
@pytest.mark.parametrize("family", [FEW, kernels.linear_features()], ids=["matrices", "features"])
@pytest.mark.parametrize("cls", [mk.AverageMKLRegressor, mk.AlignmentMKLRegressor])
def test_one_decomposition_for_all_alphas(diabetes, family, cls, monkeypatch):
    X, y = diabetes
    X, Y = X[:90], np.column_stack([y, y**2])[:90]
    alphas = np.geomspace(1e-3, 1e3, 13)
    for target in (Y, Y[:, 0]):
        with monkeypatch.context() as patch:
            patch.setattr(cls, "fit_bank", lambda *ignored: pytest.fail("single fits"))
            found = path(cls(family), X, target, "alpha", alphas, validation=(X, target))
        for alpha, model, values in zip(alphas, found.models, found.predict(X), strict=True):
            single = cls(family, alpha=alpha).fit(X, target)
            np.testing.assert_allclose(model.dual_coef_, single.dual_coef_, atol=1e-9 * np.abs(single.dual_coef_).max())
            np.testing.assert_allclose(model.predict(X), single.predict(X), rtol=1e-8)
            np.testing.assert_allclose(values, single.predict(X), rtol=1e-8)
            np.testing.assert_array_equal(model.weights_, single.weights_)
            assert model.alpha == alpha
            assert model.duality_gap_ <= 1e-13
        assert found.weights.shape == (13, len(found.kernel_names))
        assert found.dual_coef.shape == (13, *target.shape[1:], 90)
        assert found.intercept.shape == (13, *target.shape[1:])
        np.testing.assert_allclose(found.validation_score, found.train_score, rtol=1e-12)


# -- models that select products of kernels: each step has products of its own


@pytest.fixture(scope="module")
def selected(cancer):
    X, y = cancer
    values = [10.0, 0.01, 1.0]
    return path(mk.HKLClassifier(tol=1e-2), X[:150, :4], y[:150], "C", values, validation=(X[150:, :4], y[150:]))


def test_weights_of_selected_products_are_aligned(selected):
    every = {node for model in selected.models for node in model.nodes_}
    assert len(every) > min(len(model.nodes_) for model in selected.models)
    assert selected.weights.shape == (3, len(every))
    sizes = [name.count(" * ") + (name != "1") for name in selected.kernel_names]
    assert sizes == sorted(sizes)
    for weights, model in zip(selected.weights, selected.models, strict=True):
        np.testing.assert_array_equal(weights, by_name(model, selected.kernel_names))
        assert weights.sum() == pytest.approx(model.weights_.sum())
    np.testing.assert_array_equal(selected.n_kernels, (selected.weights > 1e-6).sum(axis=1))


def test_selected_products_of_several_classes_are_aligned():
    X, y = load_iris(return_X_y=True)
    found = path(mk.HKLClassifier(tol=1e-2), scale(X), y, "rho", [1.1, 2.0])
    assert found.weights.shape == (2, 3, len(found.kernel_names))
    assert len(set(found.kernel_names)) == len(found.kernel_names)
    for weights, model in zip(found.weights, found.models, strict=True):
        own = np.isin(found.kernel_names, model.kernel_names_)
        np.testing.assert_array_equal(weights[:, own], model.weights_)
        assert not weights[:, ~own].any()


@pytest.mark.parametrize("what", _KINDS)
def test_figures_of_selected_products(selected, what):
    ax = selected.plot(what)
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), [0.01, 1.0, 10.0])
    if what == "weights":
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels[0] == selected.kernel_names[int(selected.weights.max(axis=0).argmax())]
