"""How much work there is to do, by what limits it.

Work is counted in seconds of one thread of the machine on which the constants were measured. Their sum decides between
ways to solve a problem: it is the same everywhere, so that the same problem is solved by the same way. What a
forecast reports is the work at the speeds of the user's machine (``banks/speed.py``).
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
    steps : of what is done one after the other, on one thread: the steps of a machine, calls
    """

    algebra: float = 0.0
    memory: float = 0.0
    arithmetic: float = 0.0
    steps: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*map(add, astuple(self), astuple(other)))

    def __rmul__(self, times: float) -> Work:
        return Work(*(times * each for each in astuple(self)))

    @property
    def seconds(self) -> float:
        """Of the machine that the constants were measured on."""
        return float(sum(astuple(self)))
