"""Samples as kernels take them, checked: those of training, and new ones with the same columns, or objects.

What is known of the columns from training is kept on the estimator: which held strings, which dates, and the array
library that the samples were of.
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
from multikernel.estimators.given import check_samples
from multikernel.estimators.protocol import Model
from multikernel.kernels import Features, KernelFamily, as_family
from multikernel.kernels.family import resolved_on
from multikernel.tables.objects import Objects, as_objects, complete
from multikernel.tables.table import Table, as_table, with_missing


def family_of(model: Model) -> KernelFamily:
    """The family as it is now: a fitted model does not follow a kernel that the user changes later."""
    try:
        if model.kernels is None:
            return model._method.binding.default_kernels(model)
        return deepcopy(as_family(model.kernels))
    except (TypeError, ValueError) as error:
        kind = ValueError if isinstance(model.kernels, str) else type(error)
        raise kind(f"{type(model).__name__}: {error}") from None


def resolved_family(model: Model, features: Features) -> KernelFamily:
    """The family for samples with these columns, of which kernels that name none do not see those that are hidden."""
    hidden = model._method.binding.hidden(model, features)
    if not hidden:
        return family_of(model).resolve(features)
    return resolved_on(family_of(model), features, tuple(j for j in range(features.n) if j not in hidden))


def takes_objects(model: Model) -> bool:
    """Whether all kernels of a model take samples that are objects; False where none are given, or no kernels."""
    given = getattr(model, "kernels", None)
    if given is None or isinstance(given, str):
        return False
    try:
        return as_family(given).takes_objects
    except (TypeError, ValueError):  # the fit says so
        return False


def objects_of(model: Model, X: Any, reset: bool) -> Objects | None:
    """Samples as objects where the kernels take these, and none is missing; None where they are rows of a table.

    New samples are objects where those of training were, rows of a matrix as well.
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
    """What the columns of samples are called and hold."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) != X.shape[1]:  # of an earlier fit
        names = None
    return replace(Features.of(X), names=None if names is None else tuple(names))


def samples_of(model: Model, X: Any, reset: bool = False) -> Any:
    """Samples, checked: an array, a CSR matrix or a table; columns as in training unless ``reset``."""
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
        least = 2 if reset else 1
        samples = validate_data(
            model, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset, ensure_min_samples=least
        )
    else:
        named = X if hasattr(X, "columns") else samples.numbers
        validate_data(model, named, reset=reset, skip_check_array=True)
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
    """Samples that are objects, of which the model keeps nothing but that they are."""
    validate_data(model, samples, reset=reset, skip_check_array=True)
    least = 2 if reset else 1
    if len(samples) < least:
        raise ValueError(f"Found array with {len(samples)} sample(s) while a minimum of {least} is required")
    if reset:
        model._strings = model._times = ()
        model._objects, model._home = True, None
    return samples


def _check_types(model: Model, features: Features, samples: Any) -> None:
    """ValueError where a column holds strings or dates that did not in training, or no longer does."""
    for held, before, now in (
        ("strings", model._strings, features.strings),
        ("dates", model._times, features.times),
    ):
        if now != before:
            was, got = (shortened(list(map(str, columns))) or "none" for columns in (before, now))
            other = features_of(model, samples).name(min(set(before) ^ set(now)))
            raise ValueError(
                f"{type(model).__name__} was fitted with {held} in columns {was} of X, and got them in {got}: "
                f"{other} has another type than in training"
            )


def _foreign_samples(model: Model, X: Any, reset: bool) -> Any:
    """Samples of torch, cupy and their like, checked where they are, and brought to those of training."""
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
    """Samples that are more than finite numbers; an array with missing cells only where the kernels take these."""
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"):
        return as_table(X)
    if all_finite(X) or np.isinf(X).any():
        return None
    table = Table.of_numbers(X)
    try:
        _check_complete(model, table)
    except (TypeError, ValueError):  # scikit-learn's sentence is the one that users know
        return None
    return table


def _check_complete(model: Model, samples: Any) -> None:
    """ValueError where samples have missing cells and a kernel does not take that."""
    if not model._method.binding.missing_cells:
        resolved_family(model, features_of(model, samples))
