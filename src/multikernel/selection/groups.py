"""Candidates of a search that share their kernels and what is done to samples before, and so a bank."""

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
    """Candidates that share their kernels and what is done to samples before.

    Parameters
    ----------
    members : the candidates by number
    steps : the estimator with what they share
    own : for each of them, its other parameters, as the estimator names them
    """

    members: list[int]
    steps: Steps
    own: list[dict[str, Any]]

    def models(self) -> list[Any]:
        """An estimator for each candidate."""
        shared = clone(self.steps.last)
        found = []
        known = shared.get_params(deep=False).keys()
        for params in self.own:
            if params.keys() <= known:
                model = copy(shared)
                vars(model).update(params)  # as set_params does, which looks at all parameters first
            else:  # a parameter in a value that copies share, or one that does not exist
                model = clone(shared).set_params(**params)
            model.check_parameters()
            found.append(model)
        return found

    @property
    def only_alpha(self) -> bool:
        """Whether they differ in alpha alone, and the estimator can fit many of them together."""
        names = {name for params in self.own for name in params}
        numbers = not any(isinstance(each.get("alpha"), str) for each in self.own)
        return names == {"alpha"} and numbers and len(self.own) > 1 and isinstance(self.steps.last, FitsManyAlphas)

    def fitted(
        self, inner: KernelBank, y: Array, checkpoint: Checkpoint, groups: Array | None = None
    ) -> Iterator[tuple[Any, float]]:
        """Every candidate fitted on one bank, with its seconds.

        On the kernels as they are stored: a candidate is scored and forgotten, and the best one is certified with every
        entry in double precision when it is fitted to all samples.
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
            kept = checkpoint.under(f"candidate {number}")
            held_out = model.resampling(groups, y)
            earlier = model.fit_bank(inner, y, earlier, exact=False, checkpoint=kept, resampling=held_out)
            yield model, perf_counter() - start


@dataclass(frozen=True, eq=False)
class SearchedGroup:
    """What a group did on the folds.

    Parameters
    ----------
    folds : for each fold, its candidates
    kernels : int
    bound : the fitted steps before, the estimator, the bank of all samples and the target; None where each fold had a
        bank of its own
    checkpoint : where the parts of this group are kept
    """

    folds: list[list[Scored]]
    kernels: int
    bound: tuple[Any, KernelEstimator, KernelBank, Array] | None
    checkpoint: Checkpoint


def groups_of(estimator: Any, candidates: list[dict[str, Any]]) -> list[Group]:
    """Candidates with equal kernels and equal steps before.

    Parameters
    ----------
    estimator : as ``BankSearchCV`` takes it
    candidates : dicts of its parameters
    """
    steps = Steps.of(estimator, "BankSearchCV searches")
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for c, params in enumerate(candidates):
        shared = {name: value for name, value in params.items() if steps.own(name) is None}
        for known, members in groups:
            if _equal(known, shared):
                members.append(c)
                break
        else:
            groups.append((shared, [c]))
    found = []
    for shared, members in groups:
        own = [{str(steps.own(n)): v for n, v in candidates[c].items() if n not in shared} for c in members]
        changed = Steps.of(clone(estimator).set_params(**shared), "BankSearchCV searches")
        found.append(Group(members, changed, own))
    return found


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether parameters have equal values."""
    return one.keys() == other.keys() and all(
        value is other[name] or _alike(value, other[name]) for name, value in one.items()
    )


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are made of the same; those that do not show what they are made of count as different."""
    if type(one) is not type(other):
        return False
    try:
        return digest(one) == digest(other)
    except TypeError:
        return False
