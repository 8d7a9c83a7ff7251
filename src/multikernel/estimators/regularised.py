"""Parameters that regularise and may be "auto": what an estimator says of them, and how they are searched."""

from __future__ import annotations

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.estimators.chosen import Fold, Samples, whole_fit
from multikernel.estimators.protocol import Learner


class Regularised:
    """An estimator with parameters that regularise."""

    def _regularises(self) -> tuple[str, ...]:
        """The parameters that regularise, and may be "auto"."""
        return ()

    def _searched(self) -> tuple[str, ...]:
        """Those of them that are searched by held-out error where they are "auto"."""
        return self._regularises()

    def _by_rule(self, whole: Samples) -> dict[str, float]:
        """The values of those that are "auto" and are not searched by held-out error."""
        return {}

    def _candidates(self, name: str, whole: Samples) -> Array:
        """The values to search, the simplest model first; as many whatever the bank."""
        raise NotImplementedError(f"{type(self).__name__} has no candidates for {name}")

    def _fold(self, name: str, learn: Learner, train: Samples, test: Samples) -> Fold:
        """How candidates are tried on one fold; ``test`` holds its samples against those of ``train``."""
        return whole_fit(self, name, learn, train, test)

    def _loss_weight(self, target: Array, sample_weight: Array | None) -> Array | None:
        """What the loss of each sample is multiplied with."""
        return sample_weight

    def _losses(self, values: Array, truth: Array) -> Array:
        """The held-out loss of each sample, shape (n,), for function values of shape (n, problems)."""
        return ((values - as_columns(truth)) ** 2).sum(axis=1)

    def _numbers(self) -> dict[str, float]:
        """The regularisation, where numbers are in the place of "auto"."""
        return {name: getattr(self, name) for name in self._regularises()}
