"""A step of a path chosen without held-out samples: criteria against fits, one standard error, figures."""

from __future__ import annotations

from functools import cache
from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import scale

import multikernel as mk
from multikernel import kernels, path
from multikernel.paths.solution_path import simplest

matplotlib.use("Agg")

DATA = load_diabetes(return_X_y=True)
X, Y = scale(DATA[0]), DATA[1] / 50.0
ALPHAS = np.logspace(4, -2, 9)


@cache
def linear() -> Any:
    """Ridge regression with the sum of linear kernels, which scikit-learn has as well."""
    model = mk.AverageMKLRegressor(kernels.linear_features())
    return path(model, X[:150], Y[:150], "alpha", ALPHAS, validation=(X[150:], Y[150:]))


def test_leave_one_out_chooses_as_scikit_learn_does() -> None:
    found = linear()
    centred = RidgeCV(10.0 * ALPHAS, fit_intercept=False, store_cv_results=True)
    centred.fit(X[:150], Y[:150] - Y[:150].mean())  # the mean of all samples, where ours is that of the others
    ours = found.criterion("loo")
    np.testing.assert_allclose(ours, centred.cv_results_.mean(axis=0), rtol=0.05)
    squares = []
    for i in range(20):
        rest = np.delete(np.arange(150), i)
        each = path(mk.AverageMKLRegressor(kernels.linear_features()), X[rest], Y[rest], "alpha", ALPHAS)
        squares.append((each.predict(X[i : i + 1])[:, 0] - Y[i]) ** 2)
    left_out = np.stack([model.loo_residuals_[:20] for model in found.models])
    np.testing.assert_allclose(left_out**2, np.array(squares).T, rtol=1e-8)
    assert found.best("loo").alpha == ALPHAS[np.argmin(ours)]


def test_criteria_and_degrees_of_freedom() -> None:
    found, A, y, n = linear(), X[:150], Y[:150], 150
    K = A @ A.T / 10.0
    known: dict[str, list[float]] = {name: [] for name in ("gcv", "cp", "aic", "bic")}
    fits = []
    for alpha in ALPHAS:
        H = np.linalg.inv(K + alpha * np.eye(n))
        F = K @ H @ (np.eye(n) - 1.0 / n) + 1.0 / n
        rss, d = float(((y - F @ y) ** 2).sum()), float(np.trace(F))
        fits.append((rss, d, float(np.trace(K @ H))))
        known["gcv"].append(n * rss / (n - d) ** 2)
    rss, d, _ = fits[int(np.argmin(known["gcv"]))]
    noise = rss / (n - d)
    for rss, d, _ in fits:
        known["cp"].append((rss + 2.0 * d * noise) / n)
        known["aic"].append(rss / noise + 2.0 * d)
        known["bic"].append(rss / noise + np.log(n) * d)
    for name, values in known.items():
        np.testing.assert_allclose(found.criterion(name), values, rtol=1e-8, err_msg=name)
        assert found.best(name).alpha == ALPHAS[np.argmin(values)]
    np.testing.assert_allclose(found.degrees_of_freedom, [df for *_, df in fits], rtol=1e-8)
    assert found.best("evidence").log_evidence_ == max(model.log_evidence_ for model in found.models)


def test_one_standard_error() -> None:
    found = linear()
    losses = np.stack([model.loo_residuals_**2 for model in found.models])
    mean, best = losses.mean(axis=1), int(losses.mean(axis=1).argmin())
    within = mean <= mean[best] + losses[best].std(ddof=1) / np.sqrt(150)
    assert found.best("loo", one_standard_error=True).alpha == ALPHAS[within].max() > ALPHAS[best]
    held_out = found.best(X[150:], Y[150:], one_standard_error=True)
    assert held_out.alpha >= found.best(X[150:], Y[150:]).alpha
    labels = Y > 3.0
    classes = path(mk.L1MKLClassifier(kernels.linear_features()), X[:100], labels[:100], "C", [1e-3, 1e-2, 1.0])
    simple = classes.best(X[100:], labels[100:], one_standard_error=True)
    assert simple.C <= classes.best(X[100:], labels[100:]).C
    assert simplest(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1, 0])) == 1


def test_what_cannot_be_chosen_by() -> None:
    found = linear()
    for by in (None, "gcv"):
        with pytest.raises(ValueError, match="one_standard_error needs the errors of single samples"):
            found.best(by, one_standard_error=True)
    with pytest.raises(ValueError, match="name must be 'cp', 'aic'"):
        found.best("held out")
    support = path(mk.L1MKLRegressor(kernels.RBF(0.1)), X[:50], Y[:50], "C", [1.0])
    with pytest.raises(ValueError, match="L1MKLRegressor does not minimise squared losses"):
        support.best("gcv")


