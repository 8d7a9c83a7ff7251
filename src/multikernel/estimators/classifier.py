"""The classifier part: labels become binary problems on one bank, and their votes become labels again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from multikernel._arrays import host
from multikernel._parameters import Directory, Threads, Verbosity
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.advice import advise_on_lengths
from multikernel.estimators.labels import LabelsEstimator
from multikernel.estimators.multiclass import binary_problems, join
from multikernel.estimators.parameters import ClassWeight
from multikernel.estimators.protocol import Task
from multikernel.kernels import KernelFamily, homogeneous_polynomials
from multikernel.machines import HingeMachine, Machine, MarginMachine
from multikernel.persistence.checkpoint import Checkpoint


@dataclass(eq=False, repr=False, kw_only=True)
class KernelClassifier(LabelsEstimator):
    """A classifier; subclasses say how one binary problem is solved."""

    _squared_losses: ClassVar[bool] = False  # whether problems are ridge regressions on labels -1 and +1

    multiclass: Literal["ovr", "ovo"] = "ovr"
    n_jobs: Threads = None
    checkpoint: Directory = None
    verbose: Verbosity = 0

    def _default_kernels(self) -> KernelFamily:
        return homogeneous_polynomials(10)

    def _checkpoint(self, *given: Any) -> Checkpoint:
        return Checkpoint.of(self.checkpoint, f"fit of {type(self).__name__}", self, *given)

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        bank, target = super()._bind(X, y, **checks)
        if self.kernels is None and type(self)._default_kernels is KernelClassifier._default_kernels:
            advise_on_lengths(type(self).__name__, host(self._samples_bound), target)
        return bank, target

    def _tasks(self, target: Array, sample_weight: Array | None) -> list[Task]:
        labels, weight = self._numbered(target), self._loss_weight(target, sample_weight)
        problems = binary_problems(labels, len(self.classes_), self.multiclass)
        return [Task.of(rows, signs, weight) for rows, signs in problems]

    def _losses(self, values: Array, truth: Array) -> Array:
        if not self._squared_losses or self.multiclass == "ovo":
            return super()._losses(values, truth)
        first = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        signs = np.stack([np.where(truth == self.classes_[c], 1.0, -1.0) for c in first], axis=1)
        return ((values - signs) ** 2).sum(axis=1)

    def _joined(self, values: Array) -> Array:
        return join(values, len(self.classes_), self.multiclass)


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedClassifier(KernelClassifier):
    """A classifier whose samples, or classes, may count differently."""

    class_weight: ClassWeight = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn the kernel weights and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : labels of shape (n,)
        sample_weight : array (n,) >= 0, what the loss of each sample is multiplied with
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return self._fit(X, y, sample_weight, groups)

    def _loss_weight(self, target: Array, sample_weight: Array | None) -> Array | None:
        return weight_of_losses(self.class_weight, target, sample_weight)


def weight_of_losses(class_weight: Any, target: Array, sample_weight: Array | None) -> Array | None:
    """What the loss of each sample is multiplied with; ValueError where all samples of a class have weight 0."""
    weight = sample_weight
    if class_weight is not None:
        of_class = compute_sample_weight(class_weight, target)
        weight = of_class if weight is None else weight * of_class
    if weight is not None:
        check_every_class(target, weight)
    return weight


def check_every_class(target: Array, weight: Array) -> None:
    """ValueError where all samples of a class have weight 0."""
    gone = np.setdiff1d(target, target[weight > 0])
    if len(gone):
        raise ValueError(
            f"sample_weight and class_weight leave no sample of class {gone[0]!s}: every one of them has weight 0; "
            "leave the class out of y, or give some of its samples a weight"
        )


def classification_machine(learner: str, lam: float, C: float, tol: float, max_iter: int) -> Machine:
    """The machine of a ``learner`` parameter."""
    return MarginMachine(lam, tol, max_iter) if learner == "margin" else HingeMachine(C=C, tol=tol, max_iter=max_iter)
