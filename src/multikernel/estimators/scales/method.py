"""The method of estimators that learn scales inside kernels of a distance, with kernel ridge regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._linalg import as_columns
from multikernel._memory import available_memory
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.cost import BankCost
from multikernel.banks.products import ColumnProductsBank
from multikernel.banks.threads import one_blas_thread
from multikernel.combinations import Profiles
from multikernel.estimators.advice import advise_on_far_values
from multikernel.estimators.binding import Binder, Binding, is_precomputed
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import drawn_seed, is_feature
from multikernel.estimators.posterior import Posterior, posterior_of
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeModel
from multikernel.estimators.samples import family_of, features_of
from multikernel.estimators.scales.published import published
from multikernel.kernels import DistanceKernel, KernelFamily, Kernels, Matern
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.machines.ridge.centres import CentresSolution
from multikernel.observer import Observer
from multikernel.procedures.centres import CENTRES, MANY
from multikernel.procedures.forecast import Cost, scales_by_all, scales_by_centres
from multikernel.procedures.forecast import learned_scales as learned_scales_cost
from multikernel.procedures.learned_scales import LearnedScales, learned_scales
from multikernel.procedures.learned_scales.many_samples import scales_of_many
from multikernel.procedures.learned_scales.posed import PosedScales
from multikernel.procedures.ridge_cv import Folds
from multikernel.procedures.ridge_cv.residuals import HeldOut
from multikernel.procedures.units import MachineUnits, spread
from multikernel.tuning import SCALES_ONE_THREAD

# -- parameters --------------------------------------------------------------------------------------------------------


def check(model: ScalesModel) -> None:
    """ValueError for kernels without a scale inside, for invalid groups of features, and for unsuitable losses."""
    name = type(model).__name__
    combination = profiles(model)
    if _has_metric(model) and (combination.kernels[0].degree != 2 or model.groups is not None):
        raise ValueError(
            f"{name}: metric={model.metric!r} needs kernels of squared differences, RBF() or Matern() say, and "
            f"groups=None; got {list(combination.kernels)!r} and groups={abbreviated(model.groups)}"
        )
    if model.groups is not None and not _names_groups(model.groups):
        raise ValueError(
            f"{name}: groups must be None or a list of lists of one or more features, each a whole number or a name, "
            f"got {abbreviated(model.groups)}"
        )

    if model.approximation == "nystroem" and len(combination.kernels) > 1:
        raise ValueError(
            f"{name}: approximation='nystroem' learns scales inside one kernel, got {len(combination.kernels)} "
            "kernels: give one of them, or approximation=None"
        )
    if has_logistic_loss(model) and model.approximation is None:
        raise ValueError(
            f"{name}: loss='logistic' is on the kernels of centres: give approximation='nystroem', or loss='squared'"
        )
    if has_logistic_loss(model) and (len(combination.kernels) > 1 or model.probability is not None):
        raise ValueError(
            f"{name}: loss='logistic' takes one kernel, and has probabilities that need no calibration; got "
            f"{len(combination.kernels)} kernels and probability={model.probability!r}"
        )


def has_logistic_loss(model: ScalesModel) -> bool:
    """Whether the function is trained with logistic losses, so that its values are log odds."""
    return bool(getattr(model, "loss", "squared") == "logistic")


def through_centres(model: ScalesModel, n: int) -> bool:
    """Whether a fit to n samples uses kernels of centres instead of kernels of all samples."""
    if model.approximation != "auto" or has_logistic_loss(model):
        return model.approximation is not None
    matrices = learned_scales_cost(BankCost.evaluated(1, n), len(profiles(model).kernels)).bytes
    return len(profiles(model).kernels) == 1 and (n > MANY or matrices > 0.5 * available_memory())


def _has_metric(model: ScalesModel) -> bool:
    return bool(model.metric != "diagonal")


def _names_groups(groups: Any) -> bool:
    """Whether this is a list of nonempty lists of whole numbers and names."""
    if not _is_list(groups):
        return False
    return all(_is_list(group) and len(group) and all(map(is_feature, group)) for group in groups)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def default_kernels(model: ScalesModel) -> KernelFamily:
    """A Matern kernel of smoothness 3/2."""
    return Kernels((Matern(nu=1.5),))


def profiles(model: ScalesModel) -> Profiles:
    """The combination of the profiles of the kernels. Their widths do not matter, since scales are learned."""
    name = type(model).__name__
    if is_precomputed(model):
        raise ValueError(f"{name} learns scales inside kernels of samples, and takes no {model.kernels!r} matrices")
    family = family_of(model)
    one = np.zeros((1, 1))  # every rule for a width gives 1 for this sample
    kernels = [kernel.learned(one) for kernel in family if isinstance(kernel, DistanceKernel)]
    if len(kernels) < len(family):
        raise ValueError(
            f"{name}: kernels must be kernels of a distance on all features, RBF(), Laplacian() or Matern() say, "
            f"got {list(family)!r}"
        )
    if len({kernel.degree for kernel in kernels}) > 1:
        raise ValueError(f"{name}: kernels must be of one distance, got {kernels!r}; Laplacian() has its own")
    return Profiles(tuple(kernels), model.shared_scales)


# -- from samples to distances -----------------------------------------------------------------------------------------


def _of_given(model: ScalesModel, X: Any, binder: Binder) -> KernelBank:
    if not (isinstance(X, KernelBank) and X.square and X.of_distances):
        raise ValueError(
            f"{type(model).__name__} takes samples, or a square bank of distances (bank.distances()): scales cannot "
            "be learned inside kernels that are computed already"
        )
    if _has_metric(model):
        raise ValueError(f"{type(model).__name__}: metric={model.metric!r} needs samples; use 'diagonal' for a bank")
    if model.approximation == "nystroem" and not isinstance(X, ColumnDistancesBank):
        raise ValueError(
            f"{type(model).__name__}: approximation='nystroem' measures distances to centres in the columns of "
            "samples, and a bank of distances has none: give samples, or approximation=None"
        )
    if has_logistic_loss(model) and not isinstance(X, ColumnDistancesBank):
        raise ValueError(f"{type(model).__name__}: loss='logistic' needs samples, and got a bank of distances")
    model.kernel_names_ = np.array([repr(kernel) for kernel in profiles(model).kernels], dtype=object)
    return X


def _of_samples(model: ScalesModel, X: Any, weight: Array | None, binder: Binder) -> KernelBank:
    kernels = profiles(model).kernels
    model.kernel_names_ = np.array([repr(kernel) for kernel in kernels], dtype=object)
    if _has_metric(model):
        return ColumnProductsBank.of(X)
    return ColumnDistancesBank.of(X, kernels[0].degree, _owner(model, X))


def _against(model: ScalesModel, Z: Any) -> KernelBank:
    reference: Any = cast(KernelPredictor, model.predictor_).reference
    return cast(KernelBank, replace(reference, Z=reference.columns.numbers(Z)))


def _owner(model: ScalesModel, X: Any) -> Array:
    """The group of each feature; features that ``groups`` does not name have separate groups after the named ones."""
    owner = np.full(X.shape[1], -1)
    for k, columns in enumerate(model.groups or ()):
        index = features_of(model, X).index(tuple(np.atleast_1d(np.asarray(columns, dtype=object))))
        if (owner[list(index)] >= 0).any():
            raise ValueError(f"{type(model).__name__}: groups name a feature twice, in {columns!r} for the second time")
        owner[list(index)] = k
    alone = np.flatnonzero(owner < 0)
    owner[alone] = len(model.groups or ()) + np.arange(len(alone))
    return owner


# -- learning ----------------------------------------------------------------------------------------------------------


def _cost(model: ScalesModel, bank: BankCost, task: Task) -> Cost:
    if through_centres(model, bank.n):
        rank = min(bank.n, int(model.rank) if model.rank >= 1 else 256)
        if rank == bank.n and not has_logistic_loss(model):
            return scales_by_all(bank.n, CENTRES)
        return scales_by_centres(bank.n, rank)
    return learned_scales_cost(bank, len(profiles(model).kernels))


def _learn(
    labels_of: Callable[[Array], Array],
    model: ScalesModel,
    bank: KernelBank,
    task: Task,
    earlier: Fitted | None,
    observe: Observer,
) -> Learned:
    """Learn scales by held-out errors, then fit kernel ridge regression with these scales to all samples.

    ``labels_of`` gives the classes of the samples, of which every fold gets its share.
    """
    combination, Y = profiles(model), as_columns(task.target)
    seed = drawn_seed(model.random_state)
    labels = labels_of(task.target)
    columns = isinstance(bank, ColumnDistancesBank | ColumnProductsBank)
    if isinstance(bank, ColumnDistancesBank | ColumnProductsBank):
        advise_on_far_values(type(model).__name__, bank.X, getattr(model, "feature_names_in_", None))
    if columns and through_centres(model, len(Y)):
        return _learn_through_centres(model, bank, task, labels, seed, observe)
    folds = _folds(model, task, labels, seed)
    with one_blas_thread(len(Y), SCALES_ONE_THREAD):
        learned = learned_scales(
            bank,
            combination,
            HeldOut(Y, folds, model.fit_intercept),
            penalty=model.penalty,
            tol=model.tol,
            max_iter=model.max_iter,
            seed=seed,
            observe=observe,
            sample_weight=task.sample_weight,
            rank=_rank_of_metric(model),
        )
        unit, machine = spread(task.target), RidgeMachine(learned.alpha, model.fit_intercept)
        gram = combination.gram(bank, learned.theta)
        solution = machine.solve(gram, task.target / unit, sample_weight=task.sample_weight)
        return learned, MachineUnits(machine, 1.0, unit, coef=unit).solution(solution)


def _rank_of_metric(model: ScalesModel) -> int | None:
    if isinstance(model.metric, int | np.integer):
        return int(model.metric)
    return None


def posed_scales(model: ScalesModel, bank: Any, task: Task, labels: Array, seed: int) -> PosedScales:
    """The problem of learning scales on few of the samples of a task; ``labels`` are the classes of the samples."""
    return PosedScales(
        bank,
        profiles(model),
        as_columns(task.target),
        task.sample_weight,
        _folds(model, task, labels, seed),
        labels,
        model.fit_intercept,
        _rank_of_metric(model),
        seed,
        "logistic" if has_logistic_loss(model) else "squared",
    )


def _learn_through_centres(
    model: ScalesModel, bank: Any, task: Task, labels: Array, seed: int, observe: Observer
) -> Learned:
    """Learn scales on few samples, then fit ridge regression with kernels of centres, which alone have coefficients."""
    problem = posed_scales(model, bank, task, labels, seed)
    learned, solution = scales_of_many(problem, model.rank, model.penalty, model.tol, model.max_iter, observe)
    assert learned.centred is not None
    coef = np.zeros((len(problem.Y), solution.coef.shape[1]))
    coef[learned.centred.rows] = solution.coef
    return learned, dual_of(solution, coef, task.target.ndim == 1, learned.converged)


def dual_of(solution: CentresSolution, coef: Array, flat: bool, converged: bool) -> DualSolution:
    """A solution on centres as a DualSolution, which machines return.

    Parameters
    ----------
    solution : CentresSolution
    coef : array (n, t), the coefficients of the training samples
    flat : whether there is a single target, of shape (n,)
    converged : bool
    """
    intercept: Any = solution.intercept
    if flat:
        coef, intercept = coef[:, 0], float(intercept[0])
    gap = solution.certificate.value
    return DualSolution(
        coef=coef,
        intercept=intercept,
        value=solution.value * (1.0 - gap),
        upper=solution.value,
        factor=coef,
        gap=gap,
        converged=converged,
        n_iter=solution.n_iter,
        warm=coef,
    )


def _folds(model: ScalesModel, task: Task, labels: Array, seed: int) -> Folds:
    """The folds of a task; where ``cv`` is a number, they are shuffled and stratified by labels."""
    count = int(model.cv) if isinstance(model.cv, Integral) else len(labels)
    return Folds.held_out(task.resampling, labels, count, np.random.default_rng(seed))


# -- after fitting -----------------------------------------------------------------------------------------------------


def _ridge(model: ScalesModel, fitted: Fitted) -> float:
    return cast(LearnedScales, fitted.weights).alpha


def _kernel_weights(model: ScalesModel, fitted: Fitted) -> Array:
    return cast(LearnedScales, fitted.weights).theta


_SOMETIMES = {"kernel_", "metric_", "metric_features_", "centres_", "approximation_error_", "landmark_stationarity_"}


def _posterior(model: ScalesModel, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior | None:
    """The posterior; None for kernels of centres, where the training samples are not kept."""
    if cast(LearnedScales, fitted[0].weights).centred is None:
        return posterior_of(model, bank, fitted)
    model._samples_bound = None
    return None


def _publish(model: ScalesModel, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    learned = cast(LearnedScales, fitted[0].weights)
    for name in _SOMETIMES & set(vars(model)):  # of an earlier fit
        delattr(model, name)
    for name, value in published(bank, profiles(model), learned).items():
        setattr(model, name, value)
    model.alpha_ = learned.alpha
    model.cv_loss_ = learned.objective
    model.penalty_ = learned.penalty
    model.cv_loss_outer_ = learned.outer
    model.cv_loss_equal_ = learned.equal
    model.cv_loss_constant_ = learned.constant
    if learned.centred is not None:
        model.centres_ = learned.centred.rows
        model.approximation_error_ = np.array([learned.centred.error])
        reached = learned.centred.certificate
        if reached is None:
            model.landmark_stationarity_ = np.nan
        else:
            model.landmark_stationarity_ = reached.value


def scales_method(labels_of: Callable[[Array], Array], from_source: Callable[[Any, Any], None]) -> Method:
    """The method of an estimator whose folds are stratified by these classes."""
    return Method(
        learn=partial(_learn, labels_of),
        cost=_cost,
        binding=Binding(
            default_kernels=default_kernels,
            of_samples=_of_samples,
            of_given=_of_given,
            against=_against,
            missing_cells=True,
            foreign_arrays=False,
        ),
        combination=profiles,
        kernel_weights=_kernel_weights,
        publish=_publish,
        ridge=_ridge,
        posterior=_posterior,
        check=check,
        from_source=from_source,
        log_odds=has_logistic_loss,
        holds_samples_out=True,
    )


class NotOfCentres(ValueError, AttributeError):
    """A quantity is not known for kernels of centres; an AttributeError, too, so that ``hasattr`` is False."""


class ScalesModel(RidgeModel):
    """A fitted model with scales."""

    _bank_parameters: ClassVar[tuple[str, ...]] = ("kernels", "metric", "groups")

    @property
    def _checked_posterior(self) -> Posterior:
        check_is_fitted(self)
        if hasattr(self, "centres_"):
            raise NotOfCentres(
                f"{type(self).__name__}: standard deviations, degrees of freedom and criteria follow from the kernel "
                "of all training samples, and this model has one of centres: fit one with approximation=None"
            )
        return super()._checked_posterior

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
        drawn = np.argsort(-scales.max(axis=0), kind="stable")[:40]
        drawn = drawn[scales[:, drawn].max(axis=0) > 0]
        if ax is None:
            _, ax = plt.subplots(figsize=(6, 0.8 + 0.24 * len(drawn)), layout="constrained")
        for scales_of_kernel, name in zip(scales, self.kernel_names_, strict=True):
            ax.plot(scales_of_kernel[drawn], np.arange(len(drawn)), "o", label=str(name))
        ax.set_yticks(np.arange(len(drawn)), [str(names[j]) for j in drawn])
        ax.set_xscale("log")
        ax.invert_yaxis()
        ax.grid(axis="x", alpha=0.3)
        if len(drawn) == scales.shape[1]:
            suffix = ""
        else:
            suffix = f" (the {len(drawn)} largest)"
        ax.set_xlabel(f"scale times the mean distance in the feature{suffix}")
        if len(scales) > 1:
            ax.legend(fontsize="small")
        return ax
