"""Kernel weights and ridge that minimise a cross-validated squared error itself, or maximise the evidence."""

from multikernel.procedures.ridge_cv.criterion import Criterion, Point
from multikernel.procedures.ridge_cv.evidence import Evidence
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.held_out import HeldOutError
from multikernel.procedures.ridge_cv.in_features import ErrorInFeatures
from multikernel.procedures.ridge_cv.many_targets import TargetSearch, ridge_cv_each
from multikernel.procedures.ridge_cv.own_ridges import with_own_ridges
from multikernel.procedures.ridge_cv.search import RidgeCVWeights, held_out_error, least_error, ridge_cv

__all__ = [
    "Criterion",
    "ErrorInFeatures",
    "Evidence",
    "Folds",
    "HeldOutError",
    "Point",
    "RidgeCVWeights",
    "TargetSearch",
    "held_out_error",
    "least_error",
    "ridge_cv",
    "ridge_cv_each",
    "with_own_ridges",
]
