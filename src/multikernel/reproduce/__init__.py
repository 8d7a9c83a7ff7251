"""The experiments of five papers, measured beside what was published.

published.py    the published numbers            verdict.py     the comparison of a measured number with a published one
experiment.py   what an experiment is            catalogue.py   all experiments, and verdicts on all published numbers
running.py      cells on processes               results.py     the file of finished cells
archive.py      the compressed file of finished cells that is kept with the pages
remeasure.py    finished cells, measured again   data.py        data sets, scaled and split
sizes_and_constants.py                           sizes of the data, and constants of the protocols
polynomial.py   polynomial ridge regression, which two papers use
nkrr/ dpp/ rls2/ report/ smkl/                   a short module for each experiment
pages/          the report
"""
