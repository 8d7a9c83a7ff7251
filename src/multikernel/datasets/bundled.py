"""The sets that scikit-learn carries: no file, no network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from multikernel.datasets.dataset import Dataset, Entry, Task


@dataclass(frozen=True)
class Bundled:
    """One of scikit-learn's sets: its size is stated so that listing them reads none."""

    loader: str  # its name in sklearn.datasets, which takes long to import and is imported when a set is read
    task: Task
    n: int
    d: int
    about: str


BUNDLED = {
    "breast_cancer": Bundled(
        "load_breast_cancer",
        "classification",
        569,
        30,
        "Wisconsin diagnostic breast cancer (UCI, 1995), cell nuclei in images of fine needle aspirates. "
        "Target: 0 = malignant (212), 1 = benign (357).",
    ),
    "wine": Bundled(
        "load_wine",
        "classification",
        178,
        13,
        "Wine recognition (UCI, 1991), chemical analysis of wines of one Italian region. "
        "Target: cultivar 0, 1, 2 (59, 71, 48).",
    ),
    "iris": Bundled(
        "load_iris",
        "classification",
        150,
        4,
        "Fisher's iris, as in the paper of 1936. Target: 0 = setosa, 1 = versicolor, 2 = virginica (50 each).",
    ),
    "digits": Bundled(
        "load_digits",
        "classification",
        1797,
        64,
        "Optical recognition of handwritten digits (UCI, 1998), the test part, 8 x 8 counts from 0 to 16. "
        "Target: digit 0-9. Not MNIST.",
    ),
    "diabetes": Bundled(
        "load_diabetes",
        "regression",
        442,
        10,
        "Efron, Hastie, Johnstone and Tibshirani, Least angle regression (2004). "
        "Target: progression of the disease one year after baseline. Features are centred and scaled to unit "
        "norm, as scikit-learn returns them. Not the Pima diabetes set.",
    ),
}


def load_bundled(name: str) -> Dataset:
    """One of ``BUNDLED``."""
    from sklearn import datasets

    entry = BUNDLED[name]
    bunch: Any = getattr(datasets, entry.loader)()
    return Dataset(
        name=name,
        X=bunch.data,
        y=bunch.target,
        feature_names=tuple(map(str, bunch.feature_names)),
        task=entry.task,
        description=f"Bundled with scikit-learn. {entry.about}",
        split=None,
        origin="scikit-learn",
    )


def bundled_entries() -> list[Entry]:
    """A line for each of ``BUNDLED``."""
    return [Entry(name, entry.task, entry.n, entry.d, "scikit-learn") for name, entry in BUNDLED.items()]
