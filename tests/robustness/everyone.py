"""Every public estimator on a table of a size, and what it answers."""

from __future__ import annotations

import inspect
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

import multikernel as mk
from multikernel import kernels

NAMES = sorted(
    name for name in mk.__all__ if inspect.isclass(getattr(mk, name)) and hasattr(getattr(mk, name), "predict")
)
NAMES.remove("Path")
WITHOUT_A_SEARCH = {  # for those that fit each kernel, or from several starts, once for every number that they try
    "BestKernelClassifier": {"C": 1.0},
    "ProportionalMKLClassifier": {"C": 1.0},
    "TwoLayerClassifier": {"alpha": 10.0, "second": "linear"},
    "TwoLayerRegressor": {"alpha": 10.0, "second": "linear"},
}


def model_of(name: str, **given: Any) -> Any:
    """An estimator with some kernels and a seed, and those of the parameters that it has."""
    cls = getattr(mk, name)
    known = inspect.signature(cls).parameters
    family = kernels.rbf_grid(np.logspace(-3, 1, 4)) + kernels.per_feature(kernels.RBF(0.5))
    if name.startswith(("LinearRLS2", "HKL", "Learned", "Multi")):
        given = given | {"kernels": None}
    else:
        given = {"kernels": family} | given
    if name == "BankSearchCV":
        own = {word: value for word, value in given.items() if word != "n_jobs"}
        return cls(mk.L1MKLClassifier(**own), {"C": [0.1, 1.0, 10.0]}, cv=3)
    given = {"random_state": 0} | {word: value for word, value in given.items() if value is not None}
    return cls(**{word: value for word, value in given.items() if word in known})


def sample(n: int) -> tuple[Any, Any, Any]:
    """Samples, numbers and labels."""
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 5))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n)
    return X, f, np.digitize(f, np.quantile(f, [0.3, 0.7]))


def given_to(name: str, model: Any, n: int) -> tuple[Any, ...]:
    """What its ``fit`` takes of them."""
    X, f, labels = sample(n)
    if name == "OneClassMKL":
        return (X,)
    return (X, labels if name == "BankSearchCV" or is_classifier(model) else f)


def answer(name: str, n: int = 120) -> Any:
    """What a fit says of its own samples, as numbers."""
    model = model_of(name, **WITHOUT_A_SEARCH.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, *target = given_to(name, model, n)
        model.fit(X, *target)
        return np.asarray(getattr(model, "decision_function", model.predict)(X), dtype=float)


if __name__ == "__main__":
    np.savez(Path(sys.argv[1]), **{name: answer(name, int(sys.argv[2])) for name in sys.argv[3:] or NAMES})
