"""Names of classes in model files: public names, which do not change when private files move.

A class of this package is written as ``room:Name``. The room is the package from which users import the class, or the
subpackage in which it is defined where users do not create it themselves; within a room every name is unique. A class
of scikit-learn is written with its public module. Reading looks up classes in these two packages and among those that
the user registered, and nowhere else.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from multikernel._rules import abbreviated

# subpackages whose classes models contain, and public modules of scikit-learn: no other module is imported
_ROOMS = frozenset(
    {"multikernel"}
    | {
        f"multikernel.{room}"
        for room in (
            *("_arrays", "_folds", "_rules", "_work", "auto", "banks", "certificate", "combinations", "datasets"),
            *("diagnostics", "domains", "estimators", "inspection", "kernels", "machines", "numerics", "observer"),
            *("optimizers", "persistence", "problem", "procedures", "selection", "sources", "statistics", "streams"),
            "tables",
        )
    }
)
_FOREIGN = frozenset(
    f"sklearn.{module_name}"
    for module_name in (
        *("base", "calibration", "cluster", "compose", "covariance", "cross_decomposition", "decomposition"),
        *("discriminant_analysis", "dummy", "ensemble", "feature_extraction", "feature_extraction.image"),
        *("feature_extraction.text", "feature_selection", "frozen", "gaussian_process", "impute", "isotonic"),
        *("kernel_approximation", "kernel_ridge", "linear_model", "manifold", "mixture", "model_selection"),
        *("multiclass", "multioutput", "naive_bayes", "neighbors", "neural_network", "pipeline", "preprocessing"),
        *("random_projection", "semi_supervised", "svm", "tree"),
    )
)
_FACES = ("multikernel", "multikernel.kernels")  # packages from which users import classes
_WITH_STATE = (  # classes that are no estimators, but that fitted estimators consist of
    *(
        f"sklearn.gaussian_process.kernels:{kernel}"
        for kernel in (
            *("CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Matern"),
            *("PairwiseKernel", "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel"),
        )
    ),
    "sklearn.calibration:_CalibratedClassifier",
    "sklearn.compose._column_transformer:make_column_selector",
    "sklearn.metrics._scorer:_PassthroughScorer",
)
TYPES = (bool, int, float, complex, str, object)  # of Python, by which columns are selected
# Functions that models may contain. They only compute, and a file cannot name any other function.
_UFUNCS = ("numpy", "scipy.special")
_FUNCTIONS = (
    "sklearn.feature_selection:chi2",
    "sklearn.feature_selection:f_classif",
    "sklearn.feature_selection:f_regression",
    "sklearn.feature_selection:mutual_info_classif",
    "sklearn.feature_selection:mutual_info_regression",
    "sklearn.feature_selection:r_regression",
    *(
        f"sklearn.metrics.pairwise:{kernel}"
        for kernel in (
            *("additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "laplacian_kernel", "linear_kernel"),
            *("polynomial_kernel", "rbf_kernel", "sigmoid_kernel"),
        )
    ),
)
_RENAMED: dict[str, str] = {  # names of earlier versions, and the present names
    "multikernel.auto:Linear": "multikernel.auto:LinearSimilarity",
    "multikernel.auto:OfDistance": "multikernel.auto:DistanceSimilarity",
    "multikernel.auto:Row": "multikernel.auto:CandidateRow",
    "multikernel.auto:Samples": "multikernel.auto:PreparedSamples",
    "multikernel.auto:Weighed": "multikernel.auto:WeightedSimilarity",
    "multikernel.kernels:Column": "multikernel.tables:Column",
    "multikernel.kernels:Numerals": "multikernel.tables:Numerals",
    "multikernel.kernels:Table": "multikernel.tables:Table",
    "multikernel.banks:Columns": "multikernel.banks:NumericColumns",
    "multikernel.banks:Samples": "multikernel.banks:MatrixSamples",
    "multikernel.banks:ScaledBank": "multikernel.banks:WeightedBank",
    "multikernel.banks:WeighedBank": "multikernel.banks:WeightedBank",
    "multikernel.estimators:Posed": "multikernel.estimators:WeightedRidge",
    "multikernel.estimators:State": "multikernel.estimators:StreamState",
    "multikernel.kernels:Fitted": "multikernel.kernels:FittedObject",
}
_MAPPED = {  # banks of earlier versions that mapped their samples, and the maps of the MappedBank that replaces them
    "multikernel.banks:EncodedBank": "multikernel.banks:EncodedSamples",
    "multikernel.banks:FeaturedBank": "multikernel.banks:FeaturedSamples",
    "multikernel.banks:ViewBank": "multikernel.sources:ViewSamples",
}
_VIEWS = ("multikernel.banks:ViewSamples", "multikernel.sources:ViewSamples")  # of features, and of kernel matrices
_KNOWN_VIEW = {"view": "name", "labels": "labels", "kernels": "kernels", "completion": "completion"}
_REGISTERED: dict[str, type] = {}
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)


class RefusedError(ValueError):
    """A model cannot be loaded, for the reason in the message."""


def register(cls: type) -> type:
    """Allow models to be saved and loaded that contain a kernel, or another dataclass, from outside this package.

    Parameters
    ----------
    cls : a dataclass; it has to be registered before a model that contains it is saved, and before it is loaded

    Returns
    -------
    The class itself, so that ``register`` can be used as a decorator.

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
    registered = _REGISTERED.get(cls.__qualname__, cls)
    if registered.__module__ != cls.__module__:
        raise ValueError(
            f"a class named {cls.__qualname__} of {registered.__module__} is registered already; choose another name"
        )
    _REGISTERED[cls.__qualname__] = cls
    return cls


