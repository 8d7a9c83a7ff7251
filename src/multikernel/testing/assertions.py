"""Requirements of the suites, and refusals with a message that was written for the user."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable

import numpy as np

ROUNDING = 1e-9  # of the largest number: the error of sums in another order, and of values that are solved to rounding
STEP = 1e-5  # of the finite differences that approximate derivatives
_FEW = 5  # the least number of words of a sentence


def require(condition: bool | np.bool_, message: str) -> None:
    """Raise AssertionError with this message where the condition does not hold."""
    if not condition:
        raise AssertionError(message)


def refusal(call: Callable[[], object]) -> str | None:
    """The sentence with which a call refuses its arguments; None where it does not refuse them.

    Parameters
    ----------
    call : called without arguments

    Raises
    ------
    AssertionError : where the call raises another exception than TypeError or ValueError, an exception that does not
        come from a ``raise`` statement in its code, or one whose message is not one sentence

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


def must_refuse(call: Callable[[], object], argument: str) -> str:
    """The message of a call that has to refuse its arguments.

    Raises
    ------
    AssertionError : where it does not refuse them, or not in one sentence
    """
    sentence = refusal(call)
    require(sentence is not None, f"{argument} was not refused")
    return str(sentence)
