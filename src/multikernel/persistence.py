"""Models on disk without pickle: a zip of a JSON header and plain arrays.

What is written: estimators of this package and of scikit-learn (parameters and fitted attributes), the specifications
and banks of this package (dataclasses), arrays, CSR matrices, and JSON's own types. Loading looks up classes of these
two packages, and those that the user registered, by name and sets their attributes; it runs no code from the file.
"""

from __future__ import annotations

import importlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator

from multikernel._files import replacing
from multikernel._typing import Array

FORMAT = "multikernel model"
VERSION = 1
_PACKAGES = ("multikernel", "sklearn")
_FACES = ("multikernel", "multikernel.kernels", "multikernel.banks")  # where classes have public names
_REGISTERED: dict[str, type] = {}


def register(cls: type) -> type:
    """Let models that hold a kernel, or another dataclass, defined outside this package be saved and loaded.

    Parameters
    ----------
    cls : a dataclass; it has to be registered before a model that holds it is saved, and before it is loaded

    Returns
    -------
    The class itself, so that this can stand above it as a decorator.

    Raises
    ------
    TypeError : where the class is no dataclass
    ValueError : where another class was registered under the same name

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import multikernel
    >>> from multikernel.kernels import RBF
    >>> @multikernel.register
    ... @dataclass(repr=False)
    ... class Named(RBF):
    ...     label: str = "mine"
    """
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise TypeError(f"register takes a dataclass, got {cls!r}")
    known = _REGISTERED.get(cls.__qualname__, cls)
    if known.__module__ != cls.__module__:
        raise ValueError(
            f"a class named {cls.__qualname__} of {known.__module__} is registered already; choose another name"
        )
    _REGISTERED[cls.__qualname__] = cls
    return cls