def is_known(cls: type) -> bool:
    """Whether models may contain objects of a class."""
    name = name_of(cls)
    return name in _WITH_STATE or name.partition(":")[0] in {"registered"} | _ROOMS | _FOREIGN


def has_state(cls: type) -> bool:
    """Whether the attributes of a class's objects are saved, and not their dataclass fields."""
    if issubclass(cls, BaseEstimator):
        return True
    if "sklearn.model_selection" in sys.modules:  # otherwise the value is no splitter, and the import takes a while
        from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit

        if issubclass(cls, BaseCrossValidator | BaseShuffleSplit):
            return True
    return f"{cls.__module__}:{cls.__qualname__}" in _WITH_STATE


def is_foreign(name: str) -> bool:
    """Whether a class of that name belongs to scikit-learn."""
    return _package(name) == "sklearn"


def name_of(cls: type) -> str:
    """The name of a class in a file."""
    if _REGISTERED.get(cls.__qualname__) is cls:
        return f"registered:{cls.__qualname__}"
    if _package(cls.__module__) == "sklearn":
        return f"{_public_module(cls)}:{cls.__qualname__}"
    for face in _FACES:
        if cls.__module__.startswith(face) and getattr(import_module(face), cls.__name__, None) is cls:
            return f"{face}:{cls.__name__}"
    return f"{'.'.join(cls.__module__.split('.')[:2])}:{cls.__qualname__}"


