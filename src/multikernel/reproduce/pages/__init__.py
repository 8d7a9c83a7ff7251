"""The report: a page for each paper, and one page about all."""
