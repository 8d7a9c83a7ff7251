"""Report: what a saved model learned, and how it does on rows whose target is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix

from multikernel.app.jobs.predict import samples_of
from multikernel.app.tables.table import CsvTable
from multikernel.auto import Explanation
from multikernel.certificate import Certificate, certificate_of
from multikernel.datasets import decide
from multikernel.persistence import read
from multikernel.typing import Array


@dataclass(frozen=True)
class Tested:
    """A model on rows whose target is known.

    Parameters
    ----------
    file, measure : str
    rows : int
    score, trivial : float, of the model, and of always the commonest class of these rows or their mean
    truth, predicted : arrays (rows,)
    confusion : array (classes, classes) of counts, a row for each true class; None for numbers
    """

    file: str
    measure: str
    rows: int
    score: float
    trivial: float
    truth: Array
    predicted: Array
    confusion: Array | None


@dataclass(frozen=True)
class Inspected:
    """A saved model.

    Parameters
    ----------
    file, method : str
    target : str or None, the column that it predicts
    classes : list, None of a regressor
    names, weights : the kernels and their weights (mean over problems), the largest first; of the automatic estimator
        its candidates and their shares
    certificate : that of the model; of the automatic estimator that of its blend
    explanation : Explanation or None, that of the automatic estimator
    tested : on rows whose target is known, where they were given
    """

    file: str
    method: str
    target: str | None
    classes: list[Any] | None
    names: tuple[str, ...]
    weights: Array
    certificate: Certificate
    explanation: Explanation | None
    tested: Tested | None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the automatic estimator says of its choice, without the table."""
        explanation = self.explanation
        if explanation is None:
            return ()
        return (*explanation.data, *explanation.choice, *explanation.warnings)

    def to_json(self) -> dict[str, Any]:
        """The model by names."""
        tested = self.tested
        return {
            "file": self.file,
            "method": self.method,
            "target": self.target,
            "classes": self.classes,
            "weights": [
                {"kernel": name, "weight": weight} for name, weight in zip(self.names, self.weights, strict=True)
            ]
            or None,
            "certificate": asdict(self.certificate),
            "sentences": list(self.sentences) or None,
            "test": None
            if tested is None
            else {
                "file": tested.file,
                "rows": tested.rows,
                "measure": tested.measure,
                "score": tested.score,
                "score_trivial": tested.trivial,
                "confusion": tested.confusion,
            },
        }


def inspect(path: Path, table: CsvTable | None) -> Inspected:
    """Look into a model; ValueError where ``fit`` has not written it, or the rows do not fit it."""
    model, metadata = read(path)
    if not {"columns", "table"} & metadata.keys():
        raise ValueError(f"{path} holds a model without a table's columns; it has to be one that fit has written")
    target = metadata.get("target") or metadata.get("table", {}).get("target")
    explanation = getattr(model, "explanation_", None)
    names, weights = _mixed(model) if explanation is None else _blended(explanation)
    order = np.argsort(-weights, kind="stable")
    return Inspected(
        file=str(path),
        method=type(model).__name__,
        target=target,
        classes=model.classes_.tolist() if is_classifier(model) else None,
        names=tuple(names[k] for k in order),
        weights=weights[order],
        certificate=certificate_of(model),
        explanation=explanation,
        tested=None if table is None else _tested(path, model, metadata, target, table),
    )


def _mixed(model: Any) -> tuple[list[str], Array]:
    """Kernels and their weights."""
    return [str(name) for name in model.kernel_names_], np.atleast_2d(model.weights_).mean(axis=0)


def _blended(explanation: Explanation) -> tuple[list[str], Array]:
    """Candidates and their shares."""
    rows = explanation.rows[:-1]  # the last one is their blend
    return [row.candidate for row in rows], np.array([row.weight for row in rows], dtype=float)


def _tested(path: Path, model: Any, metadata: Any, target: str | None, table: CsvTable) -> Tested:
    if target is None:
        raise ValueError(f"{path} does not name the column that it predicts; fit the model again")
    classify = is_classifier(model)
    truth = np.asarray(decide(table.column(target), "classification" if classify else "regression")[0])
    predicted = model.predict(samples_of(path, metadata, table))
    if classify:
        classes = model.classes_
        unknown = np.setdiff1d(truth, classes)
        if len(unknown):
            raise ValueError(
                f"{table.file}: column {target!r} holds {unknown[0]!s}, a class that training did not have"
            )
        score = np.mean(truth == predicted)
        trivial = np.unique(truth, return_counts=True)[1].max() / len(truth)
        counts = confusion_matrix(truth, predicted, labels=classes)
        return Tested(
            table.file, "accuracy", len(truth), float(score), float(trivial), truth, np.asarray(predicted), counts
        )
    spread = float(((truth - truth.mean()) ** 2).sum())
    if spread > 0:
        score = 1.0 - float(((truth - predicted) ** 2).sum()) / spread
    else:
        score = float("nan")
    return Tested(table.file, "R2", len(truth), score, 0.0, truth, predicted, None)
