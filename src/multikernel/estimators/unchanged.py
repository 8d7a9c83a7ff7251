"""An estimator whose fit fails, or is interrupted, stays what it was: no attribute of half a fit is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unchanged_unless_done(model: Any) -> Iterator[None]:
    """Take back what was set on an estimator, which may have been fitted before, where the block ends in an error.

    Parameters
    ----------
    model : the estimator
    """
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise
