"""OpenML by name or number, through scikit-learn's cache and without pandas."""

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
from multikernel.datasets.dataset import Dataset, Task
from multikernel.datasets.feature import indicators

PREFIX = "openml:"


def load_openml(name: str) -> Dataset:
    """``openml:NAME`` (the oldest active version) or ``openml:ID``."""
    wanted = name.removeprefix(PREFIX).strip()
    if not wanted:
        raise ValueError(f"{name!r} names no data set: write openml:NAME or openml:ID, for instance openml:61")
    bunch = _fetch(name, wanted)
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


def _fetch(name: str, wanted: str) -> Any:
    which: dict[str, Any] = {"data_id": int(wanted)} if wanted.isdecimal() else {"name": wanted}
    try:
        return fetch_openml(**which, as_frame=False, parser="liac-arff")
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
    """scikit-learn returns a category as its number in the list: make one 0/1 column of each."""
    nominal = [column for column in names if column in categories]
    sparse: bool = issparse(data)
    if sparse:
        if nominal:
            raise ValueError(
                f"{name}: the sparse set has categorical columns ({nominal[0]!r}), which are not supported"
            )
        return csr_array(data), names
    data = np.asarray(data, dtype=np.float64)
    blocks: list[NDArray[np.float64]] = []
    spread: list[str] = []
    for j, column in enumerate(names):
        if column not in categories:
            blocks.append(data[:, [j]])
            spread.append(column)
            continue
        codes, levels = data[:, j], categories[column]
        block = indicators(np.nan_to_num(codes).astype(np.intp), len(levels))
        block[np.isnan(codes)] = np.nan  # a missing category is no category: the row is dropped later
        blocks.append(block)
        spread.extend(f"{column}={level}" for level in levels)
    return np.hstack(blocks), tuple(spread)


def _complete(X: Any, y: NDArray[Any]) -> NDArray[np.bool_]:
    keep = np.array([value is not None and value == value for value in y.tolist()], dtype=np.bool_)
    if isinstance(X, csr_array):
        keep[np.unique(X.tocoo().row[np.isnan(X.data)])] = False  # row by row, the order of both
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
    remark = f"{dropped} of {len(keep)} rows dropped for a missing value." if dropped else ""
    return re.sub(r"\s+", " ", f"{title} {target} {remark} {bunch.get('DESCR', '')}").strip()
