"""Searches on one bank."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.preprocessing import minmax_scale

import multikernel as mk
import multikernel.estimators.binding as base
from cases import one_in
from multikernel import (
    AlignmentMKLRegressor,
    AverageMKLClassifier,
    AverageMKLRegressor,
    BankSearchCV,
    EasyMKLClassifier,
    L1MKLClassifier,
    L1MKLRegressor,
    LpMKLClassifier,
    PolynomialMKLClassifier,
    PolynomialMKLRegressor,
    bind,
    kernels,
)
from multikernel.estimators import scores
from multikernel.estimators.scores import quick_scorer
from multikernel.selection import grouped_folds
from multikernel.selection.table import best

GRID = {"lam": [0.05, 0.2, 0.6]}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[::2], y[::2]


def test_same_table_as_grid_search(cancer):
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    own = BankSearchCV(EasyMKLClassifier(), GRID, cv=folds, scoring="roc_auc").fit(*cancer)
    other = GridSearchCV(EasyMKLClassifier(), GRID, cv=folds, scoring="roc_auc", error_score="raise").fit(*cancer)
    assert own.best_params_ == other.best_params_
    for key in ("mean_test_score", "std_test_score", "split2_test_score", "rank_test_score"):
        np.testing.assert_allclose(own.cv_results_[key], other.cv_results_[key], atol=1e-6)
    np.testing.assert_allclose(own.decision_function(cancer[0]), other.decision_function(cancer[0]), atol=1e-5)
    assert own.score(*cancer) == pytest.approx(other.score(*cancer))


def test_binds_once_for_each_set_of_kernels(cancer, monkeypatch):
    calls = []
    monkeypatch.setattr(
        base, "bind_kernels", lambda family, X, **how: calls.append(X.shape) or bind(list(family), X, **how)
    )
    BankSearchCV(EasyMKLClassifier(), GRID, cv=3).fit(*cancer)
    assert calls == [cancer[0].shape]
    calls.clear()
    grid = {"kernels": [kernels.RBF(0.1), kernels.homogeneous_polynomials(3)], "lam": [0.1, 0.3]}
    search = BankSearchCV(EasyMKLClassifier(), grid, cv=3).fit(*cancer)
    assert calls == [cancer[0].shape] * 2
    assert len(search.cv_results_["params"]) == 4


@pytest.mark.parametrize(
    ("model", "grid"),
    one_in(
        2,
        [
            (mk.LearnedScalesRegressor(penalty=1.0, tol=1.0), {"metric": ["diagonal", "full"]}),
            (mk.LearnedScalesRegressor(penalty=1.0, tol=1.0), {"groups": [None, [[0, 1]]]}),
            (
                mk.GMKLRegressor(combination="profile", alpha=0.1, penalty=1.0),
                {"profile": [kernels.Matern(), kernels.Laplacian()]},
            ),
            (mk.GMKLRegressor(alpha=0.1, penalty=1.0), {"combination": ["linear", "rbf_product", "polynomial"]}),
            (mk.HKLRegressor(C=10.0), {"parents": [None, [[], [0], [0]]]}),
            (mk.PolynomialMKLRegressor(kernels.linear_features(), alpha=1.0, degree=1), {"free": [(), ((0, 1),)]}),
        ],
    ),
)
def test_candidates_whose_kernels_differ_share_no_bank(model, grid):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=40)
    own = BankSearchCV(model, grid, cv=KFold(2)).fit(X, y)
    other = GridSearchCV(model, grid, cv=KFold(2)).fit(X, y)
    found, truth = own.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, truth, atol=2e-4)
    assert np.ptp(found) > 1e-3  # the candidates are different models
    assert own.best_params_ == other.best_params_
    np.testing.assert_allclose(own.predict(X), other.predict(X), atol=1e-3)
    assert len(own.best_estimator_.kernel_names_) == own.best_estimator_.weights_.shape[-1]


def test_nested_on_data_and_on_a_bank(cancer):
    X, y = cancer
    outer = StratifiedKFold(3, shuffle=True, random_state=1)
    on_data = cross_val_score(BankSearchCV(EasyMKLClassifier(), GRID, cv=3), X, y, cv=outer, error_score="raise")
    bank = bind(kernels.homogeneous_polynomials(10), X)
    search = BankSearchCV(EasyMKLClassifier("precomputed"), GRID, cv=3)
    on_bank = cross_val_score(search, bank, y, cv=outer, error_score="raise")
    np.testing.assert_allclose(on_bank, on_data)


def test_given_folds_and_threads(cancer):
    X, y = cancer
    split = PredefinedSplit(np.arange(len(y)) % 3)
    one = BankSearchCV(EasyMKLClassifier(), GRID, cv=split).fit(X, y)
    two = BankSearchCV(EasyMKLClassifier(), GRID, cv=list(split.split()), n_jobs=2).fit(X, y)
    assert one.n_splits_ == 3
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


def test_one_standard_error_takes_a_simpler_model(cancer):
    grid = {"lam": [0.0, 0.1, 0.3, 0.6, 0.9, 1.0]}
    best = BankSearchCV(EasyMKLClassifier(), grid, cv=5, scoring="roc_auc").fit(*cancer)
    simple = BankSearchCV(EasyMKLClassifier(), grid, cv=5, scoring="roc_auc", one_standard_error=True).fit(*cancer)
    table = best.cv_results_
    error = np.array([table[f"split{s}_test_score"][best.best_index_] for s in range(5)]).std(ddof=1) / np.sqrt(5)
    within = [
        lam for lam, mean in zip(grid["lam"], table["mean_test_score"], strict=True) if mean >= best.best_score_ - error
    ]
    assert simple.best_params_["lam"] == max(within)
    X, y = load_diabetes(return_X_y=True)
    ridge = BankSearchCV(AverageMKLRegressor(), {"alpha": np.logspace(-3, 2, 8)}, one_standard_error=True).fit(X, y)
    assert ridge.best_score_ > 0.4
    with pytest.raises(ValueError, match="one_standard_error needs kernels or one of lam, alpha, C, penalty"):
        BankSearchCV(EasyMKLClassifier(), {"learner": ["margin", "svc"]}, one_standard_error=True).fit(*cancer)


def test_other_parameters_of_the_grid(cancer):
    grid = [{"learner": ["svc"], "C": [0.1, 10.0]}, {"learner": ["margin"], "lam": [0.1]}]
    search = BankSearchCV(AverageMKLClassifier(), grid, cv=3).fit(*cancer)
    assert search.cv_results_["param_C"] == [0.1, 10.0, None]
    assert search.best_estimator_.learner == search.best_params_["learner"]


def test_the_best_model_has_no_parameter_of_another_candidate():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = AverageMKLRegressor(kernels.RBF(0.1), alpha=0.1)
    search = BankSearchCV(model, [{"alpha": [1e9]}, {"fit_intercept": [True]}], cv=3).fit(X, X[:, 0])
    assert search.best_params_ == {"fit_intercept": True}
    np.testing.assert_array_equal(search.predict(X), model.fit(X, X[:, 0]).predict(X))


def test_a_search_on_a_bank_has_no_features_of_an_earlier_one():
    X = np.random.default_rng(0).normal(size=(20, 2))
    search = BankSearchCV(AverageMKLRegressor(kernels.RBF(0.1)), {"alpha": [0.1, 1.0]}, cv=2).fit(X, X[:, 0])
    assert search.n_features_in_ == 2
    assert not hasattr(search.fit(bind([kernels.RBF(0.1)], X), X[:, 0]), "n_features_in_")


def test_saved_folds_are_those_of_the_same_groups(tmp_path):
    """Groups change the folds on which a candidate chooses its own parameters, even where the outer folds are given."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(8), 4)
    X, y = rng.normal(size=(8, 3))[subject] + 0.01 * rng.normal(size=(32, 3)), rng.normal(size=8)[subject]
    grid = {"fit_intercept": [True, False]}
    cv = [(np.arange(16), np.arange(16, 32)), (np.arange(16, 32), np.arange(16))]

    def scores(groups, checkpoint):
        search = BankSearchCV(AverageMKLRegressor(kernels.RBF(0.1)), grid, cv=cv, checkpoint=checkpoint)
        return search.fit(X, y, groups=groups).cv_results_["mean_test_score"]

    apart = scores(None, tmp_path)
    together = scores(subject, tmp_path)
    np.testing.assert_array_equal(together, scores(subject, None))
    assert (together != apart).all()


