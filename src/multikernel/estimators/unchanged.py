"""An estimator whose fit fails, or is interrupted, stays what it was: no attribute of half a fit is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


@contextmanager
def unchanged_on_error(model: Any) -> Iterator[None]:
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


def unchanged_unless_done(fit: Fit) -> Fit:
    """A method of an estimator that takes back what it set where it does not come to its end."""

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        with unchanged_on_error(self):
            return fit(self, *args, **kwargs)

    return cast(Fit, whole)
