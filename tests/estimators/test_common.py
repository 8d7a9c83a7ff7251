"""Every estimator keeps scikit-learn's contract."""

import inspect

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import multikernel
from multikernel import (
    AverageMKLRegressor,
    BankSearchCV,
    BestKernelClassifier,
    BestKernelRegressor,
    EasyMKLClassifier,
    kernels,
)

PUBLIC = [cls for name in multikernel.__all__ if inspect.isclass(cls := getattr(multikernel, name))]
FEW = kernels.rbf_grid([0.1, 1.0])
OTHERS = [  # estimators with arguments: those that need one, and those that would fit each kernel many times
    BestKernelClassifier(FEW, cv=2),
    BestKernelRegressor(FEW, cv=2),
    EasyMKLClassifier(learner="svc", multiclass="ovo"),
    BankSearchCV(EasyMKLClassifier(), {"lam": [0.1, 0.5]}, cv=2),
    BankSearchCV(AverageMKLRegressor(), {"alpha": [0.01, 0.1]}, cv=2),
]
NOT_PLAIN = {BankSearchCV, BestKernelClassifier, BestKernelRegressor}
ESTIMATORS = OTHERS + [cls() for cls in PUBLIC if issubclass(cls, BaseEstimator) and cls not in NOT_PLAIN]


@parametrize_with_checks(ESTIMATORS)
def test_check_estimator(estimator, check):
    """All checks, none excepted; a check that does not apply skips itself."""
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {name for name in multikernel.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert public <= {type(estimator).__name__ for estimator in ESTIMATORS}
