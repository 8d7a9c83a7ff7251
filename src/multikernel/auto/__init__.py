"""An answer without tuning: estimators that choose columns' types, kernels, a method and its regularisation."""

from multikernel.auto.classifier import MultiKernelClassifier
from multikernel.auto.explanation import Explanation
from multikernel.auto.preparation import PreparedColumns
from multikernel.auto.regressor import MultiKernelRegressor

__all__ = ["Explanation", "MultiKernelClassifier", "MultiKernelRegressor", "PreparedColumns"]
