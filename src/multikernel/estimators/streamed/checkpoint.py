"""The state of a pass on disk: written whole or not at all, so that a pass that was killed goes on from there."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np

from multikernel._typing import Array
from multikernel.estimators.protocol import Model
from multikernel.estimators.streamed.rows import Pass
from multikernel.files import replacing
from multikernel.persistence import archive
from multikernel.statistics import Moments, Summing
from multikernel.streams import Chunk, Source

_PARTS = ("squares", "products", "sums", "target_sums", "target_squares", "count")


def key_of(model: Model, source: Source) -> str:
    """A digest of the model and of the source: another pass has another one."""
    what = repr((type(model).__name__, model.get_params(), source.identity))
    return hashlib.sha256(what.encode()).hexdigest()


def write(path: Path, key: str, probe: Array, rows: int, sums: list[Summing]) -> None:
    """The sums over the first rows.

    Raises
    ------
    OSError : where the file cannot be written; an earlier one is left as it is
    """
    arrays = {f"{part}{k}": np.asarray(getattr(each, part), float) for k, each in enumerate(sums) for part in _PARTS}
    try:
        with replacing(path) as temporary:
            archive.write(temporary, {"key": key, "rows": rows}, arrays | {"probe": probe}, [zipfile.ZIP_STORED])
    except OSError as error:
        raise OSError(
            f"the checkpoint {path} could not be written at row {rows} ({error.strerror or error}): make room and fit "
            "again, which resumes from the last one that was written"
        ) from None


def read(path: Path, key: str, probe: Array, rows: Pass) -> tuple[int, list[Summing]]:
    """How many rows are done, and the sums over them; 0 and empty ones where there is no checkpoint.

    Raises
    ------
    ValueError : where the file is of another pass, or no checkpoint
    """
    if not path.exists():
        return 0, rows.nothing()
    try:
        with zipfile.ZipFile(path) as unpacked:
            found = archive.Archive(unpacked, path.stat().st_size)
            header, kept = found.header(), found.array("probe")
            if not found.sealed:
                raise ValueError("the digest of its header is missing")
            same = header["key"] == key and kept.shape == probe.shape
            # Another machine makes features of the same landmarks that differ by less.
            if same and np.allclose(kept, probe, rtol=1e-6, atol=1e-6):
                return int(header["rows"]), [_summing(found, k, empty) for k, empty in enumerate(rows.nothing())]
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(f"{path} is no checkpoint of a fit, or is damaged ({error}): remove it") from None
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