def test_landmarks_are_those_of_the_random_state():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = PolynomialMKLRegressor(kernels.RBF(0.1), alpha=0.1, degree=1, approximation="nystroem", rank=3)
    search = BankSearchCV(model, {"random_state": [0, 1]}, cv=2).fit(X, X[:, 0])
    assert np.ptp(search.cv_results_["mean_test_score"]) > 1e-3
    np.testing.assert_allclose(search.predict(X), model.set_params(**search.best_params_).fit(X, X[:, 0]).predict(X))


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("family", "cv"),
    [
        (kernels.rbf_grid([0.01, 0.1]), 5),
        (kernels.rbf_grid([0.01, 0.1]), 2),
        (kernels.linear_features(), 5),
        ([kernels.RBF(0.1).centered(), kernels.Linear().centered()], 5),
        (kernels.rbf_grid([0.01, 0.1]), ShuffleSplit(7, test_size=0.2, random_state=0)),
    ],
    ids=["all folds at once", "two folds", "features", "centred", "shuffled"],
)
@pytest.mark.parametrize(
    "model", [AverageMKLRegressor(), AlignmentMKLRegressor(), AlignmentMKLRegressor(method="align")]
)
def test_alphas_found_together_are_single_fits(family, cv, model):
    X, y = load_diabetes(return_X_y=True)
    X, y = 20.0 * X[:120], y[:120]
    grid = {"alpha": [10.0, 0.01, 0.3, *np.geomspace(0.02, 5.0, 9)], "fit_intercept": [True]}
    model = model.set_params(kernels=family)
    together = BankSearchCV(model, {"alpha": grid["alpha"]}, cv=cv).fit(X, y)
    singly = BankSearchCV(model, grid, cv=cv).fit(X, y)  # the second parameter keeps the candidates apart
    assert together.best_params_["alpha"] == singly.best_params_["alpha"]
    for s in range(together.n_splits_):
        key = f"split{s}_test_score"
        np.testing.assert_allclose(together.cv_results_[key], singly.cv_results_[key], rtol=1e-9)
    np.testing.assert_allclose(together.predict(X), singly.predict(X), rtol=1e-12)


