"""Smoothed MKL: kernel weights by the softmax of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.domains import Domain, EntropySimplex
from multikernel.estimators._base import Fitted
from multikernel.estimators._support import SupportClassifier
from multikernel.machines import DualSolution, SampleWeighted, SupportMachine
from multikernel.optimizers import Optimizer
from multikernel.procedures import Weights, smoothed
from multikernel.procedures.support_mkl import finely


class SMKLClassifier(SupportClassifier):
    """Kernel weights by smoothed multiple kernel learning, then a support vector classifier on the weighted kernel.

    Solves min over 0 <= a <= C of -sum a + (s/2) log sum_k exp(a'Y K_k Y a / s), without an intercept; the weights are
    the softmax of a'Y K_k Y a / s. A support vector machine with intercept is then learned at these weights.
    ``objective_`` is the value of the smoothed problem. As s goes to 0 it becomes L1-MKL (without intercept), as s
    grows the weights become equal; s is in units of a'Y K_k Y a and is best chosen by validation.

    Parameters
    ----------
    kernels : kernel, list of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, normalised.
    C : float > 0, default 1.0
        Weight of the hinge losses.
    smoothing : float > 0, default 1.0
        s. The smoothed value is above the unsmoothed one by at most (s/2) log m.
    solver : {"auto", "accelerated"}, default "auto"
        "auto" is an interior point method over weights and support vectors together; "accelerated" Nesterov's method
        on the smoothed problem, with the step sizes found on the way.
    class_weight, multiclass, tol, max_iter, n_jobs, verbose : as in L1MKLClassifier

    Attributes
    ----------
    As those of L1MKLClassifier.

    References
    ----------
    Xu, Jin, Zhu, Lyu and King (2010), Smooth optimization for effective multiple kernel learning, AAAI 24.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from multikernel import SMKLClassifier, kernels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SMKLClassifier(kernels.per_feature(kernels.RBF(0.1)))).fit(X, y)
    >>> bool(model.score(X, y) > 0.97), round(float(model[-1].weights_.sum()), 6)
    (True, 1.0)
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        C: float = 1.0,
        smoothing: float = 1.0,
        solver: str = "auto",
        class_weight: Any = None,
        multiclass: str = "ovr",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.smoothing = smoothing
        self.solver = solver
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _solvers(self) -> tuple[str, ...]:
        return ("auto", "accelerated")

    def _domain(self) -> Domain:
        if not self.smoothing > 0:
            raise ValueError(
                f"SMKLClassifier: smoothing must be > 0, got {self.smoothing}; without smoothing use L1MKLClassifier"
            )
        return EntropySimplex(0.5 * self.smoothing)

    def _optimizers(self) -> Mapping[str, type[Optimizer]]:
        return {}

    def _learn_with(
        self, machine: SupportMachine, bank: KernelBank, target: Array, warm: Fitted | None
    ) -> tuple[Weights, DualSolution]:
        weights, a = self._weigh(machine, bank, target, warm)
        return weights, finely(machine).solve(bank.combine(weights.values), target, a)

    def _weigh(
        self, machine: SupportMachine, bank: KernelBank, target: Array, warm: Fitted | None
    ) -> tuple[Weights, Array]:
        """The weights, and the variables of the machine without intercept."""
        if self.solver == "accelerated":
            found = smoothed(bank, target, machine.program(target).upper, self.smoothing, self.tol, self.max_iter)
            return found, found.a
        weights, dual = super()._learn_with(_without_intercept(machine), bank, target, warm)
        return replace(weights, objective=-float(weights.objective or 0.0)), dual.warm  # a maximum, as a minimum over a


def _without_intercept(machine: Any) -> SupportMachine:
    """The same machine, its coefficients free of the equality."""
    if isinstance(machine, SampleWeighted):
        return replace(machine, machine=_without_intercept(machine.machine))
    return replace(machine, fit_intercept=False)
