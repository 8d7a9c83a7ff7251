"""``predict``: from a model and a table to predictions, as CSV text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import is_classifier

from multikernel.app.tables.columns import Columns
from multikernel.app.tables.encoding import Encoding
from multikernel.app.tables.table import Table
from multikernel.persistence import read

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula


def predictions(path: Path, table: Table, proba: bool) -> tuple[str, int]:
    """The predictions for the rows of a table, and how many they are; for classes with decision values.

    ValueError where the model was not written by ``fit`` or cannot do what is asked, or the table lacks what it needs.

    Parameters
    ----------
    path : the file of the model
    table : the rows
    proba : probabilities instead of decision values
    """
    model, metadata = read(path)
    if "columns" in metadata:
        X = Columns(metadata["columns"]).frame(table)
    elif "table" in metadata:
        X = Encoding.from_json(metadata["table"]).samples(table)
    else:
        raise ValueError(f"{path} holds a model without a table's columns; predict needs one that fit has written")
    if proba and not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, which gives no probabilities; leave --proba out, or fit classes "
            "without --method"
        )
    columns: dict[str, list[Any]] = {"prediction": [_harmless(value) for value in model.predict(X).tolist()]}
    if proba:
        columns |= _of_classes("probability", model, model.predict_proba(X))
    elif is_classifier(model):
        decision = model.decision_function(X)
        columns |= {"decision": decision.tolist()} if decision.ndim == 1 else _of_classes("decision", model, decision)
    return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n"), len(X)


def _of_classes(word: str, model: Any, values: Any) -> dict[str, list[float]]:
    return {f"{word} {label}": values[:, k].tolist() for k, label in enumerate(model.classes_.tolist())}


def _harmless(value: Any) -> Any:
    """A label that a spreadsheet would run as a formula, as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
