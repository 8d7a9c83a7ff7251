"""A fit to rows that are read in chunks: a survey of all rows, all choices on a sample, and training on all rows.

The sample is uniform, and as large as the memory of the source allows; where it contains all rows, the fit is the same
as to arrays of them.
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

_SAMPLED = 200_000  # the most rows of the sample: trees, which learn from all of them, then take some seconds
_PREPARED = 16.0  # bytes of a number of a prepared row: by value and by rank


def fit_source(model: MultiKernelEstimator, source: Source, y: Any, groups: Any) -> None:
    """Fit an automatic estimator to a source.

    Raises
    ------
    ValueError : where the source has no target, or where an argument is one that a source holds or cannot have
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
        row_survey = survey(source, sampled_rows(source, _SAMPLED), seed=seed)
        seconds = perf_counter() - begin
        sample = _checked_sample(model, row_survey)
        sample = sample.head(_rows_in_memory(model, source, sample))
        if len(sample) < row_survey.rows:
            _fit_sample_and_rows(model, source, row_survey, sample, seed, seconds)
        else:
            _fit_all_rows(model, sample, row_survey)


def _fit_sample_and_rows(
    model: MultiKernelEstimator, source: Source, row_survey: Survey, sample: Chunk, seed: int, seconds: float
) -> None:
    """Choose on a sample of the rows, and train on all of them."""
    table = model._read(sample.X, sample.y)
    goal, weight = model._goal(sample.y, sample.weight, table.n, row_survey.classes if is_classifier(model) else None)
    if weight is None:
        with_weight = np.arange(table.n)
    else:
        with_weight = np.flatnonzero(weight > 0)
    compared_bound = float(row_survey.numbers[with_weight[compared_first(len(with_weight)) - 1]])
    file = PassFile.of(model, source)

    def all_rows(preparation: Preparation) -> tuple[AllRows, int]:
        unit = 1.0 if weight is None else float(weight[with_weight].mean())
        reader = RowReader(preparation, model._columns_of_target(), unit, seed, compared_bound)
        report = partial(pace, model, row_survey.rows)
        return AllRows(source, reader, seconds, file, report, file.read()), row_survey.rows

    model._answer(table, goal, weight, None, all_rows)


def _fit_all_rows(model: MultiKernelEstimator, sample: Chunk, row_survey: Survey) -> None:
    """Fit to a sample that contains all rows."""
    table = model._read(sample.X, sample.y)
    goal, weight = model._goal(sample.y, sample.weight, table.n)
    model._answer(table, goal, weight)


def _checked_sample(model: MultiKernelEstimator, row_survey: Survey) -> Chunk:
    """The sample; ValueError where there is no target, or where it cannot be learned."""
    name = type(model).__name__
    if row_survey.sample.y is None:
        raise ValueError(f"{name}: the source has no target; name it where the source is made")
    if is_classifier(model) and row_survey.classes is None:
        raise ValueError(
            f"{name}: the target has several columns, or more than 10,000 values, which are no classes; the first is "
            f"{abbreviated(row_survey.sample.y[0])}"
        )
    return row_survey.sample


def _rows_in_memory(model: MultiKernelEstimator, source: Source, sample: Chunk) -> int:
    """The number of these rows that fit into memory once categories are columns of zeros and ones."""
    first_rows = sample.head(FEWEST_SAMPLED)

    def width() -> int:
        table = read(as_table(first_rows.X))
        samples = Preparation.of(table, model.types).samples(table)
        return int(samples.plain.shape[1])

    prepared_width, _ = keeping(width)
    return int(max(FEWEST_SAMPLED, min(len(sample), 0.125 * source.budget / _PREPARED / max(1, prepared_width))))
