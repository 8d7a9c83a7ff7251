"""Warnings that point at the line of the user's code, whatever lies between."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import joblib

_BETWEEN = (str(Path(__file__).parent), str(Path(joblib.__file__).parent))  # folders of code that no user wrote


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside this package and the one that runs its tasks."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
