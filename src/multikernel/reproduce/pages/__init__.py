"""The report: a page for each paper, and one over all."""
