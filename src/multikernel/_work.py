"""Amounts of work, by the resource that limits them.

Work is counted in seconds of one thread of the machine on which the constants were measured. Methods are chosen by the
sum of these seconds, which is the same on all machines, so that the same problem is solved by the same method.
Forecasts report the work at the speeds of the user's machine (``banks/speed.py``).
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from operator import add


@dataclass(frozen=True)
class Work:
    """Seconds of one thread of the machine that the constants were measured on.

    Parameters
    ----------
    algebra : of products and factorisations of matrices
    memory : of passes over stored numbers
    arithmetic : of kernel values that are evaluated
    steps : of sequential work on one thread: the steps of a machine, calls
    """

    algebra: float = 0.0
    memory: float = 0.0
    arithmetic: float = 0.0
    steps: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*map(add, astuple(self), astuple(other)))

    def __rmul__(self, times: float) -> Work:
        return Work(*(times * seconds for seconds in astuple(self)))

    @property
    def seconds(self) -> float:
        """The sum, in seconds of the machine on which the constants were measured."""
        return float(sum(astuple(self)))
