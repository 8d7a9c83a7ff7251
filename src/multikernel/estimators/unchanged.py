"""Restore an estimator whose fit fails or is interrupted, so that no attributes of an incomplete fit remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


@contextmanager
def unchanged_on_error(model: Any) -> Iterator[None]:
    """A context that restores the attributes of an estimator, which may have been fitted before, after an error.

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
    """A decorator for a method of an estimator: after an error, the estimator's attributes are restored."""

    @wraps(fit)
    def restoring(self: Any, *args: Any, **kwargs: Any) -> Any:
        with unchanged_on_error(self):
            return fit(self, *args, **kwargs)

    return cast(Fit, restoring)
