"""Where to draw the line between two classes: the mistakes that follow from a threshold on a probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LISTED = range(10, 100, 10)  # hundredths, in the table of thresholds
_USUAL = "0.5"


@dataclass(frozen=True)
class ThresholdLine:
    """The mistakes at a threshold.

    Parameters
    ----------
    at : float, the probability from which on a row is predicted as the second class
    counts : for each true class, the rows predicted as the first class and as the second
    """

    at: float
    counts: tuple[tuple[int, int], tuple[int, int]]

    @property
    def right(self) -> float:
        """The share of the rows that are right."""
        return (self.counts[0][0] + self.counts[1][1]) / sum(map(sum, self.counts))

    @property
    def precision(self) -> float | None:
        """Of the rows predicted as the second class, the share that is right; None where there are none."""
        return _share(self.counts[1][1], self.counts[0][1])

    @property
    def recall(self) -> float | None:
        """Of the rows of the second class, the share that is found; None where there are none."""
        return _share(self.counts[1][1], self.counts[1][0])


def _share(part: int, rest: int) -> float | None:
    if part + rest:
        return part / (part + rest)
    return None


@dataclass(frozen=True)
class Lines:
    """What a page shows of thresholds.

    Parameters
    ----------
    typed : str, what was typed, or the usual one
    problem : str, why that is no threshold; "" where it is one
    own : ThresholdLine or None, that of what was typed
    listed : tuple of ThresholdLine
    """

    typed: str
    problem: str
    own: ThresholdLine | None
    listed: tuple[ThresholdLine, ...]


def lines(found: Mapping[str, Sequence[int]], typed: str) -> Lines:
    """The mistakes at the threshold that was typed, and at others.

    Parameters
    ----------
    found : how many rows of each class get at least each probability, as a result has them
    typed : a number from 0 to 1; "" for the usual one
    """
    listed = tuple(_line(found, k) for k in _LISTED)
    try:
        return Lines(typed or _USUAL, "", _line(found, round(100 * threshold(typed or _USUAL))), listed)
    except ValueError as error:
        return Lines(typed, str(error), None, listed)


def threshold(typed: str) -> float:
    """A threshold as it was typed, in hundredths; ValueError where it is none."""
    try:
        value = float(typed)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"A threshold is a probability from 0 to 1, such as 0.35, got {typed[:40]!r}.")
    return round(value, 2)


def _line(found: Mapping[str, Sequence[int]], k: int) -> ThresholdLine:
    """That of k hundredths."""
    wrong = found["wrong"]  # rows of the first class that get as much
    right = found["right"]  # of the second
    return ThresholdLine(k / 100.0, ((wrong[0] - wrong[k], wrong[k]), (right[0] - right[k], right[k])))
