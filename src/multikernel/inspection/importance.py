"""What a score loses when the samples of a kernel, or of a view, are shuffled.

A value is a sum of contributions, c_k(x) of kernel k. With the samples of some kernels shuffled it is

    f(x_i) - sum over these k of c_k(x_i) + sum over these k of c_k(x_pi(i)),

so that one evaluation of the contributions is enough for all shuffles. The shuffles are those of scikit-learn's
``permutation_importance``, which evaluates the model again for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from multikernel._parameters import COUNT
from multikernel._typing import Array
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.learned_kernel import called
from multikernel.estimators.names import short_names
from multikernel.estimators.predictor import KernelPredictor, with_known_values
from multikernel.estimators.scores import quick_scorer
from multikernel.sources.rows import aligned


@dataclass(frozen=True, eq=False)
class KernelImportance:
    """The loss of a score when the samples of each kernel, or group of kernels, are shuffled.

    Parameters
    ----------
    names : the kernels or groups
    importances : array (groups, repeats)
    score : float, the score without shuffling
    """

    names: Sequence[str]
    importances: Array
    score: float

    def __repr__(self) -> str:
        largest = int(np.argmax(self.mean))
        return (
            f"<KernelImportance: {len(self.names)} kernels or groups, score {self.score:.3g}, most by "
            f"{self.names[largest]} ({self.mean[largest]:.3g}); frame() and plot() show each>"
        )

    @property
    def mean(self) -> Array:
        """The mean loss over the shuffles, array (groups,)."""
        return self.importances.mean(axis=1)

    @property
    def std(self) -> Array:
        """The standard deviation of the loss over the shuffles, array (groups,)."""
        return self.importances.std(axis=1)

    def frame(self) -> Any:
        """A pandas data frame with a row for each group; needs pandas."""
        import pandas as pd

        return pd.DataFrame({"importance": self.mean, "deviation": self.std}, index=pd.Index(self.names, name="kernel"))

    def plot(self, ax: Any = None) -> Any:
        """Bars of the mean losses with their deviations; needs matplotlib. Returns the axes.

        Parameters
        ----------
        ax : axes of matplotlib; new ones by default
        """
        from multikernel.estimators.bars import draw_bars

        names = short_names([str(name) for name in self.names])
        return draw_bars(names, self.mean[None], [""], "loss of the score", ax, self.std[None])


def kernel_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Mapping[str, Sequence[int]] | None = None,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = None,
) -> KernelImportance:
    """How much a fitted model's score depends on each kernel: what it loses when that kernel's samples are shuffled.

    Parameters
    ----------
    model : a fitted estimator of this package with a weighted sum of kernels
    X, y : samples that the model was not fitted to, and their target; X as for ``predict``
    groups : the kernels, by number, of each group (a view, or all kernels of a feature) that is shuffled together; by
        default each kernel is a group
    scoring : as in scikit-learn; the estimator's ``score`` by default
    n_repeats : int >= 1, shuffles of each group
    random_state : int, RandomState or None; with the same one, the shuffles are those of scikit-learn's
        ``permutation_importance`` on columns in the order of the groups

    Returns
    -------
    KernelImportance

    Raises
    ------
    TypeError : where the model is not an estimator of this package
    ValueError : where kernels are not combined by a weighted sum, X and y have different lengths, a group is empty, or
        names a kernel twice or one beyond the last, or n_repeats is no integer >= 1

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import EasyMKLClassifier, kernel_importance, kernels
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EasyMKLClassifier(kernels.per_feature(kernels.RBF(1.0))).fit(X[::2], y[::2])
    >>> importance = kernel_importance(model, X[1::2], y[1::2], random_state=0)
    >>> importance.importances.shape, int(importance.mean.argmax()) in (2, 3)
    ((4, 5), True)
    """
    if not isinstance(model, KernelEstimator):
        raise TypeError(
            "kernel_importance takes a fitted estimator of multikernel, got "
            f"{called(model)}: scikit-learn's permutation_importance shuffles columns"
        )
    COUNT.check(n_repeats, "kernel_importance: n_repeats")
    [y] = aligned(X, y=y)
    contributions = model.contributions(X)
    predictor = model.predictor_
    if isinstance(predictor, KernelPredictor) and not predictor.linear:
        raise ValueError(
            f"kernel_importance shuffles the terms of a weighted sum, and {type(model).__name__} multiplies kernels: "
            "shuffle features by scikit-learn's permutation_importance"
        )
    if contributions.ndim != 3:
        contributions = contributions[:, :, None]
    members_of_group = _members_of_groups(groups, [str(name) for name in model.kernel_names_], contributions.shape[1])
    values = contributions.sum(axis=1) + np.atleast_1d(model.intercept_)
    scorer = quick_scorer(model, scoring)
    truth = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if len(truth) != len(values):
        raise ValueError(f"kernel_importance: X has {len(values)} samples and y has {len(truth)}; give one for each")
    score = scorer(with_known_values(model, values), X, truth)
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max + 1)
    importances = np.empty((len(members_of_group), n_repeats))
    for g, members in enumerate(members_of_group.values()):
        shuffled = contributions[:, members].sum(axis=1)
        other_values = values - shuffled
        rng = np.random.RandomState(seed)
        order = np.arange(len(values))
        for repeat in range(n_repeats):
            rng.shuffle(order)
            shuffled = shuffled[order]  # shuffled once more each time
            importances[g, repeat] = score - scorer(with_known_values(model, other_values + shuffled), X, truth)
    return KernelImportance(tuple(members_of_group), importances, score)


def _members_of_groups(
    groups: Mapping[str, Sequence[int]] | None, names: Sequence[str], m: int
) -> dict[str, list[int]]:
    """The kernels of each group by its name."""
    if groups is None:
        return {name if names.count(name) == 1 else f"{name} ({k})": [k] for k, name in enumerate(names)}
    if not (isinstance(groups, Mapping) and groups):
        raise ValueError(
            "kernel_importance: groups must be a dict from the name of each group to numbers of kernels, got "
            f"{groups!r}"
        )
    return {name: _members(name, members, m) for name, members in groups.items()}


def _members(name: str, members: Any, m: int) -> list[int]:
    """The kernels of a group; ValueError where ``members`` are not numbers of different kernels."""
    numbers = list(members) if isinstance(members, Iterable) else []
    valid = all(isinstance(k, Integral) and not isinstance(k, bool) and 0 <= int(k) < m for k in numbers)
    if not (numbers and valid and len(set(numbers)) == len(numbers)):
        raise ValueError(
            f"kernel_importance: group {name!r} must name kernels by number, from 0 to {m - 1}, each once; got "
            f"{members!r}"
        )
    return [int(k) for k in numbers]
