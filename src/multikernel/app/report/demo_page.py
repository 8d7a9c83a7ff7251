"""The report of ``multikernel demo``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from markupsafe import Markup

from multikernel.app import charts, row_charts
from multikernel.app.demo.results import Score, Study, StudyPlan
from multikernel.app.demo.several import Job
from multikernel.app.jobs.compare import Comparison
from multikernel.app.report import comparison_page
from multikernel.app.report.page import page

_SHORT = {"easymkl": "EasyMKL", "average": "average", "best": "best single", "svc": "SVC, RBF"}


@dataclass(frozen=True)
class ScoreRow:
    """The texts of a method's row of the table."""

    score: Score
    auc: str  # mean and standard deviation over the folds
    highest: bool  # whether no method has a higher mean
    difference: str  # the score of EasyMKL less that of this method, written like ``auc``
    chosen: str  # the parameters that the inner folds chose
    search: str  # the time of choosing and fitting
    fit: str  # the time of one fit
    gap: str  # the largest duality gap


def rows(study: Study) -> list[ScoreRow]:
    """The rows of the table of a study."""
    learned = np.array([o.auc for o in study.score("easymkl").outcomes])
    top = max(score.mean for score in study.scores)
    return [_row(score, learned, score.mean == top) for score in study.scores]


def _row(score: Score, learned: np.ndarray[Any, Any], highest: bool) -> ScoreRow:
    differences = learned - np.array([o.auc for o in score.outcomes])
    difference = ""
    if score.key != "easymkl":
        difference = f"{differences.mean():+.4f} ± {differences.std(ddof=1):.4f}".replace("-", "−")
    return ScoreRow(
        score=score,
        auc=f"{score.mean:.4f} ± {score.std:.4f}",
        highest=highest,
        difference=difference,
        chosen=_choices(score),
        search=row_charts.duration(score.search_seconds),
        fit=row_charts.duration(score.fit_seconds),
        gap="none stated" if score.worst_gap is None else f"{score.worst_gap:.1e}",
    )


def _choices(score: Score) -> str:
    """The choices of the inner folds: the median of lam with its range, and the most frequent one of the others."""
    phrases = []
    if score.lams:
        low = min(score.lams)
        high = max(score.lams)
        lam = f"lam {median(score.lams):g}"
        if high > low:
            lam += f" ({low:g} to {high:g})"
        phrases.append(lam)
    choices = [o.choice for o in score.outcomes if o.choice]
    if choices and score.key != "top":
        commonest = max(dict.fromkeys(choices), key=choices.count)
        phrases.append(f"{commonest} ({choices.count(commonest)} of {len(choices)} folds)")
    return ", ".join(phrases)


def summary_rows(study: Study) -> tuple[list[str], list[list[str]]]:
    """The header and the cells of the table for the console, which fits on 80 columns."""
    header = ["method", "AUC", "lam", "choice", "one fit", "gap"]
    return header, [
        [
            row.score.label,
            row.auc,
            f"{median(row.score.lams):g}" if row.score.lams else "-",
            row.search,
            row.fit,
            "-" if row.score.worst_gap is None else row.gap,
        ]
        for row in rows(study)
    ]


def draw(name: str, study: Study) -> Markup:
    """A figure of the report: "scores", "weights", "ratios" or "timings"."""
    methods = [(_SHORT.get(score.key, score.label.lower()), score) for score in study.scores]
    learned = study.learned
    degrees = list(range(len(learned.weights)))
    if name == "scores":
        scores = [(label, [outcome.auc for outcome in score.outcomes]) for label, score in methods]
        return row_charts.folds(f"Area under the ROC curve on {study.name}", scores, "area under the curve")
    if name == "timings":
        times = [(n, [("one fit", s.fit_seconds), ("choice and fit", s.search_seconds)]) for n, s in methods]
        return row_charts.times(f"Fit times on {study.name}", times)
    if name == "weights":
        equal = [("equal weights", 1.0 / len(degrees))]
        title = f"Weights by degree on {study.name}"
        return charts.lines(title, degrees, [("learned", learned.weights)], ("degree", "weight"), equal)
    levels = [("learned kernel", learned.ratio), ("average", learned.average_ratio)]
    title = f"Spectral ratio by degree on {study.name}"
    return charts.lines(title, degrees, [("one degree", learned.ratios)], ("degree", "spectral ratio"), levels)


def headline(study: Study) -> str:
    """The result in two sentences: areas under the curve, and in how many folds EasyMKL is ahead of the average."""
    learned = study.score("easymkl")
    average = study.score("average")
    rival = max((s for s in study.scores if s.key != "easymkl"), key=lambda s: s.mean)
    ahead = comparison_page.folds_ahead([o.auc for o in learned.outcomes], [o.auc for o in average.outcomes])
    return (
        f"EasyMKL reaches an area under the curve of {learned.mean:.3f} ± {learned.std:.3f}; the best of the others, "
        f"{rival.label}, {rival.mean:.3f} ± {rival.std:.3f}. Against the plain average of the kernels it is {ahead}."
    )


def command(studies: Sequence[Study], plan: StudyPlan, out: Path, data_dir: Path | None, all_jobs: bool) -> str:
    """The command that writes this report again; where it has ``all_jobs``, the command names no data."""
    directory = data_dir or os.environ.get("MULTIKERNEL_DATA")
    words = ["multikernel", "demo", *(word for study in studies if not all_jobs for word in ("--data", study.name))]
    words += ["--data-dir", str(directory)] if directory else []
    words += ["--folds", str(plan.folds), "--seed", str(plan.seed), "--max-degree", str(plan.max_degree)]
    return shlex.join([*words, "--out", str(out)])


def render(
    studies: Sequence[Study],
    plan: StudyPlan,
    out: Path,
    data_dir: Path | None,
    jobs: Sequence[tuple[Job, Comparison]] = (),
) -> str:
    """The report as HTML text, of studies and of jobs that need several kernels."""
    return page(
        "demo.html.j2",
        functions={
            "rows": rows,
            "headline": headline,
            "draw": draw,
            "said": comparison_page.headline,
            "scores": comparison_page.scores,
            "seconds": comparison_page.seconds,
        },
        studies=studies,
        plan=plan,
        jobs=jobs,
        command=command(studies, plan, out, data_dir, all_jobs=bool(jobs)),
        worst_gap=max(score.worst_gap or 0.0 for study in studies for score in study.scores),
    )
