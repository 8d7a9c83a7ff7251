"""Predict: from a model and a table to predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import is_classifier

from multikernel.app.tables.columns import ColumnKinds
from multikernel.app.tables.encoding import TableEncoding
from multikernel.app.tables.table import CsvTable
from multikernel.persistence import read
from multikernel.typing import Array

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula


@dataclass(frozen=True)
class Predictions:
    """What a model says of the rows of a table.

    Parameters
    ----------
    labels : list, the predictions
    classes : list, of a classifier; None where numbers are predicted
    decision : array (n,) for two classes, or (n, classes); None for numbers, and where probabilities are given instead
    probability : array (n, classes), where they were requested
    """

    labels: list[Any]
    classes: list[Any] | None
    decision: Array | None
    probability: Array | None

    def to_csv(self) -> str:
        """The predictions as CSV; a label that a spreadsheet would run as a formula gets an apostrophe in front."""
        columns: dict[str, list[Any]] = {"prediction": [harmless(label) for label in self.labels]}
        if self.probability is not None:
            columns |= self._of_classes("probability ", self.probability)
        elif self.decision is not None:
            one = self.decision.ndim == 1
            columns |= {"decision": self.decision.tolist()} if one else self._of_classes("decision ", self.decision)
        return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n")

    def to_json(self) -> dict[str, Any]:
        """The predictions by names; decision values and probabilities by class, of two classes those of the second."""
        decision = None
        if self.decision is not None:
            one = self.decision.ndim == 1
            classes = self.classes or []
            if one:
                decision = {str(classes[-1]): self.decision.tolist()}
            else:
                decision = self._of_classes("", self.decision)
        return {
            "rows": len(self.labels),
            "classes": self.classes,
            "predictions": self.labels,
            "decision": decision,
            "probability": None if self.probability is None else self._of_classes("", self.probability),
        }

    def _of_classes(self, word: str, values: Array) -> dict[str, list[float]]:
        return {f"{word}{label}": values[:, k].tolist() for k, label in enumerate(self.classes or [])}


def predictions(path: Path, table: CsvTable, proba: bool) -> Predictions:
    """The predictions for the rows of a table; for classes with decision values or probabilities.

    ValueError where the model was not written by ``fit`` or gives no probabilities, or the table lacks what it needs.

    Parameters
    ----------
    path : the file of the model
    table : the rows
    proba : probabilities instead of decision values
    """
    model, metadata = read(path)
    X = samples_of(path, metadata, table)
    if proba and not hasattr(model, "predict_proba"):
        if is_classifier(model):
            instead = "fit it with --proba"
        else:
            instead = "it predicts numbers, so leave --proba out"
        raise ValueError(f"{path} holds a {type(model).__name__}, which gives no probabilities; {instead}")
    classify = is_classifier(model)
    return Predictions(
        labels=model.predict(X).tolist(),
        classes=model.classes_.tolist() if classify else None,
        decision=model.decision_function(X) if classify and not proba else None,
        probability=model.predict_proba(X) if proba else None,
    )


def samples_of(path: Path, metadata: Mapping[str, Any], table: CsvTable) -> Any:
    """The rows of a table as a model takes them; ValueError where nothing is known of the model's columns."""
    table = table.written_as(metadata.get("numerals", {}))
    if "columns" in metadata:
        frame = ColumnKinds.of(metadata).frame(table)
        views = metadata.get("views")
        if views:
            return {view: frame[list(own)].rename(columns=own) for view, own in views.items()}
        return frame
    if "table" in metadata:
        return TableEncoding.from_json(metadata["table"]).samples(table)
    raise ValueError(f"{path} holds a model without a table's columns; it has to be one that fit has written")


def harmless(value: Any) -> Any:
    """A label that a spreadsheet would run as a formula, as text."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