def current(name: str, state: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the fields, in JSON, that a dataclass from a file has in this version."""
    if name == "multikernel.estimators:GatedPredictor":  # in this version gates are a combination
        gates = {"dataclass": "multikernel.estimators:GatedSum", "state": {"gates": state["gates"]}}
        fields = {field: value for field, value in state.items() if field != "gates"}
        return "multikernel.estimators:KernelPredictor", fields | {"combination": gates}
    if name in _MAPPED:
        fields = {field: value for field, value in state.items() if field != "bank"}
        samples = {"dataclass": _MAPPED[name], "state": fields}
        return "multikernel.banks:MappedBank", {"bank": state["bank"], "samples": samples}
    if name in _VIEWS:
        return _view(state)
    return name, state


def _view(state: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the fields of a view; earlier versions had one class for features and kernel matrices."""
    fields = {new_name: state[old_name] for old_name, new_name in _KNOWN_VIEW.items() if old_name in state}
    known_view = {"dataclass": "multikernel.sources:KnownView", "state": fields}
    view_fields: tuple[str, ...] = ("features", "example", "family", "objects", "observed")
    name = "FeatureView"
    if state.get("features") is None:
        view_fields = ("columns", "column_labels", "observed")
        name = "MatrixView"
    return f"multikernel.sources:{name}", {"known": known_view} | {
        field: state[field] for field in view_fields if field in state
    }


def class_of(name: str) -> type:
    """The class that a file names; RefusedError where it is not of this package or scikit-learn, and not registered."""
    name = _RENAMED.get(name, name)
    module, _, qualname = name.partition(":")
    if module == "registered":
        if qualname not in _REGISTERED:
            raise RefusedError(
                f"it holds a {qualname} defined outside multikernel: call multikernel.register({qualname}) first"
            )
        return _REGISTERED[qualname]
    if name not in _WITH_STATE and module not in _ROOMS | _FOREIGN:
        raise RefusedError(f"{abbreviated(name)} is not a class of multikernel or scikit-learn that models are made of")
    if module.startswith("multikernel."):
        class_of_room = _of_room(module, qualname)
    else:
        class_of_room = None
    cls = class_of_room or getattr(_imported(module), qualname, None)
    if cls is None:
        raise RefusedError(f"{abbreviated(name)} does not exist in the versions installed here")
    if not (isinstance(cls, type) and (is_dataclass(cls) or has_state(cls))):
        raise RefusedError(f"{abbreviated(name)} is not a class that models are made of")
    return cls


def function_name(value: Any) -> str | None:
    """The name of a function in a file; None for one that models cannot contain."""
    if isinstance(value, np.ufunc):
        modules = [module for module in _UFUNCS if getattr(import_module(module), value.__name__, None) is value]
        if modules:
            return f"{modules[0]}:{value.__name__}"
        return None
    return next((name for name in _FUNCTIONS if _attribute(name) is value), None)


def function_of(name: str) -> Any:
    """The function that a file names; RefusedError where models may not contain it."""
    if name in _FUNCTIONS or name.partition(":")[0] in _UFUNCS:
        function = _attribute(name)
    else:
        function = None
    if name not in _FUNCTIONS and not isinstance(function, np.ufunc):
        raise RefusedError(f"{name} is not a function that models are made of")
    return function


def _attribute(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute, None)


def _package(name: str) -> str:
    return name.partition(":")[0].split(".")[0]


def _public_module(cls: type) -> str:
    """The innermost package without a private component in its name that exports a class; or the class's own module."""
    components = cls.__module__.split(".")
    private = next((i for i, component in enumerate(components) if component.startswith("_")), len(components))
    module = ".".join(components[:private])
    if getattr(import_module(module), cls.__name__, None) is cls:
        return module
    return cls.__module__


def _imported(module: str) -> ModuleType | None:
    try:
        return import_module(module)
    except ImportError:
        return None


def _of_room(room: str, qualname: str) -> type | None:
    """The class of this name in a subpackage; only its file is imported where ``_files_of`` finds it."""
    name = _files_of(room).get(qualname)
    module = None if name is None else _imported(name)
    cls = getattr(module, qualname, None)
    if isinstance(cls, type) and cls.__module__ == name:
        return cls
    return _in_room(room).get(qualname)


@cache
def _files_of(room: str) -> dict[str, str]:
    """The module of each class of a subpackage, from the lines of its files that begin with ``class``."""
    spec = find_spec(room)
    if spec is None or spec.origin is None:
        return {}
    files = [Path(spec.origin)]
    if spec.submodule_search_locations:
        files = sorted(Path(spec.origin).parent.rglob("*.py"))
    module_of_class = {}
    for file in files:
        if spec.submodule_search_locations:
            module_path = file.relative_to(Path(spec.origin).parent).with_suffix("").parts
            name = ".".join((room, *(component for component in module_path if component != "__init__")))
        else:
            name = room
        for class_name in _CLASS.findall(file.read_text(encoding="utf-8")):
            module_of_class[class_name] = name
    return module_of_class


@cache
def _in_room(room: str) -> dict[str, type]:
    """The classes of a subpackage, by name."""
    package = _imported(room)
    names = [room, *(info.name for info in pkgutil.walk_packages(getattr(package, "__path__", []), f"{room}."))]
    return {
        cls.__qualname__: cls
        for module in map(_imported, names)
        if module is not None
        for cls in list(vars(module).values())  # a copy: imports, also in other threads, extend the original
        if isinstance(cls, type) and cls.__module__ == module.__name__
    }
