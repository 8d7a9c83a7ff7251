"""Problems that are convex in powers of their weights, and so have a bound of the whole problem."""

from multikernel.procedures.hidden_convexity.bound import HiddenConvexProblem, hidden_convex
from multikernel.procedures.hidden_convexity.proof import proved

__all__ = ["HiddenConvexProblem", "hidden_convex", "proved"]
