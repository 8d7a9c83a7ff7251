"""A short name for the inputs of a result: data, parameters and functions that are equal have the same name.

A function is identified by its code, its defaults, the variables of its closure, and the global variables that its code
reads, functions among them: the same text with another ``GAMMA = 10`` is another function. A class is identified by its
name, its methods, and its class variables that are numbers, words, arrays or sequences of them, and those of its base
classes. Of functions and classes of installed packages the global variables, methods and class variables are left out,
and so is the content of all modules.
"""

from __future__ import annotations

import dis
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from multikernel._arrays import is_sparse
from multikernel._typing import Array

_PLAIN = "biufcmMSUV"  # kinds of arrays that are determined by their bytes
# Parameters that change no result. A time_budget changes results: a search saves folds with models that it cut.
_WITHOUT_EFFECT = frozenset({"checkpoint", "verbose", "n_jobs"})
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
_PACKAGES = frozenset({"site-packages", "dist-packages"})  # of any interpreter, user or target
_Cached = type(lru_cache(len))
# Members of classes that no result depends on, beside the state of their objects
_UNREAD = frozenset({"__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "_abc_impl"})
Known = dict[int, int]  # from the ids of the functions and classes of a digest to the order in which they occur


def digest(*things: Any) -> str:
    """Sixteen bytes in hexadecimal, which differ if the things differ in anything that a result depends on.

    Raises
    ------
    TypeError : for an object whose contents cannot be read
    """
    state = blake2b(digest_size=16)
    for piece in _pieces(things, {}):
        state.update(len(piece).to_bytes(8, "little"))
        state.update(piece)
    return state.hexdigest()


def _pieces(value: Any, known: Known) -> Iterator[Any]:
    """The bytes of a value and of its kind; ``known`` are the functions and classes that occurred before."""
    match value:
        case None | bool() | int() | float() | complex() | str() | bytes() | slice() | range():
            yield f"{type(value).__name__} {value!r}".encode()
        case np.ma.MaskedArray():
            yield b"masked"
            yield from _pieces([np.asarray(value.data), np.ma.getmaskarray(value)], known)
        case np.ndarray():
            yield from _array(value, known)
        case np.generic():
            yield from _array(np.asarray(value), known)
        case Mapping():
            yield f"mapping {len(value)}".encode()
            for name, item in value.items():
                yield from _pieces(name, known)
                yield from _pieces(item, known)
        case list() | tuple():
            yield f"sequence {len(value)}".encode()
            for item in value:
                yield from _pieces(item, known)
        case set() | frozenset():
            yield from _pieces(sorted(value, key=repr), known)
        case re.Pattern():
            yield from _pieces(["pattern", value.pattern, value.flags], known)
        case type():
            yield from _class(value, known)
        case _:
            yield from _object(value, known)


def _array(value: Array, known: Known) -> Iterator[Any]:
    yield f"array {value.dtype.str} {value.shape}".encode()
    if value.dtype.kind in _PLAIN and not value.dtype.hasobject:
        yield np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    else:
        yield from _pieces(value.ravel().tolist(), known)


def _object(value: Any, known: Known) -> Iterator[Any]:
    """The contents of an object: its code, parameters, columns, numbers, or the state that pickle saves."""
    if isinstance(value, FunctionType):
        yield from _function(value, known)
        return
    if isinstance(value, ModuleType):
        yield f"module {value.__name__}".encode()
        return
    yield from _pieces(type(value), known)
    if isinstance(value, MethodType):
        yield from _pieces([value.__func__, value.__self__], known)
    elif isinstance(value, partial):
        yield from _pieces([value.func, value.args, value.keywords], known)
    elif isinstance(value, BaseEstimator):
        params = value.get_params(deep=False)
        yield from _pieces({name: param for name, param in params.items() if name not in _WITHOUT_EFFECT}, known)
    elif is_dataclass(value):
        yield from _pieces({field.name: getattr(value, field.name) for field in fields(value)}, known)
    elif is_sparse(value):
        rows = value.tocsr()
        yield from _pieces([rows.shape, rows.data, rows.indices, rows.indptr], known)
    elif hasattr(value, "columns") and hasattr(value, "__getitem__"):  # a data frame, or a table of Arrow
        names = list(getattr(value, "column_names", value.columns))
        for name in names:
            yield from _pieces([name, _type_of(value[name]), np.asarray(value[name])], known)
    elif hasattr(value, "__array__"):
        yield from _pieces([_type_of(value), np.asarray(value)], known)
    else:
        yield from _state(value, known)


def _class(value: type, known: Known) -> Iterator[Any]:
    """A class by its name; unless installed also by its methods and plain variables, and those of its base classes.

    Of a method that cannot be read, since it reads a lock for instance, only the name counts.
    """
    yield f"class {value.__module__}:{value.__qualname__}".encode()
    if id(value) in known:
        return
    known[id(value)] = len(known)
    for cls in value.__mro__:
        if _is_installed_class(cls):
            continue
        for name, member in sorted(vars(cls).items()):
            inner = _unwrapped(member)
            if name not in _UNREAD and (_is_code(inner) or (_is_plain(inner) and not name.startswith("__"))):
                seen = dict(known)
                try:
                    pieces = list(_pieces([name, inner], seen))
                except (TypeError, RecursionError):
                    pieces = [name.encode()]
                else:
                    known.update(seen)
                yield from pieces


def _is_code(member: Any) -> bool:
    """Whether a member of a class is a function, compiled or with results that are kept."""
    return isinstance(member, (FunctionType, _Cached)) or hasattr(member, "py_func")


def _is_plain(member: Any) -> bool:
    """Whether a class variable is a number, a word, an array or a sequence of them, and no store that grows."""
    if isinstance(member, list | tuple):
        return all(_is_plain(item) for item in member)
    return member is None or isinstance(member, int | float | complex | str | bytes | np.ndarray | np.generic)


def _unwrapped(member: Any) -> Any:
    """The function of a property or of a method; other members of a class as they are."""
    match member:
        case property():
            return member.fget
        case staticmethod() | classmethod():
            return member.__func__
        case cached_property():
            return member.func
    return member


def _function(value: FunctionType, known: Known) -> Iterator[Any]:
    """A function by its code, defaults and closure; unless installed also by the global variables that it reads."""
    if id(value) in known:  # functions may call each other
        yield f"function {known[id(value)]}".encode()
        return
    known[id(value)] = len(known)
    code = value.__code__
    yield from _code(code)
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    yield from _pieces([value.__defaults__, value.__kwdefaults__, cells], known)
    if not _is_installed(value):
        read = sorted(_globals_of(code) & value.__globals__.keys())
        yield from _pieces({name: value.__globals__[name] for name in read}, known)


def _code(code: CodeType) -> Iterator[Any]:
    """The instructions, names and constants of a code, without its file and its lines."""
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield from _pieces(constant, {})


def _globals_of(code: CodeType) -> set[str]:
    """The names of global variables that a code, and the functions within it, read."""
    names = {instruction.argval for instruction in dis.get_instructions(code) if instruction.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _globals_of(constant)
    return names


def _is_installed(value: FunctionType) -> bool:
    return _is_of_package(value) or _is_file_of_package(value.__code__.co_filename)


def _is_installed_class(value: type) -> bool:
    module = sys.modules.get(value.__module__)
    if module is None or value.__module__ == "__main__":  # of a script
        return False
    file = getattr(module, "__file__", None)
    return _is_of_package(value) or file is None or _is_file_of_package(file)


def _is_file_of_package(file: str) -> bool:
    return file.startswith(_INSTALLED) or not _PACKAGES.isdisjoint(PurePath(file).parts)


def _is_of_package(value: Any) -> bool:
    return (value.__module__ or "").partition(".")[0] == "multikernel"


def _type_of(column: Any) -> list[Any]:
    """The type of a column of a data frame or an Arrow table, with its categories in order."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    categories = getattr(kind, "categories", None)
    category_values = np.asarray(categories) if hasattr(categories, "__array__") else None
    return [str(kind), category_values, getattr(kind, "ordered", None)]


def _state(value: Any, known: Known) -> Iterator[Any]:
    """Random generators by state, compiled functions by code, other objects by the state that pickle saves."""
    if isinstance(value, np.random.RandomState):
        yield from _pieces(value.get_state(), known)
    elif isinstance(value, np.random.Generator):
        yield from _pieces(value.bit_generator.state, known)
    elif isinstance(value, _Cached):
        yield from _pieces(value.__wrapped__, known)
    elif isinstance(getattr(value, "py_func", None), FunctionType):  # compiled by numba
        yield from _pieces(value.py_func, known)
    elif hasattr(value, "__name__") and " at 0x" not in (words := repr(value)):
        yield words.encode()
    else:
        yield from _pieces(_reduced(value), known)


def _reduced(value: Any) -> Any:
    """The arguments, the state and the items that pickle saves of an object; TypeError where it cannot save it."""
    try:
        reduced = value.__reduce_ex__(2)
    except Exception:  # classes may raise any error here
        raise TypeError(
            f"a checkpoint cannot decide whether a {type(value).__name__} is the same the next time; give arrays, data "
            "frames, or parameters that are numbers, words, dataclasses or functions"
        ) from None
    if isinstance(reduced, str):
        return reduced
    arguments, state, items, pairs = (*reduced[1:5], None, None, None)[:4]
    return [arguments, state, list(items or ()), list(pairs or ())]
