"""Twenty programs of people with several sources, ten lines each, as they would type them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.ensemble import StackingClassifier
from sklearn.gaussian_process.kernels import Matern
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline

import multikernel as mk
from multikernel import (
    BankSearchCV,
    EasyMKLClassifier,
    L1MKLClassifier,
    LpMKLClassifier,
    LpMKLRegressor,
    MultiKernelClassifier,
    MultiKernelRegressor,
    MultipleKernelRidgeCV,
    RLS2Regressor,
    kernels,
    views,
)

RNG = np.random.default_rng(0)
N = 72
PATIENTS = pd.Index([f"patient {k:03d}" for k in range(N)], name="patient")
HIDDEN = RNG.normal(size=(N, 3))
GENES = pd.DataFrame(
    HIDDEN @ RNG.normal(size=(3, 40)) + RNG.normal(size=(N, 40)), PATIENTS, [f"gene {j}" for j in range(40)]
)
CLINIC = pd.DataFrame(
    {
        "age": 50 + 9 * HIDDEN[:, 1] + 4 * RNG.normal(size=N),
        "sex": RNG.choice(["f", "m"], N),
        "smoker": RNG.random(N) < 0.3,
        "stage": RNG.choice(["I", "II", "III"], N),
    },
    PATIENTS,
)
NOTES = pd.Series(np.where(HIDDEN[:, 2] > 0, "stable, feels well", "severe pain at night"), PATIENTS)
SCAN = RNG.normal(size=(N, 6)) + HIDDEN[:, :1]
RESPONSE = HIDDEN.sum(axis=1)
ILL = pd.Series(np.where(RESPONSE > 0, "ill", "healthy"), PATIENTS)
SPOTS = [RNG.normal(k % 2, 1.0, size=(RNG.integers(2, 6), 2)) for k in range(N)]  # of different number for each


@pytest.fixture(autouse=True)
def _messages_are_for_the_user() -> Any:
    """These programs are tested for what they give; each warning has its own test."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_the_first_program() -> None:
    model = MultiKernelClassifier(random_state=0)
    data = {"genes": GENES, "clinic": CLINIC, "scan": SCAN}
    model.fit(data, ILL)
    assert model.score(data, ILL) > 0.7
    assert "genes" in model.explain()


@pytest.mark.study
def test_cross_validation_of_the_automatic_answer() -> None:
    X = views({"genes": GENES, "clinic": CLINIC, "notes": NOTES})
    assert cross_val_score(MultiKernelClassifier(random_state=0), X, ILL, cv=3).mean() > 0.6


