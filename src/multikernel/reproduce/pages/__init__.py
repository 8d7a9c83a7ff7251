"""The report: a page for each paper, and one over all."""

from multikernel.reproduce.pages.tables import ExperimentCost
from multikernel.reproduce.pages.write import write_pages

__all__ = ["ExperimentCost", "write_pages"]
