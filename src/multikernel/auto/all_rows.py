"""All rows of a source, read chunk by chunk for the sums that the machines of the answer need.

All earlier steps use a uniform sample of the rows (``from_source.py``). The rows that candidates are compared on are
left out of the sums: they are the rows whose random number (``streams/survey.py``) is below a bound, so that every
process recognises them. A cluster reads its parts where they are. A pass of this process writes its sums to a file now
and then, with all that was chosen before, so that a fit that was killed continues from there.
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

Report = Callable[[int], None]  # of the number of rows that are done


@dataclass(frozen=True, eq=False)
class RowReader:
    """The map from chunks to samples, targets and weights; it can be sent to other processes.

    Parameters
    ----------
    preparation : Preparation
    targets : (target of a chunk) -> columns (n, t), and factors of the weights or None
    unit : float > 0, by which weights are divided
    seed, number_bound : the seed of the random numbers of rows, and the bound above which a row is taken
    """

    preparation: Preparation
    targets: TargetColumns
    unit: float
    seed: int
    number_bound: float

    def __call__(self, chunk: Chunk) -> Iterator[tuple[PreparedSamples, Array, Array | None]]:
        """Blocks of the chunk's rows, which are smaller the more columns there are.

        Raises
        ------
        ValueError : with the place of the chunk where its rows are not like those of the sample
        """
        chunk = chunk.part(np.flatnonzero(drawn(self.seed, chunk) > self.number_bound))
        height = max(1, PIECE_VALUES // max(1, self._width))
        for start in range(0, len(chunk), height):
            piece = chunk.part(slice(start, start + height))
            try:
                samples = self.preparation.samples(self.preparation.read(as_table(piece.X)))
                Y, of_class = self.targets(np.asarray(piece.y))
            except ValueError as error:
                raise ValueError(f"{piece.place(0)} or one of the {len(piece) - 1} rows after it: {error}") from None
            weight = None if piece.weight is None else piece.weight / self.unit
            if of_class is not None:
                weight = of_class if weight is None else weight * of_class
            yield samples, Y, weight

    @property
    def _width(self) -> int:
        """About how many numbers a prepared sample has."""
        encodings = (self.preparation.plain, self.preparation.ranked, self.preparation.levels)
        return sum(len(encoding.sources) for encoding in encodings if encoding is not None)


@dataclass(frozen=True, eq=False)
class CentrePass:
    """The sums over rows, as a function of chunks that can be sent to the workers of a cluster.

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
        """The sums over all rows of the chunks, for each kernel."""
        sums = self.empty_sums()
        for chunk in chunks:
            self.add(sums, chunk)
        return tuple(kernel_sums.sums.moments() for kernel_sums in sums)

    def empty_sums(self) -> list[KernelSums]:
        """Empty sums."""
        return [KernelSums.none(similarity, self.centres, self.targets) for similarity in self.similarities]

    def add(self, sums: list[KernelSums], chunk: Chunk) -> None:
        """Add the rows of a chunk."""
        for samples, Y, weight in self.reader(chunk):
            for kernel_sums in sums:
                kernel_sums.add(samples, Y, weight)


@dataclass(frozen=True, eq=False)
class AllRows:
    """All rows of a source, from which the samples of a fit were drawn.

    Parameters
    ----------
    source : Source
    reader : RowReader
    seconds : float, the time of reading all rows once
    file : PassFile
    report : (rows done already) -> the report of a pass
    saved_pass : KeptPass of an earlier fit that was interrupted; None without one
    """

    source: Source
    reader: RowReader
    seconds: float
    file: PassFile
    report: Callable[[int], Report]
    saved_pass: KeptPass | None = None

    def sums(
        self, similarities: Sequence[Similarity], centres: PreparedSamples, targets: int, chosen: Any
    ) -> list[CentreSums]:
        """The sums over all rows that are not compared on, for each kernel.

        Parameters
        ----------
        similarities, centres, targets : as in ``CentrePass``
        chosen : what is saved with the sums
        """
        if self.source.together:  # one kernel at a time: sums are large, and a worker has those of several parts
            passes = [CentrePass(self.reader, (similarity,), centres, targets) for similarity in similarities]
            return [centre_sums(self.source.over(kernel_pass, merged)[0]) for kernel_pass in passes]
        kernel_pass = CentrePass(self.reader, tuple(similarities), centres, targets)
        sums, messages = keeping(lambda: self._sums_of_pass(kernel_pass, chosen))
        warn_once(messages[:1])  # many chunks may cause the same warning
        return sums

    def _sums_of_pass(self, kernel_pass: CentrePass, chosen: Any) -> list[CentreSums]:
        """The sums of a pass by this process, which continues an interrupted one."""
        sums = kernel_pass.empty_sums()
        state = self.saved_pass
        if state is not None and state.sums:
            for kernel_sums, moments in zip(sums, state.sums, strict=True):
                kernel_sums.sums = Summing.of(moments)
        else:
            state = KeptPass(chosen)
            self.file.write(state)

        def all_sums() -> tuple[Moments, ...]:
            return tuple(kernel_sums.sums.moments() for kernel_sums in sums)

        self.file.go_on(self.source, state, partial(kernel_pass.add, sums), all_sums, self.report(state.rows))
        return [kernel_sums.total for kernel_sums in sums]
