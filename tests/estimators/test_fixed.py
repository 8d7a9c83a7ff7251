"""Fixed columns of an estimator: published variance components, predictions, frames, views, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from mixed_models import DYESTUFF
from multikernel import MultipleKernelRidgeCV, kernels

RNG = np.random.default_rng(1)
N = 90
G = RNG.normal(size=(N, 4))
FRAME = pd.DataFrame(G, columns=["g0", "g1", "g2", "g3"]).assign(
    age=RNG.normal(50.0, 10.0, N), site=RNG.choice(list("ABC"), N)
)
SITE = FRAME["site"].to_numpy()
y = np.sin(G[:, 0]) + 0.1 * FRAME["age"].to_numpy() + 2.0 * (SITE == "B") + 0.2 * RNG.normal(size=N)
COLUMNS = np.column_stack([np.ones(N), FRAME["age"], SITE == "B", SITE == "C"]).astype(float)
FAMILY = [kernels.RBF(0.1), kernels.Linear()]


def gls(model, F, target):
    """Coefficients for the kernel of a model, its function's coefficients, and standard errors."""
    H = np.linalg.inv(model.kernel_matrix(FRAME) + model.alpha_ * np.eye(N))
    covariance = np.linalg.inv(F.T @ H @ F)
    b = covariance @ F.T @ H @ target
    rest = target - F @ b
    return b, H @ rest, np.sqrt(np.diagonal(covariance) * (rest @ H @ rest) / (N - F.shape[1]))


def test_dyestuff():
    batch = np.repeat(np.arange(6), 5)
    K, yields = np.equal.outer(batch, batch).astype(float), DYESTUFF.ravel()
    model = MultipleKernelRidgeCV("precomputed", fixed=[], criterion="evidence", tol=1e-10).fit(K[None], yields)
    assert model.kernel_scale_ == pytest.approx(1764.05, abs=0.005)
    assert model.noise_variance_ == pytest.approx(2451.25, abs=0.005)
    assert -2.0 * model.log_evidence_ + np.log(30.0) == pytest.approx(
        319.6543, abs=1e-4
    )  # lme4 counts the unit of ones
    assert model.intercept_ == pytest.approx(1527.5)
    assert model.intercept_std_error_ == pytest.approx(19.383, abs=5e-4)
    within = DYESTUFF.var(axis=1, ddof=1).mean()
    assert model.kernel_scale_ == pytest.approx(DYESTUFF.mean(axis=1).var(ddof=1) - within / 5.0, rel=1e-5)


