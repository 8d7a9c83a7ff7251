"""The plan of a comparison of methods, and its results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class StudyPlan:
    """The folds and the parameter values of the comparison."""

    folds: int = 10  # outer folds, on which methods are tested
    inner_folds: int = 3  # inner folds, by which their parameters are chosen
    seed: int = 0  # shuffles all folds
    max_degree: int = 10
    lams: tuple[float, ...] = tuple(v / 10 for v in range(11))  # the values of lam to choose from
    coarse_lams: tuple[float, ...] = (0.1, 0.5)  # the values of lam at which the best single degree is chosen


@dataclass(frozen=True)
class Outcome:
    """The result of a method on one outer fold."""

    auc: float  # area under the ROC curve on the fold
    search_seconds: float  # of choosing all parameters and fitting with them
    fit_seconds: float  # of one fit with the parameters chosen
    lam: float | None  # the lam chosen, None for a method without one
    choice: str  # the other parameters chosen, in words
    gap: float | None  # the relative duality gap of the fit, None for a method that states none


@dataclass(frozen=True)
class Score:
    """The results of a method on all outer folds."""

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
        """The lam chosen in each fold, empty for a method without one."""
        return tuple(o.lam for o in self.outcomes if o.lam is not None)

    @property
    def worst_gap(self) -> float | None:
        """The largest relative duality gap, None for a method that states none."""
        return max((o.gap for o in self.outcomes if o.gap is not None), default=None)

    @property
    def search_seconds(self) -> float:
        """The seconds of choosing and fitting, mean over the folds."""
        return float(np.mean([o.search_seconds for o in self.outcomes]))

    @property
    def fit_seconds(self) -> float:
        """The seconds of one fit with the parameters chosen, median over the folds."""
        return float(np.median([o.fit_seconds for o in self.outcomes]))


@dataclass(frozen=True)
class LearnedMix:
    """The kernel that EasyMKL learns from all rows."""

    lam: float  # the median of the values chosen in the folds
    weights: tuple[float, ...]  # of degrees 0, 1, ...
    ratios: tuple[float, ...]  # the spectral ratio of each degree
    ratio: float  # that of the learned kernel
    average_ratio: float  # that of the average of all degrees
    center: float  # the centre of mass of the weights
    gap: float  # the relative duality gap


@dataclass(frozen=True)
class Study:
    """The results of all methods on one data set."""

    name: str
    description: str
    n: int  # samples
    p: int  # features
    labels: tuple[str, str]  # the names of the two classes
    counts: tuple[int, int]  # the samples of each
    scores: tuple[Score, ...]  # one for each method
    learned: LearnedMix
    remarks: tuple[str, ...]  # the warnings of the final fits
    seconds: float  # of the whole study

    def score(self, key: str) -> Score:
        """The score of the method with that key."""
        return next(score for score in self.scores if score.key == key)
