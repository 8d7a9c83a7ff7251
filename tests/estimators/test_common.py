"""Every estimator keeps scikit-learn's contract."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

import multikernel
from multikernel import BankSearchCV, kernels

FEW = kernels.rbf_grid([0.1, 1.0])  # for estimators that fit each kernel many times

ESTIMATORS = {
    name: cls()
    for name in multikernel.__all__
    if inspect.isclass(cls := getattr(multikernel, name)) and issubclass(cls, BaseEstimator) and cls is not BankSearchCV
} | {
    "BestKernelClassifier": multikernel.BestKernelClassifier(FEW, cv=2),
    "BestKernelRegressor": multikernel.BestKernelRegressor(FEW, cv=2),
    "EasyMKLClassifier, svc, one-vs-one": multikernel.EasyMKLClassifier(learner="svc", multiclass="ovo"),
    "BankSearchCV of a classifier": BankSearchCV(multikernel.EasyMKLClassifier(), {"lam": [0.1, 0.5]}, cv=2),
    "BankSearchCV of a regressor": BankSearchCV(multikernel.AverageMKLRegressor(), {"alpha": [0.01, 0.1]}, cv=2),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator(name):
    """All checks, none excepted; a check that does not apply skips itself."""
    done = 0
    for estimator, check in estimator_checks_generator(ESTIMATORS[name]):
        try:
            check(estimator)
        except Exception as error:
            if type(error).__name__ != "SkipTest":
                raise
        done += 1
    assert done > 40


def test_every_public_estimator_is_checked():
    public = {name for name in multikernel.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert public <= set(ESTIMATORS)
