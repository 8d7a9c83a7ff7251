"""All rows of a source: read chunk by chunk, for the sums that the machines of the answer need.

Everything before is done on a uniform sample of the rows (``from_source.py``). Rows of the sample that candidates are
compared on are left out of the sums: those that drew a number below some value (``streams/survey.py``), so that a row
is known wherever it is read. A cluster reads its parts where they are; a pass of this process keeps its sums in a file
now and then, with all that was chosen before, so that a fit that was killed goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel._warnings import keeping, warn_once
from multikernel.auto.centre_sums import KernelSums, centre_sums
from multikernel.auto.goal import TargetColumns
from multikernel.auto.preparation import Preparation
from multikernel.auto.samples import PreparedSamples, Similarity
from multikernel.auto.table import as_table
from multikernel.estimators.streamed.checkpoint import KeptPass, PassFile
from multikernel.estimators.streamed.rows import merged
from multikernel.machines.ridge.centres import CentreSums
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk, Source
from multikernel.streams.survey import drawn
from multikernel.tuning import PIECE_VALUES

Report = Callable[[int], None]  # is told how many rows are done


@dataclass(frozen=True, eq=False)
class RowReader:
    """From chunks to samples, targets and weights; a value that other processes can be given.

    Parameters
    ----------
    preparation : Preparation
    targets : from the target of a chunk to columns (n, t), and to what weights are multiplied with, or None
    unit : float > 0, by which weights are divided
    seed, least : the numbers that rows draw, and the one above which a row is taken
    """

    preparation: Preparation
    targets: TargetColumns
    unit: float
    seed: int
    least: float

    def __call__(self, chunk: Chunk) -> Iterator[tuple[PreparedSamples, Array, Array | None]]:
        """Some rows of the chunk at a time, as few as their columns are many.

        Raises
        ------
        ValueError : with the place of the chunk where its rows are not like those of the sample
        """
        chunk = chunk.part(np.flatnonzero(drawn(self.seed, chunk) > self.least))
        height = max(1, PIECE_VALUES // max(1, self._width))
        for start in range(0, len(chunk), height):
            part = chunk.part(slice(start, start + height))
            try:
                samples = self.preparation.samples(self.preparation.read(as_table(part.X)))
                Y, of_class = self.targets(np.asarray(part.y))
            except ValueError as error:
                raise ValueError(f"{part.place(0)} or one of the {len(part) - 1} rows after it: {error}") from None
            weight = None if part.weight is None else part.weight / self.unit
            if of_class is not None:
                weight = of_class if weight is None else weight * of_class
            yield samples, Y, weight

    @property
    def _width(self) -> int:
        """About how many numbers a sample becomes."""
        parts = (self.preparation.plain, self.preparation.ranked, self.preparation.levels)
        return sum(len(part.sources) for part in parts if part is not None)


@dataclass(frozen=True, eq=False)
class CentrePass:
    """What is summed up over rows: a function of chunks, which workers of a cluster can be given.

    Parameters
    ----------
    reader : RowReader
    similarities : tuple of Similarity
    centres : PreparedSamples
    targets : int, columns of a target
    """

    reader: RowReader
    similarities: tuple[Similarity, ...]
    centres: PreparedSamples
    targets: int

    def __call__(self, chunks: Iterator[Chunk]) -> tuple[Moments, ...]:
        """The sums over all rows of some chunks, for each kernel."""
        sums = self.nothing()
        for chunk in chunks:
            self.add(sums, chunk)
        return tuple(each.sums.moments() for each in sums)

    def nothing(self) -> list[KernelSums]:
        """Sums over no row."""
        return [KernelSums.none(similarity, self.centres, self.targets) for similarity in self.similarities]

    def add(self, sums: list[KernelSums], chunk: Chunk) -> None:
        """Add the rows of a chunk."""
        for samples, Y, weight in self.reader(chunk):
            for each in sums:
                each.add(samples, Y, weight)


@dataclass(frozen=True, eq=False)
class AllRows:
    """The rows of a source, of which the samples of a fit are some.

    Parameters
    ----------
    source : Source
    reader : RowReader
    seconds : float, that reading all of them once took
    file : PassFile
    report : is told how many rows of a pass are done
    kept : KeptPass of an earlier fit that did not come to its end; None for none
    """

    source: Source
    reader: RowReader
    seconds: float
    file: PassFile
    report: Callable[[int], Report]
    kept: KeptPass | None = None

    def sums(
        self, similarities: Sequence[Similarity], centres: PreparedSamples, targets: int, chosen: Any
    ) -> list[CentreSums]:
        """The sums over all rows that are not compared on, for each kernel.

        Parameters
        ----------
        similarities, centres, targets : as in ``CentrePass``
        chosen : what is kept beside the sums
        """
        if self.source.together:  # sums of all kernels are large, and a worker holds those of several parts
            each = [CentrePass(self.reader, (one,), centres, targets) for one in similarities]
            return [centre_sums(self.source.over(one, merged)[0]) for one in each]
        rows = CentrePass(self.reader, tuple(similarities), centres, targets)
        found, messages = keeping(lambda: self._passed(rows, chosen))
        warn_once(messages[:1])  # what is odd in one chunk is so in many
        return found

    def _passed(self, rows: CentrePass, chosen: Any) -> list[CentreSums]:
        """The sums of a pass of this process."""
        sums = rows.nothing()
        kept = self.kept
        if kept is not None and kept.sums:
            for one, moments in zip(sums, kept.sums, strict=True):
                one.sums = Summing.of(moments)
        else:
            kept = KeptPass(chosen)
            self.file.write(kept)

        def all_sums() -> tuple[Moments, ...]:
            return tuple(each.sums.moments() for each in sums)

        self.file.go_on(self.source, kept, partial(rows.add, sums), all_sums, self.report(kept.rows))
        return [each.total for each in sums]
