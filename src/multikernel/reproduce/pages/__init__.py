"""The report: a page for each paper, and one over all."""

from multikernel.reproduce.pages.write import write_pages

__all__ = ["write_pages"]
