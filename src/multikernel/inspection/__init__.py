"""How much a model depends on each kernel, and how much its weights depend on the sample."""

from multikernel.inspection.importance import KernelImportance, kernel_importance
from multikernel.inspection.stability import WeightStability, weight_stability

__all__ = ["KernelImportance", "WeightStability", "kernel_importance", "weight_stability"]
