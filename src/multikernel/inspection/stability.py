"""How much kernel weights depend on the sample: the weights on random parts of the sample, on one bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from multikernel._rules import Number, Whole
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.diagnostics import positive_weights
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.learned_kernel import called
from multikernel.estimators.names import short_names
from multikernel.estimators.parameters import drawn_seed


@dataclass(frozen=True, eq=False)
class WeightStability:
    """Kernel weights on random parts of a sample.

    Parameters
    ----------
    names : the kernels
    weights : array (resamples, problems, m)
    problems : names of the problems
    """

    names: Sequence[str]
    weights: Array
    problems: Sequence[str]

    def __repr__(self) -> str:
        steady = int((self.frequency.mean(axis=0) >= 0.9).sum())
        return (
            f"<WeightStability: {len(self.names)} kernels on {len(self.weights)} parts of the sample, "
            f"{steady} with a weight in nine of ten; frame() and plot() show each>"
        )

    @property
    def mean(self) -> Array:
        """The mean weights over the parts, array (problems, m)."""
        return self.weights.mean(axis=0)

    @property
    def std(self) -> Array:
        """The standard deviation of the weights over the parts, array (problems, m)."""
        return self.weights.std(axis=0)

    @property
    def frequency(self) -> Array:
        """The share of the parts on which a kernel has a positive weight, array (problems, m)."""
        return np.asarray(positive_weights(self.weights).mean(axis=0))

    def frame(self) -> Any:
        """A pandas data frame with a row for each kernel (the mean over problems); needs pandas."""
        import pandas as pd

        columns = {"weight": self.mean, "deviation": self.std, "frequency": self.frequency}
        index = pd.Index(self.names, name="kernel")
        return pd.DataFrame({name: values.mean(axis=0) for name, values in columns.items()}, index=index)

    def plot(self, ax: Any = None) -> Any:
        """Bars of the mean weights with their deviations; needs matplotlib. Returns the axes.

        Parameters
        ----------
        ax : axes of matplotlib; new ones by default
        """
        from multikernel.estimators.bars import draw_bars

        names = short_names([str(name) for name in self.names])
        label = f"weight on {len(self.weights)} parts of the sample"
        return draw_bars(names, self.mean, self.problems, label, ax, self.std)


def weight_stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 20,
    part: float = 0.5,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> WeightStability:
    """The kernel weights on random parts of a sample, stratified for classifiers; the kernels are bound once.

    Parameters
    ----------
    estimator : an estimator of this package; it is not changed
    X, y : as for its ``fit``
    n_resamples : int, how many parts
    part : float in (0, 1), their size
    random_state : int, RandomState or None; draws the parts, as ShuffleSplit does
    n_jobs : int or None, threads over the parts

    Returns
    -------
    WeightStability

    Raises
    ------
    TypeError : where the estimator is not one of this package
    ValueError : for a number of parts below 1, a size outside (0, 1), and a model whose number of weights depends on
        the sample, as it does for selected products

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import L1MKLClassifier, kernels, weight_stability
    >>> X, y = load_iris(return_X_y=True)
    >>> model = L1MKLClassifier(kernels.per_feature(kernels.RBF(1.0)))
    >>> weight_stability(model, X, y, n_resamples=5, random_state=0).weights.shape
    (5, 3, 4)
    """
    if not isinstance(estimator, KernelEstimator):
        raise TypeError(f"weight_stability takes an estimator of multikernel, got {called(estimator)}")
    Whole(1).check(n_resamples, "weight_stability: n_resamples")
    Number(above=0, below=1).check(part, "weight_stability: part")
    model = clone(estimator)
    model.check_parameters()
    bank, target = model.bind(X, y)
    kind = StratifiedShuffleSplit if is_classifier(model) else ShuffleSplit
    seed = drawn_seed(random_state)
    splits = kind(n_resamples, train_size=part, random_state=seed).split(np.empty((len(target), 1)), target)

    def on_part(rows: Array) -> tuple[list[Any], Array, Sequence[str]]:
        resampled_model = clone(estimator)
        part_bank = bank.block(rows, rows)
        if not model.reads_kernels_few_times:
            part_bank = part_bank.compact()
        resampled_model.fit_bank(part_bank, target[rows], exact=False)
        return (
            list(resampled_model.kernel_keys()),
            np.atleast_2d(resampled_model.weights_),
            resampled_model.problem_names(),
        )

    keys, weights, names = zip(
        *on_threads([partial(on_part, np.sort(rows)) for rows, _ in splits], n_jobs), strict=True
    )
    if any(resample_keys != keys[0] for resample_keys in keys):
        raise ValueError(f"weight_stability: {type(estimator).__name__} selects other products on each part")
    return WeightStability(tuple(map(str, model.kernel_names_)), np.stack(weights), names[0])
