"""Sums over samples that determine squared losses: computed in one pass, in memory that does not grow with the rows."""

from multikernel.statistics.coordinates import coordinates, pivoted
from multikernel.statistics.moments import Moments
from multikernel.statistics.summing import Summing

__all__ = ["Moments", "Summing", "coordinates", "pivoted"]
