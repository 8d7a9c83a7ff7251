"""How new samples with several views meet the kernels of one of them, whatever that view was given as.

A view is a block of features with kernels (``feature_view.py``), or kernel matrices (``matrix_view.py``). A sample that
lacks the view, all of whose cells there are missing, is completed by its other views (``completion.py``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from multikernel._rules import shortened
from multikernel._typing import Array, Index
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.indices import positions
from multikernel.banks.mapped import SampleMap
from multikernel.sources.completion import Completion
from multikernel.sources.views import Views

Binder = Callable[..., KernelBank]  # of a family and samples: ``bind_kernels``, or ``sketched`` for a forecast
Precision = Callable[[int, int], Any]  # of m kernels of n samples: that in which they are stored; None is the samples'


def own_precision(m: int, n: int) -> Any:
    """Return None: a bank stores matrices in the precision of the samples."""
    return None


@dataclass(frozen=True, eq=False)
class KnownView:
    """What is known of a view.

    Parameters
    ----------
    name : str
    labels : the kernels' names
    kernels : int array, which of the view's kernels these are; None is all of them
    completion : what stands for the view where a sample lacks it; None for kernels that are 0 there
    """

    name: str
    labels: tuple[str, ...] | None = None
    kernels: Array | None = None
    completion: Completion | None = None

    def select(self, index: Index) -> KnownView:
        """The same of some of the kernels."""
        if self.labels is None:
            return self
        chosen = positions(index, len(self.labels))
        labels = tuple(self.labels[k] for k in chosen)
        return replace(self, labels=labels, kernels=chosen if self.kernels is None else self.kernels[chosen])

    def is_absent(self, X: Views) -> bool:
        """Whether no sample has the view, which a warning says.

        Raises
        ------
        ValueError : where X has views that training had not, or the model cannot complete the view
        """
        known = () if self.completion is None else self.completion.anchors.views
        unknown = [name for name in X.names if name not in known]
        if self.name in X.names:
            if known and unknown:
                named = shortened(list(map(repr, unknown)))
                warn_user(f"views that training had not are ignored: {named}", PredictionWarning)
            return False
        trained = shortened(list(map(repr, known)))
        if not known:
            X.part(self.name)  # raises
        if unknown:
            raise ValueError(
                f"X has a view {unknown[0]!r}, and training had {trained}: give views the names that they had in "
                "training"
            )
        warn_user(
            f"view {self.name!r} is missing: it is completed by what training samples show of it beside "
            f"{shortened(list(map(repr, X.names)))}",
            PredictionWarning,
        )
        return True

    def completed_self_values(self, values: Array, present: Array, X: Views) -> Array:
        """k_k(x, x), shape (m, len(X)), of samples of which some lack the view, where the values hold 0."""
        if self.completion is None or present.all():
            return values
        warn_user(
            "standard deviations of samples that lack a view are those of its completed kernels: they do not say how "
            "far the view may be from what completes it, and are too small where it matters",
            PredictionWarning,
        )
        if self.kernels is None:
            anchors = self.completion.bank
        else:
            anchors = self.completion.bank.select(self.kernels)
        weights = np.zeros((anchors.shape[0], int((~present).sum())))
        weights[self.completion.observed] = self.completion.weights(X[~present]).T
        completed = values.copy()
        completed[:, ~present] = anchors.quads(weights)
        return completed


class ViewSamples(SampleMap):
    """New samples are several views, of which the kernels take one."""

    known: KnownView

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.known.labels

    @abstractmethod
    def bank(
        self,
        given: Any,
        rows: Array | None = None,
        binder: Binder = bind_kernels,
        precision: Precision = own_precision,
        **options: Any,
    ) -> KernelBank:
        """The kernels between training samples, of which none lacks the view.

        Parameters
        ----------
        given : what was given for the view, another sample in place of each that lacks it
        rows : int array, which of these samples; None is all of them
        binder, precision, options : how kernels of features are bound, where the view has some
        """

    @abstractmethod
    def completed_by(self, completion: Completion, given: Any, X: Views) -> Self:
        """The same with what stands for the view where a sample lacks it; X are the training samples."""

    @abstractmethod
    def between(self, X: Views, Z: Views) -> KernelBank:
        """The kernels of samples X against samples Z.

        Raises
        ------
        ValueError : where they are not known
        """
