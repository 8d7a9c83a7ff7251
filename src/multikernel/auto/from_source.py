"""A fit to rows that are read in chunks: a look at all of them, everything but training on a sample, training on all.

The sample is uniform, and so large that what is done with it stays within the memory of the source; where it holds all
rows the fit is the one to arrays of them.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from multikernel._parameters import check_parameters
from multikernel._rules import abbreviated
from multikernel._warnings import keeping
from multikernel._workers import limited
from multikernel.auto.all_rows import AllRows, RowReader
from multikernel.auto.preparation import Preparation
from multikernel.auto.table import as_table, read
from multikernel.estimators.parameters import drawn_seed
from multikernel.estimators.progress import pace
from multikernel.estimators.streamed.checkpoint import PassFile, removed_at_the_end
from multikernel.estimators.streamed.source import FEWEST_SAMPLED, sampled_rows
from multikernel.procedures.centres import compared_first
from multikernel.streams import Chunk, Source, Survey, survey

if TYPE_CHECKING:
    from multikernel.auto.base import MultiKernelEstimator

_SAMPLED = 200_000  # rows of the sample, at most: trees, which learn from all of them, then take some seconds
_PREPARED = 16.0  # bytes of a number that a row is prepared as: by value and by rank


def fit_source(model: MultiKernelEstimator, source: Source, y: Any, groups: Any) -> None:
    """Fit an automatic estimator to a source.

    Raises
    ------
    ValueError : where the source has no target, or something was given that a source holds or cannot have
    """
    name = type(model).__name__
    check_parameters(model)
    if y is not None:
        raise ValueError(f"{name}: a source holds its target: name it where the source is made")
    if groups is not None or not (model.cv is None or isinstance(model.cv, Integral)):
        raise ValueError(
            f"{name}: rows that are read in chunks are held out by chance, and not as groups or cv say: read the rows "
            "into an array, or leave these out"
        )
    with limited(model.time_budget), removed_at_the_end(source):
        seed = drawn_seed(model.random_state)
        begin = perf_counter()
        seen = survey(source, sampled_rows(source, _SAMPLED), seed=seed)
        seconds = perf_counter() - begin
        sample = _checked(model, seen)
        sample = sample.head(_prepared(model, source, sample))
        if len(sample) < seen.rows:
            _learn(model, source, seen, sample, seed, seconds)
        else:
            _in_order(model, sample, seen)


def _learn(model: MultiKernelEstimator, source: Source, seen: Survey, sample: Chunk, seed: int, seconds: float) -> None:
    """From a sample of the rows to all of them."""
    table = model._read(sample.X, sample.y)
    goal, weight = model._goal(sample.y, sample.weight, table.n, seen.classes if is_classifier(model) else None)
    if weight is None:
        with_weight = np.arange(table.n)
    else:
        with_weight = np.flatnonzero(weight > 0)
    least = float(seen.numbers[with_weight[compared_first(len(with_weight)) - 1]])
    file = PassFile.of(model, source)

    def beyond(preparation: Preparation) -> tuple[AllRows, int]:
        unit = 1.0 if weight is None else float(weight[with_weight].mean())
        reader = RowReader(preparation, model._columns_of_target(), unit, seed, least)
        report = partial(pace, model, seen.rows)
        return AllRows(source, reader, seconds, file, report, file.read()), seen.rows

    model._answer(table, goal, weight, None, beyond)


def _in_order(model: MultiKernelEstimator, sample: Chunk, seen: Survey) -> None:
    """A fit to all rows at once."""
    table = model._read(sample.X, sample.y)
    goal, weight = model._goal(sample.y, sample.weight, table.n)
    model._answer(table, goal, weight)


def _checked(model: MultiKernelEstimator, seen: Survey) -> Chunk:
    """The sample; ValueError where its target is not one to learn."""
    name = type(model).__name__
    if seen.sample.y is None:
        raise ValueError(f"{name}: the source has no target; name it where the source is made")
    if is_classifier(model) and seen.classes is None:
        raise ValueError(
            f"{name}: the target has several columns, or more than 10,000 values, which are no classes; the first is "
            f"{abbreviated(seen.sample.y[0])}"
        )
    return seen.sample


def _prepared(model: MultiKernelEstimator, source: Source, sample: Chunk) -> int:
    """How many of these rows there is memory for once categories are columns of zeros and ones."""
    some = sample.head(FEWEST_SAMPLED)

    def width() -> int:
        table = read(as_table(some.X))
        samples = Preparation.of(table, model.types).samples(table)
        return int(samples.plain.shape[1])

    found, _ = keeping(width)
    return int(max(FEWEST_SAMPLED, min(len(sample), 0.125 * source.budget / _PREPARED / max(1, found))))
