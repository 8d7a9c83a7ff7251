"""Sources of annotated data: AnnData and MuData objects, which are recognised by their attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel._rules import shortened
from multikernel.sources.joined import LabelledRows, in_memory


def sources_of_anndata(data: Any, groups: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The sources of an AnnData-like object, each labelled by ``obs_names``.

    Parameters
    ----------
    data : object with ``X``, ``obs_names`` and ``var_names``, and with ``obs`` and ``obsm`` where groups name them
    groups : from the name of a source to its contents: the name of an entry of ``obsm`` or ``layers``; or several names
        of variables, or of columns of ``obs``; None makes one source "X" of all variables

    Raises
    ------
    TypeError : where the object has no such attributes
    ValueError : where a group is empty, or names something that does not exist
    """
    for attribute in ("X", "obs_names", "var_names"):
        if not hasattr(data, attribute):
            raise TypeError(
                f"views.from_anndata takes an AnnData object, and this {type(data).__name__} has no {attribute}"
            )
    if not data.var_names.is_unique:
        duplicate = data.var_names[data.var_names.duplicated()][0]
        raise ValueError(f"views.from_anndata: two variables are called {duplicate!r}; give each a different name")
    if groups is not None and (not isinstance(groups, Mapping) or not groups):
        raise ValueError(
            "views.from_anndata: groups is a dict from names of sources to their variables, with one or more"
        )
    if getattr(data, "isbacked", False):
        data = data.to_memory()
    if groups is None:
        return {"X": LabelledRows(data.X, data.obs_names, data.var_names)}
    return {str(name): _source_of_group(data, str(name), group) for name, group in groups.items()}


def sources_of_mudata(data: Any) -> dict[str, Any]:
    """The modalities of a MuData-like object by name, each labelled by the ``obs_names`` of the modality.

    Parameters
    ----------
    data : object with ``mod``, a mapping of AnnData-like objects

    Raises
    ------
    TypeError : where the object has no modalities
    """
    modalities = getattr(data, "mod", None)
    if not isinstance(modalities, Mapping) or not modalities:
        raise TypeError(f"views.from_mudata takes a MuData object with modalities, and got {type(data).__name__}")
    return {str(name): sources_of_anndata(modality)["X"] for name, modality in modalities.items()}


def _source_of_group(data: Any, name: str, group: Any) -> Any:
    if isinstance(group, str):
        if group == "X":
            return LabelledRows(data.X, data.obs_names, data.var_names)
        entries = {**getattr(data, "layers", {}), **getattr(data, "obsm", {})}
        if group not in entries:
            names = shortened(list(map(repr, entries))) or "nothing"
            raise ValueError(f"views.from_anndata: group {name!r} names {group!r}, and obsm and layers have {names}")
        values = entries[group]
        if values.shape[0] != len(data.obs_names):
            raise ValueError(
                f"views.from_anndata: {group!r} has {values.shape[0]} rows for {len(data.obs_names)} samples"
            )
        if hasattr(values, "iloc"):  # a data frame
            return values
        return LabelledRows(values, data.obs_names, np.arange(values.shape[1]).astype(str))
    if isinstance(group, slice):
        group = list(data.var_names[group])
    if hasattr(group, "loc") and np.asarray(group).dtype.kind == "b":  # a mask with names
        group = list(group.index[group.to_numpy()])
    variables = np.asarray(list(group))
    if not len(variables):
        raise ValueError(f"views.from_anndata: group {name!r} is empty; give it at least one variable")
    if variables.dtype.kind == "b":
        if len(variables) != len(data.var_names):
            raise ValueError(
                f"views.from_anndata: group {name!r} is a mask of {len(variables)} entries, and there are "
                f"{len(data.var_names)} variables"
            )
        columns_of_X = np.flatnonzero(variables)
        if not len(columns_of_X):
            raise ValueError(f"views.from_anndata: group {name!r} is empty; give it at least one variable")
        return LabelledRows(in_memory(name, data).X[:, columns_of_X], data.obs_names, data.var_names[columns_of_X])
    columns_of_X = data.var_names.get_indexer(variables)
    if (columns_of_X >= 0).all():
        return LabelledRows(in_memory(name, data).X[:, columns_of_X], data.obs_names, variables)
    obs = getattr(data, "obs", None)
    if obs is not None and set(variables) <= set(obs.columns):
        return obs[list(variables)]
    unknown = str(variables[columns_of_X < 0][0])
    raise ValueError(f"views.from_anndata: group {name!r} names {unknown!r}, which is no variable and no column of obs")
