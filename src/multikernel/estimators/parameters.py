"""Parameters that only estimators have, and weights of samples, checked with one sentence for each mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.utils import check_random_state

from multikernel._arrays import host
from multikernel._parameters import NON_NEGATIVE, POSITIVE, WITHIN_ONE
from multikernel._rules import AnyOf, Choice, Rule, Whole
from multikernel._typing import Array
from multikernel.banks.checks import numbers


@dataclass(frozen=True)
class FoldsRule(Rule):
    """The values from which scikit-learn makes folds."""

    words = "an integer >= 2, a splitter, or pairs of training and test rows"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping):
            return False
        iterable = isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0
        nonempty = iterable and not (isinstance(value, Sized) and len(value) == 0)
        return Whole(2).accepts(value) or hasattr(value, "split") or nonempty


@dataclass(frozen=True)
class ClassWeights(Rule):
    """Factors of the losses of each class."""

    words = "'balanced' or a dict of numbers >= 0 by class"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return all(map(NON_NEGATIVE.accepts, value.values()))
        return isinstance(value, str) and value == "balanced"


AUTO = Choice(("auto",))  # chosen by the fit
PositiveOrAuto = Annotated[Any, AnyOf((POSITIVE, AUTO))]
NonNegativeOrAuto = Annotated[Any, AnyOf((NON_NEGATIVE, AUTO))]
WithinOneOrAuto = Annotated[Any, AnyOf((WITHIN_ONE, AUTO))]
CrossValidation = Annotated[Any, FoldsRule()]
ClassWeight = Annotated[Any, ClassWeights()] | None


def is_feature(value: Any) -> bool:
    """Whether a value names a feature: a string, or a whole number."""
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def drawn_seed(random_state: Any) -> int:
    """A seed from the parameter ``random_state`` of an estimator; from a generator a different one in each call."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def seed_of(model: Any) -> int:
    """A seed for drawing landmarks and rows; without ``random_state`` always the same."""
    return drawn_seed(getattr(model, "random_state", None) or 0)


def checked_weights(sample_weight: Any, n: int) -> Array | None:
    """Weights of n samples; None where all are 1.

    Raises
    ------
    ValueError : for a wrong shape, a negative number, a NaN or infinity, and where their sum is zero or infinite
    """
    if sample_weight is None:
        return None
    weight = numbers(host(sample_weight), "sample_weight")
    if weight.shape != (n,) or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise ValueError(
            f"sample_weight must be {n} finite numbers >= 0, and not every weight zero; got shape {weight.shape}"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError("sample_weight must have a finite sum, and it overflows: divide the weights by a number")
    return weight
