"""Errors about the samples of one view, reported with the name of the view and the label of the row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def faults_of(view: str, labels: Any = None) -> Iterator[None]:
    """Turns errors about samples "X" that are raised inside into errors about this view.

    Parameters
    ----------
    view : str, its name
    labels : pandas index (n,), the labels of its rows; None where it has none

    Raises
    ------
    ValueError, TypeError : the same error, with the name of the view, and a row's label beside its number
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(_by_name(str(error), view, labels)) from error.__cause__


def _by_name(sentence: str, view: str, labels: Any) -> str:
    def with_label(match: re.Match[str]) -> str:
        row = int(match[1])
        if labels is not None and row < len(labels):
            return f"in row {row} ({labels[row]!r})"
        return match[0]

    sentence = re.sub(r"\bin row (\d+)\b", with_label, sentence)
    sentence = re.sub(r"(column \S+) of X ", r"\1 ", sentence)
    if f"view {view!r}" in sentence:
        return sentence
    return f"view {view!r}: {sentence}"
