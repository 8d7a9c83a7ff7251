"""The mistakes that follow from each threshold on the probability of the second of two classes."""

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
    threshold : float, the probability from which on a row is predicted as the second class
    counts : for each true class, the numbers of rows that are predicted as the first and as the second class
    """

    threshold: float
    counts: tuple[tuple[int, int], tuple[int, int]]

    @property
    def right(self) -> float:
        """The share of the rows that are predicted right."""
        return (self.counts[0][0] + self.counts[1][1]) / sum(map(sum, self.counts))

    @property
    def precision(self) -> float | None:
        """The share of right rows among those predicted as the second class; None where there are none."""
        return _share(self.counts[1][1], self.counts[0][1])

    @property
    def recall(self) -> float | None:
        """The share of the rows of the second class that are predicted as such; None where there are none."""
        return _share(self.counts[1][1], self.counts[1][0])


def _share(count: int, remainder: int) -> float | None:
    if count + remainder:
        return count / (count + remainder)
    return None


@dataclass(frozen=True)
class Lines:
    """The thresholds on a page.

    Parameters
    ----------
    typed : str, the input of the person, or the default
    problem : str, why the input is no threshold; "" where it is one
    chosen : ThresholdLine at the threshold of the person; None where the input is no threshold
    listed : tuple of ThresholdLine, at the thresholds of the table
    """

    typed: str
    problem: str
    chosen: ThresholdLine | None
    listed: tuple[ThresholdLine, ...]


def lines(counts: Mapping[str, Sequence[int]], typed: str) -> Lines:
    """The mistakes at the threshold of the person, and at those of the table.

    Parameters
    ----------
    counts : for each class the numbers of rows with at least each probability, as ``quality.thresholds`` returns them
    typed : a number from 0 to 1; "" for the default
    """
    listed = tuple(_line(counts, k) for k in _LISTED)
    try:
        return Lines(typed or _USUAL, "", _line(counts, round(100 * threshold(typed or _USUAL))), listed)
    except ValueError as error:
        return Lines(typed, str(error), None, listed)


def threshold(typed: str) -> float:
    """The threshold of a person, rounded to hundredths; ValueError where the input is no threshold."""
    try:
        value = float(typed)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"A threshold is a probability from 0 to 1, such as 0.35, got {typed[:40]!r}.")
    return round(value, 2)


def _line(counts: Mapping[str, Sequence[int]], k: int) -> ThresholdLine:
    """The mistakes at the threshold k / 100."""
    wrong = counts["wrong"]  # numbers of rows of the first class, by threshold
    right = counts["right"]  # the same for the second class
    return ThresholdLine(k / 100.0, ((wrong[0] - wrong[k], wrong[k]), (right[0] - right[k], right[k])))
