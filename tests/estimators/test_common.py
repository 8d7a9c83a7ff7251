"""Every estimator keeps scikit-learn's contract."""

import inspect
from functools import cache, partial

import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import multikernel
from multikernel import (
    AlignmentMKLClassifier,
    AverageMKLClassifier,
    AverageMKLRegressor,
    BankSearchCV,
    BestKernelClassifier,
    BestKernelRegressor,
    EasyMKLClassifier,
    GatedMKLClassifier,
    GatedMKLRegressor,
    GMKLClassifier,
    HKLClassifier,
    HKLRegressor,
    L1MKLClassifier,
    LearnedScalesClassifier,
    LearnedScalesRegressor,
    LocalizedMKLClassifier,
    MultiKernelClassifier,
    MultiKernelRegressor,
    OneClassMKL,
    ProportionalMKLClassifier,
    ProportionalMKLRegressor,
    RLS2Regressor,
    TwoLayerClassifier,
    TwoLayerRegressor,
    kernels,
)
from zoo_estimators import numbered, searched

PUBLIC = [cls for name in multikernel.__all__ if inspect.isclass(cls := getattr(multikernel, name))]
FEW = kernels.rbf_grid([0.1, 1.0])
OTHERS = [  # estimators with arguments: those that need one, and those that would fit each kernel many times
    BestKernelClassifier(FEW, cv=2),
    BestKernelRegressor(FEW, cv=2),
    ProportionalMKLClassifier(FEW, C=1.0, cv=2),
    ProportionalMKLRegressor(FEW, alpha=1.0, cv=2),
    EasyMKLClassifier(FEW, learner="svc", multiclass="ovo"),
    L1MKLClassifier(FEW, multiclass="crammer_singer"),
    BankSearchCV(numbered(EasyMKLClassifier(FEW)), {"lam": [0.1, 0.5]}, cv=2),
    BankSearchCV(AverageMKLRegressor(FEW), {"alpha": [0.01, 0.1]}, cv=KFold(2)),
]
TRYING = (BestKernelClassifier, BestKernelRegressor, ProportionalMKLClassifier, ProportionalMKLRegressor)
NOT_PLAIN = {BankSearchCV, *TRYING}
DEFAULTS = [cls() for cls in PUBLIC if issubclass(cls, BaseEstimator) and cls not in NOT_PLAIN]

OF_COLUMNS = (HKLClassifier, HKLRegressor, LearnedScalesClassifier, LearnedScalesRegressor)


def small(model: BaseEstimator) -> BaseEstimator:
    """With few kernels, for checks that fit hundreds of times, unless it makes its own of the columns."""
    takes = "kernels" in model.get_params(deep=False) and not isinstance(model, OF_COLUMNS)
    return model.set_params(kernels=FEW) if takes else model


ESTIMATORS = [*(small(numbered(model)) for model in OTHERS + DEFAULTS), AverageMKLRegressor(FEW)]  # the last searches
THOROUGH = [model for model in ESTIMATORS if type(model) is RLS2Regressor]
SEARCHING = [model for model in DEFAULTS if searched(model)]


EQUIVALENCE = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
FOLDS = "repeated samples fall into other folds than one of twice the weight"
ROUGH = {  # which predict alike within their tolerance, where scikit-learn asks for 1e-7: see test_sample_weights.py
    HKLClassifier: "stops at a duality gap of 1e-3",
    HKLRegressor: "stops at a duality gap of 1e-3",
    GMKLClassifier: "stops at a duality gap of 1e-4",
    GatedMKLClassifier: "features are standardised whatever the weights",
    GatedMKLRegressor: "features are standardised whatever the weights",
    LocalizedMKLClassifier: "clusters are the best of ten random starts, and repeated samples draw others",
    MultiKernelClassifier: FOLDS,
    MultiKernelRegressor: FOLDS,
    TwoLayerClassifier: "stops at a stationarity of 1e-3",
    TwoLayerRegressor: "stops at a stationarity of 1e-3",
    OneClassMKL: "samples on the boundary of the region have decision value 0 but for rounding, which decides the sign",
    AlignmentMKLClassifier: "stops at a duality gap of 1e-6, and decision values agree to its square root",
    AverageMKLClassifier: "stops at a duality gap of 1e-6, and decision values agree to its square root",
    ProportionalMKLClassifier: FOLDS,
    BestKernelClassifier: "stops at a duality gap of 1e-6, and decision values agree to its square root",
}


def called(check: partial) -> tuple[str, str]:
    """The check, whatever estimator it is for."""
    return check.func.__name__, str(check.keywords)


def repeats(check: partial) -> bool:
    """Whether another check asks nearly the same: sparse arrays, and read-only samples in single precision."""
    read_only = check.keywords == {"readonly_memmap": True}
    return check.func.__name__ == "check_estimator_sparse_matrix" or read_only


def keeps(estimator: BaseEstimator, check: partial) -> None:
    """Make a check, but that of weighted against repeated samples where an estimator is not exact enough by default."""
    if check.func.__name__ in EQUIVALENCE and type(estimator) in ROUGH:
        pytest.skip(ROUGH[type(estimator)])
    check(estimator)


def all_checks(estimators: list[BaseEstimator]) -> pytest.MarkDecorator:
    """All checks of the estimators, whose reprs are made once for the names of the cases."""
    made = parametrize_with_checks(estimators)
    return pytest.mark.parametrize(*made.args, ids=cache(made.kwargs["ids"]))


def divided(estimators: list[BaseEstimator]) -> pytest.MarkDecorator:
    """All checks of the estimators: a seventh, and all of ``THOROUGH``, with every change, the others with the studies.

    Every check meets an estimator with every change: the first one, if it is in no other's seventh.
    """
    made = all_checks(estimators)
    names, cases = made.args
    kept = [estimator in THOROUGH or number % 7 == 0 for number, (estimator, _) in enumerate(cases)]
    met = {called(check) for (_, check), keep in zip(cases, kept, strict=True) if keep}
    params = []
    for (estimator, check), keep in zip(cases, kept, strict=True):
        every_change = (keep or called(check) not in met) and not repeats(check)
        met.add(called(check))
        params.append(pytest.param(estimator, check, marks=[] if every_change else [pytest.mark.study]))
    return pytest.mark.parametrize(names, params, **made.kwargs)


@pytest.mark.filterwarnings("ignore::multikernel.PredictionWarning")  # the checks' data may be far from standardised
@divided(ESTIMATORS)
def test_check_estimator(estimator, check):
    """All checks but those named above; a check that does not apply skips itself."""
    keeps(estimator, check)


@pytest.mark.study
@pytest.mark.filterwarnings("ignore::multikernel.PredictionWarning")
@all_checks(SEARCHING)
def test_check_estimator_with_every_search(estimator, check):
    keeps(estimator, check)


def test_every_public_estimator_is_checked():
    public = {name for name in multikernel.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert public <= {type(estimator).__name__ for estimator in ESTIMATORS}
