"""Data sets of OpenML by name or number, through scikit-learn's cache and without pandas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.datasets import fetch_openml

from multikernel.datasets.column import Column, decide
from multikernel.datasets.dataset import PREFIX, Dataset, Task
from multikernel.datasets.feature import Feature, indicators


def load_openml(name: str) -> Dataset:
    """Fetch ``openml:NAME`` (the oldest active version) or ``openml:ID``, or take it from the cache."""
    identifier = name.removeprefix(PREFIX).strip()
    if not identifier:
        raise ValueError(f"{name!r} names no data set: write openml:NAME or openml:ID, for instance openml:61")
    bunch = _fetch(name, identifier)
    y = _one_target(name, bunch.target)
    X, feature_names = _spread(name, bunch.data, tuple(map(str, bunch.feature_names)), bunch.categories or {})
    keep = _complete(X, y)
    if not keep.any():
        raise ValueError(f"{name}: no row without a missing value")
    y, task = _target(name, y[keep], np.flatnonzero(keep) + 1)
    return Dataset(
        name=name,
        X=X if keep.all() else X[keep],
        y=y,
        feature_names=feature_names,
        task=task,
        description=_describe(bunch, keep),
        split=None,
        origin="openml",
    )


def _fetch(name: str, identifier: str) -> Any:
    if identifier.isdecimal():
        query: dict[str, Any] = {"data_id": int(identifier)}
    else:
        query = {"name": identifier}
    try:
        return fetch_openml(**query, as_frame=False, parser="liac-arff")
    except (OSError, HTTPException) as error:
        raise ConnectionError(
            f"{name} could not be fetched from openml.org ({str(error) or type(error).__name__}): "
            "check the network, or take a data set of `multikernel datasets`, which needs none"
        ) from error
    except (ValueError, KeyError, IndexError) as error:
        raise ValueError(f"{name} cannot be had from openml.org as an array: {error}") from error


def _one_target(name: str, target: Any) -> NDArray[Any]:
    if target is None:
        raise ValueError(f"{name}: OpenML names no target column for it")
    y = np.asarray(target)
    if y.ndim != 1:
        raise ValueError(f"{name}: OpenML names {y.shape[1]} target columns, one is needed")
    return y


def _spread(
    name: str, data: Any, names: tuple[str, ...], categories: Mapping[str, Sequence[str]]
) -> tuple[Any, tuple[str, ...]]:
    """The features as a matrix and their names; scikit-learn gives a category as its position in ``categories``."""
    sparse: bool = issparse(data)
    if sparse:
        nominal = [column for column in names if column in categories]
        if nominal:
            raise ValueError(
                f"{name}: the sparse set has categorical columns ({nominal[0]!r}), which are not supported"
            )
        return csr_array(data), names
    data = np.asarray(data, dtype=np.float64)
    features = [Feature(column, tuple(categories[column]) if column in categories else None) for column in names]
    blocks = [_block(feature, data[:, j]) for j, feature in enumerate(features)]
    return np.hstack(blocks), tuple(name for feature in features for name in feature.names)


def _block(feature: Feature, values: NDArray[np.float64]) -> NDArray[np.float64]:
    if feature.levels is None:
        return values[:, None]
    block = indicators(np.nan_to_num(values).astype(np.intp), len(feature.levels))
    block[np.isnan(values)] = np.nan  # a missing category; the row is left out later
    return block


def _complete(X: Any, y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have no missing value."""
    keep = np.array([value is not None and value == value for value in y.tolist()], dtype=np.bool_)
    if isinstance(X, csr_array):
        # the entries of COO are in the order of X.data
        keep[np.unique(X.tocoo().row[np.isnan(X.data)])] = False
    else:
        keep &= ~np.isnan(X).any(axis=1)
    return keep


def _target(name: str, y: NDArray[Any], rows: NDArray[np.intp]) -> tuple[NDArray[Any], Task]:
    if y.dtype.kind in "fiu":  # the source declares a numeric target: that is regression
        return y.astype(np.float64), "regression"
    return decide(Column(name, "target", [str(value) for value in y.tolist()], rows.tolist()), "classification")


def _describe(bunch: Any, keep: NDArray[np.bool_]) -> str:
    details = bunch.get("details") or {}
    title = f"OpenML {details.get('name', '')} version {details.get('version', '?')} ({bunch.get('url', '')})."
    target = f"Target: {', '.join(map(str, bunch.get('target_names') or ['the default target']))}."
    dropped = int((~keep).sum())
    remark = ""
    if dropped:
        remark = f"{dropped} of {len(keep)} rows dropped for a missing value."
    return re.sub(r"\s+", " ", f"{title} {target} {remark} {bunch.get('DESCR', '')}").strip()
