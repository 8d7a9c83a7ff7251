"""What the regressor and the classifier with learned scales share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from multikernel._linalg import as_columns
from multikernel._parameters import Count, NonNegative, Positive, Seed, Verbosity
from multikernel._rules import shown
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.cost import BankCost
from multikernel.banks.products import ColumnProductsBank
from multikernel.banks.threads import one_blas_thread
from multikernel.combinations import Profiles
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeModel
from multikernel.estimators.scales.published import published
from multikernel.kernels import DistanceKernel, KernelFamily, Kernels, Matern
from multikernel.kernels.table import with_missing
from multikernel.machines import RidgeMachine
from multikernel.observer import Observer
from multikernel.procedures.forecast import Cost
from multikernel.procedures.forecast import learned_scales as learned_scales_cost
from multikernel.procedures.learned_scales import LearnedScales, learned_scales
from multikernel.procedures.ridge_cv import Folds
from multikernel.procedures.ridge_cv.residuals import HeldOut
from multikernel.procedures.units import MachineUnits, spread
from multikernel.tuning import SCALES_ONE_THREAD


@dataclass(eq=False, repr=False, kw_only=True)
class LearnedScalesEstimator(RidgeModel):
    """Kernels of a distance, a scale in them for each feature; subclasses have the target."""

    _on_arrays: ClassVar[bool] = False
    _own_folds: ClassVar[bool] = True

    kernels: Any = field(default=None, kw_only=False)
    metric: Literal["diagonal", "full"] | Count = "diagonal"
    shared_scales: bool = False
    groups: Sequence[Sequence[int | str]] | None = None
    cv: CrossValidation | Literal["loo"] = 5
    penalty: NonNegative | None = None
    fit_intercept: bool = True
    tol: Positive = 1e-2
    max_iter: Count = 100
    random_state: Seed = 0
    verbose: Verbosity = 0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn the scales, the kernel weights, the ridge and the function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a square KernelBank of distances
        y : targets of shape (n,) or (n, t), or labels of shape (n,)
        sample_weight : array (n,) >= 0, what the squared error of each sample is multiplied with
        groups : array (n,), the group of each sample: folds hold out whole groups. The parameter ``groups`` is of
            features
        """
        return self._fit(X, y, sample_weight, groups)

    def check_parameters(self) -> None:
        super().check_parameters()
        combination = self._combination()
        if self._has_metric and (combination.kernels[0].degree != 2 or self.groups is not None):
            raise ValueError(
                f"{type(self).__name__}: metric={self.metric!r} needs kernels of squared differences, RBF() or "
                f"Matern() say, and groups=None; got {list(combination.kernels)!r} and groups={shown(self.groups)}"
            )
        if self.groups is not None and not _names_groups(self.groups):
            raise ValueError(
                f"{type(self).__name__}: groups must be None or a list of lists of one or more features, each a whole "
                f"number or a name, got {shown(self.groups)}"
            )

    @property
    def _has_metric(self) -> bool:
        return self.metric != "diagonal"

    def _default_kernels(self) -> KernelFamily:
        return Kernels((Matern(nu=1.5),))

    def _combination(self) -> Profiles:
        """The kernels' own widths do not matter: the scales hold them."""
        name = type(self).__name__
        if self._is_precomputed():
            raise ValueError(f"{name} learns scales inside kernels of samples, and takes no {self.kernels!r} matrices")
        one = np.zeros((1, 1))  # a sample on which every rule for a width finds 1
        found = [kernel.learned(one) for kernel in self._family() if isinstance(kernel, DistanceKernel)]
        if len(found) < len(self._family()):
            raise ValueError(
                f"{name}: kernels must be kernels of a distance on all features, RBF(), Laplacian() or Matern() say, "
                f"got {list(self._family())!r}"
            )
        if len({kernel.degree for kernel in found}) > 1:
            raise ValueError(f"{name}: kernels must be of one distance, got {found!r}; Laplacian() has its own")
        return Profiles(tuple(found), self.shared_scales)

    # -- from samples to distances -------------------------------------------------------------------------------------

    def _given(self, X: Any) -> KernelBank:
        if not (isinstance(X, KernelBank) and X.square and X.of_distances):
            raise ValueError(
                f"{type(self).__name__} takes samples, or a square bank of distances (bank.distances()): scales cannot "
                "be learned inside kernels that are computed already"
            )
        if self._has_metric:
            raise ValueError(f"{type(self).__name__}: metric={self.metric!r} needs samples; use 'diagonal' for a bank")
        self.kernel_names_ = np.array([repr(kernel) for kernel in self._combination().kernels], dtype=object)
        return X

    def _bound(self, X: Any) -> KernelBank:
        kernels = self._combination().kernels
        self.kernel_names_ = np.array([repr(kernel) for kernel in kernels], dtype=object)
        if self._has_metric:
            return ColumnProductsBank.of(X)
        return ColumnDistancesBank.of(X, kernels[0].degree, self._owner(X))

    def _against(self, Z: Any) -> KernelBank:
        reference: Any = cast(KernelPredictor, self.predictor_).reference
        return replace(reference, Z=reference.columns.numbers(Z))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        return super()._bind(with_missing(X), y, **checks)

    def _samples(self, X: Any, reset: bool = False) -> Any:
        return super()._samples(with_missing(X), reset)

    def _check_complete(self, samples: Any) -> None:
        """Missing cells have distances of their own."""

    def _owner(self, X: Any) -> Array:
        """The group of each feature; those that ``groups`` does not name have one each, after the named ones."""
        p = X.shape[1]
        owner = np.full(p, -1)
        for k, columns in enumerate(self.groups or ()):
            index = self._features(X).index(tuple(np.atleast_1d(np.asarray(columns, dtype=object))))
            if (owner[list(index)] >= 0).any():
                raise ValueError(
                    f"{type(self).__name__}: groups name a feature twice, in {columns!r} for the second time"
                )
            owner[list(index)] = k
        alone = np.flatnonzero(owner < 0)
        owner[alone] = len(self.groups or ()) + np.arange(len(alone))
        return owner

    # -- learning ------------------------------------------------------------------------------------------------------

    def _tasks(self, target: Array, sample_weight: Array | None) -> list[Task]:
        return [Task(np.arange(len(target)), target, sample_weight)]  # folds are of all samples, also of weight zero

    def _cost(self, bank: BankCost, task: Task) -> Cost:
        return learned_scales_cost(bank, len(self._combination().kernels))

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        combination, Y = self._combination(), as_columns(task.target)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        held_out = HeldOut(Y, self._folds(task, seed), self.fit_intercept)
        with one_blas_thread(len(Y), SCALES_ONE_THREAD):
            found = learned_scales(
                bank,
                combination,
                held_out,
                self.penalty,
                self.tol,
                self.max_iter,
                seed,
                observe,
                task.sample_weight,
                rank=int(self.metric) if isinstance(self.metric, int | np.integer) else None,
            )
            unit, machine = spread(task.target), RidgeMachine(found.alpha, self.fit_intercept)
            gram = combination.gram(bank, found.theta)
            solution = machine.solve(gram, task.target / unit, sample_weight=task.sample_weight)
            return found, MachineUnits(machine, 1.0, unit, coef=unit).solution(solution)

    def _folds(self, task: Task, seed: int) -> Folds:
        """A number of folds is one of shuffled folds, each with as many samples of a class as the others."""
        labels = self._labels(task.target)
        if task.resampling.given is not None:
            return Folds.of(task.resampling.given, len(labels), labels)
        count = len(labels) if isinstance(self.cv, str) else int(self.cv)
        folds = task.resampling.drawn(labels, count, np.random.default_rng(seed))
        return Folds(folds, int(folds.max()) + 1)

    @abstractmethod
    def _labels(self, target: Array) -> Array:
        """The classes of the samples, shape (n,)."""

    # -- after fitting -------------------------------------------------------------------------------------------------

    def _ridge(self, fitted: Fitted) -> float:
        return cast(LearnedScales, fitted.weights).alpha

    def _kernel_weights(self, fitted: Fitted) -> Array:
        return cast(LearnedScales, fitted.weights).theta

    def publish(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        super().publish(bank, fitted, single)
        found = cast(LearnedScales, fitted[0].weights)
        for name in {"kernel_", "metric_", "metric_features_"} & set(vars(self)):  # of an earlier fit
            delattr(self, name)
        for name, value in published(bank, self._combination(), found).items():
            setattr(self, name, value)
        self.alpha_ = found.alpha
        self.cv_loss_ = found.objective
        self.penalty_ = found.penalty
        self.cv_loss_outer_ = found.outer
        self.cv_loss_equal_ = found.equal
        self.cv_loss_constant_ = found.constant

    def plot_scales(self, ax: Any = None) -> Any:
        """The relative scales of the features (the 40 largest), in logarithms; needs matplotlib. Returns the axes.

        Parameters
        ----------
        ax : axes of matplotlib; new ones by default
        """
        import matplotlib.pyplot as plt

        check_is_fitted(self)
        scales = np.atleast_2d(self.relative_scales_)
        names = getattr(self, "feature_names_in_", [f"feature {j}" for j in range(scales.shape[1])])
        shown = np.argsort(-scales.max(axis=0), kind="stable")[:40]
        shown = shown[scales[:, shown].max(axis=0) > 0]
        if ax is None:
            _, ax = plt.subplots(figsize=(6, 0.8 + 0.24 * len(shown)), layout="constrained")
        for own, name in zip(scales, self.kernel_names_, strict=True):
            ax.plot(own[shown], np.arange(len(shown)), "o", label=str(name))
        ax.set_yticks(np.arange(len(shown)), [str(names[j]) for j in shown])
        ax.set_xscale("log")
        ax.invert_yaxis()
        ax.grid(axis="x", alpha=0.3)
        most = "" if len(shown) == scales.shape[1] else f" (the {len(shown)} largest)"
        ax.set_xlabel(f"scale times the mean distance in the feature{most}")
        if len(scales) > 1:
            ax.legend(fontsize="small")
        return ax


def _names_groups(groups: Any) -> bool:
    """Whether these are lists of lists of whole numbers and names, of one or more of them each."""
    return _is_list(groups) and all(_is_list(each) and len(each) and all(map(_is_feature, each)) for each in groups)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _is_feature(value: Any) -> bool:
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)
