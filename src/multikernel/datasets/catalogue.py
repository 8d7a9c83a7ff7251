"""Data sets by name: those of the data directory, then those of scikit-learn; of OpenML where the name says so."""

from __future__ import annotations

import difflib
import os

from multikernel.datasets.bundled import BUNDLED, load_bundled
from multikernel.datasets.dataset import PREFIX, Dataset, Entry
from multikernel.datasets.directory import VARIABLE, DataDirectory


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by name.

    A set of the directory hides one of scikit-learn with the same name. Rows with an empty cell are left out, and the
    description says how many. A name that is not found is an error, never a synthetic stand-in. A set of OpenML whose
    target is declared nominal is classification, one whose target is declared numeric is regression.

    Parameters
    ----------
    name : str, a name of `available`; or "openml:NAME" or "openml:ID" to fetch (once, it is cached) from openml.org
    data_dir : path or None, a directory of NAME.csv.gz, NAME.jsonl.gz, NAME.npz and idx files, with or without a
        manifest.csv; None for the directory that the environment variable MULTIKERNEL_DATA names, if any

    Raises
    ------
    TypeError : where the name is not a string, or data_dir is neither a string nor a path
    ValueError : where the name is unknown, no directory can have the name data_dir, or a file is not what its format
        or its sha256 says
    FileNotFoundError : where the directory, or a file that its manifest lists, does not exist
    ConnectionError : where OpenML cannot be reached

    Examples
    --------
    >>> from multikernel.datasets import load
    >>> data = load("breast_cancer")
    >>> data.X.shape, data.y[:3].tolist(), data.task, data.origin
    ((569, 30), [0, 0, 0], 'classification', 'scikit-learn')
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string such as 'breast_cancer', got {type(name).__name__}")
    if name.startswith(PREFIX):
        from multikernel.datasets.openml import load_openml  # takes long to import

        return load_openml(name)
    directory = DataDirectory.find(data_dir)
    if directory is not None and name in directory.sources:
        return directory.load(name)
    if name in BUNDLED:
        return load_bundled(name)
    raise ValueError(_unknown(name, directory))


def available(data_dir: str | os.PathLike[str] | None = None) -> list[Entry]:
    """List what `load` finds without the network: the sets of the directory, then the others of scikit-learn.

    Parameters
    ----------
    data_dir : path or None, as in `load`

    Raises
    ------
    ValueError : where the manifest, or a file that it does not describe, is not what its format says
    FileNotFoundError : where the directory does not exist

    Examples
    --------
    >>> from multikernel.datasets import available
    >>> {"breast_cancer", "wine", "iris", "digits", "diabetes"} <= {entry.name for entry in available()}
    True
    """
    directory = DataDirectory.find(data_dir)
    if directory is None:
        return list(BUNDLED.values())
    return directory.entries() + [entry for entry in BUNDLED.values() if entry.name not in directory.sources]


def _unknown(name: str, directory: DataDirectory | None) -> str:
    names = [*(directory.sources if directory is not None else ()), *BUNDLED]
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    meant = f"; did you mean {close[0]!r}?" if close else "."
    where = f"in {directory.path} and " if directory is not None else "in no directory (none was given), only "
    return (
        f"unknown data set {name!r}{meant} Looked {where}among the sets of scikit-learn. "
        f"Available: {', '.join(dict.fromkeys(names))}. Another directory of data files is named by data_dir or by "
        f"the environment variable {VARIABLE}; 'openml:NAME' or 'openml:ID' fetches from openml.org."
    )