def test_regression_with_files_of_different_patients() -> None:
    """Two laboratories, each with a few patients that the other has not."""
    X = views(
        {"genes": GENES[:60].sample(frac=1.0, random_state=1), "clinic": CLINIC[6:]}, rows="index", missing="keep"
    )
    y = pd.Series(RESPONSE, PATIENTS)
    model = MultiKernelRegressor(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.5


def test_a_new_patient_without_genes() -> None:
    model = L1MKLClassifier().fit({"genes": GENES, "clinic": CLINIC}, ILL)
    with pytest.warns(mk.PredictionWarning, match="view 'genes' is missing"):
        label = model.predict({"clinic": CLINIC.iloc[:3]})
    assert set(label) <= {"ill", "healthy"}


@pytest.mark.study
def test_a_search_over_how_sparse_the_weights_are() -> None:
    X = views({"genes": GENES, "scan": SCAN})
    search = GridSearchCV(LpMKLClassifier("rbf"), {"p": [1.2, 2.0, 4.0]}, cv=3).fit(X, ILL)
    fast = BankSearchCV(LpMKLClassifier("rbf"), {"p": [1.2, 2.0, 4.0]}, cv=3).fit(X, ILL)
    assert search.best_score_ > 0.6
    assert fast.best_params_["p"] in (1.2, 2.0, 4.0)


def test_kernels_for_each_source() -> None:
    own = {"genes": kernels.Linear().normalized(), "clinic": kernels.for_columns(CLINIC), "notes": "words"}
    model = EasyMKLClassifier(own, lam=0.1).fit({"genes": GENES, "clinic": CLINIC, "notes": NOTES}, ILL)
    assert model.weights_frame().index[0] == "genes"


def test_pathways_that_share_genes() -> None:
    pathways = {f"pathway {k}": list(GENES.columns[k : k + 10]) for k in range(0, 30, 2)}
    model = L1MKLClassifier(kernels.column_groups(pathways, kernels.Linear().standardized())).fit(GENES, ILL)
    weights = model.weights_frame()["weight"].sort_values()
    assert len(weights) == 15
    assert weights.index[-1].startswith("pathway")


def test_a_kernel_matrix_beside_a_table() -> None:
    K = pd.DataFrame(SCAN @ SCAN.T, PATIENTS, PATIENTS)
    X = views({"similarity": K.iloc[::-1, ::-1], "clinic": CLINIC}, rows="index")
    assert cross_val_score(L1MKLClassifier(), X, ILL.loc[X.index], cv=3).shape == (3,)


def test_words_of_notes_as_a_sparse_matrix() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer().fit_transform(NOTES)
    X = views({"words": words, "scan": SCAN})
    assert cross_val_score(MultipleKernelRidgeCV(), X, RESPONSE, cv=3).mean() > 0.2


@pytest.mark.study
def test_what_each_source_is_worth() -> None:
    worth = mk.source_values(LpMKLRegressor("rbf"), {"genes": GENES, "scan": SCAN}, RESPONSE, cv=3, permutations=0)
    assert list(worth["source"]) == ["genes", "scan"]
    assert {"alone", "without", "adds", "se"} <= set(worth.columns)


@pytest.mark.study
def test_hospitals_that_are_held_out() -> None:
    hospital = pd.Series(np.arange(N) % 6, PATIENTS)
    X = views({"genes": GENES, "clinic": CLINIC}, rows="index")
    score = cross_val_score(L1MKLClassifier(C=1.0), X, ILL, groups=hospital, cv=GroupKFold(3))
    model = MultiKernelClassifier(random_state=0).fit(X, ILL, groups=hospital)
    assert len(score) == 3
    assert len(model.predict(X)) == N


def test_the_learned_kernel_for_clusters() -> None:
    train, test, y_train, _ = train_test_split(views({"genes": GENES, "scan": SCAN}), ILL, random_state=0)
    model = EasyMKLClassifier("rbf", lam=0.1).fit(train, y_train)
    labels = make_pipeline(
        model.as_transformer(), SpectralClustering(2, affinity="precomputed", random_state=0)
    ).fit_predict(test)
    assert len(labels) == len(test)


def test_the_learned_kernel_as_a_frame_of_features() -> None:
    X = views({"genes": GENES, "scan": SCAN})
    model = RLS2Regressor("rbf", alpha=0.1).fit(X, RESPONSE)
    features = model.as_transformer("features").set_output(transform="pandas").fit_transform(X)
    assert features.shape[0] == N
    assert LogisticRegression(C=100.0).fit(features, ILL).score(features, ILL) > 0.8


@pytest.mark.study
def test_several_models_stacked() -> None:
    X = views({"genes": GENES, "clinic": CLINIC})
    stack = StackingClassifier([("l1", L1MKLClassifier(C=1.0)), ("lp", LpMKLClassifier(C=1.0))], cv=3).fit(X, ILL)
    assert stack.score(X, ILL) > 0.6


def test_how_many_patients_are_enough() -> None:
    X = views({"genes": GENES, "scan": SCAN})
    sizes, _, held_out = learning_curve(L1MKLClassifier("rbf", C=1.0), X, ILL, cv=3, train_sizes=[0.5, 1.0])
    assert held_out.shape == (len(sizes), 3)


def test_is_it_better_than_chance() -> None:
    """Without the labels of the target, which scikit-learn would permute with it."""
    X = views({"genes": GENES, "scan": SCAN})
    score, chance, p = permutation_test_score(
        LpMKLClassifier("rbf", C=1.0), X, ILL.to_numpy(), cv=3, n_permutations=4, random_state=0
    )
    assert score > chance.mean()
    assert p <= 0.4


def test_objects_with_a_kernel_of_another_package() -> None:
    def closest(one: Any, other: Any) -> float:
        return float(np.exp(-np.abs(one.mean(axis=0) - other.mean(axis=0)).sum()))

    X = views({"spots": SPOTS, "clinic": CLINIC})
    own = {"spots": kernels.external(closest, pairwise=True), "clinic": kernels.for_columns(CLINIC)}
    assert cross_val_score(L1MKLClassifier(own, C=1.0), X, np.arange(N) % 2, cv=3).mean() > 0.7


def test_a_gaussian_process_kernel() -> None:
    own = {"scan": kernels.external(Matern(length_scale=2.0)), "genes": "linear"}
    predicted = cross_val_predict(MultipleKernelRidgeCV(own), views({"scan": SCAN, "genes": GENES}), RESPONSE, cv=3)
    assert np.corrcoef(predicted, RESPONSE)[0, 1] > 0.4


@dataclass
class Annotated:
    """AnnData, as far as it is read."""

    X: Any
    obs: pd.DataFrame
    var_names: pd.Index

    @property
    def obs_names(self) -> pd.Index:
        return self.obs.index


@dataclass
class Modalities:
    """MuData, as far as it is read."""

    mod: dict[str, Annotated]


@pytest.mark.study
def test_single_cells_with_two_modalities() -> None:
    rna = Annotated(sparse.csr_matrix(np.maximum(GENES, 0.0)), CLINIC, GENES.columns)
    protein = Annotated(SCAN[10:], CLINIC[10:], pd.Index([f"protein {j}" for j in range(6)]))
    X = views.from_mudata(Modalities({"rna": rna, "protein": protein}))
    sets = views.from_anndata(rna, groups={"first": list(GENES.columns[:20]), "clinic": ["age", "stage"]})
    for given in (X, sets):
        assert MultiKernelClassifier(random_state=0).fit(given, ILL).score(given, ILL) > 0.6


def test_a_model_in_a_file_and_a_report(tmp_path: Path) -> None:
    X = views({"genes": GENES, "clinic": CLINIC}, rows="index")
    model = MultiKernelClassifier(random_state=0).fit(X, ILL)
    mk.save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "model.mk").predict(X), model.predict(X))
    mk.report(model, X, ILL, tmp_path / "report.html")
    assert "genes" in (tmp_path / "report.html").read_text()


def test_which_columns_matter_inside_a_table() -> None:
    """The tool of scikit-learn shuffles columns of one table, here the clinic's."""
    model = MultiKernelClassifier(random_state=0).fit(CLINIC, ILL)
    assert permutation_importance(model, CLINIC, ILL, n_repeats=2, random_state=0).importances_mean.shape == (4,)
