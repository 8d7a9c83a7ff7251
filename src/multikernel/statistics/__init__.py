"""Sums over samples that squared losses are made of: one pass over the rows, and nothing that grows with them."""

from multikernel.statistics.coordinates import coordinates, pivoted
from multikernel.statistics.moments import Moments
from multikernel.statistics.summing import Summing

__all__ = ["Moments", "Summing", "coordinates", "pivoted"]
