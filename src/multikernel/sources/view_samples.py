"""The interface by which one view is taken from new samples with several views and compared with training samples.

A view is a block of features with kernels (``feature_view.py``), or kernel matrices (``matrix_view.py``). A sample
lacks the view if all of its cells there are missing; the view is then completed from the sample's other views
(``completion.py``).
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

Binder = Callable[..., KernelBank]  # takes a family and samples: ``bind_kernels``, or ``sketched`` for a forecast
Precision = Callable[[int, int], Any]  # the dtype that stores m kernels of n samples; None is the dtype of the samples


def precision_of_samples(m: int, n: int) -> Any:
    """The default Precision: a bank stores matrices in the precision of the samples."""
    return None


@dataclass(frozen=True, eq=False)
class KnownView:
    """Description of a view: its name, its kernels, and how it is completed.

    Parameters
    ----------
    name : str
    labels : the names of the kernels
    kernels : int array, which of the view's kernels are selected; None selects all
    completion : how the view is completed where a sample lacks it; None where kernels are 0 there
    """

    name: str
    labels: tuple[str, ...] | None = None
    kernels: Array | None = None
    completion: Completion | None = None

    def select(self, index: Index) -> KnownView:
        """The description with only some of the kernels."""
        if self.labels is None:
            return self
        chosen = positions(index, len(self.labels))
        labels = tuple(self.labels[k] for k in chosen)
        return replace(self, labels=labels, kernels=chosen if self.kernels is None else self.kernels[chosen])

    def is_absent(self, X: Views) -> bool:
        """Whether X lacks the view for all samples; if so, a warning says that it is completed.

        Raises
        ------
        ValueError : where X lacks the view, and has unknown views or the model cannot complete it
        """
        training_views = () if self.completion is None else self.completion.anchors.views
        unknown = [name for name in X.names if name not in training_views]
        if self.name in X.names:
            if training_views and unknown:
                names = shortened(list(map(repr, unknown)))
                warn_user(f"views that training had not are ignored: {names}", PredictionWarning)
            return False
        trained = shortened(list(map(repr, training_views)))
        if not training_views:
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
        """The self-values k_k(x, x), shape (m, len(X)): given values, completed for the samples that lack the view."""
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
    """Takes one view from new samples with several views."""

    known: KnownView

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.known.labels

    @abstractmethod
    def bank(
        self,
        source: Any,
        rows: Array | None = None,
        binder: Binder = bind_kernels,
        precision: Precision = precision_of_samples,
        **options: Any,
    ) -> KernelBank:
        """The kernels between training samples, of which none lacks the view.

        Parameters
        ----------
        source : the data of the view, with another sample in place of each that lacks it
        rows : int array, the positions of the chosen samples; None chooses all
        binder, precision, options : how kernels of features are bound, where the view has some
        """

    @abstractmethod
    def completed_by(self, completion: Completion, source: Any, X: Views) -> Self:
        """The same map with a completion for samples that lack the view; source and X are those of training."""

    @abstractmethod
    def between(self, X: Views, Z: Views) -> KernelBank:
        """The kernels of samples X against samples Z.

        Raises
        ------
        ValueError : where the kernels cannot be evaluated between these samples
        """
