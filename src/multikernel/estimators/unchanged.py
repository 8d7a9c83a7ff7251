"""An estimator whose fit fails, or is interrupted, stays what it was: no attribute of half a fit is left."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


def unchanged_unless_done(fit: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method that takes back what it set where it does not come to its end.

    Parameters
    ----------
    fit : a method of an estimator, which may have been fitted before
    """

    @wraps(fit)
    def whole(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole
