"""Candidates are tried on one set of folds, blended by what they predict on another, and trained on all samples."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from multikernel._typing import Array
from multikernel.auto.candidates import KernelCandidate
from multikernel.auto.choice import Blend
from multikernel.auto.goal import Goal
from multikernel.auto.samples import PreparedSamples, Similarity
from multikernel.auto.task import RidgeTask
from multikernel.tuning import NEW_VALUES


@dataclass(frozen=True, eq=False)
class Tried:
    """What came of a candidate.

    Parameters
    ----------
    name, learned : str, the candidate, and a line about what it learned
    similarity, alpha : the kernel and the ridge
    predicted : array (n, t), predictions of samples held out, on the second folds
    seconds : float
    """

    name: str
    learned: str
    similarity: Similarity
    alpha: float
    predicted: Array
    seconds: float


def tried(candidate: KernelCandidate, samples: PreparedSamples, task: RidgeTask) -> Tried | None:
    """A candidate on some samples; None where no kernel of its own could be had."""
    start = perf_counter()
    found = candidate.learn(samples, task)
    if found is None:
        return None
    K = found.similarity(samples, samples)
    predicted = task.held_out(K, found.alpha, task.second)
    if predicted is None:
        return None
    return Tried(candidate.name, found.learned, found.similarity, found.alpha, predicted, perf_counter() - start)


@dataclass(frozen=True, eq=False)
class Member:
    """One trained machine of the answer: f(x) = sum_i coef_i k(x_i, x) + intercept.

    Parameters
    ----------
    similarity : k
    coef : array (n, k)
    intercept : array (k,)
    size : float > 0, the mean of k(x_i, x_i)
    """

    similarity: Similarity
    coef: Array
    intercept: Array
    size: float = 1.0

    @classmethod
    def of(cls, each: Tried, samples: PreparedSamples, task: RidgeTask, goal: Goal) -> Member:
        """Trained on these samples."""
        K = each.similarity(samples, samples)
        coef, intercept = task.solve(K, each.alpha)
        return cls(each.similarity, goal.scores(coef), goal.scores(intercept), float(np.trace(K)) / len(K) or 1.0)


@dataclass(frozen=True, eq=False)
class Answer:
    """The trained members, and how they are blended.

    Parameters
    ----------
    samples : training samples
    members : tuple of Member, those with a weight
    blend : Blend
    """

    samples: PreparedSamples
    members: tuple[Member, ...]
    blend: Blend

    def __call__(self, new: PreparedSamples) -> Array:
        """The blend: shape (len(new), k)."""
        return self.parts(new).sum(axis=1) + self.intercept

    def parts(self, new: PreparedSamples) -> Array:
        """What each member adds: shape (len(new), members, k)."""
        height = max(1, NEW_VALUES // max(1, len(self.samples)))
        starts = range(0, len(new), height)
        return np.concatenate([self._of(new.of(np.arange(len(new))[start : start + height])) for start in starts])

    def kernel(self, new: PreparedSamples, old: PreparedSamples) -> Array:
        """The members' kernels, each of size 1, added by their shares: shape (len(new), len(old))."""
        total = np.zeros((len(new), len(old)))
        for member, share in zip(self.members, self.blend.shares, strict=True):
            total += share / member.size * member.similarity(new, old)
        return total

    @property
    def intercept(self) -> Array:
        """What is added to the members' parts, shape (k,)."""
        own = [weight * member.intercept for member, weight in self._weighted]
        return np.sum([self.blend.bias, *own], axis=0)

    @property
    def _weighted(self) -> list[tuple[Member, float]]:
        return list(zip(self.members, self.blend.weights[self.blend.used].tolist(), strict=True))

    def _of(self, new: PreparedSamples) -> Array:
        parts = np.empty((len(new), len(self.members), len(self.blend.bias)))
        for number, (member, weight) in enumerate(self._weighted):
            parts[:, number] = weight * (member.similarity(new, self.samples) @ member.coef)
        return parts
