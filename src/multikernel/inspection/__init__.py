"""What a model depends on: its kernels, its sources, the sample that its weights come from; and what can be set."""

from multikernel.estimators.names import short_names
from multikernel.inspection.importance import KernelImportance, kernel_importance
from multikernel.inspection.noise_ceiling import explainable_variance, noise_ceiling, normalized_scores
from multikernel.inspection.parameters import Parameter, parameters_of
from multikernel.inspection.source_plot import plot_source_values, source_pairs
from multikernel.inspection.stability import WeightStability, weight_stability
from multikernel.inspection.target_plots import plot_best_kernels, plot_hist2d
from multikernel.inspection.worth import source_values

__all__ = [
    "KernelImportance",
    "Parameter",
    "WeightStability",
    "explainable_variance",
    "kernel_importance",
    "noise_ceiling",
    "normalized_scores",
    "parameters_of",
    "plot_best_kernels",
    "plot_hist2d",
    "plot_source_values",
    "short_names",
    "source_pairs",
    "source_values",
    "weight_stability",
]