@pytest.mark.parametrize("criterion", ["evidence", "held_out"])
def test_predictions_and_standard_errors(criterion):
    model = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion=criterion).fit(FRAME, y)
    b, a, errors = gls(model, COLUMNS, y)
    np.testing.assert_allclose(model.dual_coef_, a, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(model.fixed_names_, ["age", "site=B", "site=C", "site=A"])
    np.testing.assert_allclose([model.intercept_, *model.fixed_coef_], [*b, 0.0], rtol=1e-7)
    frame = model.fixed_frame()
    np.testing.assert_allclose(frame["standard error"], [*errors, np.nan], rtol=1e-6)
    K = model.kernel_matrix(FRAME)
    np.testing.assert_allclose(model.predict(FRAME), COLUMNS @ b + K @ a, rtol=1e-8)
    parts = model.contributions(FRAME).sum(axis=1) + COLUMNS @ b
    np.testing.assert_allclose(parts, model.predict(FRAME), rtol=1e-8)
    if criterion == "held_out":
        assert model.cv_loss_ == pytest.approx(held_out(K, KFold(5).split(K), model.alpha_), rel=1e-7)
    np.testing.assert_allclose(model.loo_residuals_[0] ** 2, held_out(K, [(np.arange(1, N), [0])], model.alpha_) * N)
    # the kernels see neither column
    other = FRAME.assign(age=0.0, site="A")
    np.testing.assert_allclose(model.predict(other), b[0] + K @ a, rtol=1e-8)


def held_out(K, folds, alpha):
    total = 0.0
    for T, V in folds:
        H = np.linalg.inv(K[np.ix_(T, T)] + alpha * np.eye(len(T)))
        b = np.linalg.solve(COLUMNS[T].T @ H @ COLUMNS[T], COLUMNS[T].T @ H @ y[T])
        total += ((y[V] - COLUMNS[V] @ b - K[np.ix_(V, T)] @ H @ (y[T] - COLUMNS[T] @ b)) ** 2).sum()
    return total / N


def test_uncertainty_and_criteria_beside_fixed_columns():
    model = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion="evidence").fit(FRAME, y)
    rows = FRAME.iloc[:7].assign(age=20.0)
    F = COLUMNS[:7] * [1.0, 0.0, 1.0, 1.0] + [0.0, 20.0, 0.0, 0.0]
    K, k = model.kernel_matrix(FRAME), model.kernel_matrix(rows, FRAME)
    S = K + model.alpha_ * np.eye(N)
    H = np.linalg.inv(S)
    C = np.linalg.inv(COLUMNS.T @ H @ COLUMNS)
    d = F - k @ H @ COLUMNS
    own = np.diagonal(model.kernel_matrix(rows)) + model.alpha_
    variance = model.kernel_scale_ * (own - ((k @ H) * k).sum(axis=1) + ((d @ C) * d).sum(axis=1))
    np.testing.assert_allclose(model.predict(rows, return_std=True)[1], np.sqrt(variance), rtol=1e-7)
    M = H - H @ COLUMNS @ C @ COLUMNS.T @ H
    assert model.degrees_of_freedom_ == pytest.approx(np.trace(K @ M), rel=1e-7)
    Q = np.linalg.svd(COLUMNS)[0][:, 4:]
    tau = model.kernel_scale_
    density = -0.5 * ((N - 4) * np.log(2.0 * np.pi * tau) + np.linalg.slogdet(Q.T @ S @ Q)[1] + y @ M @ y / tau)
    assert model.log_evidence_ == pytest.approx(density, rel=1e-9)
    assert np.log(model.objective_) == pytest.approx(-2.0 * density / (N - 4) - np.log(2.0 * np.pi) - 1.0, rel=1e-7)
    smoothed = (y - model.predict(FRAME)) / model.alpha_
    assert model.residual_variance_ == pytest.approx(
        ((model.alpha_ * smoothed) ** 2).sum() / (N - np.trace(K @ M) - 4), rel=1e-7
    )
    rss = ((model.alpha_ * smoothed) ** 2).sum()
    trace = np.trace(K @ M) + 4
    assert model.fit_criterion("loo") == pytest.approx(held_out(K, LeaveOneOut().split(K), model.alpha_), rel=1e-7)
    assert model.fit_criterion("gcv") == pytest.approx(rss / N / (1.0 - trace / N) ** 2, rel=1e-7)
    assert model.fit_criterion("cp", noise_variance=0.3) == pytest.approx((rss + 0.6 * trace) / N, rel=1e-7)
    assert model.fit_criterion("bic") == pytest.approx(N - trace + np.log(N) * trace, rel=1e-7)
    b, _, _ = gls(model, COLUMNS, y)
    assert model.target_variance_ == pytest.approx(((y - COLUMNS @ b) ** 2).mean(), rel=1e-7)
    low, high = model.predict_interval(FRAME, coverage=0.9)
    assert 0.85 < ((low < y) & (y < high)).mean() <= 1.0


def test_forms_of_samples_agree():
    """A frame of pandas, an array, a sparse matrix, and views by name, one of them with kernel matrices."""
    coded = FRAME.assign(b=SITE == "B", c=SITE == "C").drop(columns="site").astype(float)
    expected = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"]).fit(FRAME, y).predict(FRAME)
    array, wide = coded.to_numpy(), ["age", "b", "c"]
    for fixed, X in (
        (wide, coded),
        ([4, 5, -1], array),
        ([4, 5, 6], sparse.csr_matrix(array)),
    ):
        model = MultipleKernelRidgeCV(FAMILY, fixed=fixed).fit(X, y)
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-5)
        assert model.n_features_in_ == 7
    by_view = {"g": G, "people": FRAME[["age", "site"]]}
    model = MultipleKernelRidgeCV({"g": FAMILY}, fixed="people").fit(by_view, y)
    np.testing.assert_allclose(model.predict(by_view), expected, rtol=1e-6)
    assert model.fixed_names_[1] == "people: site=B"
    K = mk.bind(FAMILY, G).matrices()
    matrices = {"rbf": K[0], "linear": K[1], "people": FRAME[["age", "site"]]}
    of_matrices = MultipleKernelRidgeCV(fixed="people").fit(matrices, y)
    np.testing.assert_allclose(of_matrices.predict(matrices), expected, rtol=1e-6)
    np.testing.assert_allclose(of_matrices.fixed_std_errors_[:3], model.fixed_std_errors_[:3], rtol=1e-6)
    rows = np.arange(10)
    new = {"rbf": K[0][rows], "linear": K[1][rows], "people": FRAME[["age", "site"]].iloc[rows]}
    np.testing.assert_allclose(of_matrices.predict(new), expected[rows], rtol=1e-6)
    scores = cross_val_score(MultipleKernelRidgeCV(fixed="people"), mk.views(matrices), y, cv=KFold(3))
    assert (scores > 0.7).all()


