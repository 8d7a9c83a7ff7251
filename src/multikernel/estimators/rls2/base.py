"""What all RLS2 estimators share: kernels are scaled first, and the weights are those of the scaled kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self, cast

import numpy as np

from multikernel._parameters import Count, Part, Verbosity
from multikernel._typing import Array
from multikernel._workers import limited
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.low_rank import LowRankBank
from multikernel.banks.views import check_samples_rows
from multikernel.estimators.chosen import Samples, ridges
from multikernel.estimators.parameters import PositiveOrAuto, checked_weights
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeModel
from multikernel.estimators.streamed.base import StreamedEstimator
from multikernel.estimators.unchanged import unchanged_unless_done
from multikernel.kernels import KernelFamily, rls2_basis
from multikernel.observer import Observer
from multikernel.procedures.forecast import Cost
from multikernel.procedures.forecast import rls2 as rls2_cost
from multikernel.procedures.rls2 import ScaledWeights, rls2, scaling_factors
from multikernel.statistics import Moments
from multikernel.streams import Source
from multikernel.streams.dask import as_source


@dataclass(eq=False, repr=False, kw_only=True)
class ScaledEstimator(RidgeModel):
    """Weights d of kernels s_k K_k: the predictor's kernel is sum_k d_k s_k K_k."""

    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True
    tol: Part = 1e-4
    verbose: Verbosity = 0

    scaling: str

    def _advise_on_sizes(self, bank: KernelBank) -> None:
        if self.scaling == "none":  # the other rules bring all kernels to one size
            super()._advise_on_sizes(bank)

    def _regularises(self) -> tuple[str, ...]:
        return ("alpha",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        """In units of the scaled kernels' mean self-value, which for those of trace 1 is 1 / n."""
        return ridges(whole.size if self.scaling == "none" else 1.0 / float(whole.share.sum()))

    def publish(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        super().publish(bank, fitted, single)
        scaling = np.stack([_scaling(f) for f in fitted])
        self.scaling_ = scaling[0] if single else scaling

    @unchanged_unless_done
    def _fit_with(self, X: Any, y: Any, sample_weight: Any, unlabeled: Any, groups: Any = None) -> Self:
        """Fit, where ``unlabeled`` are further inputs."""
        self.check_parameters()
        if unlabeled is not None and self.scaling != "transductive":
            raise ValueError(
                f"{type(self).__name__}: unlabeled inputs are used with scaling='transductive' only, "
                f"and scaling is {self.scaling!r}"
            )
        check_samples_rows(X, y=y, sample_weight=sample_weight, groups=groups)
        X, y = as_source(X, y, sample_weight)
        with limited(self.time_budget):
            if isinstance(X, Source):
                return self._fit_source(X, y, groups)
            self._begin(y)
            kept = self._checkpoint(X, y, sample_weight, unlabeled, groups)
            bank, target = self._bound_aloud(X, y)
            further = None if unlabeled is None else self._self_values(bank, X, unlabeled).sum(axis=1)
            weight = checked_weights(sample_weight, bank.shape[0])
            learn = partial(type(self)._learn, further=further)
            held_out = self.resampling(groups, target)
            self.fit_bank(bank, target, sample_weight=weight, learn=learn, checkpoint=kept, resampling=held_out)
        return self

    @abstractmethod
    def _learn(
        self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer, further: Array | None = None
    ) -> Learned:
        """``further``: the sum of the self-values of every kernel over the further inputs."""

    def _self_values(self, bank: KernelBank, X: Any, unlabeled: Any) -> Array:
        """k_k(x, x) of the further inputs, shape (m, n_u): given where kernels are, else from samples."""
        if not self._is_given(X):
            return bank.self_values(self._samples(unlabeled))
        values = np.asarray(unlabeled, dtype=float)
        if values.ndim != 2 or len(values) != len(bank) or not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(
                f"{type(self).__name__}: beside a bank or precomputed kernels, unlabeled are the self-values "
                f"k_k(x, x) >= 0 of the further inputs, shape ({len(bank)}, n_u); got shape {values.shape}"
            )
        return values

    def _factors(self, bank: KernelBank, task: Task, further: Array | None) -> Array:
        """s of every kernel; ``further`` is the sum of its self-values over the further inputs."""
        if self.scaling == "transductive" and further is None:
            raise ValueError(
                f"{type(self).__name__}: scaling='transductive' needs the further inputs, fit(X, y, unlabeled=...); "
                "for a path or a search scale the bank itself, bank.scaled(factors), and use scaling='none'"
            )
        rule = "trace" if self.scaling == "norm" else self.scaling
        return scaling_factors(rule, bank, task.target, further, task.sample_weight)

    # -- both layers ---------------------------------------------------------------------------------------------------

    def first_layer(self, X: Any) -> Array:
        """The functions of the first layer: (s_k d_k)^(1/2) sum_i c_i K_k(x_i, x), zero for kernels without a weight.

        The second layer is linear: the predicted value is their sum times (s_k d_k)^(1/2), and the intercept.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)

        Returns
        -------
        array (len(X), m), or (len(X), m, problems) for several classes or targets
        """
        told = self.contributions(X)
        root = np.sqrt(self.weights_ * self.scaling_).T
        root = root[:, None] if told.ndim > root.ndim + 1 else root
        return np.divide(told, root, out=np.zeros_like(told), where=np.broadcast_to(root > 0, told.shape))

    def kernel(self, X: Any, Z: Any = None) -> Array:
        """The kernel of both layers, sum_k s_k g_k(x) g_k(z) of the functions g_k of the first layer.

        That is the kernel of the second layer at the outputs of the first; ``kernel_matrix`` is sum_k d_k s_k K_k, with
        which the same function is ridge regression.

        Parameters
        ----------
        X, Z : as for ``first_layer``; Z is X by default

        Returns
        -------
        array (len(X), len(Z)), or (len(X), len(Z), problems)
        """
        one = self.first_layer(X)
        other = one if Z is None else self.first_layer(Z)
        if one.ndim == 2:
            return np.asarray((one * self.scaling_) @ other.T)
        scaling = np.broadcast_to(np.atleast_2d(self.scaling_).T, one.shape[1:])
        return np.einsum("ikp,kp,jkp->ijp", one, scaling, other)

    def _kernel_weights(self, fitted: Fitted) -> Array:
        return fitted.weights.values * _scaling(fitted)


def _scaling(fitted: Fitted) -> Array:
    return cast(Array, cast(ScaledWeights, fitted.weights).scaling)


@dataclass(eq=False, repr=False, kw_only=True)
class RLS2Estimator(StreamedEstimator, ScaledEstimator):
    """Kernels of any kind."""

    kernels: Any = field(default=None, kw_only=False)
    scaling: str = "trace"
    mode: Literal["certified", "paper"] = "certified"
    max_iter: Count = 200

    def _default_kernels(self) -> KernelFamily:
        return rls2_basis()

    def _cost(self, bank: BankCost, task: Task) -> Cost:
        return rls2_cost(bank)

    def _learn(
        self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer, further: Array | None = None
    ) -> Learned:
        """``further``: the sum of the self-values of every kernel over the further inputs."""
        return rls2(
            bank,
            task.target,
            self.alpha,
            self._factors(bank, task, further),
            fit_intercept=self.fit_intercept,
            mode=self.mode,
            tol=self.tol,
            max_iter=self.max_iter,
            warm=cast(ScaledWeights, warm.weights) if warm is not None else None,
            sample_weight=task.sample_weight,
            observe=observe,
        )

    # -- from sums over samples ----------------------------------------------------------------------------------------

    def _check_sums(self) -> None:
        super()._check_sums()
        if self.scaling not in ("trace", "none"):
            raise ValueError(
                f"{type(self).__name__} learns from sums over the rows, which scaling={self.scaling!r} does not follow "
                "from: use 'trace' or 'none'"
            )

    def _learn_sums(
        self,
        bank: KernelBank,
        task: Task,
        held: tuple[Moments, ...],
        sample: tuple[LowRankBank, Task, Array],
        warm: Fitted | None,
        observe: Observer,
    ) -> Learned:
        """From the weights for a sample on."""
        if warm is None and self.scaling == "trace" and self.mode == "certified":
            few, own, _ = sample
            found = rls2(
                few,
                own.target,
                self.alpha,
                scaling_factors(self.scaling, few, own.target, None, own.sample_weight),
                tol=self.tol,
                max_iter=self.max_iter,
                sample_weight=own.sample_weight,
            )
            warm = Fitted(own.rows, *found)
        return super()._learn_sums(bank, task, held, sample, warm, observe)
