"""Checked samples, as kernels take them: training samples, and new samples with the same columns, or objects.

The estimator keeps what it learned of the columns in training: which held strings, which held dates, and the array
library of the samples.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from multikernel._arrays import checked, foreign, library, like, unmasked
from multikernel._floats import all_finite
from multikernel._rules import abbreviated, shortened
from multikernel.estimators.checks import check_samples
from multikernel.estimators.protocol import Model
from multikernel.kernels import Features, KernelFamily, as_family
from multikernel.kernels.family import resolved_on
from multikernel.tables.objects import Objects, as_objects, complete
from multikernel.tables.table import Table, as_table, with_missing


def family_of(model: Model) -> KernelFamily:
    """A copy of the family: a fitted model does not change with a kernel that the user changes later."""
    try:
        if model.kernels is None:
            return model._method.binding.default_kernels(model)
        return deepcopy(as_family(model.kernels))
    except (TypeError, ValueError) as error:
        kind = ValueError if isinstance(model.kernels, str) else type(error)
        raise kind(f"{type(model).__name__}: {error}") from None


def resolved_family(model: Model, features: Features) -> KernelFamily:
    """The family for samples with these columns; kernels that name no columns do not get the hidden ones."""
    hidden = model._method.binding.hidden(model, features)
    if not hidden:
        return family_of(model).resolve(features)
    return resolved_on(family_of(model), features, tuple(j for j in range(features.n) if j not in hidden))


def takes_objects(model: Model) -> bool:
    """Whether all kernels of a model take samples that are objects; False for the default kernels and for matrices."""
    kernels = getattr(model, "kernels", None)
    if kernels is None or isinstance(kernels, str):
        return False
    try:
        return as_family(kernels).takes_objects
    except (TypeError, ValueError):  # the fit raises this error again
        return False


def objects_of(model: Model, X: Any, reset: bool) -> Objects | None:
    """Samples as objects, where the kernels take objects; None where samples are rows of a table.

    New samples are objects where the training samples were, even if they are the rows of a matrix. None may be missing.
    """
    if not (takes_objects(model) if reset else model._objects):
        return None
    objects = as_objects(X)
    if objects is None and not reset:
        if not isinstance(X, np.ndarray):
            raise ValueError(
                f"{type(model).__name__} was fitted to a list of objects: give new samples as a list, too, and not as "
                f"{abbreviated(type(X).__name__)}"
            )
        objects = Objects.of(X)
    if objects is None:
        return None
    return complete(objects)


def features_of(model: Model, X: Any) -> Features:
    """The names and types of the columns of samples."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) != X.shape[1]:  # of an earlier fit
        names = None
    return replace(Features.of(X), names=None if names is None else tuple(names))


def samples_of(model: Model, X: Any, reset: bool = False) -> Any:
    """Checked samples: an array, a CSR matrix or a table, with columns as in training unless ``reset``."""
    if foreign(X):
        return _foreign_samples(model, X, reset)
    X = unmasked(X)
    objects = objects_of(model, X, reset)
    if objects is not None:
        return _objects(model, objects, reset)
    if model._method.binding.missing_cells:
        X = with_missing(X)
    check_samples(X)
    samples = table_of(model, X)
    if samples is not None and not reset:
        samples = samples.with_types(model._strings, model._times)
    if samples is None:
        minimum = 2 if reset else 1
        samples = validate_data(
            model, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset, ensure_min_samples=minimum
        )
    else:
        columns = X if hasattr(X, "columns") else samples.numbers
        validate_data(model, columns, reset=reset, skip_check_array=True)
    features = Features.of(samples)
    if reset:
        model._strings, model._times = features.strings, features.times
    _check_types(model, features, samples)
    if features.missing and not reset:
        _check_complete(model, samples)
    if reset:
        model._objects, model._home = False, None
    return like(model._home, samples)


def _objects(model: Model, samples: Objects, reset: bool) -> Objects:
    """Checked samples that are objects; the model keeps only that they are objects."""
    validate_data(model, samples, reset=reset, skip_check_array=True)
    minimum = 2 if reset else 1
    if len(samples) < minimum:
        raise ValueError(f"Found array with {len(samples)} sample(s) while a minimum of {minimum} is required")
    if reset:
        model._strings = model._times = ()
        model._objects, model._home = True, None
    return samples


def _check_types(model: Model, features: Features, samples: Any) -> None:
    """ValueError where a column holds strings or dates and did not in training, or the reverse."""
    for kind, expected, present in (
        ("strings", model._strings, features.strings),
        ("dates", model._times, features.times),
    ):
        if present != expected:
            before, now = (shortened(list(map(str, columns))) or "none" for columns in (expected, present))
            changed = features_of(model, samples).name(min(set(expected) ^ set(present)))
            raise ValueError(
                f"{type(model).__name__} was fitted with {kind} in columns {before} of X, and got them in {now}: "
                f"{changed} has another type than in training"
            )


def _foreign_samples(model: Model, X: Any, reset: bool) -> Any:
    """Samples of torch, cupy and similar libraries, checked on their device and moved to that of training."""
    if not model._method.binding.foreign_arrays:
        raise ValueError(
            f"{type(model).__name__} works on NumPy arrays, and got samples of {library(X)}: give these as a NumPy "
            "array, or take an estimator of kernels with weights, which works where its samples are"
        )
    samples = checked(X)
    validate_data(model, samples, reset=reset, skip_check_array=True)
    if reset:
        model._strings = model._times = ()
        model._objects = False
        if samples.shape[0] < 2:
            raise ValueError(f"Found array with {samples.shape[0]} sample(s) while a minimum of 2 is required")
        model._home = samples[:0, :]
    return like(model._home, samples)


def table_of(model: Model, X: Any) -> Table | None:
    """Samples as a table where they are not only finite numbers, or None; missing cells need kernels that take them."""
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"):
        return as_table(X)
    if all_finite(X) or np.isinf(X).any():
        return None
    table = Table.of_numbers(X)
    try:
        _check_complete(model, table)
    except (TypeError, ValueError):  # scikit-learn's error message is the familiar one
        return None
    return table


def _check_complete(model: Model, samples: Any) -> None:
    """ValueError where samples have missing cells and a kernel does not take these."""
    if not model._method.binding.missing_cells:
        resolved_family(model, features_of(model, samples))