def test_a_kernel_that_names_columns_sees_them():
    seen = MultipleKernelRidgeCV([kernels.RBF(0.01).on(["age"])], fixed=["age", "site"]).fit(FRAME, y)
    changed = FRAME.assign(age=FRAME["age"] + 5.0)
    assert np.ptp(seen.kernel_matrix(changed, FRAME) - seen.kernel_matrix(FRAME)) > 0.0
    numbers = FRAME.drop(columns="site")
    each = MultipleKernelRidgeCV(kernels.per_feature(kernels.RBF(1.0)), fixed="g1").fit(numbers, y)
    assert len(each.kernel_names_) == 4
    assert "g2" in each.kernel_names_[1]
    K = each.kernel_matrix(numbers)
    np.testing.assert_allclose(each.kernel_matrix(numbers.assign(g1=7.0)), K)
    assert np.abs(each.kernel_matrix(numbers.assign(g0=7.0)) - K).max() > 0.0 or each.weights_[0] == 0.0
    default = MultipleKernelRidgeCV(fixed=["age", "site"]).fit(FRAME, y)
    np.testing.assert_allclose(
        default.predict(FRAME),
        MultipleKernelRidgeCV(fixed=["age", "site"]).fit(FRAME[::-1], y[::-1]).predict(FRAME),
        rtol=0.1,
    )


def test_coefficients_of_columns_beside_those_that_are_fixed():
    model = MultipleKernelRidgeCV("linear", fixed=["site"]).fit(FRAME, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (coef,) = model.coef_.values()
    rest = FRAME.drop(columns="site").to_numpy()
    effects = (SITE[:, None] == ["B", "C", "A"]) @ model.fixed_coef_
    np.testing.assert_allclose(rest @ coef + effects + model.intercept_, model.predict(FRAME), atol=1e-8)


def test_deviations_do_not_speak_of_fixed_views():
    """Which the kernels do not see; warnings are errors here."""
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=(40, 3)) for name in ("people", "a", "b")}
    linear = {"a": [kernels.Linear()], "b": [kernels.Linear()]}
    model = MultipleKernelRidgeCV(linear, fixed="people").fit(X, X["a"][:, 0] + rng.normal(size=40))
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize("shared", [False, True])
def test_several_targets(shared):
    Y = np.column_stack([y, 3.0 - y + G[:, 1], COLUMNS @ [1.0, 2.0, 3.0, 4.0]])
    model = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion="evidence", shared_weights=shared, tol=1e-10)
    model.fit(FRAME, Y)
    assert model.fixed_coef_.shape == model.fixed_std_errors_.shape == (3, 4)
    assert model.intercept_.shape == model.intercept_std_error_.shape == (3,)
    assert model.predict(FRAME).shape == (N, 3)
    np.testing.assert_allclose(model.predict(FRAME)[:, 2], Y[:, 2], rtol=1e-9)  # nothing is left for the kernels
    assert list(model.fixed_frame().index[:2]) == [(0, "intercept"), (0, "age")]
    if not shared:
        alone = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion="evidence", tol=1e-10).fit(FRAME, y)
        np.testing.assert_allclose(model.fixed_coef_[0], alone.fixed_coef_, rtol=1e-4)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_and_order(unit):
    base = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion="evidence").fit(FRAME, y)
    scaled = FRAME.assign(age=unit * FRAME["age"])
    other = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion="evidence").fit(scaled, unit * y)
    np.testing.assert_allclose(other.predict(scaled), unit * base.predict(FRAME), rtol=1e-6)
    np.testing.assert_allclose(other.fixed_coef_, base.fixed_coef_ * [1.0, unit, unit, unit], rtol=1e-6)
    order = np.random.default_rng(0).permutation(N)
    mixed = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion="evidence").fit(FRAME.iloc[order], y[order])
    np.testing.assert_allclose(mixed.fixed_coef_, base.fixed_coef_, rtol=1e-5)


