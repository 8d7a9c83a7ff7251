"""Support vector classifiers at their defaults on rare and on many classes, beside scikit-learn's.

    python benchmarks/rare_classes.py --data DIR [--sets ...]

Three folds, standardised features, at most 1200 samples, drawn once. Every cell is the balanced accuracy and the part
of right labels; rare classes are told with equal weights of the samples, and with class_weight="balanced".
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import multikernel as mk
from tables import table

Array = Any
RARE: dict[str, tuple[str, Callable[[Array], Array], int]] = {  # file, which labels are the positive class, samples
    "abalone, 16 rings or more": ("abalone", lambda y: y >= 16, 1200),
    "letter A": ("letter", lambda y: y == "A", 1200),
    "haberman": ("haberman", lambda y: y, 900),
    "wpbc": ("wpbc", lambda y: y, 900),
    "spect_heart": ("spect_heart", lambda y: y, 900),
    "parkinsons": ("parkinsons", lambda y: y, 900),
    "german": ("german", lambda y: y, 600),
}
MANY: dict[str, tuple[str, Callable[[Array], Array], int]] = {
    "heart_cleveland, 5 classes": ("heart_cleveland", lambda y: y, 900),
    "pendigits, 10 classes": ("pendigits", lambda y: y, 700),
    "letter, 26 classes": ("letter", lambda y: y, 1000),
}
MADE = {  # of make_classification
    "made, 3 % positive": {"n_samples": 1200, "n_features": 20, "n_informative": 6, "weights": [0.97], "flip_y": 0.0},
    "made, 20 classes": {"n_samples": 1000, "n_features": 20, "n_informative": 12, "n_classes": 20}
    | {"n_clusters_per_class": 1},
}
MODELS = {"SVC": SVC, "L1MKL": mk.L1MKLClassifier, "LpMKL": mk.LpMKLClassifier, "SMKL": mk.SMKLClassifier}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("MULTIKERNEL_DATA"))
    parser.add_argument("--sets", nargs="+", default=[*RARE, *MANY, *MADE])
    options = parser.parse_args()
    rows = {}
    for name in options.sets:
        X, y = samples(name, options.data)
        many = len(np.unique(y)) > 2
        for weights in (None,) if many else (None, "balanced"):
            cells = {label: scored(model(class_weight=weights), X, y) for label, model in MODELS.items()}
            rows[name if weights is None else f"{name}, balanced"] = cells
    print(table(pd.DataFrame(rows).T))


def samples(name: str, directory: Path) -> tuple[Array, Array]:
    """The features, categories one-hot encoded, and the labels."""
    if name in MADE:
        return make_classification(random_state=0, **MADE[name])
    file, labels, limit = (RARE | MANY)[name]
    frame = pd.read_csv(directory / f"{file}.csv.gz").dropna()
    X, y = pd.get_dummies(frame.iloc[:, :-1]).to_numpy(float), labels(frame.iloc[:, -1].to_numpy())
    rows = np.random.default_rng(0).permutation(len(y))[:limit]
    return X[rows], y[rows]


def scored(model: Any, X: Array, y: Array) -> str:
    """The balanced accuracy and the part of right labels, means over the folds."""
    found = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        predicted = make_pipeline(StandardScaler(), model).fit(X[train], y[train]).predict(X[test])
        found.append((balanced_accuracy_score(y[test], predicted), accuracy_score(y[test], predicted)))
    return " / ".join(f"{mean:.2f}" for mean in np.mean(found, axis=0))


if __name__ == "__main__":
    main()
