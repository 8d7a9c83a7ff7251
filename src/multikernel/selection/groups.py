"""Candidates of a search that share their kernels and the steps before, and therefore a bank."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sklearn.base import clone

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.protocol import FitsManyAlphas, Fitted
from multikernel.estimators.steps import Steps
from multikernel.persistence.checkpoint import Checkpoint
from multikernel.persistence.digest import digest
from multikernel.selection.table import Scored


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates that share their kernels and the steps that samples pass before.

    Parameters
    ----------
    members : the numbers of the candidates
    steps : the estimator with the shared parameters, and the steps before it
    member_params : for each member its other parameters, as the estimator names them
    """

    members: list[int]
    steps: Steps
    member_params: list[dict[str, Any]]

    def models(self) -> list[Any]:
        """An estimator for each candidate."""
        shared = clone(self.steps.last)
        models = []
        names = shared.get_params(deep=False).keys()
        for params in self.member_params:
            if params.keys() <= names:
                model = copy(shared)
                vars(model).update(params)  # as set_params, which first reads all parameters and is slow
            else:  # a nested parameter, in a value that copies would share, or one that does not exist
                model = clone(shared).set_params(**params)
            model.check_parameters()
            models.append(model)
        return models

    @property
    def only_alpha(self) -> bool:
        """Whether the candidates differ in alpha alone, and the estimator can fit many values of it together."""
        names = {name for params in self.member_params for name in params}
        numbers = not any(isinstance(params.get("alpha"), str) for params in self.member_params)
        return (
            names == {"alpha"}
            and numbers
            and len(self.member_params) > 1
            and isinstance(self.steps.last, FitsManyAlphas)
        )

    def fitted(
        self, inner: KernelBank, y: Array, checkpoint: Checkpoint, groups: Array | None = None
    ) -> Iterator[tuple[Any, float]]:
        """Every candidate fitted on one bank, with its seconds.

        Kernels are used as stored, also in single precision: a candidate is only scored, and the best one is certified
        with every entry in double precision when it is fitted to all samples.
        """
        models = self.models()
        start = perf_counter()
        if self.only_alpha:
            fits = models[0].fit_along(inner, y, [model.alpha for model in models])
            for model, fitted in zip(models, fits, strict=True):
                model.publish(inner, [fitted], single=True)
                yield model, (perf_counter() - start) / len(models)
            return
        earlier: list[Fitted] = []
        for number, model in enumerate(models, 1):
            start = perf_counter()
            member_checkpoint = checkpoint.under(f"candidate {number}")
            held_out = model.resampling(groups, y)
            earlier = model.fit_bank(inner, y, earlier, exact=False, checkpoint=member_checkpoint, resampling=held_out)
            yield model, perf_counter() - start


@dataclass(frozen=True, eq=False)
class SearchedGroup:
    """The results of a group on the folds.

    Parameters
    ----------
    folds : for each fold, the scores of the candidates
    kernels : int, the number of kernels
    bound : the fitted steps before, the estimator, the bank of all samples and the target; None where each fold had a
        separate bank
    checkpoint : Checkpoint of the finished parts of this group
    """

    folds: list[list[Scored]]
    kernels: int
    bound: tuple[Any, KernelEstimator, KernelBank, Array] | None
    checkpoint: Checkpoint


def groups_of(estimator: Any, candidates: list[dict[str, Any]]) -> list[Group]:
    """The groups of candidates with equal kernels and equal steps before.

    Parameters
    ----------
    estimator : as ``BankSearchCV`` takes it
    candidates : dicts of its parameters
    """
    steps = Steps.of(estimator, "BankSearchCV searches")
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for c, params in enumerate(candidates):
        shared = {name: value for name, value in params.items() if steps.name_in_last_step(name) is None}
        for group_params, members in groups:
            if _equal_params(group_params, shared):
                members.append(c)
                break
        else:
            groups.append((shared, [c]))
    groups_with_steps = []
    for shared, members in groups:
        member_params = [
            {str(steps.name_in_last_step(n)): v for n, v in candidates[c].items() if n not in shared} for c in members
        ]
        changed = Steps.of(clone(estimator).set_params(**shared), "BankSearchCV searches")
        groups_with_steps.append(Group(members, changed, member_params))
    return groups_with_steps


def _equal_params(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether parameters have equal values."""
    return first.keys() == second.keys() and all(
        value is second[name] or _same_contents(value, second[name]) for name, value in first.items()
    )


def _same_contents(first: Any, second: Any) -> bool:
    """Whether two values have the same contents; values whose contents cannot be compared count as different."""
    if type(first) is not type(second):
        return False
    try:
        return digest(first) == digest(second)
    except TypeError:
        return False
