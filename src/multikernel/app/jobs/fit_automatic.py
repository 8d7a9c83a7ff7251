"""Fit without a method: the automatic estimator, which takes missing cells, dates and words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sklearn.base import is_classifier

from multikernel.app.jobs.methods import Wish, check
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.columns import Columns
from multikernel.app.tables.table import Table, read_target
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor


def learn(table: Table, wish: Wish, watch: Watch) -> tuple[Any, Columns]:
    """The automatic estimator, fitted, and what it was fitted to; ValueError where the table does not allow it."""
    y, decided, found = read_target(table, wish.target, wish.task)
    table.check_types(wish.types, wish.target)
    if wish.types and "types" in wish.parameters:
        raise ValueError("types of columns are given twice, by --type and by --set; give them once")
    columns = Columns.learn(found, wish.types)
    X = columns.frame(table)
    estimator = MultiKernelClassifier if decided == "classification" else MultiKernelRegressor
    check(estimator, dict(wish.parameters))
    given = {"random_state": wish.seed, "types": dict(wish.types) or None, **wish.parameters}
    with watch.fitting("fit"):
        return estimator(**given).fit(X, y, groups=table.groups), columns


def summary(model: Any, columns: Columns, table: Table, wish: Wish) -> dict[str, Any]:
    """What was learned, by names; those that a named method has as well have the same names there."""
    told = model.explanation_
    return {
        "method": type(model).__name__,
        "task": "classification" if is_classifier(model) else "regression",
        "target": wish.target,
        "samples": len(next(iter(table.columns.values())).cells),
        "features": list(columns.numeric),
        "left_out": [name for name in table.columns if name not in columns.numeric and name != wish.target],
        "measure": told.measure,
        "score_training": None,
        "score_folds": None,
        "chosen": {},
        "certificate": asdict(model.certificate_),
        "kernels": None,
        "weights": None,
        "weights_of_classes": None,
        "degrees_of_freedom": None,
        "candidates": [asdict(row) for row in told.rows],
        "sentences": [*told.data, *told.choice, *told.warnings],
    }
