"""Estimators that learn from sums over samples: chunk by chunk, from files larger than memory; rows can be removed.

streaming.py   the functions in which estimators differ
estimator.py   partial_fit and forget, with checks of the samples that a user adds or removes
source.py      fit, from a source
learning.py    the first samples determine the features; a model is learned from the sums so far
state.py       the features, and the sums over the samples so far
rows.py        from chunks of rows to sums
row_folds.py   the fold in which a row is held out
solving.py     from sums to a fitted model
checkpoint.py  the state of a pass on disk
"""
