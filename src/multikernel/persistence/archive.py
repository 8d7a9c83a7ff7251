"""The file of a model: a zip of a JSON header and of arrays in NumPy's format.

A digest ties them together: the header holds the digest of each array, and a member of its own that of the header. It
finds what was damaged, exchanged or edited by hand; someone who forges a file forges its digests as well.
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
_LARGEST_RATIO = 200  # of what is made of a file and its size; what would exceed it is written without packing


def write(path: Path, header: dict[str, Any], arrays: dict[str, Array], packings: Sequence[int] = _PACKINGS) -> None:
    """Write a header and arrays, packed unless they pack so well that a reader would take the file for an attack.

    Parameters
    ----------
    path : the file
    header : what JSON can hold
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
            if _made(archive) + _made_of(text) <= _allowed(path.stat().st_size):
                return


class Archive:
    """A file of a model, open for reading.

    Parameters
    ----------
    file : zipfile.ZipFile
    size : bytes of the file

    Raises
    ------
    RefusedError : where reading would take far more memory than the file's size lets one expect, or ``write`` makes no
        such zip
    """

    def __init__(self, file: zipfile.ZipFile, size: int) -> None:
        members = file.infolist()
        if len({info.filename for info in members}) < len(members):
            raise RefusedError("it holds two members of the same name")
        if any(info.compress_type not in _PACKINGS for info in members):
            raise RefusedError("it is packed in another way than save packs")
        self._file = file
        self._left = _allowed(size)
        self._digests: dict[str, str] | None = None
        self.take(_made(file))

    def take(self, bytes: float) -> None:
        """Count bytes that are made of the file; RefusedError where these are too many for its size."""
        self._left -= bytes
        if self._left < 0:
            raise RefusedError(f"it would unpack to more than {_LARGEST_RATIO} times its size")

    @property
    def sealed(self) -> bool:
        """Whether the file holds digests, as all do that ``write`` made since format 3."""
        return _DIGEST in self._file.namelist()

    def header(self) -> dict[str, Any]:
        """The JSON header; RefusedError where it is not the one that was written."""
        text = self._file.read(_HEADER)
        if self.sealed and self._file.read(_DIGEST).decode() != _digest(text):
            raise RefusedError("its header was altered after it was saved")
        self.take(_made_of(text))
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
        RefusedError : where it is not the one that was written, or asks for another size than the file holds; memory is
            taken only after that
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
        if dtype.itemsize == 0:  # empty words, of which a file can claim any number
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
    """Shape and type that an array's header says, and where its numbers begin."""
    major, _ = np.lib.format.read_magic(member)
    if major == 1:
        read = np.lib.format.read_array_header_1_0
    else:
        read = np.lib.format.read_array_header_2_0
    shape, _, dtype = read(member)
    return shape, dtype, member.tell()


def _allowed(size: int) -> float:
    """How many bytes may be unpacked from a file of this size: 1 MB in any case."""
    return (1 << 20) + _LARGEST_RATIO * size


def _made(file: zipfile.ZipFile) -> float:
    """The bytes of all members."""
    return float(sum(info.file_size for info in file.infolist()))


def _made_of(header: bytes) -> float:
    """The bytes that the values of a JSON text take at most: each but one stands behind one of four marks.

    In Python a character takes up to 8 bytes, and a value up to 100 beside its characters.
    """
    return 8 * len(header) + 100 * float(sum(map(header.count, (b"[", b"{", b",", b":"))))
