"""Scales learned from a source: scales on a uniform sample of its rows, then the function on all rows.

Scales, ridge and centres are chosen on the sample, as they are chosen on some thousands of the samples of an array
(``procedures/learned_scales/many_samples.py``). A pass over all rows adds up the products of the kernels with the
centres. The first rows of the sample, on which the ridge is chosen, are left out of the pass and added at the end; they
are recognised by the random numbers that each row draws (``streams/survey.py``). Where the sample contains all rows,
the fit is that of an array.

A cluster adds up each part of the rows where it is stored. A pass in this process saves its sums, and the scales, to a
file from time to time, so that a fit that was killed resumes from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from multikernel._typing import Array
from multikernel.combinations import Profiles
from multikernel.estimators.advice import advise_on_far_values
from multikernel.estimators.fit import fit_model
from multikernel.estimators.parameters import seed_of
from multikernel.estimators.progress import Reporter, pace
from multikernel.estimators.protocol import Fitted, Task
from multikernel.estimators.samples import samples_of
from multikernel.estimators.scales.method import ScalesModel, dual_of, has_logistic_loss, posed_scales, profiles
from multikernel.estimators.streamed.checkpoint import KeptPass, PassFile
from multikernel.estimators.streamed.rows import numbers_of, weights_of
from multikernel.estimators.streamed.source import sampled_rows, surveyed
from multikernel.machines.ridge.centres import CentreSums, Over, Tile
from multikernel.procedures import forecast
from multikernel.procedures.centres import compared_first
from multikernel.procedures.learned_scales.many_samples import scales_of_many
from multikernel.procedures.learned_scales.posed import ChosenScales, SampleUnits
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk, Source, Survey
from multikernel.streams.survey import drawn, in_order
from multikernel.tuning import BUFFER_VALUES

_SAMPLED = 50_000  # rows of the sample: 10,000 to compare on, 8,000 to learn scales on; centres are chosen among all


def fit_scales(model: ScalesModel, source: Source) -> None:
    """Fit learned scales to a source.

    Raises
    ------
    ValueError : for a target that cannot be learned, or rows without weight
    MemoryError : where sums over so many centres take more than the source is given
    """
    if has_logistic_loss(model):
        raise ValueError(
            f"{type(model).__name__}: loss='logistic' passes over the rows a hundred times: read them into an array, "
            "or take loss='squared'"
        )
    if model.rank >= 1:
        _check_budget(model, int(model.rank), source.budget)
    seed = seed_of(model)
    survey = surveyed(model, source, sampled_rows(source, _SAMPLED), seed)
    if survey.rows <= len(survey.sample):
        rows = in_order(survey, seed)
        fit_model(model, rows.X, rows.y, rows.weight)
    else:
        _fit_to_all_rows(model, source, survey, seed)


def _check_budget(model: ScalesModel, centres: int, budget: float) -> None:
    needed = forecast.scales_by_centres(_SAMPLED, centres).bytes
    if needed > budget:
        raise MemoryError(
            f"{type(model).__name__}: sums over {centres:,} centres of a kernel, and a fit to them, take up to "
            f"{needed / 1e9:.3g} GB, and the source is given {budget / 1e9:.3g} GB: give it "
            f"memory='{np.ceil(needed / 1e8) / 10:.1f}GB', or take rank={forecast.centres_within(budget / 8.0):,}"
        )


def _fit_to_all_rows(model: ScalesModel, source: Source, survey: Survey, seed: int) -> None:
    """Choose scales on the sample of the rows, and fit the function to all rows."""
    name, sample = type(model).__name__, survey.sample
    bank: Any = model.bind(sample.X, sample.y)[0]
    model._samples_bound = None
    classes = survey.classes if is_classifier(model) else None
    if classes is not None and len(classes) < 2:
        raise ValueError(f"{name} needs samples of at least two classes, got one class: {classes[0]}")
    y = np.asarray(sample.y)
    columns = 1 if y.ndim == 1 else y.shape[1]
    if classes is not None and len(classes) > 2:
        columns = len(classes)
    Y, weight = numbers_of(model, sample, classes, columns), weights_of(model, sample)
    if classes is None:
        labels = np.zeros(len(Y), dtype=int)
    else:
        labels = np.searchsorted(classes, y)
    advise_on_far_values(name, bank.X, getattr(model, "feature_names_in_", None), "a row of the sample")
    problem = posed_scales(model, bank, Task(np.arange(len(Y)), Y, weight), labels, seed)
    compared = compared_first(len(problem.rows))
    if compared < 2:
        raise ValueError(
            f"{name}: {len(problem.rows):,} of {len(sample):,} rows of the source that were drawn have a weight, too "
            "few to learn from: leave out rows of weight 0"
        )
    threshold = float(survey.numbers[problem.rows[compared - 1]])
    maker = TileMaker(model, bank, profiles(model), classes, columns, seed, threshold)
    observe = Reporter.of(model, 1).observer(0)
    file = PassFile.of(model, source)
    beyond = _Rows(source, maker, survey.rows, file, file.read())
    learned, solution = scales_of_many(problem, model.rank, model.penalty, model.tol, model.max_iter, observe, beyond)
    assert learned.centred is not None
    centres = learned.centred.rows
    positions = np.arange(len(centres))
    learned = replace(learned, centred=replace(learned.centred, rows=positions))
    flat = columns == 1 and (classes is not None or y.ndim == 1)
    dual = dual_of(solution, solution.coef, flat, learned.converged)
    if classes is not None:
        model.classes_ = classes
    model.publish(bank.block(centres, centres), [Fitted(positions, learned, dual)], True)


@dataclass(frozen=True, eq=False)
class TileMaker:
    """Makes tiles of the kernel between chunks of rows and the centres; can be sent to other processes.

    Parameters
    ----------
    model : the estimator, which checks the columns
    bank : ColumnDistancesBank or ColumnProductsBank, of the sample or with the centres as columns
    combination : Profiles
    classes : array of the labels; None where targets are numbers
    targets : int, how many columns targets have
    seed, threshold : the seed of the numbers that rows draw, and the number above which a row is taken
    theta : array, the parameters of the combination
    units : SampleUnits; None, like ``theta``, before scales are known
    """

    model: ScalesModel
    bank: Any
    combination: Profiles
    classes: Array | None
    targets: int
    seed: int
    threshold: float
    theta: Array | None = None
    units: SampleUnits | None = None

    def of(self, chosen: ChosenScales) -> TileMaker:
        """The same with the chosen scales and centres."""
        theta = np.append(1.0, chosen.scales)
        return replace(self, bank=self.bank.reference(chosen.centres), theta=theta, units=chosen.units)

    def tiles(self, chunks: Iterable[Chunk]) -> Iterator[Tile]:
        """The tiles of the taken rows of some chunks.

        Raises
        ------
        ValueError : where rows are not like those of the sample; it names the position of the chunk
        """
        assert self.theta is not None
        assert self.units is not None
        height = max(1, BUFFER_VALUES // max(1, self.bank.shape[1]))
        for chunk in chunks:
            taken_rows = chunk.part(np.flatnonzero(drawn(self.seed, chunk) > self.threshold))
            for start in range(0, len(taken_rows), height):
                block = taken_rows.part(slice(start, start + height))
                try:
                    between = self.bank.cross(samples_of(self.model, block.X))
                except ValueError as error:
                    rows = f"{block.place(0)} or one of the {len(block) - 1} rows after it"
                    raise ValueError(f"{rows}: {error}") from None
                C = np.asarray(self.combination.gram(between, self.theta).dense())
                Y = numbers_of(self.model, block, self.classes, self.targets)
                yield Tile(C, self.units.targets(Y), self.units.weights(weights_of(self.model, block)))

    def __call__(self, chunks: Iterable[Chunk]) -> Moments:
        """The sums over the taken rows of some chunks."""
        sums = Summing(self.bank.shape[1], self.targets)
        self.add(sums, chunks)
        return sums.moments()

    def add(self, sums: Summing, chunks: Iterable[Chunk]) -> None:
        """Add the taken rows of some chunks to the sums."""
        for tile in self.tiles(chunks):
            sums.add(*tile)


@dataclass(frozen=True, eq=False)
class _OfChunks:
    """A function of chunks, from a function of their tiles."""

    maker: TileMaker
    function: Callable[[Iterable[Tile]], Any]

    def __call__(self, chunks: Iterable[Chunk]) -> Any:
        return self.function(self.maker.tiles(chunks))


@dataclass(frozen=True, eq=False)
class _Rows:
    """All rows of a source, beyond those of the sample: a RowsBeyond.

    Parameters
    ----------
    source : Source
    maker : TileMaker
    total : int, how many rows there are
    file : PassFile
    before : KeptPass of an earlier fit that was interrupted, or None
    """

    source: Source
    maker: TileMaker
    total: int
    file: PassFile
    before: KeptPass | None

    @property
    def kept(self) -> ChosenScales | None:
        if self.before is None:
            return None
        return self.before.chosen

    def over(self, chosen: ChosenScales) -> Over:
        maker = replace(self.maker.of(chosen), threshold=-1.0)
        return lambda function, merge: self.source.over(_OfChunks(maker, function), merge)

    def sums(self, chosen: ChosenScales) -> CentreSums:
        _check_budget(self.maker.model, len(chosen.centres), self.source.budget)
        maker = self.maker.of(chosen)
        if self.source.together:
            return CentreSums(self.source.over(maker, Moments.merge))
        sums = Summing(len(chosen.centres), maker.targets)
        saved = self.before
        if saved is None:
            saved = KeptPass(chosen)
            self.file.write(saved)
        elif saved.sums:
            sums = Summing.of(saved.sums[0])

        def add(chunk: Chunk) -> None:
            maker.add(sums, [chunk])

        report = pace(maker.model, self.total, saved.rows)
        self.file.go_on(self.source, saved, add, lambda: (sums.moments(),), report)
        return CentreSums(sums.moments())
