"""A short name for what a result was computed of: data, parameters and functions that are equal have the same name."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import blake2b
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from multikernel._typing import Array

_PLAIN = "biufcmMSUV"  # kinds of arrays that are their bytes
# Parameters that change no result. A time_budget does: folds of a search are kept with the models that it cut.
_WITHOUT_EFFECT = frozenset({"checkpoint", "verbose", "n_jobs"})


def digest(*things: Any) -> str:
    """Sixteen bytes in hexadecimal, which differ where anything in the things differs that a result depends on.

    Raises
    ------
    TypeError : for an object that does not show what it is made of
    """
    state = blake2b(digest_size=16)
    for piece in _pieces(things):
        state.update(len(piece).to_bytes(8, "little"))
        state.update(piece)
    return state.hexdigest()


def _pieces(value: Any) -> Iterator[Any]:
    """The bytes of a value, with what kind of thing they are."""
    match value:
        case None | bool() | int() | float() | complex() | str() | bytes() | slice() | range():
            yield f"{type(value).__name__} {value!r}".encode()
        case np.ndarray():
            yield from _array(value)
        case np.generic():
            yield from _array(np.asarray(value))
        case Mapping():
            yield f"mapping {len(value)}".encode()
            for name, each in value.items():
                yield from _pieces(name)
                yield from _pieces(each)
        case list() | tuple():
            yield f"sequence {len(value)}".encode()
            for each in value:
                yield from _pieces(each)
        case set() | frozenset():
            yield from _pieces(sorted(value, key=repr))
        case type():
            yield f"class {value.__module__}:{value.__qualname__}".encode()
        case _:
            yield from _object(value)


def _array(value: Array) -> Iterator[Any]:
    yield f"array {value.dtype.str} {value.shape}".encode()
    if value.dtype.kind in _PLAIN:
        yield np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    else:
        yield from _pieces(value.ravel().tolist())


def _object(value: Any) -> Iterator[Any]:
    """What an object is made of: its code, its parameters, its columns, its numbers, or its attributes."""
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        yield marshal.dumps(value.__code__)
        yield from _pieces([value.__defaults__, value.__kwdefaults__, cells])
        return
    yield from _pieces(type(value))
    if isinstance(value, partial):
        yield from _pieces([value.func, value.args, value.keywords])
    elif isinstance(value, BaseEstimator):
        given = value.get_params(deep=False)
        yield from _pieces({name: each for name, each in given.items() if name not in _WITHOUT_EFFECT})
    elif is_dataclass(value):
        yield from _pieces({each.name: getattr(value, each.name) for each in fields(value)})
    elif hasattr(value, "tocsr"):
        rows = value.tocsr()
        yield from _pieces([rows.shape, rows.data, rows.indices, rows.indptr])
    elif hasattr(value, "columns") and hasattr(value, "__getitem__"):  # a data frame, or a table of Arrow
        names = list(getattr(value, "column_names", value.columns))
        yield from _pieces({name: np.asarray(value[name]) for name in names})
    elif hasattr(value, "__array__"):
        yield from _array(np.asarray(value))
    else:
        yield from _attributes(value)


def _attributes(value: Any) -> Iterator[Any]:
    """Random generators by their state, other plain objects by their attributes, and all else by its words."""
    if isinstance(value, np.random.RandomState):
        yield from _pieces(value.get_state())
    elif isinstance(value, np.random.Generator):
        yield from _pieces(value.bit_generator.state)
    elif hasattr(value, "__dict__") and not callable(value):
        yield from _pieces(vars(value))
    elif " at 0x" in (words := repr(value)):
        raise TypeError(
            f"a checkpoint cannot decide whether a {type(value).__name__} is the same the next time; give arrays, data "
            "frames, or parameters that are numbers, words, dataclasses or functions"
        )
    else:
        yield words.encode()
