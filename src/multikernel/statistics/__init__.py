"""Sums over samples that squared losses are made of: one pass over the rows, and nothing that grows with them."""

from multikernel.statistics.moments import Moments

__all__ = ["Moments"]
