"""Estimators with squared losses on approximate kernels, whose solution follows from sums over the samples.

The first samples determine the features of the kernels: kernels learn their widths and scales from these samples, and
landmarks are chosen among them. Each further row is added to the sums, and takes no memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from multikernel._arrays import host
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel._workers import limited
from multikernel.estimators.protocol import Fitted, Model
from multikernel.estimators.streamed.learning import (
    begin_state,
    check_classes,
    check_settled,
    learn_state,
    pass_of,
    sample_size,
    warn_of_few,
)
from multikernel.estimators.streamed.rows import merged, without_rows
from multikernel.estimators.streamed.state import StreamState
from multikernel.estimators.streamed.streaming import check_sums
from multikernel.estimators.unchanged import unchanged_on_error
from multikernel.numerics.cholesky import factorise
from multikernel.sources.rows import aligned
from multikernel.statistics import Moments
from multikernel.streams import Chunk
from multikernel.streams.survey import taken


def _approximates(model: Model) -> bool:
    if model.approximation is None:
        raise AttributeError(
            f"{type(model).__name__} learns chunk by chunk on approximate kernels: give approximation='nystroem'"
        )
    return True


class LearnsFromSums:
    """An estimator that can learn from sums over samples: its ``Method`` has a ``Streaming``."""

    _state: StreamState | None = None  # the sums of a model that learns from them
    _solved_last: Sequence[Fitted] = ()

    @available_if(_approximates)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None) -> Self:
        """Learn from further samples, in addition to all earlier ones, of ``partial_fit`` or of a source in ``fit``.

        The first samples determine the features: they should be at least four times as many as ``rank``, and like those
        that follow. The model is then the one of all samples so far, on these features. Where the first call has fewer
        samples than ``rank``, there is a warning: widths and landmarks of few samples do not suit those that follow.

        Parameters on which the features depend cannot be changed after the first call: ``kernels``, ``approximation``,
        ``rank``, ``cv``, ``class_weight``; nor can a number become "auto", or "auto" a number. Others, such as
        ``alpha`` as a number, can be changed, and the next call then solves the problem of all samples so far with
        their new values; ``random_state`` draws landmarks at the first call only.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings
        y : their targets, as ``fit`` takes them
        sample_weight : array (n,) >= 0, what the squared loss of each sample is multiplied with
        classes : of a classifier, all labels that will come, at the first call; by default those of its y. Later calls
            may repeat them.

        Raises
        ------
        ValueError : where samples, targets, weights or labels do not fit those before, a sample is too large for sums,
            a parameter was changed on which the features depend, or ``fit`` learned from samples in memory; the model
            is then unchanged
        """
        model = cast(Model, self)
        model.check_parameters()
        check_sums(model)
        with unchanged_on_error(model), limited(model.time_budget):
            chunk, state = _checked_chunk(X, y, sample_weight), self._state
            check_classes(model, state, classes)
            if state is None and hasattr(self, "predictor_"):
                raise ValueError(
                    f"{type(self).__name__}: this model learned by fit from samples in memory, and keeps no sums that "
                    "further ones could be added to: start with a clone, and give it those samples by partial_fit, too"
                )
            if state is None:
                warn_of_few(model, len(chunk))
                state = begin_state(model, _sampled(chunk, sample_size(model)), classes)
            check_settled(model, state)
            sums = pass_of(model, state).of(chunk)
            if state.sums:
                sums = merged(state.sums, sums)
            if sum(fold_sums.count for fold_sums in sums) <= 0.0:
                raise ValueError(f"{type(self).__name__}: every sample has weight 0; give some of them a weight")
            learn_state(model, replace(state, sums=sums, rows=state.rows + len(chunk)))
        return self

    @available_if(_approximates)  # type: ignore[untyped-decorator]
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remove samples again, which were given to ``partial_fit`` or in a source to ``fit``, with the same weights.

        The model keeps sums over the samples, and no sample. So samples that were never given are refused only where no
        samples could have the remaining sums. Otherwise they go unnoticed, and the model is then not that of the
        samples that were given: where this may happen, keep the samples yourself.

        Parameters
        ----------
        X, y, sample_weight : as in ``partial_fit``

        Raises
        ------
        ValueError : where no sample would be left, the samples cannot be among those that were given, or a parameter
            was changed on which the features depend; the model is then unchanged
        """
        check_is_fitted(self)
        name, state = type(self).__name__, self._state
        if state is None:
            raise ValueError(
                f"{name}: samples are taken off a model that learned by partial_fit or from a source; this one keeps "
                "no sums"
            )
        model = cast(Model, self)
        with unchanged_on_error(model), limited(model.time_budget):
            check_settled(model, state)
            chunk = _checked_chunk(X, y, sample_weight)
            remaining = state.rows - len(chunk)
            sums = without_rows(state.sums, pass_of(model, state).of(chunk))
            if remaining < 2 or sum(fold_sums.count for fold_sums in sums) <= 0.0:
                raise ValueError(f"{name}: {len(chunk)} of {state.rows} samples cannot be taken off")
            if any(_took_too_much(fold_sums, before) for fold_sums, before in zip(sums, state.sums, strict=True)):
                raise ValueError(f"{name}: these {len(chunk)} samples are not among those that were given")
            learn_state(model, replace(state, sums=sums, rows=remaining))
        return self


