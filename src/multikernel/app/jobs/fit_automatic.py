"""Fit without a method: the automatic estimator, which takes missing cells, dates and words."""

from __future__ import annotations

from typing import Any

from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.columns import Columns
from multikernel.app.tables.table import Table, read_target
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor
from multikernel.datasets.dataset import Task


def learn(table: Table, target: str, task: Task | None, seed: int, watch: Watch) -> tuple[Any, Columns]:
    """The automatic estimator, fitted, and what it was fitted to; ValueError where the table does not allow it."""
    y, decided, found = read_target(table, target, task)
    columns = Columns.learn(found)
    X = columns.frame(table)
    estimator = MultiKernelClassifier if decided == "classification" else MultiKernelRegressor
    with watch.fitting("fit"):
        return estimator(random_state=seed).fit(X, y), columns
