"""The comparison of the demo: nested cross-validation of EasyMKL, its baselines and an outside reference.

Each outer fold is a test set. On the samples outside of it, inner folds choose all parameters by the area under the
curve; the model with these parameters is fitted on all samples outside the fold and scored on the fold. All methods
have the same folds, and features are scaled by the training part only. Donini and Aiolli (2017), section 5.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from multikernel import bind
from multikernel.app.demo.results import LearnedMix, Outcome, Score, Study, StudyPlan
from multikernel.datasets import Dataset
from multikernel.diagnostics import center_of_mass, spectral_ratios
from multikernel.estimators import AverageMKLClassifier, EasyMKLClassifier
from multikernel.kernels import HomogeneousPolynomial, homogeneous_polynomials
from multikernel.selection import BankSearchCV
from multikernel.typing import Array

SVC_GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.1, 1.0, 10.0]}


@dataclass(frozen=True)
class StudyMethod:
    """A method of the comparison: its name, and the search that chooses its parameters."""

    key: str
    label: str
    search: Callable[[Array, Array], Any]


def compare(data: Dataset, plan: StudyPlan, observe: Callable[[str], None] = lambda word: None) -> Study:
    """Compare all methods on a data set of two classes; ``observe`` is called with a word after each outer fold.

    ValueError where the data set has no table of features, not two classes, or too few samples for the folds.
    """
    start = perf_counter()
    X, y, labels = _two_classes(data, plan)
    methods = _methods(plan)
    outcomes: dict[str, list[Outcome]] = {method.key: [] for method in methods}
    remarks: dict[str, None] = {}  # used as a set, for a dictionary keeps the order of its keys
    _warm_up(X, y)
    outer = StratifiedKFold(plan.folds, shuffle=True, random_state=plan.seed)
    for k, (train, test) in enumerate(outer.split(X, y)):
        scaler = MinMaxScaler().fit(X[train])
        for method in methods:
            # One thread of linear algebra for all methods: scikit-learn's SVC uses one, and times are more repeatable.
            with threadpool_limits(1, user_api="blas"):
                outcome, messages = _run(
                    method, scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
                )
            outcomes[method.key].append(outcome)
            remarks |= dict.fromkeys(f"{method.label}: {text}" for text in messages)
        observe(f"fold {k + 1}")
    scores = tuple(Score(method.key, method.label, tuple(outcomes[method.key])) for method in methods)
    return Study(
        name=data.name,
        description=data.description,
        n=X.shape[0],
        p=X.shape[1],
        labels=labels,
        counts=(int((y == 0).sum()), int((y == 1).sum())),
        scores=scores,
        learned=_learn_on_all(X, y, plan, median(scores[0].lams)),
        remarks=tuple(remarks),
        seconds=perf_counter() - start,
    )


def _two_classes(data: Dataset, plan: StudyPlan) -> tuple[Array, Array, tuple[str, str]]:
    """Dense features, a target of 0 and 1, and the names of the two classes."""
    if data.task != "classification" or getattr(data.X, "ndim", 1) != 2:
        raise ValueError(f"{data.name} is not a table of features with classes; the demo compares classifiers")
    classes, y = np.unique(data.y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"{data.name} has {len(classes)} classes; the demo compares areas under the curve of two")
    rarest = int(np.bincount(y).min())
    if rarest < 2 * plan.folds:
        raise ValueError(f"{data.name}: {plan.folds} folds are too many for a class of {rarest} samples")
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    return np.asarray(X, dtype=float), y, (str(classes[0]), str(classes[1]))


def _methods(plan: StudyPlan) -> tuple[StudyMethod, ...]:
    inner = StratifiedKFold(plan.inner_folds, shuffle=True, random_state=plan.seed)
    family = homogeneous_polynomials(plan.max_degree)
    single = [[HomogeneousPolynomial(d).normalized()] for d in range(1, plan.max_degree + 1)]  # degree 0 is constant

    def search(model: Any, **grid: Any) -> Callable[[Array, Array], Any]:
        return lambda X, y: BankSearchCV(model, grid, cv=inner, scoring="roc_auc").fit(X, y)

    def fixed(kernels: Any) -> Callable[[Array, Array], Any]:
        return search(AverageMKLClassifier(kernels, learner="margin"), lam=plan.lams)

    def best(X: Array, y: Array) -> Any:
        coarse = search(AverageMKLClassifier(learner="margin"), kernels=single, lam=plan.coarse_lams)(X, y)
        return fixed(coarse.best_params_["kernels"])(X, y)

    return (
        StudyMethod("easymkl", "EasyMKL (learned weights)", search(EasyMKLClassifier(family), lam=plan.lams)),
        StudyMethod("average", "Average of all degrees", fixed(family)),
        StudyMethod("top", f"Degree {plan.max_degree} alone", fixed(single[-1])),
        StudyMethod("best", "Best single degree", best),
        StudyMethod("svc", "SVC, RBF (scikit-learn)", GridSearchCV(SVC(), SVC_GRID, cv=inner, scoring="roc_auc").fit),
    )


def _warm_up(X: Array, y: Array) -> None:
    """Compile functions and load libraries before times are measured, as this happens once only."""
    first_rows = np.concatenate([np.flatnonzero(y == c)[:10] for c in (0, 1)])
    EasyMKLClassifier(homogeneous_polynomials(2), lam=0.1).fit(X[first_rows], y[first_rows])
    SVC().fit(X[first_rows], y[first_rows])


def _run(method: StudyMethod, X: Array, y: Array, X_test: Array, y_test: Array) -> tuple[Outcome, list[str]]:
    """One method on one fold, and the warnings of its final fit."""
    with warnings.catch_warnings():
        # Parameters at which a fit does not converge may be tried; the warnings at those chosen are reported below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="EasyMKL: the hulls")
        start = perf_counter()
        search = method.search(X, y)
        search_seconds = perf_counter() - start
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        model = clone(search.best_estimator_).fit(X, y)
        fit_seconds = perf_counter() - start
    outcome = Outcome(
        auc=float(roc_auc_score(y_test, model.decision_function(X_test))),
        search_seconds=search_seconds,
        fit_seconds=fit_seconds,
        lam=search.best_params_.get("lam"),
        choice=_choice(model),
        gap=getattr(model, "duality_gap_", None),
    )
    return outcome, [" ".join(str(w.message).split()) for w in caught]


def _choice(model: Any) -> str:
    """The parameters chosen other than lam, in a few words."""
    if isinstance(model, SVC):
        return f"C {model.C:g}, gamma {model.gamma:g}"
    if isinstance(model.kernels, list):
        return f"degree {model.kernels[0].kernel.degree}"
    return ""


def _learn_on_all(X: Array, y: Array, plan: StudyPlan, lam: float) -> LearnedMix:
    scaled = MinMaxScaler().fit_transform(X)
    degrees = np.arange(plan.max_degree + 1)
    family = homogeneous_polynomials(plan.max_degree)
    model = EasyMKLClassifier(family, lam=lam).fit(scaled, y)
    bank = bind(family, scaled)
    ratio, average_ratio = spectral_ratios(bank, [model.weights_, np.full(len(degrees), 1.0 / len(degrees))]).tolist()
    return LearnedMix(
        lam=float(lam),
        weights=tuple(model.weights_.tolist()),
        ratios=tuple(spectral_ratios(bank).tolist()),
        ratio=ratio,
        average_ratio=average_ratio,
        center=center_of_mass(model.weights_, degrees),
        gap=float(model.duality_gap_),
    )