@pytest.mark.study
def test_alphas_together_with_another_score_and_several_targets():
    X, y = load_diabetes(return_X_y=True)
    X, Y = 20.0 * X[:120], np.column_stack([y, y**2])[:120]
    model = AverageMKLRegressor(kernels.rbf_grid([0.01, 0.1]))
    for target in (Y[:, 0], Y, Y[:, :1]):
        for scoring in (None, "neg_mean_absolute_error", lambda model, X, y: float(len(model.weights_))):
            own = BankSearchCV(model, {"alpha": [1.0, 0.1]}, cv=4, scoring=scoring).fit(X, target)
            other = GridSearchCV(model, {"alpha": [1.0, 0.1]}, cv=4, scoring=scoring, error_score="raise").fit(
                X, target
            )
            np.testing.assert_allclose(
                own.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], rtol=1e-9
            )
            assert own.predict(X).shape == target.shape
    with pytest.raises(ValueError, match="alpha must be a finite number > 0 or 'auto', got -1"):
        BankSearchCV(model, {"alpha": [1.0, -1.0]}).fit(X, y[:120])


def test_bad_use(cancer):
    from sklearn.svm import SVC

    with pytest.raises(TypeError, match=r"BankSearchCV searches estimators of multikernel, .* got SVC"):
        BankSearchCV(SVC(), {"C": [1.0]}).fit(*cancer)
    with pytest.raises(ValueError, match="lam must be a number in"):
        BankSearchCV(EasyMKLClassifier(), {"lam": [2.0]}).fit(*cancer)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
