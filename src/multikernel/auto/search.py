"""Candidates are tried on one set of folds, blended by what they predict on another, and trained on all samples.

``attempts`` tries them for as long as there is time; ``Searched`` is the result, ``Member`` a trained candidate,
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
    """Print nothing."""


def _silent_pass(_: int) -> Callable[[int], object]:
    """Print nothing during a pass."""
    return _silent


@dataclass(frozen=True, eq=False)
class FitProblem:
    """The problem of a fit: its samples, and what is to be learned from them.

    Parameters
    ----------
    samples : PreparedSamples
    goal : Goal
    task : RidgeTask: targets, weights of mean 1, and both sets of folds
    rows : int array, the samples whose weight is not 0
    groups : array (n,), the groups that folds hold out as a whole; or None
    seed : int
    all_rows : AllRows of the source that the samples were drawn from; None where the samples are all there is
    total : int, the number of samples, or of all rows of the source
    log : called with a line about what was done and what follows
    pass_report : (rows) -> a function, which a pass over so many rows calls with the number of rows that are done
    """

    samples: PreparedSamples
    goal: Goal
    task: RidgeTask
    rows: Array
    groups: Array | None
    seed: int
    all_rows: AllRows | None = None
    total: int = 0
    log: Callable[[str], object] = _silent
    pass_report: Callable[[int], Callable[[int], object]] = _silent_pass

    @property
    def constant(self) -> bool:
        """Whether all targets are the same."""
        targets = self.goal.targets[self.rows]
        return bool((targets == targets[0]).all())

    def drawn_rows(self, count: int, candidate_rows: Array | None = None) -> Array:
        """``count`` of the samples with a weight, or of ``candidate_rows``: in order, each class in proportion."""
        rows = self.rows if candidate_rows is None else candidate_rows
        return rows[in_proportion(self.goal.strata[rows], count, self.seed)]


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate with what it learned, and its predictions of held-out samples.

    Parameters
    ----------
    candidate : KernelCandidate or LeafKernel
    learned : str, a line about what it learned
    similarity, alpha : the kernel and the ridge
    predicted : array (n, t), predictions of the samples that the second folds hold out
    seconds : float
    cut : bool, whether the time ended while it learned
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
        """The name of the candidate in tables."""
        return self.candidate.name


Attempt = Tried | Literal["late"] | None  # None where a candidate finds no kernel


@dataclass(frozen=True, eq=False)
class ToTry:
    """A candidate with the samples that it is tried on.

    Parameters
    ----------
    candidate : KernelCandidate
    samples : PreparedSamples
    task : RidgeTask of these samples
    compared : bool, whether held-out samples are predicted
    """

    candidate: KernelCandidate
    samples: PreparedSamples
    task: RidgeTask
    compared: bool = True

    def trial(self) -> Tried | None:
        """The trial of the candidate; None where it finds no kernel, or rounding makes the kernel matrix singular."""
        start = perf_counter()
        fitted = self.candidate.learn(self.samples, self.task)
        if fitted is None:
            return None
        predicted: Array | None = np.empty((0, 0))
        if self.compared:
            K = fitted.similarity(self.samples, self.samples)
            predicted = self.task.held_out(K, fitted.alpha, self.task.second)
        if predicted is None:
            return None
        seconds = perf_counter() - start
        return Tried(self.candidate, fitted.learned, fitted.similarity, fitted.alpha, predicted, seconds, fitted.cut)


def attempts(jobs: Sequence[ToTry], n_jobs: int | None, label: str | None) -> list[Attempt]:
    """The trial of each candidate, or "late" where the time was up; the first candidate is tried in any case.

    Parameters
    ----------
    jobs : candidates with their samples, the most important first
    n_jobs : threads
    label : str, with which the printed line for each candidate begins; None prints nothing
    """
    with one_blas_thread(max((len(job.samples) for job in jobs), default=0)):
        return on_threads([partial(_attempt, job, label, job is jobs[0]) for job in jobs], n_jobs)


def _attempt(job: ToTry, label: str | None, in_any_case: bool) -> Attempt:
    if time_is_up() and not in_any_case:
        return "late"
    trial, messages = keeping(job.trial)
    if trial is not None and trial.cut:  # the estimator warns once, for all candidates that were cut
        messages = [message for message in messages if message[1] is not ConvergenceWarning]
    warn_once(messages)
    if trial is not None and label is not None:
        print(f"[{label}] {trial.name}: {trial.learned}, {trial.seconds:.2f} s", flush=True)
    return trial


@dataclass(frozen=True, eq=False)
class Searched:
    """The result of the search.

    Parameters
    ----------
    limits : Limits of this fit
    choice : int array, the samples that candidates were tried on
    compared : int array, the samples that they were compared on; no candidate was trained on these
    found : list of Tried
    scores : array (M, len(compared), k), the candidates' scores of these samples
    blend : Blend
    untried : the names of the candidates for which there was no time
    centres : int, the number of samples that are centres of the answer's kernels; 0 where all training samples are
    together : array (len(compared), k), the scores of the samples compared on by one machine with the sum of all
        kernels; None where the answer is the blend of a machine for each kernel
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
        """The candidates with a weight that are trained in leaves: one at most."""
        trials = (self.found[m] for m in self.blend.used)
        return [trial for trial in trials if isinstance(trial.candidate, LeafKernel)]

    @property
    def cut(self) -> list[str]:
        """The names of the candidates that were learning when the time ended."""
        return [trial.name for trial in self.found if trial.cut]


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
    def of(cls, trial: Tried, samples: PreparedSamples, task: RidgeTask, goal: Goal) -> Member:
        """The machine of a trial's kernel and ridge, trained on these samples."""
        K = trial.similarity(samples, samples)
        coef, intercept = task.solve(K, trial.alpha)
        return cls(trial.similarity, goal.scores(coef), goal.scores(intercept), float(np.trace(K)) / len(K) or 1.0)

    def function(self, samples: PreparedSamples, dtype: Any = float) -> Callable[[PreparedSamples], Array]:
        """The function of new samples that has these coefficients, without intercept; ``dtype`` is that of kernels."""
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

    def __call__(self, samples: PreparedSamples) -> Array:
        """The blend: shape (len(samples), k)."""
        return self.parts(samples).sum(axis=1) + self.intercept

    def parts(self, samples: PreparedSamples) -> Array:
        """The contribution of each member: shape (len(samples), members, k)."""
        height = max(1, LARGE_VALUES // max(1, len(self.samples)))
        dtype = np.float32 if self.single else float
        functions = [member.function(self.samples, dtype) for member in self.members]
        starts = range(0, len(samples), height)
        return np.concatenate(
            [self._parts_of(samples.of(np.arange(len(samples))[start : start + height]), functions) for start in starts]
        )

    def kernel(self, rows: PreparedSamples, columns: PreparedSamples) -> Array:
        """The members' kernels, each of size 1, added by their shares: shape (len(rows), len(columns))."""
        total = np.zeros((len(rows), len(columns)))
        for member, share in zip(self.members, self.blend.shares, strict=True):
            total += share / member.size * member.similarity(rows, columns)
        return total

    @property
    def intercept(self) -> Array:
        """The constant that is added to the members' contributions, shape (k,)."""
        intercepts = [weight * member.intercept for member, weight in self._weighted]
        return np.sum([self.blend.bias, *intercepts], axis=0)

    @property
    def _weighted(self) -> list[tuple[Member | LeafMember, float]]:
        return list(zip(self.members, self.blend.weights[self.blend.used].tolist(), strict=True))

    def _parts_of(self, samples: PreparedSamples, functions: Sequence[Callable[[PreparedSamples], Array]]) -> Array:
        contributions = np.empty((len(samples), len(self.members), len(self.blend.bias)))
        for number, (_, weight) in enumerate(self._weighted):
            contributions[:, number] = weight * functions[number](samples)
        return contributions
