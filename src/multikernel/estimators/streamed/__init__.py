"""Estimators that learn from sums over samples: chunk after chunk, from files larger than memory, and rows off again.

base.py        partial_fit, forget, and fit from a source
given.py       samples that a user adds or takes off, checked
state.py       what is known of the samples so far
rows.py        from chunks of rows to sums
parts.py       in which fold a row is held out
solving.py     from sums to a fitted model
checkpoint.py  the state of a pass on disk
progress.py    rows per second and the time left
"""