@pytest.mark.parametrize("order", one_in(2, [-1, 1]))
def test_of_equal_scores_the_simplest_model_is_taken(order):
    """Two groups far apart: every candidate has the score 1."""
    X = np.concatenate([np.random.default_rng(0).normal(size=(12, 2)) - 9.0, np.ones((12, 2)) * 9.0])
    y = np.repeat([-1, 1], 12)
    values = [1e3, 1.0, 1e5][::order]
    assert BankSearchCV(L1MKLClassifier(), {"C": values}, cv=3).fit(X, y).best_params_ == {"C": 1.0}
    lam = BankSearchCV(EasyMKLClassifier(), {"lam": [0.1, 0.9, 0.5][::order]}, cv=3).fit(X, y)
    assert lam.best_params_ == {"lam": 0.9}
    p = BankSearchCV(LpMKLClassifier(), {"p": [2.0, 1.5, 4.0][::order]}, cv=3).fit(X, y)
    assert p.best_params_ == {"p": 1.5}
    power = PolynomialMKLClassifier(kernels.RBF(0.1), alpha=0.1)
    grid = {"degree": [3, 1, 2][::order], "radius": [2.0, 1.0][::order]}
    for error in (False, True):
        found = BankSearchCV(power, grid, cv=3, one_standard_error=error).fit(X, y)
        assert found.best_params_ == {"degree": 1, "radius": 1.0}
    sets = [[kernels.RBF(0.1), kernels.Linear()], [kernels.RBF(0.1)]][::order]
    search = BankSearchCV(L1MKLClassifier(), {"kernels": sets, "C": [1.0, 0.5][::order]}, cv=3).fit(X, y)
    assert (len(search.best_params_["kernels"]), search.best_params_["C"]) == (1, 0.5)


@pytest.mark.parametrize(
    ("grid", "cv", "said"),
    [
        ([], 3, "param_grid is empty"),
        ({"alpha": [0.1, 1.0]}, [], "cv must be"),
        ({"alpha": [0.1, 1.0]}, LeaveOneOut(), "fold 0 of cv has one test sample, whose R.2 is not defined"),
        ({"alpha": [0.1, 1.0]}, [(np.arange(12), np.arange(0))], "fold 0 of cv has 12 training and 0 test samples"),
        ({"alpha": [0.1, 1.0]}, [(np.arange(0), np.arange(12))], "fold 0 of cv has 0 training and 12 test samples"),
    ],
)
def test_grids_and_folds_that_leave_nothing_to_do(grid, cv, said):
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=said):
        BankSearchCV(AverageMKLRegressor(), grid, cv=cv).fit(X, X[:, 0])


def test_folds_of_one_group_hold_out_one_sample():
    X = np.random.default_rng(0).normal(size=(12, 2))
    groups = np.r_[0, np.repeat([1, 2], [5, 6])]
    for scoring in (None, "r2"):
        search = BankSearchCV(AverageMKLRegressor(), {"alpha": [0.1, 1.0]}, scoring=scoring)
        with pytest.raises(ValueError, match=r"fold \d of cv has one test sample, whose R.2 is not defined"):
            search.fit(X, X[:, 0], groups=groups)
    search.set_params(scoring="neg_mean_squared_error").fit(X, X[:, 0], groups=groups)
    assert search.n_splits_ == 3


