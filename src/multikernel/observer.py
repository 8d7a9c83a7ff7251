"""What an iterative method tells of its progress, and to whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Event:
    """What an observer is told after a step.

    Parameters
    ----------
    step : int, counts from 1
    certificate : of the best point so far
    theta : array (d,), the parameters at which a machine was solved, from methods that solve one in each step
    value, upper : float, the values that enclose the objective at theta
    bound : float, the best bound of the optimum so far
    """

    step: int
    certificate: Certificate
    theta: Array | None = None
    value: float = np.nan
    upper: float = np.nan
    bound: float = -np.inf


Observer = Callable[[Event], object]


def silent(event: Event) -> None:
    """The observer of a method that nobody watches."""
