"""The classifier part: labels to numbers, binary problems on one bank, votes back to labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.estimators.multiclass import binary_problems, join
from multikernel.kernels import KernelFamily, homogeneous_polynomials
from multikernel.machines import HingeMachine, Machine, MarginMachine


class KernelClassifier(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """A classifier; subclasses say how one binary problem is solved."""

    multiclass: str
    n_jobs: int | None
    verbose: int

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before anything is computed."""

    def _default_kernels(self) -> KernelFamily:
        return homogeneous_polynomials(10)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel weights and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a KernelBank; or, with ``kernels="precomputed"``,
            matrices of shape (m, n, n)
        y : labels of shape (n,)
        """
        if self.multiclass not in ("ovr", "ovo"):
            raise ValueError(f"multiclass must be 'ovr' or 'ovo', got {self.multiclass!r}")
        self._check_parameters()
        bank, y = self._bind(X, y)
        self._fit_bound(bank, y)
        return self

    def _fit_bound(self, bank: KernelBank, y: Array, warm: list[Fitted] | None = None) -> list[Fitted]:
        """Fit on a bank, starting from the problems of an earlier fit."""
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, got one class: {self.classes_[0]!r}"
            )
        problems = list(binary_problems(labels, len(self.classes_), self.multiclass))
        starts = warm if warm is not None and len(warm) == len(problems) else [None] * len(problems)
        fitted = self._solve_all(bank, problems, starts)
        self._keep(bank, fitted, single=len(problems) == 1)
        return fitted

    def _solve_all(
        self, bank: KernelBank, problems: Sequence[tuple[Array, Array]], starts: Sequence[Fitted | None]
    ) -> list[Fitted]:
        """Every binary problem, given by its rows and targets, from where it may start."""
        solve = delayed(self._solve)
        return Parallel(n_jobs=self.n_jobs, prefer="threads", verbose=self.verbose)(
            solve(bank, rows, target, start) for (rows, target), start in zip(problems, starts, strict=True)
        )

    def _solve(self, bank: KernelBank, rows: Array, target: Array, warm: Fitted | None) -> Fitted:
        own = bank if len(rows) == bank.shape[0] else bank.block(rows, rows)
        warm = warm if warm is not None and np.array_equal(warm.rows, rows) else None
        return Fitted(rows, *self._learn(own, target, warm))

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (len(X),) for two classes, larger for the second; else (len(X), n_classes).

        X are samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train).
        """
        values = self._decide(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        return join(values, len(self.classes_), self.multiclass)

    def predict(self, X: Any) -> Array:
        """The predicted labels, shape (len(X),)."""
        scores = self.decision_function(X)
        index = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]


def classification_machine(learner: str, lam: float, C: float, tol: float, max_iter: int) -> Machine:
    """The machine of a ``learner`` parameter."""
    if learner == "margin":
        return MarginMachine(lam, tol, max_iter)
    if learner == "svc":
        return HingeMachine(C)
    raise ValueError(f"learner must be 'margin' or 'svc', got {learner!r}")
