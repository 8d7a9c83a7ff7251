"""The jobs of the demo that need several kernels: a table of mixed columns, and objects described in several ways.

The data come with scikit-learn. The automatic estimator, which has nothing to tune, is compared on the same outer folds
with one Gaussian kernel and with gradient boosting, whose parameters are chosen on inner folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from multikernel.app.jobs.compare import Comparison, MethodScores, fold_score, methods_to_compare
from multikernel.app.jobs.methods import score_name, shuffled_folds
from multikernel.auto import MultiKernelClassifier, MultiKernelRegressor
from multikernel.datasets import Task
from multikernel.typing import Array

_BESIDE = ("automatic", "one Gaussian (SVC)", "one Gaussian (kernel ridge)", "gradient boosting")
_IMAGES = 500  # of 1797 images, so that the demo takes a minute
_ORIENTATIONS = 4  # in which strokes are counted


@dataclass(frozen=True)
class Job:
    """A data set with a task of prediction.

    Parameters
    ----------
    name, about, target : its name, its description, and what has to be predicted
    task : "classification" or "regression"
    views : tables of the same rows, by name
    y : array (n,)
    """

    name: str
    about: str
    target: str
    task: Task
    views: Mapping[str, pd.DataFrame]
    y: Array

    @property
    def table(self) -> pd.DataFrame:
        """All columns side by side."""
        tables = [view.add_prefix(f"{name}: ") if len(self.views) > 1 else view for name, view in self.views.items()]
        return pd.concat(tables, axis=1)

    def samples_for(self, model: Any, rows: Array) -> Any:
        """Some rows as input of a model: a dictionary of views for the automatic estimators, otherwise one table."""
        if len(self.views) > 1 and isinstance(model, MultiKernelClassifier | MultiKernelRegressor):
            return {name: view.iloc[rows].reset_index(drop=True) for name, view in self.views.items()}
        return self.table.iloc[rows].reset_index(drop=True)


def patients() -> Job:
    """A table of numbers in different units and a category."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1.0: "one", 2.0: "two"})  # the source does not say which number is which sex
    return Job(
        "patients",
        "Patients with diabetes (Efron, Hastie, Johnstone and Tibshirani, 2004) that come with scikit-learn, in the "
        "units of the source: age in years, sex, body mass index, blood pressure and six measurements of blood serum.",
        "progression of the disease after one year",
        "regression",
        {"table": X},
        y.to_numpy(dtype=float),
    )


def digits() -> Job:
    """Images in three views that are computed from them."""
    from sklearn.datasets import load_digits

    pixels, digit = load_digits(return_X_y=True)
    images = pixels[:_IMAGES].reshape(-1, 8, 8) / 16.0
    views = {
        "pixels": images.reshape(len(images), -1),
        "strokes": strokes(images),
        "profiles": np.hstack([images.sum(axis=1), images.sum(axis=2)]),
    }
    return Job(
        "digits",
        f"The first {_IMAGES} handwritten digits (UCI, 1998) of those that come with scikit-learn, in three views: the "
        "pixels, how much ink changes in four directions in each quarter, and the sums of rows and of columns.",
        "whether the digit is odd",
        "classification",
        {name: pd.DataFrame(view).add_prefix("v") for name, view in views.items()},
        digit[:_IMAGES] % 2,
    )


def strokes(images: Array) -> Array:
    """How much the ink changes in four directions in each quarter of square images: shape (n, 16)."""
    down, right = np.gradient(images, axis=(1, 2))
    size = np.hypot(down, right)
    direction = np.floor(_ORIENTATIONS * np.mod(np.arctan2(down, right), np.pi) / np.pi) % _ORIENTATIONS
    n = len(images)
    half = images.shape[1] // 2
    quarters = [
        (size * (direction == orientation)).reshape(n, 2, half, 2, half).sum(axis=(2, 4))
        for orientation in range(_ORIENTATIONS)
    ]
    return np.stack(quarters, axis=-1).reshape(n, -1)


JOBS: tuple[Callable[[], Job], ...] = (patients, digits)


def compare(job: Job, folds: int, seed: int, observe: Callable[[str], None] = lambda word: None) -> Comparison:
    """The results of the methods on the outer folds; ``observe`` is called with a word after each method."""
    rows = np.arange(len(job.y))
    results = []
    models = methods_to_compare(job.task, job.table.shape[1], seed)
    for name in (name for name in models if name in _BESIDE):
        fold_results = []
        for train, test in shuffled_folds(job.task, folds, seed).split(rows, job.y):
            # one thread for all methods, as in the studies: times are more repeatable
            training = job.samples_for(models[name], train), job.y[train]
            held_out = job.samples_for(models[name], test), job.y[test]
            with threadpool_limits(1):
                fold_results.append(fold_score(models[name], training, held_out))
        scores = tuple(score for score, _ in fold_results)
        results.append(MethodScores(name, scores, sum(seconds for _, seconds in fold_results) / folds))
        observe(f"method {name}")
    shape = (len(job.y), job.table.shape[1])
    return Comparison(job.name, job.target, score_name(job.task), *shape, folds, seed, tuple(results))
