"""The names of kernels as a page shows them: what a constructor says is shortened, all else stays."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FORMS = (
    (r"RBF\(gamma=Width\(rule='median', times=([\d.e-]+)\)\)", "Gaussian, gamma x {}"),
    (r"RBF\(gamma=([\d.e-]+)\)", "Gaussian, gamma {}"),
    (r"HomogeneousPolynomial\(degree=(\d+)\)(?:\.normalized\(\))?", "products of {}"),
    (r"Polynomial\(degree=(\d+)[^()]*\)(?:\.normalized\(\))?", "polynomial, degree {}"),
    (r"ANOVA\(degree=(\d+)[^()]*\)(?:\.normalized\(\))?", "different columns, {}"),
    (r"Linear\(()\)", "linear{}"),
)


def in_short(names: Iterable[object]) -> list[str]:
    """The names in short, a view before and a number behind them as they are; in full where two would be the same."""
    full = list(map(str, names))
    short = list(map(_short, full))
    return short if len(set(short)) == len(set(full)) else full


def _short(text: str) -> str:
    for form, words in _FORMS:
        text = re.sub(form, lambda found, words=words: words.format(found[1]), text)  # type: ignore[misc]
    return text
