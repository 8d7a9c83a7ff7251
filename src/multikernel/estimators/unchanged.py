"""An estimator whose fit fails, or is interrupted, stays what it was: no attribute of half a fit is left."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


def unchanged_unless_done(fit: Fit) -> Fit:
    """A method that takes back what it set where it does not come to its end.

    Parameters
    ----------
    fit : a method of an estimator, which may have been fitted before
    """

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, whole)