def save(model: Any, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    model : an estimator of this package, or of scikit-learn (a pipeline, say) that holds such estimators
    path : file to write; an existing file is replaced, and keeps its mode
    metadata : anything that JSON can hold, kept beside the model

    Raises
    ------
    TypeError : where the model holds something that has no plain form; the message says what and where.
    OSError : where the file cannot be written, or is a device

    Examples
    --------
    >>> import os, tempfile
    >>> import multikernel
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = multikernel.EasyMKLClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     multikernel.save(model, os.path.join(folder, "iris.mk"))
    ...     again = multikernel.load(os.path.join(folder, "iris.mk"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    writer = _Writer()
    header = {
        "format": FORMAT,
        "version": VERSION,
        "scikit-learn": sklearn.__version__,
        "metadata": metadata or {},
        "model": writer.encode(model, "model"),
    }
    text = json.dumps(header, indent=1)
    with replacing(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", text)
        for name, array in writer.arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` wrote.

    Parameters
    ----------
    path : the file

    Raises
    ------
    ValueError : where the file is something else or damaged, or holds a class that has to be registered first
    """
    return read(path)[0]


def read(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a model and the metadata beside it."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
            if header.get("format") != FORMAT:
                raise ValueError(f"{os.fspath(path)} is not a model saved by multikernel")
            if header["version"] > VERSION:
                raise ValueError(f"{os.fspath(path)} was saved by a newer multikernel (format {header['version']})")
            return _Reader(archive).decode(header["model"]), header["metadata"]
    except (zipfile.BadZipFile, zlib.error, KeyError, json.JSONDecodeError, EOFError) as error:
        raise ValueError(f"{os.fspath(path)} is not a model saved by multikernel, or is damaged: {error}") from None


class _Writer:
    """Objects to JSON; arrays are set aside, one that occurs twice only once."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[int, str] = {}

    def encode(self, value: Any, where: str) -> Any:
        match value:
            case None | bool() | int() | float() | str():
                return value
            case np.generic():
                return self.encode(value.item(), where)
            case list():
                return [self.encode(v, f"{where}[{i}]") for i, v in enumerate(value)]
            case slice():
                return {"slice": [self.encode(v, where) for v in (value.start, value.stop, value.step)]}
            case tuple():
                return {"tuple": [self.encode(v, f"{where}[{i}]") for i, v in enumerate(value)]}
            case dict():
                return {"dict": [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]}
            case np.ndarray():
                return self._array(value, where)
        if hasattr(value, "tocsr"):
            csr = value.tocsr()
            parts = [self._array(part, where) for part in (csr.data, csr.indices, csr.indptr)]
            return {"csr": parts, "shape": list(csr.shape), "matrix": isinstance(value, sparse.spmatrix)}
        if isinstance(value, BaseEstimator) and _known(type(value)):
            state = {k: self.encode(v, f"{where}.{k}") for k, v in vars(value).items()}
            return {"estimator": _name(type(value)), "state": state}
        if is_dataclass(value) and not isinstance(value, type) and _known(type(value)):
            state = {f.name: self.encode(getattr(value, f.name), f"{where}.{f.name}") for f in fields(value)}
            return {"dataclass": _name(type(value)), "state": state}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"dtype": np.dtype(value).str}
        raise TypeError(
            f"cannot save {where}: a {type(value).__name__} has no form of plain arrays and JSON; a dataclass of your "
            "own can be registered by multikernel.register"
        )

    def _array(self, value: Array, where: str) -> Any:
        if value.dtype == object:
            return {"objects": [self.encode(v, where) for v in value.ravel()], "shape": list(value.shape)}
        if id(value) not in self._names:
            self._names[id(value)] = f"a{len(self.arrays)}"
            self.arrays[self._names[id(value)]] = value
        return {"array": self._names[id(value)]}


class _Reader:
    """JSON back to objects."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._arrays: dict[str, Array] = {}

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(v) for v in value]
        if not isinstance(value, dict):
            return value
        kind = next(iter(value))
        return getattr(self, f"_{kind}")(value) if kind in _KINDS else _refuse(f"unknown part {kind!r}")

    def _tuple(self, value: Any) -> Any:
        return tuple(self.decode(v) for v in value["tuple"])

    def _slice(self, value: Any) -> Any:
        return slice(*(self.decode(v) for v in value["slice"]))

    def _dict(self, value: Any) -> Any:
        return {self.decode(k): self.decode(v) for k, v in value["dict"]}

    def _array(self, value: Any) -> Any:
        name = value["array"]
        if name not in self._arrays:
            with self._archive.open(f"{name}.npy") as member:
                self._arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
        return self._arrays[name]

    def _objects(self, value: Any) -> Any:
        array = np.empty(len(value["objects"]), dtype=object)
        array[:] = [self.decode(v) for v in value["objects"]]
        return array.reshape(value["shape"])

    def _csr(self, value: Any) -> Any:
        kind: Callable[..., Any] = sparse.csr_matrix if value["matrix"] else sparse.csr_array
        return kind(tuple(self.decode(part) for part in value["csr"]), shape=tuple(value["shape"]))

    def _dtype(self, value: Any) -> Any:
        return np.dtype(value["dtype"]).type

    def _estimator(self, value: Any) -> Any:
        cls = _find(value["estimator"])
        if not issubclass(cls, BaseEstimator):
            _refuse(f"{value['estimator']} is not an estimator")
        model: Any = object.__new__(cls)
        vars(model).update({k: self.decode(v) for k, v in value["state"].items()})
        return model

    def _dataclass(self, value: Any) -> Any:
        cls = _find(value["dataclass"])
        if not is_dataclass(cls):
            _refuse(f"{value['dataclass']} is not a specification")
        return cls(**{k: self.decode(v) for k, v in value["state"].items()})


_KINDS = ("tuple", "slice", "dict", "array", "objects", "csr", "dtype", "estimator", "dataclass")


def _known(cls: type) -> bool:
    return cls.__module__.split(".")[0] in _PACKAGES or _REGISTERED.get(cls.__qualname__) is cls


def _name(cls: type) -> str:
    """The public name where there is one: files of private modules may move."""
    if _REGISTERED.get(cls.__qualname__) is cls:
        return f"registered:{cls.__qualname__}"
    for face in _FACES:
        if cls.__module__.startswith(face) and getattr(importlib.import_module(face), cls.__name__, None) is cls:
            return f"{face}:{cls.__name__}"
    return f"{cls.__module__}:{cls.__qualname__}"


def _find(name: str) -> type:
    """The class of a name, from this package, scikit-learn or those registered only."""
    module, _, qualname = name.partition(":")
    if module == "registered":
        if qualname not in _REGISTERED:
            _refuse(f"it holds a {qualname} defined outside multikernel: call multikernel.register({qualname}) first")
        return _REGISTERED[qualname]
    if module.split(".")[0] not in _PACKAGES:
        _refuse(f"{name} is not a class of multikernel or scikit-learn")
    try:
        cls = getattr(importlib.import_module(module), qualname)
    except (ImportError, AttributeError):
        _refuse(f"{name} does not exist in the versions installed here")
    return cls if isinstance(cls, type) else _refuse(f"{name} is not a class")


def _refuse(why: str) -> Any:
    raise ValueError(f"this model cannot be loaded: {why}")
