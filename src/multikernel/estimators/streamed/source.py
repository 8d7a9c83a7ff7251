"""A fit to rows that are read in chunks: a first pass samples the rows, a second one adds up their sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from multikernel._arrays import host
from multikernel._typing import Array
from multikernel.estimators.parameters import seed_of
from multikernel.estimators.progress import pace
from multikernel.estimators.protocol import Model
from multikernel.estimators.streamed.checkpoint import KeptPass, PassFile, removed_at_the_end
from multikernel.estimators.streamed.learning import begin_state, learn_state, pass_of, sample_size
from multikernel.estimators.streamed.rows import Pass, absent_cell, earlier, first_absent, merged, over
from multikernel.estimators.streamed.state import StreamState, forget_sums
from multikernel.estimators.streamed.streaming import check_sums, streaming_of
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk, Source, Survey, survey

FEWEST_SAMPLED = 5000  # the least number of rows of a source that are sampled
_CELL = 100.0  # bytes that a cell of the sample takes, as a string, as a number and as a feature


def fit_source(model: Model, source: Source, y: Any, groups: Any, fit_arguments: Mapping[str, Any]) -> None:
    """Fit a model to a source: by ``Method.from_source`` if there is one, else by sums over the rows."""
    method = model._method
    if method.streaming is None and method.from_source is None:
        raise ValueError(
            f"{type(model).__name__} does not learn from a source in chunks, which takes squared losses on approximate "
            "kernels: use RLS2, MultipleKernelRidgeCV, PolynomialMKL of degree 1, AverageMKLRegressor or LearnedScales "
            "with approximation='nystroem', or read the rows into an array"
        )
    if groups is not None:
        raise ValueError(
            f"{type(model).__name__}: groups of rows that are read in chunks are not held out together: read the "
            "rows into an array, or leave groups out"
        )
    if y is not None:
        raise ValueError(f"{type(model).__name__}: a source holds its target: name it where the source is made")
    for name, value in fit_arguments.items():
        if value is not None:
            raise ValueError(f"{type(model).__name__}: a fit to a source takes its rows only: leave {name} out")
    check_sums(model)
    forget_sums(model)
    with removed_at_the_end(source):
        (method.from_source or _fit_by_sums)(model, source)


def surveyed(model: Model, source: Source, count: int, seed: int) -> Survey:
    """The number of rows, the classes, and a sample of ``count`` rows.

    Parameters
    ----------
    model, source : as in ``fit_source``
    count : int, how many rows are sampled
    seed : int, by which the sample is drawn

    Raises
    ------
    ValueError : where there is no target, or a classifier's target has too many values for classes
    """
    result = survey(source, count, seed=seed)
    if is_classifier(model) and result.classes is None and result.sample.y is not None:
        raise ValueError(f"{type(model).__name__}: the target has more than 10,000 values, which are no classes")
    if result.sample.y is None:
        raise ValueError(f"{type(model).__name__}: the source has no target; name it where the source is made")
    return result


def _fit_by_sums(model: Model, source: Source) -> None:
    """Fit by two passes over the rows: a sample of them, which determines the features, and the sums."""
    result = surveyed(model, source, sample_size(model), seed_of(model))
    try:
        state = begin_state(model, result.sample, result.classes)
    except ValueError as error:
        if result.sample.first_absent() is None:
            raise
        raise absent_cell(source.over(first_absent, earlier)) from error
    _check_budget(model, state, source.budget)
    sums = _summed(model, pass_of(model, state), source, result.rows, result.sample)
    learn_state(model, replace(state, sums=sums, rows=result.rows))


def _summed(model: Model, rows: Pass, source: Source, n_rows: int, sample: Chunk) -> tuple[Moments, ...]:
    """The sums over all rows; where there is a checkpoint, the pass resumes from it."""
    if source.together:
        return source.over(partial(over, rows), merged)
    file = PassFile.of(model, source)
    saved = file.read()
    sums = rows.nothing()
    if saved is not None:
        # On another machine, features of the same landmarks differ by less than this.
        probe = _probe(rows, sample)
        if saved.chosen.shape != probe.shape or not np.allclose(saved.chosen, probe, rtol=1e-6, atol=1e-6):
            raise file.of_another()
        sums = [Summing.of(fold_sums) for fold_sums in saved.sums]
    elif file.path is not None:
        saved = KeptPass(_probe(rows, sample))
    else:
        saved = KeptPass(None)

    def moments() -> tuple[Moments, ...]:
        return tuple(fold_sums.moments() for fold_sums in sums)

    file.go_on(source, saved, partial(rows.add, sums), moments, pace(model, n_rows, saved.rows))
    return moments()


def _probe(rows: Pass, sample: Chunk) -> Array:
    """Features of a few rows, which show whether an earlier pass had the same features."""
    return np.asarray(host(rows.bank.cross(rows.samples(sample.head(4))).bank.F))


def _check_budget(model: Model, state: StreamState, budget: float) -> None:
    """MemoryError where the sums alone would take more than the budget."""
    q, m = int(state.bank.n_features), len(state.bank)
    # In addition to the sums, a fit holds up to seven matrices of all features.
    matrices = 7 + streaming_of(model).folds(model)
    # The chunks, their features, and the libraries take 80 MB.
    other_bytes = 8e7 + streaming_of(model).kept_factors(model, q)
    needed = 8.0 * q * q * matrices + 8.0 * q * len(state.sample.Y) + other_bytes
    if needed > budget:
        rank = int(np.sqrt(max(budget - other_bytes, 0.0) / (8.0 * matrices)) / m * 0.9)
        raise MemoryError(
            f"{type(model).__name__}: sums over {q} features of {m} kernels, and a fit to them, take up to "
            f"{needed / 1e9:.3g} GB, and the source is given {budget / 1e9:.3g} GB: give it "
            f"memory='{np.ceil(needed / 1e8) / 10:.1f}GB', or take rank={max(rank, 1)} or fewer kernels"
        )


def sampled_rows(source: Source, limit: int) -> int:
    """How many rows fit into a quarter of the memory of a source, at least ``FEWEST_SAMPLED`` and at most ``limit``."""
    return int(np.clip(0.25 * source.budget / _CELL / max(1, source.columns), FEWEST_SAMPLED, limit))
