"""JSON and plain arrays back to objects."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.interpolate import interp1d

from multikernel._typing import Array
from multikernel.certificate import Certificate, Kind
from multikernel.persistence.names import TYPES, RefusedError, class_of, current, function_of, has_state

ReadArray = Callable[[str], Array]
Take = Callable[[float], None]


class Reader:
    """JSON back to objects.

    Parameters
    ----------
    read_array : function from an array's name in the file to the array
    take : function that counts the bytes of objects in addition to the arrays, and refuses too many
    """

    def __init__(self, read_array: ReadArray, take: Take) -> None:
        self._read_array = read_array
        self._take = take
        self._arrays: dict[str, Array] = {}
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "tuple": self._tuple,
            "set": self._set,
            "slice": self._slice,
            "dict": self._dict,
            "array": self._array,
            "objects": self._objects,
            "csr": self._csr,
            "masked": self._masked,
            "dtype": self._dtype,
            "type": self._type,
            "random_state": self._random_state,
            "interp1d": self._interp1d,
            "function": lambda value: function_of(value["function"]),
            "scorer": self._scorer,
            "estimator": self._estimator,
            "dataclass": self._dataclass,
        }

    def decode(self, value: Any) -> Any:
        """The object of a JSON form; RefusedError, or another error, where no writer produced the form."""
        if isinstance(value, list):
            return [self.decode(v) for v in value]
        if not isinstance(value, dict):
            return value
        kind = next(iter(value), "")
        if kind not in self._kinds:
            raise RefusedError(f"it holds an unknown part {kind!r}")
        return self._kinds[kind](value)

    def _tuple(self, value: Any) -> Any:
        return tuple(self.decode(v) for v in value["tuple"])

    def _set(self, value: Any) -> Any:
        return (frozenset if value["frozen"] else set)(self.decode(v) for v in value["set"])

    def _slice(self, value: Any) -> Any:
        return slice(*(self.decode(v) for v in value["slice"]))

    def _dict(self, value: Any) -> Any:
        return {self.decode(k): self.decode(v) for k, v in value["dict"]}

    def _array(self, value: Any) -> Any:
        name = value["array"]
        if name not in self._arrays:
            self._arrays[name] = self._read_array(name)
        return self._arrays[name]

    def _objects(self, value: Any) -> Any:
        shape = tuple(value["shape"])
        items = value["objects"]
        if math.prod(shape) != len(items):
            raise RefusedError(f"it gives {len(items)} objects for an array of shape {shape}")
        array = np.empty(len(items), dtype=object)
        array[:] = [self.decode(v) for v in items]
        return array.reshape(shape)

    def _csr(self, value: Any) -> Any:
        if value["matrix"]:
            kind: Callable[..., Any] = sparse.csr_matrix
        else:
            kind = sparse.csr_array
        arrays = tuple(self.decode(array) for array in value["csr"])
        self._take(sum(array.nbytes for array in arrays))  # a small file could define many matrices by the same arrays
        csr = kind(arrays, shape=tuple(value["shape"]))
        csr.check_format(full_check=True)  # an index beyond the shape would be read beyond the array's memory
        return csr

    def _masked(self, value: Any) -> Any:
        data, mask = (self.decode(array) for array in value["masked"])
        return np.ma.MaskedArray(data, mask)

    def _dtype(self, value: Any) -> Any:
        dtype = np.dtype(value["dtype"])
        if value.get("instance"):
            return dtype
        return dtype.type

    def _type(self, value: Any) -> Any:
        return {python_type.__name__: python_type for python_type in TYPES}[value["type"]]

    def _random_state(self, value: Any) -> Any:
        generator = np.random.RandomState()
        generator.set_state(self.decode(value["random_state"]))
        return generator

    def _interp1d(self, value: Any) -> Any:
        x, y = (self.decode(array) for array in value["interp1d"])
        return interp1d(x, y, kind="linear", bounds_error=value["strict"])

    def _scorer(self, value: Any) -> Any:
        from sklearn.metrics import get_scorer, get_scorer_names  # takes a while to load

        if value["scorer"] not in get_scorer_names():
            raise RefusedError(f"{value['scorer']} is not a scorer of scikit-learn")
        return get_scorer(value["scorer"])

    def _estimator(self, value: Any) -> Any:
        cls = class_of(value["estimator"])
        if not has_state(cls):
            raise RefusedError(f"{value['estimator']} is not an estimator")
        model: Any = object.__new__(cls)
        vars(model).update(_defaults(cls) | {k: self.decode(v) for k, v in value["state"].items()})
        _join_certificate(model)
        return model

    def _dataclass(self, value: Any) -> Any:
        name, state = current(value["dataclass"], value["state"])
        cls = class_of(name)
        if not is_dataclass(cls):
            raise RefusedError(f"{name} is not a specification")
        is_init = {f.name: f.init for f in fields(cls)}
        unknown = set(state) - set(is_init)
        if unknown:
            raise RefusedError(
                f"its {name} holds {', '.join(sorted(unknown))}, which the version installed here does not know"
            )
        values = {k: self.decode(v) for k, v in state.items()}
        instance = cls(**{k: v for k, v in values.items() if is_init[k]})
        for k, v in values.items():
            if not is_init[k]:
                object.__setattr__(instance, k, v)  # a frozen dataclass refuses setattr
        return instance


def _join_certificate(model: Any) -> None:
    """Set the certificate from its value: in files before version 4 it is written under the name of its kind."""
    kinds: dict[str, Kind] = {"duality_gap_": "duality gap", "stationarity_": "stationarity"}
    for name, kind in kinds.items():
        if isinstance(getattr(type(model), name, None), property) and name in vars(model):
            model.certificate_ = Certificate(kind, vars(model).pop(name))


@cache
def _defaults(cls: type) -> dict[str, Any]:
    """The parameters of an estimator with a default, which a file of an earlier version may lack."""
    parameters = inspect.signature(cls).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
