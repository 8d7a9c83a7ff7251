"""Pieces of work that are killed and gone on with: python works.py path|search|pairs|save FOLDER does one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import multikernel
from multikernel import BankSearchCV, EasyMKLClassifier, L1MKLClassifier, LpMKLClassifier, kernels

Result = NDArray[np.float64]


def data() -> tuple[Result, NDArray[np.int64]]:
    random = np.random.default_rng(5)
    X = random.normal(size=(150, 6))
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])


def path(folder: Path | None) -> Result:
    X, y = data()
    model = L1MKLClassifier(kernels.per_feature(kernels.RBF(0.5)))
    found = multikernel.path(model, X, y > 0, "C", np.logspace(-2, 2, 12), validation=(X, y > 0), checkpoint=folder)
    return np.concatenate([found.weights.ravel(), found.dual_coef.ravel(), found.validation_score])


def search(folder: Path | None) -> Result:
    X, y = data()
    model = LpMKLClassifier(kernels.rbf_grid(np.logspace(-2, 1, 4)), multiclass="ovo")
    found = BankSearchCV(model, {"C": [0.1, 1.0, 10.0], "p": [1.5, 2.0]}, cv=3, checkpoint=folder).fit(X, y)
    return np.concatenate([found.cv_results_["mean_test_score"], found.best_estimator_.dual_coef_.ravel()])


def pairs(folder: Path | None) -> Result:
    X, _ = data()
    y = np.arange(len(X)) % 7
    model = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0]), lam="auto", multiclass="ovo", checkpoint=folder)
    return np.asarray(model.fit(X, y).dual_coef_.ravel())


def save(folder: Path | None) -> Result:
    """The file of a model, written again and again; what is there can be read at any moment."""
    X, y = data()
    model = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0])).fit(X, y)
    if folder is not None:
        folder.mkdir(exist_ok=True)
        for _ in range(100):
            multikernel.save(model, folder / "model.mk")
    return np.asarray(model.dual_coef_.ravel())


WORKS: dict[str, Callable[[Path | None], Result]] = {"path": path, "search": search, "pairs": pairs, "save": save}

if __name__ == "__main__":
    WORKS[sys.argv[1]](Path(sys.argv[2]))
