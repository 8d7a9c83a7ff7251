"""Estimators that learn from sums over samples: chunk after chunk, from files larger than memory, and rows off again.

streaming.py   what an estimator says of it
estimator.py   partial_fit and forget, with checks of the samples that a user adds or takes off
source.py      fit, from a source
learning.py    the first samples settle the features; a model of the sums so far
state.py       what is known of the samples so far
rows.py        from chunks of rows to sums
parts.py       in which fold a row is held out
solving.py     from sums to a fitted model
checkpoint.py  the state of a pass on disk
"""
