"""Objects to JSON and plain arrays."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._arrays import foreign, host
from multikernel._typing import Array
from multikernel.persistence.names import has_state, is_known, name_of


class Writer:
    """Objects to JSON; arrays are set aside, one that occurs twice only once.

    Attributes
    ----------
    arrays : dict, the arrays by the names that the JSON calls them
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[int, str] = {}
        self._copies: dict[
            int, tuple[Any, Array]
        ] = {}  # beside the foreign array, whose identity must not be given anew

    def encode(self, value: Any, where: str) -> Any:
        """The JSON form of a value; TypeError, which says where the value stood, if it has none."""
        match value:
            case None | bool() | int() | float() | str():
                return value
            case np.generic():
                return self.encode(value.item(), where)
            case PathLike():
                return fspath(value)
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
        if foreign(value):  # a model works on NumPy arrays where it is loaded
            return self._array(self._on_host(value), where)
        if hasattr(value, "tocsr"):
            csr = value.tocsr()
            parts = [self._array(part, where) for part in (csr.data, csr.indices, csr.indptr)]
            return {"csr": parts, "shape": list(csr.shape), "matrix": isinstance(value, sparse.spmatrix)}
        if has_state(type(value)) and is_known(type(value)):
            state = {k: self.encode(v, f"{where}.{k}") for k, v in vars(value).items()}
            return {"estimator": name_of(type(value)), "state": state}
        if is_dataclass(value) and not isinstance(value, type) and is_known(type(value)):
            state = {f.name: self.encode(getattr(value, f.name), f"{where}.{f.name}") for f in fields(value)}
            return {"dataclass": name_of(type(value)), "state": state}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"dtype": np.dtype(value).str}
        raise TypeError(
            f"cannot save {where}: a {type(value).__name__} has no form of plain arrays and JSON; a dataclass of your "
            "own can be registered by multikernel.register"
        )

    def _on_host(self, value: Any) -> Array:
        """The same NumPy array for an array that occurs twice."""
        if id(value) not in self._copies:
            self._copies[id(value)] = (value, np.array(host(value)))
        return self._copies[id(value)][1]

    def _array(self, value: Array, where: str) -> Any:
        if value.dtype == object:
            return {"objects": [self.encode(v, where) for v in value.ravel()], "shape": list(value.shape)}
        if id(value) not in self._names:
            self._names[id(value)] = f"a{len(self.arrays)}"
            self.arrays[self._names[id(value)]] = value
        return {"array": self._names[id(value)]}
