"""The state of a pass on disk: written whole or not at all, so that a pass that was killed goes on from there."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from multikernel._typing import Array
from multikernel.estimators.protocol import Model
from multikernel.estimators.streamed.rows import Pass
from multikernel.files import replacing
from multikernel.persistence import archive
from multikernel.persistence.reader import Reader
from multikernel.persistence.writer import Writer
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk, Source

T = TypeVar("T")
_PARTS = ("squares", "products", "sums", "target_sums", "target_squares", "count")


def key_of(model: Model, source: Source) -> str:
    """A digest of the model and of the source: another pass has another one."""
    what = repr((type(model).__name__, model.get_params(), source.identity))
    return hashlib.sha256(what.encode()).hexdigest()


def write(path: Path, key: str, probe: Array, rows: int, sums: list[Summing], chosen: Any = None) -> None:
    """The sums over the first rows, and what was chosen before the pass where it is more than the features.

    Raises
    ------
    OSError : where the file cannot be written; an earlier one is left as it is
    """
    arrays = {f"{part}{k}": np.asarray(getattr(each, part), float) for k, each in enumerate(sums) for part in _PARTS}
    writer = Writer()
    header = {"key": key, "rows": rows, "chosen": writer.encode(chosen, "checkpoint")}
    try:
        with replacing(path) as temporary:
            archive.write(temporary, header, arrays | {"probe": probe} | writer.arrays, [zipfile.ZIP_STORED])
    except OSError as error:
        raise OSError(
            f"the checkpoint {path} could not be written at row {rows} ({error.strerror or error}): make room and fit "
            "again, which resumes from the last one that was written"
        ) from None


def read(path: Path, key: str, probe: Array, nothing: list[Summing]) -> tuple[int, list[Summing]]:
    """How many rows are done, and the sums over them; 0 and ``nothing`` where there is no checkpoint.

    Raises
    ------
    ValueError : where the file is of another pass, or no checkpoint
    """

    def kept(found: archive.Archive, rows: int) -> tuple[int, list[Summing]] | None:
        own = found.array("probe")
        # Another machine makes features of the same landmarks that differ by less.
        if own.shape != probe.shape or not np.allclose(own, probe, rtol=1e-6, atol=1e-6):
            return None
        return rows, [_summing(found, k, empty) for k, empty in enumerate(nothing)]

    return _read(path, key, kept) or (0, nothing)


def read_chosen(path: Path, key: str, like: Callable[[Any], Summing]) -> tuple[Any, int, Summing] | None:
    """What was chosen before a pass, how many rows are done, and the sums; None where there is no checkpoint.

    Parameters
    ----------
    path, key : as in ``read``
    like : of what was chosen, sums over no row

    Raises
    ------
    ValueError : where the file is of another pass, or no checkpoint
    """

    def kept(found: archive.Archive, rows: int) -> tuple[Any, int, Summing]:
        chosen = Reader(found.array, found.take).decode(found.header()["chosen"])
        return chosen, rows, _summing(found, 0, like(chosen))

    return _read(path, key, kept)


def _read(path: Path, key: str, kept: Callable[[archive.Archive, int], T | None]) -> T | None:
    """What ``kept`` makes of a file and of the number of rows that are done; None where there is no file."""
    if not path.exists():
        return None
    try:
        with zipfile.ZipFile(path) as unpacked:
            found = archive.Archive(unpacked, path.stat().st_size)
            header = found.header()
            if not found.sealed:
                raise ValueError("the digest of its header is missing")
            result = kept(found, int(header["rows"])) if header["key"] == key else None
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(f"{path} is no checkpoint of a fit, or is damaged ({error}): remove it") from None
    if result is not None:
        return result
    raise ValueError(
        f"the checkpoint {path} belongs to other rows, to a file that has changed since, or to other parameters: "
        "remove it, or give another name"
    )


def probe(rows: Pass, sample: Chunk) -> Array:
    """Features of a few rows, by which the features of an earlier pass are known again."""
    return rows.bank.cross(rows.samples(sample.head(4))).bank.F


def _summing(found: archive.Archive, fold: int, empty: Summing) -> Summing:
    """The sums of a fold; ValueError where they are of other shapes than sums of none."""
    parts = {part: found.array(f"{part}{fold}") for part in _PARTS}
    for part, values in parts.items():
        if values.shape != np.shape(getattr(empty, part)) or values.dtype != np.float64:
            raise ValueError(f"its {part} have the shape {values.shape}")
    count = float(parts.pop("count"))
    return Summing.of(Moments(count=count, **parts))
