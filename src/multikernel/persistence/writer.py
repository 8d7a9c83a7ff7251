"""Objects to JSON and plain arrays."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from scipy import sparse
from scipy.interpolate import interp1d

from multikernel._arrays import foreign, host, is_sparse
from multikernel._typing import Array
from multikernel.persistence.names import TYPES, function_name, has_state, is_known, name_of


def _why(value: Any) -> str:
    """The reason why a value cannot be saved, with advice."""
    if callable(value) and not isinstance(value, type) and hasattr(value, "__name__"):
        return (
            f"of functions only those of NumPy such as np.log1p are saved, and not {value.__name__}; name columns "
            "in the place of a function that selects them, apply other functions to the samples beforehand, and write "
            "one that is a kernel as a dataclass with __call__ that is registered by multikernel.register"
        )
    return (
        f"a {type(value).__name__} has no form of plain arrays and JSON; a dataclass of your own can be registered by "
        "multikernel.register"
    )


def _scorer_name(value: Any) -> str | None:
    """The name of a scorer in scikit-learn; None for other values."""
    if not type(value).__module__.startswith("sklearn.metrics"):
        return None
    from sklearn.metrics import get_scorer, get_scorer_names  # takes a while to load

    return next((name for name in get_scorer_names() if repr(get_scorer(name)) == repr(value)), None)


class Writer:
    """Objects to JSON; arrays are collected separately, one that occurs twice only once.

    Attributes
    ----------
    arrays : dict, the arrays by their names in the JSON
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[int, str] = {}
        # with the foreign array, so that its id is not used again for another object
        self._copies: dict[int, tuple[Any, Array]] = {}

    def encode(self, value: Any, where: str) -> Any:
        """The JSON form of a value; TypeError with the value's place where it has none."""
        match value:
            case None | bool() | int() | float() | str():
                return value
            case np.generic() if value.dtype.kind in "biuf" and not isinstance(value, np.longdouble):
                return value.item()
            case PathLike():
                return fspath(value)
            case list():
                return [self.encode(v, f"{where}[{i}]") for i, v in enumerate(value)]
            case slice():
                return {"slice": [self.encode(v, where) for v in (value.start, value.stop, value.step)]}
            case set() | frozenset():
                items = [self.encode(v, f"an item of {where}") for v in sorted(value, key=repr)]
                return {"set": items, "frozen": isinstance(value, frozenset)}
            case tuple():
                return {"tuple": [self.encode(v, f"{where}[{i}]") for i, v in enumerate(value)]}
            case dict():
                return {"dict": [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]}
            case np.ma.MaskedArray():
                arrays = [self._array(array, where) for array in (np.asarray(value.data), np.ma.getmaskarray(value))]
                return {"masked": arrays}
            case np.ndarray():
                return self._array(value, where)
            case np.dtype() if value.names is None:
                return {"dtype": value.str, "instance": True}
            case np.random.RandomState():
                return {"random_state": self.encode(value.get_state(), where)}
            case interp1d() if value._kind == "linear":  # type: ignore[attr-defined]  # of an isotonic calibration
                return {
                    "interp1d": [self._array(array, where) for array in (value.x, value.y)],
                    "strict": value.bounds_error,
                }
        if foreign(value):  # a loaded model computes with NumPy arrays
            return self._array(self._on_host(value), where)
        if is_sparse(value):
            csr = value.tocsr()
            arrays = [self._array(array, where) for array in (csr.data, csr.indices, csr.indptr)]
            return {"csr": arrays, "shape": list(csr.shape), "matrix": isinstance(value, sparse.spmatrix)}
        if has_state(type(value)) and is_known(type(value)):
            return {"estimator": name_of(type(value)), "state": self._state(value, where)}
        if is_dataclass(value) and not isinstance(value, type) and is_known(type(value)):
            state = {f.name: self.encode(getattr(value, f.name), f"{where}.{f.name}") for f in fields(value)}
            return {"dataclass": name_of(type(value)), "state": state}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"dtype": np.dtype(value).str}
        if isinstance(value, type) and value in TYPES:
            return {"type": value.__name__}
        name = function_name(value)
        if name is not None:
            return {"function": name}
        scorer = _scorer_name(value)
        if scorer is not None:
            return {"scorer": scorer}
        raise TypeError(f"cannot save {where}: {_why(value)}")

    def _state(self, value: Any, where: str) -> dict[str, Any]:
        """The attributes of an estimator."""
        try:
            return {k: self.encode(v, f"{where}.{k}") for k, v in vars(value).items()}
        except TypeError as error:
            if hasattr(value, "best_estimator_") and ".best_estimator_" not in str(error):
                reason = str(error).rpartition("; ")[0]
                raise TypeError(f"{reason}; save {where}.best_estimator_, which predicts the same") from None
            raise

    def _on_host(self, value: Any) -> Array:
        """The NumPy copy of an array, the same one for each occurrence."""
        if id(value) not in self._copies:
            self._copies[id(value)] = (value, np.array(host(value)))
        return self._copies[id(value)][1]

    def _array(self, value: Array, where: str) -> Any:
        if value.dtype == object:
            return {"objects": [self.encode(v, where) for v in value.ravel()], "shape": list(value.shape)}
        if value.dtype.hasobject:
            raise TypeError(f"cannot save {where}: an array of {value.dtype} holds objects; give it as dtype=object")
        if id(value) not in self._names:
            self._names[id(value)] = f"a{len(self.arrays)}"
            self.arrays[self._names[id(value)]] = value
        return {"array": self._names[id(value)]}
