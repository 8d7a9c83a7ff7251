"""Algorithms with a shape of their own: how kernel weights are found."""

from multikernel.procedures.base import Start, Weights, outcome
from multikernel.procedures.easymkl import easymkl, max_min
from multikernel.procedures.generalized import generalized_mkl
from multikernel.procedures.hidden_convexity import HiddenConvexProblem, hidden_convex
from multikernel.procedures.nesterov import nesterov
from multikernel.procedures.simplex_least_squares import nearest_point, simplex_least_squares
from multikernel.procedures.simplicial import SimplicialDecomposition
from multikernel.procedures.smoothed import smoothed
from multikernel.procedures.support_mkl import support_mkl
from multikernel.procedures.units import solved_in_own_units
from multikernel.procedures.weight_rules import alignf, alignment, average, best_kernel, held_out_scores, proportional

__all__ = [
    "HiddenConvexProblem",
    "SimplicialDecomposition",
    "Start",
    "Weights",
    "alignf",
    "alignment",
    "average",
    "best_kernel",
    "easymkl",
    "generalized_mkl",
    "held_out_scores",
    "hidden_convex",
    "max_min",
    "nearest_point",
    "nesterov",
    "outcome",
    "proportional",
    "simplex_least_squares",
    "smoothed",
    "solved_in_own_units",
    "support_mkl",
]