@pytest.mark.parametrize("error", [False, True])
def test_samples_that_nothing_can_be_chosen_by(error: bool) -> None:
    found = linear()
    broken = Y.copy()
    broken[3] = np.nan
    wrong: list[tuple[Any, str]] = [
        (None, r"best needs samples and their target together"),
        (broken, "NaN"),
        (np.array(["a"] * len(Y)), "not numbers" if error else "convert"),
        (np.column_stack([Y, Y]), r"y must be an array of shape \(442,\)" if error else "different number of output"),
    ]
    for y, said in wrong:
        with pytest.raises(ValueError, match=said):
            found.best(X, y, one_standard_error=error)
    for by in (None, "gcv"):
        with pytest.raises(ValueError, match=r"best needs samples and their target together"):
            found.best(by, Y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[441, 442\]"):
        found.score(X, Y[1:])
    labels = np.where(Y > 3.0, "high", "low")
    classes = path(mk.EasyMKLClassifier(kernels.linear_features()), X, labels, "lam", [0.1, 0.5])
    with pytest.raises(ValueError, match=r"labels of another type|label input types|continuous"):
        classes.best(X, Y, one_standard_error=error)
    assert classes.best(X[:1], labels[:1], one_standard_error=error) in classes.models


def test_labels_are_not_compared_where_there_is_not_one_for_each_sample() -> None:
    labels = np.where(Y > 3.0, 1, 0)
    classes = path(mk.EasyMKLClassifier(kernels.linear_features()), X[:100], labels[:100], "lam", [0.1])
    for y in (labels[:1], labels[:-1], labels[:50, None], labels.astype(str).astype(object)):
        with pytest.raises(ValueError, match=r"inconsistent|label input types"):
            classes.best(X, y, one_standard_error=True)
    with pytest.raises(ValueError, match=r"dimensional|1d array"):
        classes.best(X, 1, one_standard_error=True)


def test_a_target_given_as_a_column_is_compared_with_one_that_is_not() -> None:
    model = mk.AverageMKLRegressor(kernels.linear_features())
    column, plain = (path(model, X[:50], y[:50], "alpha", [1.0, 0.1]) for y in (Y[:, None], Y))
    for y in (Y[50:], Y[50:, None]):
        np.testing.assert_allclose(column.score(X[50:], y), plain.score(X[50:], y))
        chosen = [found.best(X[50:], y, one_standard_error=True).alpha for found in (column, plain)]
        assert chosen[0] == chosen[1]


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_one_sample_has_an_error_and_no_score() -> None:
    model = mk.AverageMKLRegressor(kernels.linear_features())
    found = path(model, X[:50], Y[:50], "alpha", [1.0, 0.1], validation=(X[50:51], Y[50:51]))
    assert found.validation_score.shape == (2,)
    for arguments in ((), (X[50:51], Y[50:51])):
        with pytest.raises(ValueError, match="no step has a score that is a number"):
            found.best(*arguments)
    assert found.best(X[50:51], Y[50:51], one_standard_error=True) in found.models


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize(
    ("by", "error"),
    [(("gcv",), False), (("loo",), True), ((X[150:], 1e160 * Y[150:]), False), ((X[150:], 1e160 * Y[150:]), True)],
    ids=["gcv", "loo", "score", "losses"],
)
def test_targets_whose_squares_are_no_numbers_leave_nothing_to_choose_by(by: Any, error: bool) -> None:
    found = path(mk.AverageMKLRegressor(kernels.linear_features()), X[:150], 1e160 * Y[:150], "alpha", [1.0, 0.1])
    with pytest.raises(ValueError, match=r"no step has a score that is a number, or an error that is finite"):
        found.best(*by, one_standard_error=error)


def test_weights_that_change_and_several_targets() -> None:
    family = kernels.rbf_grid([0.01, 0.1])
    sparse = path(mk.RLS2Regressor(family), X[:80], Y[:80], "alpha", [1.0, 1e-2, 1e-4])
    each = [
        mk.RLS2Regressor(family, alpha=alpha).fit(X[:80], Y[:80]).fit_criterion("gcv") for alpha in (1.0, 1e-2, 1e-4)
    ]
    np.testing.assert_allclose(sparse.criterion("gcv"), each, rtol=1e-3)
    assert (np.diff(sparse.degrees_of_freedom) > 0).all()
    both = path(mk.AverageMKLRegressor(family), X[:80], np.column_stack([Y, X[:, 0]])[:80], "alpha", [1.0, 0.1])
    assert both.criterion("cp").shape == (2, 2)
    assert both.best("gcv") in both.models
    with pytest.raises(ValueError, match="criteria are drawn of one problem, and this path has several"):
        both.plot("criteria")


def test_figure_against_degrees_of_freedom() -> None:
    import matplotlib.pyplot as plt

    found = linear()
    ax = found.plot("criteria")
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_allclose(lines["leave one out"].get_ydata(), found.criterion("loo") / np.var(Y[:150]))
    np.testing.assert_allclose(lines["validation"].get_ydata(), 1.0 - found.validation_score)
    np.testing.assert_allclose(lines["validation"].get_xdata(), found.degrees_of_freedom)
    assert ax.get_xlabel() == "degrees of freedom"
    plt.close("all")
