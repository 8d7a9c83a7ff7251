"""What the suites are made of: requirements, and refusals that somebody wrote for the reader."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable

import numpy as np

ROUNDING = 1e-9  # of the largest number: what sums in another order, and values that are solved to rounding, leave
STEP = 1e-5  # of differences that stand for derivatives
_FEW = 5  # words that a sentence has at least


def require(condition: bool | np.bool_, what: str) -> None:
    """AssertionError that says what is wrong where the condition does not hold."""
    if not condition:
        raise AssertionError(what)


def refusal(call: Callable[[], object]) -> str | None:
    """The sentence with which a call refuses its arguments; None where it does not refuse them.

    Parameters
    ----------
    call : called without arguments

    Raises
    ------
    AssertionError : where the call ends with another exception than TypeError or ValueError, with an exception that is
        not raised by a ``raise`` in its code, or with a message that is not one sentence

    Examples
    --------
    >>> from multikernel.machines import RidgeMachine
    >>> from multikernel.testing.assertions import refusal
    >>> refusal(lambda: RidgeMachine(alpha=-1.0))
    'RidgeMachine: alpha must be a finite number > 0, got -1.0'
    """
    try:
        call()
    except Exception as error:
        message = str(error)
        last = traceback.extract_tb(error.__traceback__)[-1]
        meant = linecache.getline(last.filename, last.lineno or 0).strip().startswith("raise ")
        kind = isinstance(error, TypeError | ValueError)
        require(kind and meant, f"no refusal but a {type(error).__name__} in {last.name}: {message}")
        require(len(message.split()) >= _FEW and "\n" not in message, f"a refusal is one sentence, not {message!r}")
        return message
    return None


def must_refuse(call: Callable[[], object], what: str) -> str:
    """The sentence of a call that has to refuse its arguments.

    Raises
    ------
    AssertionError : where it does not, or not in a sentence
    """
    message = refusal(call)
    require(message is not None, f"{what} was not refused")
    return str(message)
