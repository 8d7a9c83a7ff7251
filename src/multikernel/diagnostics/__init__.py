"""Numbers about a kernel matrix: its scale, its complexity, its fit to a target, and bounds on the error."""

from multikernel.diagnostics.ball import MEB, meb_radius
from multikernel.diagnostics.complexity import rademacher_bound, spectral_rademacher_bound
from multikernel.diagnostics.curvature import Convexity, convexity
from multikernel.diagnostics.fisher import fisher_scores
from multikernel.diagnostics.margins import margin_bound, radius_margin_bound
from multikernel.diagnostics.mass import center_of_mass, effective_number, positive_weights
from multikernel.diagnostics.montecarlo import Estimate, empirical_rademacher
from multikernel.diagnostics.published_curvature import CurvatureBounds, curvature_bounds, proposition_4
from multikernel.diagnostics.report import KernelReport, check_kernel
from multikernel.diagnostics.similarity import alignment
from multikernel.diagnostics.smoothing import SmoothingBounds, smoothing_bounds
from multikernel.diagnostics.spectrum import spectral_ratio, spectral_ratios

__all__ = [
    "MEB",
    "Convexity",
    "CurvatureBounds",
    "Estimate",
    "KernelReport",
    "SmoothingBounds",
    "alignment",
    "center_of_mass",
    "check_kernel",
    "convexity",
    "curvature_bounds",
    "effective_number",
    "empirical_rademacher",
    "fisher_scores",
    "margin_bound",
    "meb_radius",
    "positive_weights",
    "proposition_4",
    "rademacher_bound",
    "radius_margin_bound",
    "smoothing_bounds",
    "spectral_rademacher_bound",
    "spectral_ratio",
    "spectral_ratios",
]