@pytest.mark.parametrize("drawn", one_in(2, [True, False]))
def test_all_candidates_are_compared_on_the_same_folds(drawn):
    """Also where their banks differ and the folds can be gone through once, or are others each time."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=40)
    grid = [{"epsilon": [0.1]}, {"kernels": [kernels.RBF(1.0), kernels.rbf_grid([1.0])], "epsilon": [0.1]}]
    cv = KFold(3, shuffle=True)
    model = L1MKLRegressor(kernels.RBF(1.0))
    found = BankSearchCV(model, grid, cv if drawn else cv.split(X)).fit(X, y)
    for fold in range(3):
        np.testing.assert_allclose(
            found.cv_results_[f"split{fold}_test_score"], found.cv_results_[f"split{fold}_test_score"][0]
        )


def test_grouped_folds_hold_out_whole_groups():
    groups = np.repeat(["a", "b", "c", "d"], 3)
    y = np.tile([0, 1, 1], 4)
    folds = grouped_folds(y, groups, 2, stratify=True, random_state=0)
    assert [set(groups[train]) & set(groups[test]) for train, test in folds] == [set(), set()]
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(12))
    with pytest.raises(ValueError, match="grouped_folds: count must be an integer >= 2, got 1"):
        grouped_folds(y, groups, 1, stratify=True, random_state=0)
    with pytest.raises(ValueError, match="grouped_folds: groups has one value only, a"):
        grouped_folds(y, np.full(12, "a"), 2, stratify=True, random_state=0)


def test_one_sample_folds_with_a_score_that_is_defined():
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = BankSearchCV(AverageMKLRegressor(), {"alpha": [0.1, 1.0]}, LeaveOneOut(), scoring="neg_mean_squared_error")
    assert np.isfinite(model.fit(X, X[:, 0]).best_score_)


@pytest.mark.parametrize("several", [False, True])
def test_quick_scores_are_those_of_scikit_learn(several, monkeypatch):
    """Where the function values are known already the scores are computed without scikit-learn's checks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    Y = X[:, :2] + 0.1 * rng.normal(size=(30, 2)) if several else X[:, 0] ** 2
    model = AverageMKLRegressor(alpha=1.0).fit(X, Y)
    constant = Y.copy()
    constant[..., -1 if several else slice(None)] = 2.0
    for truth in (Y, constant, 1e8 + Y, Y.astype(int)):
        assert quick_scorer(model, None)(model, X, truth) == pytest.approx(model.score(X, truth), rel=1e-12)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, 30)]
    told = EasyMKLClassifier(lam=0.1).fit(X, labels)
    assert quick_scorer(told, None)(told, X, labels) == told.score(X, labels)
    with monkeypatch.context() as without:
        without.setattr(scores, "check_scoring", None)
        quick_scorer(told, None), quick_scorer(model, None)
    assert quick_scorer(told, "f1_macro")(told, X, labels) == f1_score(labels, told.predict(X), average="macro")


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_candidate_without_a_score_ranks_last(cancer):
    """As in GridSearchCV; the best of the others is taken."""

    def nan_where_lam_is_middle(model, X, y):
        return np.nan if model.lam == GRID["lam"][1] else model.score(X, y)

    own = BankSearchCV(EasyMKLClassifier(), GRID, cv=3, scoring=nan_where_lam_is_middle).fit(*cancer)
    other = GridSearchCV(EasyMKLClassifier(), GRID, cv=3, scoring=nan_where_lam_is_middle).fit(*cancer)
    np.testing.assert_array_equal(own.cv_results_["rank_test_score"], other.cv_results_["rank_test_score"])
    assert own.cv_results_["rank_test_score"][1] == 3
    assert own.best_params_["lam"] != GRID["lam"][1]
    assert np.isfinite(own.best_score_)


def test_infinite_scores_are_ranked_as_others():
    for means, first in (([0.5, np.inf], 1), ([-np.inf, 0.5], 1), ([-np.inf, -np.inf], 0)):
        table = {"mean_test_score": np.array(means), "split0_test_score": np.array(means)}
        for error in (False, True):
            assert best(table, "score", error, [(0.0,), (1.0,)]) == first


def test_masks_are_rows_and_what_is_no_fold_is_refused(cancer):
    X, y = cancer
    mask = np.random.default_rng(0).random(len(y)) < 0.5
    rows = [(np.flatnonzero(mask), np.flatnonzero(~mask)), (np.flatnonzero(~mask), np.flatnonzero(mask))]
    masks = [(mask, ~mask), ((~mask).tolist(), mask.tolist())]
    one, other = (BankSearchCV(EasyMKLClassifier(), GRID, cv=cv).fit(X, y) for cv in (rows, masks))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    for wrong in (
        (mask[1:], ~mask[1:]),
        (mask[:, None], ~mask[:, None]),
        ([0.0, 1.0], [2.0]),
        ("a", "b"),
        (1, 2),
        (1,),
        3,
    ):
        with pytest.raises(ValueError, match="BankSearchCV: fold 1 of cv must be a pair of training and test rows"):
            BankSearchCV(EasyMKLClassifier(), GRID, cv=[rows[0], wrong]).fit(X, y)


def test_scores_of_a_metric_whose_name_ends_like_another():
    """One standard error is that of the metric that decides: its scores do not differ between folds here."""
    table = {"mean_test_r2": np.array([0.9, 0.8])}
    for fold in range(3):
        table[f"split{fold}_test_r2"] = np.array([0.9, 0.8])
        table[f"split{fold}_test_log_test_r2"] = np.array([-9.0 * fold, 0.0])
    assert best(table, "r2", True, [(2.0,), (1.0,)]) == 0
