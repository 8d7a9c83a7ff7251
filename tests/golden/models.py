"""Small fitted models of every public estimator, whose files this version and all later ones have to read.

A file, once released, is never written again: ``python tests/golden/models.py`` writes those that are missing.
"""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

import multikernel as mk
from multikernel import kernels

FOLDER = Path(__file__).parent
STEP = np.arange(24)
X = np.column_stack([np.sin(STEP), np.cos(2.0 * STEP), (STEP % 5) - 2.0])
NUMBERS = X[:, 0] + 0.5 * X[:, 1] ** 2
LABELS = np.where(np.median(NUMBERS) < NUMBERS, "high", "low")
KERNELS = [kernels.RBF(0.5), kernels.Linear().on([0, 1]), kernels.Polynomial(2).normalized()]
SEARCH = (mk.RLS2Regressor(KERNELS), {"alpha": [0.1, 1.0]})


LACKING = {  # two sources, features and a kernel matrix, each of which some samples lack
    "waves": pd.DataFrame(X[:20], index=[f"s{i}" for i in range(20)]),
    "matrix": pd.DataFrame(np.exp(-0.1 * np.subtract.outer(STEP, STEP) ** 2)).iloc[4:, 4:],
}
LACKING["matrix"].index = LACKING["matrix"].columns = [f"s{i}" for i in range(4, 24)]
VARIANTS = {  # an estimator, and parameters of it
    "LearnedScalesRegressor-metric": {"metric": 2, "penalty": 3.0},
    "EasyMKLClassifier-sources": {"kernels": {"waves": KERNELS}},
}


def names() -> list[str]:
    """The public estimators, and variants that are saved otherwise."""
    capital = [name for name in mk.__all__ if name[0].isupper()]  # functions may need an extra, and are not looked at
    classes = {name: getattr(mk, name) for name in capital if inspect.isclass(getattr(mk, name))}
    fitting = [name for name, cls in classes.items() if hasattr(cls, "fit") and hasattr(cls, "predict")]
    return sorted([*fitting, *VARIANTS])


def samples(name: str) -> Any:
    """What a model is fitted to, and asked about."""
    return mk.views(LACKING, rows="index", missing="keep") if name.endswith("-sources") else X


def fitted(name: str) -> Any:
    """An estimator with few kernels, and a seed where it takes one."""
    cls = getattr(mk, name.split("-")[0])
    parameters = inspect.signature(cls).parameters
    given = {
        word: value
        for word, value in {"kernels": KERNELS, "random_state": 0, "probability": "platt"}.items()
        if word in parameters and not (word == "kernels" and name.startswith(("LinearRLS2", "HKL", "Learned")))
    }
    model = cls(*SEARCH) if name == "BankSearchCV" else cls(**given | VARIANTS.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "OneClassMKL":
            return model.fit(X)
        return model.fit(samples(name), LABELS if is_classifier(model) else NUMBERS)


def answers(model: Any, X: Any) -> dict[str, Any]:
    """What the model says of samples, as JSON holds it."""
    told = {"predict": model.predict(X).tolist()}
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            told[method] = getattr(model, method)(X).tolist()
    return told


def write_missing() -> list[str]:
    """The names whose files were written."""
    missing = [name for name in names() if not (FOLDER / f"{name}.mk").exists()]
    for name in missing:
        model = fitted(name)
        mk.save(model, FOLDER / f"{name}.mk", answers(model, samples(name)))
    return missing


if __name__ == "__main__":
    print("\n".join(write_missing()))
