"""Solutions along one parameter: warm-started, on one bank, and what they look like."""

from multikernel.estimators.simplicity import simplest_first
from multikernel.paths.solution_path import Path
from multikernel.paths.solve import path

__all__ = ["Path", "path", "simplest_first"]
