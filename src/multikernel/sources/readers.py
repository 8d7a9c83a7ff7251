"""Sources of annotated data: AnnData and MuData objects, read by their attributes."""

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
    data : with ``X``, ``obs_names`` and ``var_names``, and ``obs``, ``obsm`` where groups name them
    groups : from names of sources to what each consists of: the name of an entry of ``obsm`` or ``layers``; or several
        names of variables, or of columns of ``obs``; None is one source of all variables, "X"

    Raises
    ------
    TypeError : where the object has no such attributes
    ValueError : where a group is empty, or names what is not there
    """
    for attribute in ("X", "obs_names", "var_names"):
        if not hasattr(data, attribute):
            raise TypeError(
                f"views.from_anndata takes an AnnData object, and this {type(data).__name__} has no {attribute}"
            )
    if not data.var_names.is_unique:
        twice = data.var_names[data.var_names.duplicated()][0]
        raise ValueError(f"views.from_anndata: two variables are called {twice!r}; give each a name of its own")
    if groups is not None and (not isinstance(groups, Mapping) or not groups):
        raise ValueError(
            "views.from_anndata: groups is a dict from names of sources to their variables, with one or more"
        )
    if getattr(data, "isbacked", False):
        data = data.to_memory()
    if groups is None:
        return {"X": LabelledRows(data.X, data.obs_names, data.var_names)}
    return {str(name): _group(data, str(name), given) for name, given in groups.items()}


def sources_of_mudata(data: Any) -> dict[str, Any]:
    """The modalities of a MuData-like object by name, each labelled by its own ``obs_names``.

    Parameters
    ----------
    data : with ``mod``, a mapping of AnnData-like objects

    Raises
    ------
    TypeError : where the object has no modalities
    """
    modalities = getattr(data, "mod", None)
    if not isinstance(modalities, Mapping) or not modalities:
        raise TypeError(f"views.from_mudata takes a MuData object with modalities, and got {type(data).__name__}")
    return {str(name): sources_of_anndata(each)["X"] for name, each in modalities.items()}


def _group(data: Any, name: str, given: Any) -> Any:
    if isinstance(given, str):
        if given == "X":
            return LabelledRows(data.X, data.obs_names, data.var_names)
        known = {**getattr(data, "layers", {}), **getattr(data, "obsm", {})}
        if given not in known:
            names = shortened(list(map(repr, known))) or "nothing"
            raise ValueError(f"views.from_anndata: group {name!r} names {given!r}, and obsm and layers have {names}")
        values = known[given]
        if values.shape[0] != len(data.obs_names):
            raise ValueError(
                f"views.from_anndata: {given!r} has {values.shape[0]} rows for {len(data.obs_names)} samples"
            )
        if hasattr(values, "iloc"):  # a data frame
            return values
        return LabelledRows(values, data.obs_names, np.arange(values.shape[1]).astype(str))
    if isinstance(given, slice):
        given = list(data.var_names[given])
    if hasattr(given, "loc") and np.asarray(given).dtype.kind == "b":  # a mask with names
        given = list(given.index[given.to_numpy()])
    wanted = np.asarray(list(given))
    if not len(wanted):
        raise ValueError(f"views.from_anndata: group {name!r} is empty; give it at least one variable")
    if wanted.dtype.kind == "b":
        if len(wanted) != len(data.var_names):
            raise ValueError(
                f"views.from_anndata: group {name!r} is a mask of {len(wanted)} entries, and there are "
                f"{len(data.var_names)} variables"
            )
        places = np.flatnonzero(wanted)
        if not len(places):
            raise ValueError(f"views.from_anndata: group {name!r} is empty; give it at least one variable")
        return LabelledRows(in_memory(name, data).X[:, places], data.obs_names, data.var_names[places])
    places = data.var_names.get_indexer(wanted)
    if (places >= 0).all():
        return LabelledRows(in_memory(name, data).X[:, places], data.obs_names, wanted)
    columns = getattr(data, "obs", None)
    if columns is not None and set(wanted) <= set(columns.columns):
        return columns[list(wanted)]
    unknown = str(wanted[places < 0][0])
    raise ValueError(f"views.from_anndata: group {name!r} names {unknown!r}, which is no variable and no column of obs")
