"""Scales learned from a source: on a uniform sample of its rows, and the function then from all of them.

The sample chooses scales, ridge and centres, as some thousands of samples do of an array
(``procedures/learned_scales/many_samples.py``). A pass over all rows adds up the products of the kernels with the
centres. The rows that the ridge is chosen by, the first of the sample, are left out of it and added at the end: they
are known by the numbers that rows draw (``streams/survey.py``). Where the sample holds all rows, the fit is that of an
array.

A cluster sums up its parts where they are. A pass of this process keeps its sums in a file now and then, with the
scales, so that a fit that was killed goes on from there.
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
from multikernel.estimators.streamed.source import looked_at, sampled_rows
from multikernel.machines.ridge.centres import CentreSums, Over, Tile
from multikernel.procedures import forecast
from multikernel.procedures.centres import compared_first
from multikernel.procedures.learned_scales.many_samples import scales_of_many
from multikernel.procedures.learned_scales.posed import ChosenScales, SampleUnits
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk, Source, Survey
from multikernel.streams.survey import drawn, in_order
from multikernel.tuning import BUFFER_VALUES

_SAMPLED = 50_000  # rows of the sample: 10,000 to compare on, 8,000 to learn scales on, the centres among all


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
    seen = looked_at(model, source, sampled_rows(source, _SAMPLED), seed)
    if seen.rows <= len(seen.sample):
        rows = in_order(seen, seed)
        fit_model(model, rows.X, rows.y, rows.weight)
    else:
        _fit_to_more(model, source, seen, seed)


def _check_budget(model: ScalesModel, centres: int, budget: float) -> None:
    needed = forecast.scales_by_centres(_SAMPLED, centres).bytes
    if needed > budget:
        raise MemoryError(
            f"{type(model).__name__}: sums over {centres:,} centres of a kernel, and a fit to them, take up to "
            f"{needed / 1e9:.3g} GB, and the source is given {budget / 1e9:.3g} GB: give it "
            f"memory='{np.ceil(needed / 1e8) / 10:.1f}GB', or take rank={forecast.centres_within(budget / 8.0):,}"
        )


def _fit_to_more(model: ScalesModel, source: Source, seen: Survey, seed: int) -> None:
    """From a sample of the rows to all of them."""
    name, sample = type(model).__name__, seen.sample
    bank: Any = model.bind(sample.X, sample.y)[0]
    model._samples_bound = None
    classes = seen.classes if is_classifier(model) else None
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
    posed = posed_scales(model, bank, Task(np.arange(len(Y)), Y, weight), labels, seed)
    compared = compared_first(len(posed.rows))
    if compared < 2:
        raise ValueError(
            f"{name}: {len(posed.rows):,} of {len(sample):,} rows of the source that were drawn have a weight, too few "
            "to learn from: leave out rows of weight 0"
        )
    least = float(seen.numbers[posed.rows[compared - 1]])
    maker = TileMaker(model, bank, profiles(model), classes, columns, seed, least)
    observe = Reporter.of(model, 1).observer(0)
    file = PassFile.of(model, source)
    beyond = _Rows(source, maker, seen.rows, file, file.read())
    found, solution = scales_of_many(posed, model.rank, model.penalty, model.tol, model.max_iter, observe, beyond)
    assert found.centred is not None
    centres = found.centred.rows
    kept = np.arange(len(centres))
    found = replace(found, centred=replace(found.centred, rows=kept))
    flat = columns == 1 and (classes is not None or y.ndim == 1)
    dual = dual_of(solution, solution.coef, flat, found.converged)
    if classes is not None:
        model.classes_ = classes
    model.publish(bank.block(centres, centres), [Fitted(kept, found, dual)], True)


@dataclass(frozen=True, eq=False)
class TileMaker:
    """From chunks of rows to the kernel between them and centres; a value that other processes can be given.

    Parameters
    ----------
    model : the estimator, which knows the columns
    bank : ColumnDistancesBank or ColumnProductsBank, of the sample or with the centres as columns
    combination : Profiles
    classes : array of the labels; None where targets are numbers
    targets : int, how many columns targets have
    seed, least : the numbers that rows draw, and the one above which a row is taken
    theta : array, the parameters of the combination
    units : SampleUnits; None, like ``theta``, before scales are known
    """

    model: ScalesModel
    bank: Any
    combination: Profiles
    classes: Array | None
    targets: int
    seed: int
    least: float
    theta: Array | None = None
    units: SampleUnits | None = None

    def of(self, chosen: ChosenScales) -> TileMaker:
        """With the scales and the centres that were chosen."""
        theta = np.append(1.0, chosen.scales)
        return replace(self, bank=self.bank.reference(chosen.centres), theta=theta, units=chosen.units)

    def tiles(self, chunks: Iterable[Chunk]) -> Iterator[Tile]:
        """Of the rows of some chunks that are taken.

        Raises
        ------
        ValueError : with the place of the chunk where its rows are not like those of the sample
        """
        assert self.theta is not None
        assert self.units is not None
        height = max(1, BUFFER_VALUES // max(1, self.bank.shape[1]))
        for whole in chunks:
            chunk = whole.part(np.flatnonzero(drawn(self.seed, whole) > self.least))
            for start in range(0, len(chunk), height):
                part = chunk.part(slice(start, start + height))
                try:
                    between = self.bank.cross(samples_of(self.model, part.X))
                except ValueError as error:
                    raise ValueError(f"{part.place(0)} or one of the {len(part) - 1} rows after it: {error}") from None
                C = np.asarray(self.combination.gram(between, self.theta).dense())
                Y = numbers_of(self.model, part, self.classes, self.targets)
                yield Tile(C, self.units.targets(Y), self.units.weights(weights_of(self.model, part)))

    def __call__(self, chunks: Iterable[Chunk]) -> Moments:
        """The sums over the rows of some chunks that are taken."""
        sums = Summing(self.bank.shape[1], self.targets)
        self.add(sums, chunks)
        return sums.moments()

    def add(self, sums: Summing, chunks: Iterable[Chunk]) -> None:
        """Add the rows of some chunks that are taken to the sums."""
        for tile in self.tiles(chunks):
            sums.add(*tile)


@dataclass(frozen=True, eq=False)
class _OfChunks:
    """What a function of tiles returns for some chunks."""

    maker: TileMaker
    work: Callable[[Iterable[Tile]], Any]

    def __call__(self, chunks: Iterable[Chunk]) -> Any:
        return self.work(self.maker.tiles(chunks))


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a source, of which samples at hand are some: a RowsBeyond.

    Parameters
    ----------
    source : Source
    maker : TileMaker
    total : int, how many rows there are
    file : PassFile
    before : KeptPass of an earlier fit that did not come to its end; None for none
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
        maker = replace(self.maker.of(chosen), least=-1.0)
        return lambda work, merge: self.source.over(_OfChunks(maker, work), merge)

    def sums(self, chosen: ChosenScales) -> CentreSums:
        _check_budget(self.maker.model, len(chosen.centres), self.source.budget)
        maker = self.maker.of(chosen)
        if self.source.together:
            return CentreSums(self.source.over(maker, Moments.merge))
        sums = Summing(len(chosen.centres), maker.targets)
        kept = self.before
        if kept is None:
            kept = KeptPass(chosen)
            self.file.write(kept)
        elif kept.sums:
            sums = Summing.of(kept.sums[0])

        def add(chunk: Chunk) -> None:
            maker.add(sums, [chunk])

        report = pace(maker.model, self.total, kept.rows)
        self.file.go_on(self.source, kept, add, lambda: (sums.moments(),), report)
        return CentreSums(sums.moments())
