"""Kernel weights and ridge that minimise a cross-validated squared error itself."""

from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.held_out import HeldOutError, Point
from multikernel.procedures.ridge_cv.search import RidgeCVWeights, ridge_cv

__all__ = ["Folds", "HeldOutError", "Point", "RidgeCVWeights", "ridge_cv"]
