"""Generalised multiple kernel learning: the parameters and the method that its estimators share.

They solve min over theta of J(K(theta)) + r(theta), with J the value of a machine, K a ``combination`` and r a penalty
or a ball. A product of Gaussians, or another profile with scales inside, is learned on squared distances

    D(x, z) = k(x, x) - 2 k(x, z) + k(z, z),

for which the self-values k(x, x) of new samples are needed, too. These are known where new samples are samples, or rows
of a bank of distances, but not where they are rows of a bank of kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from sklearn.utils import check_random_state

from multikernel._parameters import (
    Count,
    NonNegative,
    NonNegativeVector,
    Part,
    Positive,
    Power,
    Seed,
    Starts,
    Verbosity,
)
from multikernel._rules import Choice, Number, abbreviated
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.cost import BankCost
from multikernel.banks.rows import BankRows
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF, ScaledProfile
from multikernel.domains import Domain, NormBall, Orthant, as_separable
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Binder, Binding, bound_samples, is_given, kernels_against
from multikernel.estimators.method import Method
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.regressor import polynomials_and_gaussians
from multikernel.estimators.samples import family_of, features_of
from multikernel.estimators.search import Samples, Search, combined_size
from multikernel.kernels import (
    DistanceKernel,
    KernelFamily,
    Matern,
    homogeneous_polynomials,
    linear_features,
)
from multikernel.machines import Machine
from multikernel.observer import Observer
from multikernel.problem import Problem
from multikernel.procedures import Start, generalized_mkl, solved_in_own_units
from multikernel.procedures.forecast import Cost, hinge, quasi_newton, support
from multikernel.procedures.generalized import central_start

_PENALTIES = Choice((1, 2), why="where no radius is given")


@dataclass(eq=False, repr=False, kw_only=True)
class GeneralizedModel(KernelEstimator):
    """The parameters of the classifier and of the regressors."""

    kernels: Any = field(default=None, kw_only=False)
    combination: Literal["linear", "polynomial", "rbf_product", "profile"] = "linear"
    profile: Any = None
    degree: Power = 2
    penalty: Positive = 1.0
    norm: Annotated[float, Number(least=1)] = 1
    radius: NonNegative | None = None
    offset: NonNegative | NonNegativeVector = 0.0
    n_init: Starts = 1
    tol: Part = 1e-4
    max_iter: Count = 1000
    random_state: Seed = None
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _bank_parameters: ClassVar[tuple[str, ...]] = (*KernelEstimator._bank_parameters, "combination", "profile")


# -- parameters --------------------------------------------------------------------------------------------------------


def _combination(model: GeneralizedModel) -> Combination:
    match model.combination:
        case "linear":
            return Linear()
        case "polynomial":
            return HadamardPower(model.degree)
        case "profile":
            return ScaledProfile(_profile(model))
    return ProductOfRBF()


def _profile(model: GeneralizedModel) -> DistanceKernel:
    if model.profile is None:
        return Matern(nu=1.5)
    return deepcopy(model.profile)


def _on_distances(model: GeneralizedModel) -> bool:
    """Whether the weights are scales of distances."""
    return model.combination in ("rbf_product", "profile")


def _domain(model: GeneralizedModel) -> Domain:
    if model.radius is not None:
        return NormBall(model.norm, model.radius, model.offset)
    return Orthant(model.penalty, cast(Literal[1, 2], model.norm))


def size_in_ball(model: GeneralizedModel, samples: Samples) -> float:
    """The size of the combined kernel in a ball; 1 with a penalty, where weights adapt to the size of the kernels."""
    if model.radius is None:
        return 1.0
    return combined_size(_combination(model), _domain(model), samples)


def _check(model: GeneralizedModel) -> None:
    if model.approximation is not None and _on_distances(model):
        raise ValueError(
            f"{type(model).__name__}: combination={model.combination!r} is learned on distances, which have no "
            "features: approximation takes combination='linear' or 'polynomial'"
        )
    if not (model.profile is None or isinstance(model.profile, DistanceKernel)):
        raise ValueError(
            f"{type(model).__name__}: profile must be None or a kernel of a distance, RBF() or Laplacian() say, got "
            f"{abbreviated(model.profile)}"
        )
    if model.radius is None:
        _PENALTIES.check(model.norm, f"{type(model).__name__}: norm")
        if np.any(model.offset):
            raise ValueError(
                f"{type(model).__name__}: offset is the centre of a ball, and there is none: give a radius, or "
                "leave the offset at 0"
            )


def _default_kernels(model: GeneralizedModel) -> KernelFamily:
    if model.combination == "polynomial":
        return homogeneous_polynomials(0, normalize=False) + linear_features()
    if _on_distances(model):
        return linear_features()
    return polynomials_and_gaussians(model)


# -- kernels or distances ----------------------------------------------------------------------------------------------


def _finished(model: GeneralizedModel, bank: KernelBank, weight: Array | None) -> KernelBank:
    if bank.of_distances and not _on_distances(model):
        raise ValueError(
            f"{type(model).__name__}: a bank of distances holds no kernel matrices, and combination="
            f"{model.combination!r} needs them; fit on the bank of kernels, or use combination='rbf_product'"
        )
    if _on_distances(model):
        return _distances(bank)
    return bank


def _of_samples(model: GeneralizedModel, X: Any, weight: Array | None, binder: Binder) -> KernelBank:
    if model.combination != "profile" or model.kernels is not None:
        return bound_samples(model, X, weight, binder)
    model.kernel_names_ = np.array(family_of(model).resolve(features_of(model, X)).names, dtype=object)
    return ColumnDistancesBank.of(X, _profile(model).degree)


def _of_new(model: GeneralizedModel, X: Any) -> Any:
    """Kernels of new samples as distances, where the weights are scales of distances."""
    if _on_distances(model) and not (isinstance(X, KernelBank) and X.of_distances):
        if isinstance(X, BankRows):
            if not X.bank.of_distances:
                X = BankRows(_distances(X.bank), X.rows)
        elif isinstance(X, KernelBank) and X.square:
            X = _distances(X)
        elif is_given(model, X):
            raise ValueError(
                f"{type(model).__name__}: kernels between new and training samples do not determine their distances; "
                "take distances = bank.distances() of a bank of all samples, fit on distances[train, train] and "
                "predict on distances[test, train]"
            )
    return X


def _against(model: GeneralizedModel, Z: Any) -> KernelBank:
    reference = cast(KernelPredictor, model.predictor_).reference
    if isinstance(reference, ColumnDistancesBank):  # distances in columns come from no kernels
        return replace(reference, Z=reference.columns.numbers(Z))
    bank = kernels_against(model, Z)
    if _on_distances(model):
        return _distances(bank)
    return bank


def _distances(bank: KernelBank) -> KernelBank:
    if bank.of_distances:
        return bank
    return bank.distances()


# -- learning ----------------------------------------------------------------------------------------------------------


def _cost(model: GeneralizedModel, bank: BankCost, task: Task) -> Cost:
    domain = as_separable(_domain(model))
    if model.combination == "linear" and domain is not None and task.target.ndim == 1:
        return support(bank, domain, model.tol)
    dense_bank = replace(bank, features=None)  # products of kernels have too many features
    return model.n_init * quasi_newton(dense_bank, hinge(dense_bank))


def _learn(
    machine: Callable[[Any], Machine],
    model: GeneralizedModel,
    bank: KernelBank,
    task: Task,
    earlier: Fitted | None,
    observe: Observer,
) -> Learned:
    problem = Problem(bank, _combination(model), machine(model), _domain(model), task.target, task.sample_weight)
    start = earlier.start if earlier else None
    return solved_in_own_units(problem, partial(_solve, model), start, observe)


def _solve(model: GeneralizedModel, problem: Problem, start: Start | None, observe: Observer) -> Learned:
    """Solve the problem in its own units."""
    return generalized_mkl(problem, model.tol, model.max_iter, _starts(model, problem, start), observe)


def _starts(model: GeneralizedModel, problem: Problem, earlier: Start | None) -> list[Start]:
    """The solution of a similar problem or the central weights, then random multiples of these weights."""
    # steps of a polynomial do not lead away from weights that are all zero
    if earlier is not None and earlier.weights.any():
        first = earlier
    else:
        first = Start(central_start(problem))
    if problem.linear or model.n_init == 1:
        return [first]
    rng = check_random_state(model.random_state)
    m = len(first.weights)
    return [first, *(Start(first.weights * rng.exponential(size=m)) for _ in range(model.n_init - 1))]


def generalized_method(machine: Callable[[Any], Machine], search: Search) -> Method:
    """The method of an estimator with this machine."""
    return Method(
        learn=partial(_learn, machine),
        cost=_cost,
        binding=Binding(
            default_kernels=_default_kernels,
            of_samples=_of_samples,
            finished=_finished,
            of_new=_of_new,
            against=_against,
        ),
        combination=_combination,
        check=_check,
        search=search,
    )
