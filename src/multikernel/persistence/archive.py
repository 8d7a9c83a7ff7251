"""The file of a model: a zip of a JSON header and of arrays in NumPy's format.

Digests tie them together: the header contains the digest of each array, and a separate member the digest of the header.
They reveal members that were damaged, exchanged or edited by hand, but not a deliberate forgery, which includes its
digests.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.persistence.names import RefusedError

_HEADER = "header.json"
_DIGEST = "header.digest"
_PACKINGS = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
_LARGEST_RATIO = 200  # of the unpacked bytes to the size of a file; files that would exceed it are written unpacked


def write(path: Path, header: dict[str, Any], arrays: dict[str, Array], packings: Sequence[int] = _PACKINGS) -> None:
    """Write a header and arrays, packed unless they pack so well that a reader would refuse the file as an attack.

    Parameters
    ----------
    path : the file
    header : dict of values that JSON can represent
    arrays : dict of arrays by name
    packings : ways to pack, of ``zipfile``, to be tried in turn
    """
    for packing in packings:
        digests = {}
        with zipfile.ZipFile(path, "w", packing, compresslevel=1) as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    hashed = _Hashed(member)
                    np.lib.format.write_array(hashed, array, allow_pickle=False)
                    digests[name] = hashed.digest()
            text = json.dumps(header | {"digests": digests}, indent=1).encode()
            archive.writestr(_HEADER, text)
            archive.writestr(_DIGEST, _digest(text))
        with zipfile.ZipFile(path) as archive:
            if _unpacked_bytes(archive) + _bytes_of_values(text) <= _allowed_bytes(path.stat().st_size):
                return


class Archive:
    """A file of a model, open for reading.

    Parameters
    ----------
    file : zipfile.ZipFile
    size : bytes of the file

    Raises
    ------
    RefusedError : where reading would take far more memory than a file of this size should, or ``write`` does not
        create such a zip
    """

    def __init__(self, file: zipfile.ZipFile, size: int) -> None:
        members = file.infolist()
        if len({info.filename for info in members}) < len(members):
            raise RefusedError("it holds two members of the same name")
        if any(info.compress_type not in _PACKINGS for info in members):
            raise RefusedError("it is packed in another way than save packs")
        self._file = file
        self._left = _allowed_bytes(size)
        self._digests: dict[str, str] | None = None
        self.take(_unpacked_bytes(file))

    def take(self, bytes: float) -> None:
        """Count bytes that are unpacked from the file; RefusedError where they are too many for its size."""
        self._left -= bytes
        if self._left < 0:
            raise RefusedError(f"it would unpack to more than {_LARGEST_RATIO} times its size")

    @property
    def sealed(self) -> bool:
        """Whether the file contains digests, as files of ``write`` do since format 3."""
        return _DIGEST in self._file.namelist()

    def header(self) -> dict[str, Any]:
        """The JSON header; RefusedError where it was changed after it was written."""
        text = self._file.read(_HEADER)
        if self.sealed and self._file.read(_DIGEST).decode() != _digest(text):
            raise RefusedError("its header was altered after it was saved")
        self.take(_bytes_of_values(text))
        header = json.loads(text)
        if not isinstance(header, dict):
            raise RefusedError("its header is no JSON object")
        if self.sealed:
            self._digests = header["digests"]
        return header

    def array(self, name: str) -> Array:
        """An array.

        Raises
        ------
        RefusedError : where it was changed after it was written, or where its header states another size than the file
            has; this is checked before memory is allocated
        """
        if f"{name}.npy" not in self._file.namelist():
            raise RefusedError(f"its array {name} is missing")
        info = self._file.getinfo(f"{name}.npy")
        with self._file.open(info) as member:
            shape, dtype, start = _layout(member)
        if dtype.hasobject:
            raise RefusedError(f"its array {name} holds objects instead of numbers")
        if start + math.prod(shape) * dtype.itemsize != info.file_size:
            raise RefusedError(f"its array {name} says {shape} numbers, and holds another number of them")
        if dtype.itemsize == 0:  # empty strings, of which a file can claim any number
            self.take(math.prod(shape))
        with self._file.open(info) as member:
            hashed = _Hashed(member)
            array = np.lib.format.read_array(hashed, allow_pickle=False)
        if self._digests is not None and self._digests.get(name) != hashed.digest():
            raise RefusedError(f"its array {name} was altered after it was saved")
        return array


class _Hashed:
    """A file whose bytes are hashed as they are read or written."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._state = blake2b(digest_size=16)

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._file.read(size)
        self._state.update(data)
        return data

    def write(self, data: bytes) -> int:
        self._state.update(data)
        return int(self._file.write(data))

    def digest(self) -> str:
        return self._state.hexdigest()


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=16).hexdigest()


def _layout(member: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """The shape and the type in an array's header, and the position at which its numbers begin."""
    major, _ = np.lib.format.read_magic(member)
    if major == 1:
        read = np.lib.format.read_array_header_1_0
    else:
        read = np.lib.format.read_array_header_2_0
    shape, _, dtype = read(member)
    return shape, dtype, member.tell()


def _allowed_bytes(size: int) -> float:
    """The number of bytes that may be unpacked from a file of this size: 1 MB in any case."""
    return (1 << 20) + _LARGEST_RATIO * size


def _unpacked_bytes(file: zipfile.ZipFile) -> float:
    """The bytes of all members."""
    return float(sum(info.file_size for info in file.infolist()))


def _bytes_of_values(header: bytes) -> float:
    """The most bytes that the values of a JSON text take in memory.

    Every value except one comes after one of four marks, so that the marks bound the number of values. In Python a
    character takes up to 8 bytes, and a value up to 100 bytes in addition to its characters.
    """
    return 8 * len(header) + 100 * float(sum(map(header.count, (b"[", b"{", b",", b":"))))
