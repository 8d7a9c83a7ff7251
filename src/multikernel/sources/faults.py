"""What is wrong with the samples of one view, reported by the view and the row's label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def faults_of(view: str, labels: Any = None) -> Iterator[None]:
    """Errors about samples, which say "X", become errors about this view.

    Parameters
    ----------
    view : str, its name
    labels : pandas index (n,), those of its rows; None where they have none

    Raises
    ------
    ValueError, TypeError : whose sentence names the view, and beside the number of a row its label
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(_by_name(str(error), view, labels)) from error.__cause__


def _by_name(sentence: str, view: str, labels: Any) -> str:
    def with_label(found: re.Match[str]) -> str:
        row = int(found[1])
        known = labels is not None and row < len(labels)
        if known:
            return f"in row {row} ({labels[row]!r})"
        return found[0]

    sentence = re.sub(r"\bin row (\d+)\b", with_label, sentence)
    sentence = re.sub(r"(column \S+) of X ", r"\1 ", sentence)
    if f"view {view!r}" in sentence:
        return sentence
    return f"view {view!r}: {sentence}"
