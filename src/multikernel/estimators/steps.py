"""Pipelines that end in an estimator of this package: the steps that samples go through before kernels are bound.

Steps that learn from the samples (a scaler) are fitted again for each fold, which then has a separate bank. Steps that
learn nothing (a row-wise normalisation) are applied once, and all folds share one bank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.learned_kernel import called


@dataclass(frozen=True, eq=False)
class Steps:
    """A pipeline whose last step is an estimator of this package, or such an estimator alone.

    Parameters
    ----------
    before : the pipeline of the other steps; None where there are none
    last : the estimator
    name : str, its name in the pipeline; empty where it is alone
    """

    before: Pipeline | None
    last: KernelEstimator
    name: str

    @classmethod
    def of(cls, estimator: Any, asks: str) -> Steps:
        """The steps of an estimator; ``asks`` begins the error message, as "path follows" does.

        Raises
        ------
        TypeError : where the estimator is not one of this package, nor a pipeline that ends in one
        """
        last = estimator
        ends = ""
        if isinstance(estimator, Pipeline):
            last = estimator.steps[-1][1]
            ends = f"{type(estimator).__name__} that ends in "
        if not isinstance(last, KernelEstimator):
            raise TypeError(
                f"{asks} estimators of multikernel, alone or at the end of a Pipeline, got {ends}{called(last)}"
            )
        if last is estimator:
            return cls(None, last, "")
        before = estimator[:-1] if len(estimator.steps) > 1 else None
        return cls(before, last, estimator.steps[-1][0])

    @property
    def once(self) -> bool:
        """Whether no step learns from the samples."""
        if self.before is None:
            return True
        return not any(get_tags(step).requires_fit for step in self._learners)

    @property
    def _learners(self) -> list[Any]:
        assert self.before is not None
        return [step for _, step in self.before.steps if step is not None and not isinstance(step, str)]

    def name_in_last_step(self, name: str) -> str | None:
        """The name of a parameter in the last step if models that differ in it can share a bank, else None."""
        if self.name:
            step_name, _, name = name.partition("__")
            if step_name != self.name or not name:
                return None
        if self.share_a_bank(name):
            return name
        return None

    def share_a_bank(self, name: str) -> bool:
        """Whether models that differ in this parameter of the last step can share a bank, and start from each other."""
        return name.split("__")[0] not in self.last._bank_parameters

    def applied(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        """The samples, transformed by the steps before the last one, and these steps, fitted to the samples."""
        if self.before is None:
            return X, None
        before = clone(self.before)
        return before.fit_transform(X, y), before

    def joined(self, before: Any, model: Any) -> Any:
        """The pipeline of fitted steps and a fitted model; the model itself where there is no pipeline."""
        return joined(before, self.name, model)


def joined(before: Any, name: str, model: Any) -> Any:
    """The pipeline of steps, which may be None, and a model; the model itself where its name is empty."""
    if not name:
        return model
    steps = [] if before is None else before.steps
    return Pipeline([*steps, (name, model)])
