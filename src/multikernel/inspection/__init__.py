"""How much a model depends on each kernel, how much its weights depend on the sample, and what can be set."""

from multikernel.estimators.names import short_names
from multikernel.inspection.importance import KernelImportance, kernel_importance
from multikernel.inspection.parameters import Parameter, parameters_of
from multikernel.inspection.stability import WeightStability, weight_stability

__all__ = [
    "KernelImportance",
    "Parameter",
    "WeightStability",
    "kernel_importance",
    "parameters_of",
    "short_names",
    "weight_stability",
]
