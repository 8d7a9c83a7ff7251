"""An answer without tuning: estimators that choose columns' types, kernels, a method and its regularisation."""

from multikernel.auto.classifier import MultiKernelClassifier
from multikernel.auto.regressor import MultiKernelRegressor

__all__ = ["MultiKernelClassifier", "MultiKernelRegressor"]
