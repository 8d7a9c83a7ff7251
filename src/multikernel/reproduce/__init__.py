"""The experiments of five papers, measured beside what was published.

published.py    the published numbers            verdict.py     what is said of a measured one beside them
experiment.py   what an experiment is            catalogue.py   all of them, and verdicts on all published numbers
running.py      cells on processes               results.py     the file of finished cells
keeping.py      that file as it is kept with the pages
data.py         data sets, scaled and split      facts.py       sizes of the data, and what protocols set
nkrr/ dpp/ rls2/ report/ smkl/                   a short module for each experiment
pages/          the report
"""
