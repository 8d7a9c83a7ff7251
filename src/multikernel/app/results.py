"""What a comparison is made of, and what it found: values only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Plan:
    """How the comparison is made.

    Parameters
    ----------
    folds, inner_folds : int, the outer folds that test and the inner ones that choose
    seed : int, shuffles all folds
    max_degree : int, the largest degree D of the family
    lams : the values of lam to choose from
    coarse_lams : the values of lam at which the best single degree is chosen, before its lam
    """

    folds: int = 10
    inner_folds: int = 3
    seed: int = 0
    max_degree: int = 10
    lams: tuple[float, ...] = tuple(v / 10 for v in range(11))
    coarse_lams: tuple[float, ...] = (0.1, 0.5)


@dataclass(frozen=True)
class Outcome:
    """One method on one outer fold: ``search_seconds`` is the whole choice, ``fit_seconds`` one fit."""

    auc: float
    search_seconds: float
    fit_seconds: float
    lam: float | None
    choice: str
    gap: float | None


@dataclass(frozen=True)
class Score:
    """One method over all outer folds."""

    key: str
    label: str
    outcomes: tuple[Outcome, ...]

    @property
    def mean(self) -> float:
        """The mean area under the curve."""
        return float(np.mean([o.auc for o in self.outcomes]))

    @property
    def std(self) -> float:
        """The standard deviation over the folds."""
        return float(np.std([o.auc for o in self.outcomes], ddof=1))

    @property
    def lams(self) -> tuple[float, ...]:
        """The lam of each fold, where the method has one."""
        return tuple(o.lam for o in self.outcomes if o.lam is not None)

    @property
    def worst_gap(self) -> float | None:
        """The largest relative duality gap, where the method states one."""
        return max((o.gap for o in self.outcomes if o.gap is not None), default=None)

    @property
    def search_seconds(self) -> float:
        """Choosing and fitting, mean over the folds."""
        return float(np.mean([o.search_seconds for o in self.outcomes]))

    @property
    def fit_seconds(self) -> float:
        """One fit with the parameters chosen, median over the folds."""
        return float(np.median([o.fit_seconds for o in self.outcomes]))


@dataclass(frozen=True)
class Learned:
    """EasyMKL on all rows, with the median of the lam that the folds chose."""

    lam: float
    weights: tuple[float, ...]
    ratios: tuple[float, ...]
    ratio: float
    average_ratio: float
    center: float
    gap: float


@dataclass(frozen=True)
class Study:
    """All that the report says of one data set."""

    name: str
    description: str
    n: int
    p: int
    labels: tuple[str, str]
    counts: tuple[int, int]
    scores: tuple[Score, ...]
    learned: Learned
    remarks: tuple[str, ...]
    seconds: float

    def score(self, key: str) -> Score:
        """The score of one method."""
        return next(score for score in self.scores if score.key == key)
