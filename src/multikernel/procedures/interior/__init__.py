"""A primal-dual interior point method for kernel weights and support vectors together."""

from multikernel.procedures.interior.driver import InteriorPoint
from multikernel.procedures.interior.method import interior_point
from multikernel.procedures.interior.saddle import Saddle
from multikernel.procedures.interior.working import WorkingSet

__all__ = ["InteriorPoint", "Saddle", "WorkingSet", "interior_point"]
