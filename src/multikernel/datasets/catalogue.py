"""Data sets by name: those of the data directory, then those of scikit-learn; of OpenML where the name says so."""

from __future__ import annotations

import difflib
import os
from typing import Any

from multikernel.datasets.dataset import PREFIX, Dataset, Entry
from multikernel.datasets.directory import VARIABLE, DataDirectory

_ABOUT = {
    "breast_cancer": "Wisconsin diagnostic breast cancer (UCI, 1995), cell nuclei in images of fine needle aspirates. "
    "Target: 0 = malignant (212), 1 = benign (357).",
    "wine": "Wine recognition (UCI, 1991), chemical analysis of wines of one Italian region. "
    "Target: cultivar 0, 1, 2 (59, 71, 48).",
    "iris": "Fisher's iris, as in the paper of 1936. Target: 0 = setosa, 1 = versicolor, 2 = virginica (50 each).",
    "digits": "Optical recognition of handwritten digits (UCI, 1998), the test part, 8 x 8 counts from 0 to 16. "
    "Target: digit 0-9. Not MNIST.",
    "diabetes": "Efron, Hastie, Johnstone and Tibshirani, Least angle regression (2004). Target: progression of the "
    "disease one year after baseline. Features are centred and scaled to unit norm, as scikit-learn returns them. "
    "Not the Pima diabetes set.",
}
_ENTRIES = (
    Entry("breast_cancer", "classification", 569, 30, "scikit-learn"),
    Entry("wine", "classification", 178, 13, "scikit-learn"),
    Entry("iris", "classification", 150, 4, "scikit-learn"),
    Entry("digits", "classification", 1797, 64, "scikit-learn"),
    Entry("diabetes", "regression", 442, 10, "scikit-learn"),
)
BUNDLED = {entry.name: entry for entry in _ENTRIES}  # so that the catalogue lists them without reading their files


def load_bundled(name: str) -> Dataset:
    """One of ``BUNDLED``."""
    from sklearn import datasets  # takes long to import

    bunch: Any = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        X=bunch.data,
        y=bunch.target,
        feature_names=tuple(map(str, bunch.feature_names)),
        task=BUNDLED[name].task,
        description=f"Bundled with scikit-learn. {_ABOUT[name]}",
        split=None,
        origin="scikit-learn",
    )


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
    close_matches = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    suggestion = f"; did you mean {close_matches[0]!r}?" if close_matches else "."
    searched = "in no directory (none was given), only "
    if directory is not None:
        searched = f"in {directory.path} and "
    return (
        f"unknown data set {name!r}{suggestion} Looked {searched}among the sets of scikit-learn. "
        f"Available: {', '.join(dict.fromkeys(names))}. Another directory of data files is named by data_dir or by "
        f"the environment variable {VARIABLE}; 'openml:NAME' or 'openml:ID' fetches from openml.org."
    )
