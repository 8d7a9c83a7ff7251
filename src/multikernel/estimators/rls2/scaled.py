"""The scaling of kernels, which all RLS2 estimators share: the learned weights are those of the scaled kernels.

The predictor's kernel is sum_k d_k s_k K_k, with the learned weights d and factors s that ``scaling`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.binding import is_given
from multikernel.estimators.protocol import Fitted, Learned, Learner, Task
from multikernel.estimators.ridge_model import RidgeModel
from multikernel.estimators.samples import samples_of
from multikernel.estimators.search import Samples, Search, names_of, ridges
from multikernel.procedures.rls2 import ScaledWeights, scaling_factors


def learner(model: ScaledModel, bank: KernelBank, target: Array, X: Any, fit_arguments: dict[str, Any]) -> Learner:
    """The learner of all problems of a fit, which share the self-values of the unlabeled inputs."""
    unlabeled = fit_arguments.get("unlabeled")
    unlabeled_sums = None
    if unlabeled is not None and model.scaling != "transductive":
        raise ValueError(
            f"{type(model).__name__}: unlabeled inputs are used with scaling='transductive' only, and scaling is "
            f"{model.scaling!r}"
        )
    if unlabeled is not None:
        unlabeled_sums = _self_values(model, bank, X, unlabeled).sum(axis=1)
    learn: Callable[..., Learned] = model._method.learn
    return partial(learn, unlabeled_sums=unlabeled_sums)


def _self_values(model: ScaledModel, bank: KernelBank, X: Any, unlabeled: Any) -> Array:
    """k_k(x, x) of the unlabeled inputs, shape (m, n_u): evaluated, or given by the user who also gives kernels."""
    if not is_given(model, X):
        return bank.self_values(samples_of(model, unlabeled))
    values = np.asarray(unlabeled, dtype=float)
    if values.ndim != 2 or len(values) != len(bank) or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(
            f"{type(model).__name__}: beside a bank or precomputed kernels, unlabeled are the self-values "
            f"k_k(x, x) >= 0 of the further inputs, shape ({len(bank)}, n_u); got shape {values.shape}"
        )
    return values


def factors(model: ScaledModel, bank: KernelBank, task: Task, unlabeled_sums: Array | None) -> Array:
    """The factor s of every kernel; ``unlabeled_sums`` has the sum of its self-values over the unlabeled inputs."""
    if model.scaling == "transductive" and unlabeled_sums is None:
        raise ValueError(
            f"{type(model).__name__}: scaling='transductive' needs the further inputs, fit(X, y, unlabeled=...); "
            "for a path or a search scale the bank itself, bank.scaled(factors), and use scaling='none'"
        )
    rule = "trace" if model.scaling == "norm" else model.scaling
    return scaling_factors(rule, bank, task.target, unlabeled_sums, task.sample_weight)


def _candidates(model: ScaledModel, name: str, samples: Samples) -> Array:
    """Candidates of alpha: multiples of the scaled kernels' mean self-value, which is 1 / n for kernels of trace 1."""
    if model.scaling == "none":
        return ridges(samples.size)
    return ridges(1.0 / float(samples.weight_of_each.sum()))


def unscaled(model: ScaledModel, bank: KernelBank) -> KernelBank | None:
    """The bank where kernels are not scaled, so that their sizes matter; else None."""
    if model.scaling == "none":
        return bank
    return None


def _scaling(fitted: Fitted) -> Array:
    return cast(Array, cast(ScaledWeights, fitted.weights).scaling)


def scaled_weights(model: ScaledModel, fitted: Fitted) -> Array:
    """The weights d_k s_k of the kernels in the predictor."""
    return fitted.weights.values * _scaling(fitted)


def publish_scaling(model: ScaledModel, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    """Set ``scaling_``."""
    scaling = np.stack([_scaling(f) for f in fitted])
    model.scaling_ = scaling[0] if single else scaling


SEARCH = Search(names=names_of("alpha"), candidates=_candidates)


class ScaledModel(RidgeModel):
    """The two layers of a fitted model."""

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
        contributions = self.contributions(X)
        root = np.sqrt(self.weights_ * self.scaling_).T
        if contributions.ndim > root.ndim + 1:
            root = root[:, None]
        positive = np.broadcast_to(root > 0, contributions.shape)
        return np.divide(contributions, root, out=np.zeros_like(contributions), where=positive)

    def kernel(self, X: Any, Z: Any = None) -> Array:
        """The kernel of both layers, sum_k s_k g_k(x) g_k(z) of the functions g_k of the first layer.

        That is the kernel of the second layer at the outputs of the first. ``kernel_matrix`` is sum_k d_k s_k K_k:
        ridge regression with that kernel is the same function.

        Parameters
        ----------
        X, Z : as for ``first_layer``; Z is X by default

        Returns
        -------
        array (len(X), len(Z)), or (len(X), len(Z), problems)
        """
        outputs = self.first_layer(X)
        outputs_of_Z = outputs if Z is None else self.first_layer(Z)
        if outputs.ndim == 2:
            return np.asarray((outputs * self.scaling_) @ outputs_of_Z.T)
        scaling = np.broadcast_to(np.atleast_2d(self.scaling_).T, outputs.shape[1:])
        return np.einsum("ikp,kp,jkp->ijp", outputs, scaling, outputs_of_Z)