# -- samples that are added or removed ---------------------------------------------------------------------------------


def _checked_chunk(X: Any, y: Any, sample_weight: Any) -> Chunk:
    """The user's samples as a chunk; ValueError where they are not rows, or targets or weights do not fit them."""
    if isinstance(X, Mapping):
        raise ValueError(
            "partial_fit and forget take an array, a data frame or strings with a row for each sample, got a dict"
        )
    y, sample_weight = aligned(X, y=y, sample_weight=sample_weight)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if not X.shape:
        raise ValueError(f"partial_fit and forget take a row for each sample, got {abbreviated(X)}")
    if getattr(X, "ndim", 2) == 1:
        X = X.reshape(-1, 1)
    n = int(X.shape[0])
    if y is None:
        raise ValueError("partial_fit and forget take a target y for every sample, got None")
    y = np.asarray(host(y))
    if not y.shape:
        raise ValueError(f"partial_fit and forget take a target y for every sample, got {abbreviated(y)}")
    if len(y) != n:
        raise ValueError(f"partial_fit and forget take a target y for every sample, got {len(y)} for {n}")
    weight = None
    if sample_weight is not None:
        weight = np.asarray(host(sample_weight), dtype=float)
    if weight is not None and weight.shape != (n,):
        raise ValueError(
            f"partial_fit and forget take sample_weight as {n} numbers >= 0, one for each sample, got shape "
            f"{weight.shape}"
        )
    chunk = Chunk(X, y, weight)
    chunk.check_target()
    return chunk


def _sampled(chunk: Chunk, count: int) -> Chunk:
    """At most ``count`` of the rows, drawn at random."""
    if len(chunk) <= count:
        return chunk
    return taken(chunk, np.sort(np.random.default_rng(0).choice(len(chunk), count, replace=False)))


def _took_too_much(remaining: Moments, before: Moments) -> bool:
    """Whether more was removed than there was: no samples can have the remaining sums.

    The sums of products of 1, a target and the features with each other are a matrix without negative eigenvalues for
    any samples. A negative eigenvalue therefore proves that samples were removed that were never added. The reverse
    does not hold: sums cannot show every such case.
    """
    return any(_indefinite(_products(remaining, t), _products(before, t)) for t in range(len(remaining.target_sums)))


def _indefinite(remaining: Array, before: Array) -> bool:
    """Whether a matrix has a negative eigenvalue beyond the rounding of the matrix from which others were subtracted.

    1e-9 is the rounding of sums over many chunks.
    """
    unit = np.sqrt(np.maximum(before.diagonal(), 0.0))
    unit = np.where(unit > 0.0, unit, 1.0)
    scaled = np.asfortranarray(remaining / unit / unit[:, None])
    scaled[np.diag_indices_from(scaled)] += 1e-9 * len(scaled)
    return not factorise(scaled)


def _products(sums: Moments, target: int) -> Array:
    """The matrix of the sums of products of 1, a target and the features with each other."""
    target_sum, target_square = sums.target_sums[target], sums.target_squares[target]
    columns = np.column_stack([sums.sums, sums.products[:, target]])
    corner = np.array([[sums.count, target_sum], [target_sum, target_square]])
    return np.block([[corner, columns.T], [columns, sums.squares]])
