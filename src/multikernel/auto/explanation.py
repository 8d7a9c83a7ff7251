"""What was tried, what was chosen and why, in sentences and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._arrays import part_of
from multikernel._typing import Array
from multikernel.auto.goal import Goal
from multikernel.auto.repeats import are_copies, repeated
from multikernel.auto.samples import PreparedSamples
from multikernel.auto.search import FitProblem, Searched
from multikernel.procedures.ridge_cv import Folds


@dataclass(frozen=True)
class CandidateRow:
    """One line of the table of candidates.

    Parameters
    ----------
    candidate : str
    error : float, the measure on held-out samples
    spread : float, its standard error
    weight : float, the share of the candidate in the answer
    seconds : float
    learned : str
    """

    candidate: str
    error: float
    spread: float
    weight: float
    seconds: float
    learned: str


@dataclass(frozen=True)
class Explanation:
    """Sentences and the table.

    Parameters
    ----------
    data, choice, warnings : tuples of sentences
    measure : str, what is measured on held-out samples
    rows : tuple of CandidateRow, the candidates that were tried and their blend
    """

    data: tuple[str, ...]
    choice: tuple[str, ...]
    warnings: tuple[str, ...]
    measure: str
    rows: tuple[CandidateRow, ...]

    def __str__(self) -> str:
        head = (f"{'candidate':<46} {self.measure:>22}   {'weight':>6} {'time':>7}   learned",)
        lines = [
            f"{row.candidate:<46} {row.error:>12.4g} +- {row.spread:<7.2g} {row.weight:>6.2f} {row.seconds:>6.2f}s   "
            f"{row.learned}"
            for row in self.rows
        ]
        sections = [("Data", self.data), ("Candidates", (*head, *lines)), ("Choice", self.choice)]
        if self.warnings:
            sections.append(("Please note", self.warnings))
        return "\n\n".join("\n".join([title, *(f"  {line}" for line in body)]) for title, body in sections)


def rows_of(searched: Searched, goal: Goal, groups: Array | None = None) -> tuple[CandidateRow, ...]:
    """The table: candidates and, below them, their blend.

    Parameters
    ----------
    searched : the result of the search
    goal : Goal
    groups : array, the group of each sample that is compared on; None without groups
    """
    trials = searched.found
    scores = searched.scores
    blend = searched.blend
    compared = searched.compared
    shares = blend.weights / (float(blend.weights.sum()) or 1.0)
    rows = [
        row_of(trial.name, goal.losses(candidate_scores, compared), float(share), trial.seconds, trial.learned, groups)
        for trial, candidate_scores, share in zip(trials, scores, shares, strict=True)
    ]
    blended = searched.together
    if blended is None:
        blended = np.tensordot(blend.weights, scores, 1) + blend.bias
    together = goal.losses(blended, compared)
    return (
        *rows,
        row_of("their blend", together, 1.0, sum(trial.seconds for trial in trials), "what predicts", groups),
    )


def sentences_about(rows: Sequence[CandidateRow], folds: str, n: int, searched: Searched) -> list[str]:
    """Sentences on how the answer was chosen and trained.

    Parameters
    ----------
    rows : the table
    folds : str, the sentence about held-out samples
    n : int, the number of samples
    searched : the result of the search
    """
    if not rows:
        return ["There is nothing to learn from, or only one value to learn: the answer is a constant."]
    training, centres, gap = searched.limits.training, searched.centres, searched.blend.gap
    logistic = searched.together is not None
    in_leaves = next((trial.name for trial in searched.leaf_machines), "")
    single = min(rows[:-1], key=lambda row: row.error)
    weighted = sum(row.weight > 0 for row in rows[:-1])
    if weighted:
        blend = f"the blend of {weighted} has {rows[-1].error:.4g}, and its weights were chosen"
    else:
        blend = f"a constant has {rows[-1].error:.4g} and is the answer: no weight of any of them lowers the loss"
    sentences = [
        folds,
        f"The best of them alone is {single.candidate!r} ({single.error:.4g}); {blend} on the same "
        f"{'samples' if centres else 'folds'}.",
        f"The weights solve a convex problem: no others make its value smaller by more than {gap:.1g} of it.",
    ]
    if logistic:
        sentences.append(
            "With these weights their kernels are added, and the answer is one machine of logistic losses by the sum, "
            "which had less loss than a machine of squared losses for each."
        )
    if logistic and in_leaves:
        sentences.append(f"{in_leaves!r} is added to the sum with a separate weight.")
    if searched.untried:
        sentences.append(f"There was no time to try {len(searched.untried)} more: {', '.join(searched.untried)}.")
    if searched.cut:
        sentences.append(f"The time ended before these were learned to their end: {', '.join(searched.cut)}.")
    if len(searched.choice) < n and not centres:
        sentences.append(f"Kernels were chosen on {len(searched.choice)} of {n} samples, to save time.")
    if training == n:
        trained_on = "all samples"
    else:
        trained_on = f"{training} of {n} samples, to save time and memory"
    sentences.append(f"The answer was trained on {trained_on}.")
    if 0 < centres < training and not (in_leaves and weighted == 1):
        sentences.append(f"{centres} of them are the centres of its kernels: it is a sum of kernels with these.")
    if in_leaves:
        sentences.append(
            f"Every sample is a centre of {in_leaves!r}: each leaf has a machine on the samples that fall into it, and "
            "a prediction is the mean over the trees."
        )
    return sentences


def on_folds(first: Folds, second: Folds, groups: Array | None) -> str:
    """The sentence on how folds held out samples.

    Parameters
    ----------
    first, second : Folds, to choose on and to compare on
    groups : array (n,), or None
    """
    if np.array_equal(first.labels, second.labels):
        other_folds = "on the same folds, and a little too low for that"
    else:
        other_folds = f"on {second.count} others"
    sentence = (
        f"Candidates learned their kernels and ridges on {first.count} folds; the errors above are those {other_folds}."
    )
    if groups is None:
        return sentence
    return (
        f"{sentence} Every fold holds out whole groups, of {len(np.unique(groups))}: the errors are those on groups "
        "that were not in training."
    )


def on_others(choice: int, compared: int, groups: Array | None) -> str:
    """The sentence on how many samples were held out, where there are many.

    Parameters
    ----------
    choice, compared : the numbers of samples that candidates were tried on, and compared on
    groups : array (n,), or None
    """
    sentence = (
        f"Candidates were found on {choice} samples, and their scales were learned further on more; the errors above "
        f"are those on {compared} others."
    )
    if groups is None:
        return sentence
    return f"{sentence} They are whole groups: of {len(np.unique(groups))}, none is among both."


def row_of(
    name: str, losses: Array, weight: float, seconds: float, learned: str, groups: Array | None = None
) -> CandidateRow:
    """A line from the losses of held-out samples; samples of one group are not independent."""
    deviations = losses - losses.mean()
    sums = deviations if groups is None else np.bincount(groups, deviations)
    spread = float(np.sqrt((sums**2).sum()) / max(1, len(losses)))
    return CandidateRow(name, float(losses.mean()), spread, weight, seconds, learned)


def warnings_about(samples: PreparedSamples, Y: Array, groups: Array | None = None) -> list[str]:
    """What a user should look at before trusting the answer.

    Parameters
    ----------
    samples : training samples
    Y : array (n, t)
    groups : array (n,), the groups of samples, which keep equal samples together; or None
    """
    sentences = []
    if _is_plain(samples) and groups is None:
        twins = repeated(np.hstack([samples.plain, Y]))
    else:
        twins = 0
    if twins:
        sentences.append(
            f"{twins} of {len(Y)} samples are the same as an earlier one, target and all; if they are copies, errors "
            "on held-out samples are too low."
        )
    centred = Y - Y.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    for ranked in (False, True):
        Z = samples.ranked if ranked else samples.plain
        Z = Z - Z.mean(axis=0)
        norms = np.sqrt((Z**2).sum(axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            correlations = np.abs(Z.T @ centred) / norms[:, None] / size
        leaks = (np.nan_to_num(correlations) > 0.999).any(axis=1)  # correlations with the target
        leaking_columns = {samples.names[samples.owner[j]] for j in np.flatnonzero(leaks)}
        for name in sorted(leaking_columns):
            sentence = f"Column {name!r} alone predicts the target almost exactly: it may hold the answer (a leak)."
            if sentence not in sentences:
                sentences.append(sentence)
    return sentences


def advice_on_groups(samples: PreparedSamples, Y: Array, identifiers: Sequence[str]) -> list[str]:
    """What a user who gives no groups should know before trusting errors on held-out samples.

    Parameters
    ----------
    samples : training samples
    Y : array (n, t)
    identifiers : columns that are called identifiers, and repeat
    """
    sentences = [
        f"column {name!r} is an identifier by its name or its cells, and several samples have the same one: if these "
        "have more in common than their other columns show, errors on held-out samples are too low; leave the column "
        "out of X, and give it as fit(X, y, groups=...), so that folds hold out all samples of a value together"
        for name in identifiers
    ]
    if _is_plain(samples):
        rows = np.hstack([samples.plain, Y])
        owner = np.append(samples.owner, np.full(Y.shape[1], -1))
        if are_copies(rows, owner):
            sentences.append(
                f"{repeated(rows)} of {len(Y)} samples are the same as an earlier one, target and all, more than "
                "chance explains: errors on held-out samples are too low, since training has met these samples; drop "
                "the copies, or where one subject was measured several times give fit(X, y, groups=...)"
            )
    return sentences


def _is_plain(samples: PreparedSamples) -> bool:
    """Whether samples are numbers and categories alone."""
    return not (samples.sparse or samples.given)


def explanation_of(
    problem: FitProblem, searched: Searched, looked_at: int, about_columns: Sequence[str]
) -> Explanation:
    """The explanation of a fit.

    Parameters
    ----------
    problem, searched : the problem of the fit, and the result of the search
    looked_at : int, the number of samples, or of those drawn from a source
    about_columns : sentences about the columns
    """
    choice, compared = searched.choice, searched.compared
    groups = problem.groups
    rows: tuple[CandidateRow, ...] = ()
    if searched.found:
        compared_groups = part_of(groups, compared)
        rows = rows_of(searched, problem.goal, compared_groups)
    if searched.centres:
        folds = on_others(len(choice), len(compared), groups)
    else:
        folds = on_folds(problem.task.folds, problem.task.second, groups)
    data = f"{looked_at} samples."
    if problem.all_rows is not None:
        data = f"{problem.total} samples, of which {looked_at} were looked at before all were trained on."
    return Explanation(
        data=(data, *about_columns),
        choice=tuple(sentences_about(rows, folds, problem.total, searched)),
        warnings=tuple(warnings_about(problem.samples, problem.goal.targets, groups)),
        measure=problem.goal.measure,
        rows=rows,
    )