def test_new_levels_missing_cells_and_other_types():
    model = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"]).fit(FRAME, y)
    with pytest.warns(mk.PredictionWarning, match="levels that training did not have, 'Z'"):
        new = model.predict(FRAME.assign(site="Z"))
    assert new.mean() == pytest.approx(model.predict(FRAME).mean(), abs=0.2)
    for change, message in (
        ({"age": FRAME["age"].where(FRAME.index != 3)}, "'age' is missing in row 3"),
        ({"site": FRAME["site"].where(FRAME.index != 4)}, "'site' is missing in row 4"),
    ):
        broken = FRAME.assign(**change)
        with pytest.raises(ValueError, match=message):
            model.predict(broken)
        with pytest.raises(ValueError, match=message):
            clone(model).fit(broken, y)
    with pytest.raises(ValueError, match="age"):
        model.predict(FRAME.assign(age="old"))


def test_what_is_refused():
    def refused(message, X=FRAME, **parameters):
        with pytest.raises(ValueError, match=message):
            MultipleKernelRidgeCV(FAMILY, **parameters).fit(X, y)

    refused("fixed must be None, or columns", fixed=1.5)
    refused("unknown column 'height'", fixed="height")
    refused("names every column", X=G, fixed=[0, 1, 2, 3])
    refused("out of range", X=G, fixed=4)
    refused("X holds kernel matrices", X=mk.bind(FAMILY, G), fixed="age")
    refused("must be the name of a view", X={"g": G}, fixed="people")
    refused(
        "leave nothing of 90 samples",
        X=np.hstack([G, np.random.default_rng(0).normal(size=(N, 89))]),
        fixed=list(range(4, 93)),
    )
    refused("of one fold", X=FRAME.assign(late=np.arange(N) > 80), fixed=["late", "site"])
    with pytest.raises(ValueError, match="GridSearchCV"):
        mk.BankSearchCV(MultipleKernelRidgeCV(FAMILY, fixed=["age"]), {"criterion": ["evidence"]}).fit(
            FRAME.drop(columns="site"), y
        )
    views = {"g": G, "people": FRAME[["age", "site"]]}
    with pytest.raises(ValueError, match="names every view"):
        MultipleKernelRidgeCV(fixed=["g", "people"]).fit(views, y)
    with pytest.raises(ValueError, match="no source that can be left out"):
        mk.source_values(MultipleKernelRidgeCV(fixed="people"), views, y)
    late = FRAME.assign(late=(np.arange(N) > 80).astype(float))
    model = MultipleKernelRidgeCV(FAMILY, fixed=["late", "site"], criterion="evidence").fit(late, y)
    assert np.isnan(model.cv_loss_)
    with pytest.raises(ValueError, match="no columns are fixed"):
        MultipleKernelRidgeCV(FAMILY).fit(G, y).fixed_frame()


def test_in_scikit_learn(tmp_path):
    pipeline = make_pipeline(StandardScaler(), MultipleKernelRidgeCV(FAMILY, fixed=[4]))
    numbers = FRAME.drop(columns="site").to_numpy()
    search = GridSearchCV(pipeline, {"multiplekernelridgecv__criterion": ["evidence", "held_out"]}, cv=KFold(3))
    assert search.fit(numbers, y).best_score_ > 0.3
    model = MultipleKernelRidgeCV(FAMILY, fixed=["age", "site"], criterion="evidence").fit(FRAME, y)
    mk.save(model, tmp_path / "model.mk")
    loaded = mk.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    for one, other in zip(loaded.predict(FRAME, return_std=True), model.predict(FRAME, return_std=True), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert loaded.fixed_frame().equals(model.fixed_frame())
    model.set_params(fixed=None).fit(G, y)
    assert not hasattr(model, "fixed_coef_")


def test_kernels_that_are_zero():
    zeros = {"none": np.zeros((N, N)), "people": FRAME[["age"]]}
    nothing = MultipleKernelRidgeCV(fixed="people", criterion="evidence").fit(zeros, y)
    table = nothing.variance_components(zeros, y)
    assert table["variance"].tolist() == pytest.approx([0.0, np.linalg.lstsq(COLUMNS[:, :2], y)[1][0] / (N - 2)])
    assert table["p"]["none"] == 1.0
