"""The file of a model: a zip of a JSON header and of arrays in NumPy's format."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.persistence.names import RefusedError

_LARGEST_RATIO = 200  # of sizes unpacked and packed; what would exceed it is written without packing
_ALWAYS = 1 << 20  # bytes that may be unpacked whatever the ratio


def write(path: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a header and arrays, packed unless they pack so well that a reader would take the file for an attack."""
    text = json.dumps(header, indent=1)
    for packing in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        with zipfile.ZipFile(path, "w", packing, compresslevel=1) as archive:
            archive.writestr("header.json", text)
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        with zipfile.ZipFile(path) as archive:
            if not _unpacks_too_far(archive, path.stat().st_size):
                return


class Archive:
    """A file of a model, open for reading.

    Parameters
    ----------
    file : zipfile.ZipFile
    size : bytes of the file

    Raises
    ------
    RefusedError : where unpacking would take far more memory than the file's size lets one expect
    """

    def __init__(self, file: zipfile.ZipFile, size: int) -> None:
        if _unpacks_too_far(file, size):
            raise RefusedError(f"it would unpack to more than {_LARGEST_RATIO} times its size")
        self._file = file

    def header(self) -> Any:
        """The JSON header."""
        return json.loads(self._file.read("header.json"))

    def array(self, name: str) -> Array:
        """An array; RefusedError where its header asks for another size than the file holds, before memory is taken."""
        info = self._file.getinfo(f"{name}.npy")
        with self._file.open(info) as member:
            shape, dtype, start = _layout(member)
        if dtype.hasobject:
            raise RefusedError(f"its array {name} holds objects instead of numbers")
        if start + math.prod(shape) * dtype.itemsize != info.file_size:
            raise RefusedError(f"its array {name} says {shape} numbers, and holds another number of them")
        with self._file.open(info) as member:
            return np.lib.format.read_array(member, allow_pickle=False)


def _layout(member: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape and type that an array's header says, and where its numbers begin."""
    major, _ = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(member)
    return shape, dtype, member.tell()


def _unpacks_too_far(file: zipfile.ZipFile, size: int) -> bool:
    return sum(info.file_size for info in file.infolist()) > _ALWAYS + _LARGEST_RATIO * size
