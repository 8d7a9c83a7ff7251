"""An answer without tuning: estimators that choose columns' types, kernels, a method and its regularisation."""

from multikernel.auto.estimators import MultiKernelClassifier, MultiKernelRegressor

__all__ = ["MultiKernelClassifier", "MultiKernelRegressor"]
