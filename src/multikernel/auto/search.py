"""Candidates are tried on one set of folds, blended by what they predict on another, and trained on all samples.

``attempts`` tries them for as long as there is time; ``Searched`` is what came of it, ``Member`` a trained candidate,
and ``Answer`` what predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel._folds import in_proportion
from multikernel._typing import Array
from multikernel._warnings import keeping, warn_once
from multikernel._workers import on_threads, time_is_up
from multikernel.auto.all_rows import AllRows
from multikernel.auto.candidates import KernelCandidate
from multikernel.auto.choice import Blend
from multikernel.auto.goal import Goal
from multikernel.auto.in_leaves import LeafKernel, LeafMember
from multikernel.auto.limits import Limits
from multikernel.auto.samples import PreparedSamples, Similarity
from multikernel.auto.task import RidgeTask
from multikernel.banks.threads import one_blas_thread
from multikernel.tuning import LARGE_VALUES


def _silent(_: object) -> None:
    """Say nothing."""


def _silent_pass(_: int) -> Callable[[int], object]:
    """Say nothing of a pass."""
    return _silent


@dataclass(frozen=True, eq=False)
class Posed:
    """All samples that are given, with what is to be learned.

    Parameters
    ----------
    samples : PreparedSamples
    goal : Goal
    task : RidgeTask: targets, weights of mean 1, and both sets of folds
    rows : int array, the samples of a weight that is not 0
    groups : array (n,), which folds hold out whole; or None
    seed : int
    beyond : AllRows that the samples are some of; None where there are no others
    total : int, how many there are with these
    tell : is told, in a line each, what was done and what follows
    passing : (rows) -> what is called during a pass over so many rows with the number of those that are done
    """

    samples: PreparedSamples
    goal: Goal
    task: RidgeTask
    rows: Array
    groups: Array | None
    seed: int
    beyond: AllRows | None = None
    total: int = 0
    tell: Callable[[str], object] = _silent
    passing: Callable[[int], Callable[[int], object]] = _silent_pass

    @property
    def constant(self) -> bool:
        """Whether there is one value to learn only."""
        targets = self.goal.targets[self.rows]
        return bool((targets == targets[0]).all())

    def some(self, count: int, among: Array | None = None) -> Array:
        """So many of the samples with a weight, or of those given, in order, with each class in proportion."""
        rows = self.rows if among is None else among
        return rows[in_proportion(self.goal.strata[rows], count, self.seed)]


@dataclass(frozen=True, eq=False)
class Tried:
    """What came of a candidate.

    Parameters
    ----------
    candidate : KernelCandidate or LeafKernel
    learned : str, a line about what it learned
    similarity, alpha : the kernel and the ridge
    predicted : array (n, t), predictions of samples held out, on the second folds
    seconds : float
    cut : bool, whether the time ended while it was learned
    """

    candidate: KernelCandidate | LeafKernel
    learned: str
    similarity: Similarity
    alpha: float
    predicted: Array
    seconds: float
    cut: bool

    @property
    def name(self) -> str:
        """What a table calls it."""
        return self.candidate.name


Attempt = Tried | Literal["late"] | None  # None where a candidate has no kernel of its own


@dataclass(frozen=True, eq=False)
class ToTry:
    """A candidate with the samples that it is tried on.

    Parameters
    ----------
    candidate : KernelCandidate
    samples : PreparedSamples
    task : RidgeTask of these samples
    compared : bool, whether predictions of samples held out are made
    """

    candidate: KernelCandidate
    samples: PreparedSamples
    task: RidgeTask
    compared: bool = True

    def done(self) -> Tried | None:
        """What came of it; None where no kernel of its own could be had."""
        start = perf_counter()
        found = self.candidate.learn(self.samples, self.task)
        if found is None:
            return None
        predicted: Array | None = np.empty((0, 0))
        if self.compared:
            K = found.similarity(self.samples, self.samples)
            predicted = self.task.held_out(K, found.alpha, self.task.second)
        if predicted is None:
            return None
        seconds = perf_counter() - start
        return Tried(self.candidate, found.learned, found.similarity, found.alpha, predicted, seconds, found.cut)


def attempts(works: Sequence[ToTry], n_jobs: int | None, label: str | None) -> list[Attempt]:
    """What came of each candidate: "late" where the time was up, which the first is tried in spite of.

    Parameters
    ----------
    works : what is to be tried, the most important first
    n_jobs : threads
    label : what a printed line for each candidate begins with; None prints nothing
    """
    with one_blas_thread(max((len(work.samples) for work in works), default=0)):
        return on_threads([partial(_attempt, work, label, work is works[0]) for work in works], n_jobs)


def _attempt(work: ToTry, label: str | None, whatever_time: bool) -> Attempt:
    if time_is_up() and not whatever_time:
        return "late"
    found, messages = keeping(work.done)
    if found is not None and found.cut:  # the estimator says what was cut, once for all candidates
        messages = [each for each in messages if each[1] is not ConvergenceWarning]
    warn_once(messages)
    if found is not None and label is not None:
        print(f"[{label}] {found.name}: {found.learned}, {found.seconds:.2f} s", flush=True)
    return found


@dataclass(frozen=True, eq=False)
class Searched:
    """What the search found.

    Parameters
    ----------
    limits : Limits of this fit
    choice : int array, the samples that candidates were tried on
    compared : int array, the samples that they were compared on, none of which a candidate was trained on
    found : list of Tried
    scores : array (M, len(compared), k), what they say of these
    blend : Blend
    untried : the names of the candidates for which there was no time
    centres : int, the samples that are the centres of the answer's kernels; 0 where all are that it was trained on
    together : array (len(compared), k), what one machine by the sum of their kernels says of the samples compared on;
        None where the answer is the blend of a machine for each
    """

    limits: Limits
    choice: Array
    compared: Array
    found: list[Tried]
    scores: Array
    blend: Blend
    untried: list[str]
    centres: int = 0
    together: Array | None = None

    @property
    def leaf_machines(self) -> list[Tried]:
        """The candidate with a weight that is trained in leaves, if there is one."""
        used = (self.found[m] for m in self.blend.used)
        return [each for each in used if isinstance(each.candidate, LeafKernel)]

    @property
    def cut(self) -> list[str]:
        """The names of the candidates during which the time ended."""
        return [each.name for each in self.found if each.cut]


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

    def function(self, samples: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """What the coefficients of these samples make of new ones; ``dtype`` is that of kernels."""
        return self.similarity.function(samples, self.coef, dtype)


@dataclass(frozen=True, eq=False)
class Answer:
    """The trained members, and how they are blended.

    Parameters
    ----------
    samples : training samples, or those of them that are the centres of the kernels
    members : tuple of Member or LeafMember, those with a weight
    blend : Blend
    single : bool, whether kernels are evaluated in single precision, as in training
    """

    samples: PreparedSamples
    members: tuple[Member | LeafMember, ...]
    blend: Blend
    single: bool = False

    def __call__(self, new: PreparedSamples) -> Array:
        """The blend: shape (len(new), k)."""
        return self.parts(new).sum(axis=1) + self.intercept

    def parts(self, new: PreparedSamples) -> Array:
        """What each member adds: shape (len(new), members, k)."""
        height = max(1, LARGE_VALUES // max(1, len(self.samples)))
        dtype = np.float32 if self.single else float
        functions = [member.function(self.samples, dtype) for member in self.members]
        starts = range(0, len(new), height)
        return np.concatenate(
            [self._of(new.of(np.arange(len(new))[start : start + height]), functions) for start in starts]
        )

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
    def _weighted(self) -> list[tuple[Member | LeafMember, float]]:
        return list(zip(self.members, self.blend.weights[self.blend.used].tolist(), strict=True))

    def _of(self, new: PreparedSamples, functions: Sequence[Callable[[PreparedSamples], Array]]) -> Array:
        parts = np.empty((len(new), len(self.members), len(self.blend.bias)))
        for number, (_, weight) in enumerate(self._weighted):
            parts[:, number] = weight * functions[number](new)
        return parts
