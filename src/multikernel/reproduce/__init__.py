"""The experiments of five papers, measured beside what was published.

published.py    the published numbers            verdict.py     what is said of a measured one beside them
experiment.py   what an experiment is            catalogue.py   all of them
running.py      cells on processes               results.py     the file of finished cells
sources.py, preparation.py, splits.py            data, scaling and centring, training and test rows
nkrr/ dpp/ rls2/ report/ smkl/                   a short module for each experiment
judging.py      verdicts on all published numbers of a paper
pages/          the report
"""
