"""Models on disk without pickle: a zip of a JSON header and plain arrays.

Files contain estimators of this package and of scikit-learn (parameters and fitted attributes), the specifications and
banks of this package (dataclasses), arrays, CSR matrices, and the types of JSON. Loading looks up classes of these two
packages, and those that the user registered, by name and sets their attributes; it runs no code from the file.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import is_dataclass
from importlib.metadata import version
from typing import Any

import sklearn

from multikernel._rules import abbreviated
from multikernel._warnings import warn_user
from multikernel.files import path_of, replacing
from multikernel.persistence.archive import Archive, write
from multikernel.persistence.checkpoint import Checkpoint, checkpoints
from multikernel.persistence.names import RefusedError, has_state, is_foreign, register
from multikernel.persistence.reader import Reader
from multikernel.persistence.writer import Writer

__all__ = ["Checkpoint", "checkpoints", "load", "read", "register", "save"]

FORMAT = "multikernel model"
VERSION = 4  # the version of the format that is written
_SEALED = 3  # the first version with digests, and with metadata that are encoded like the model


def save(model: Any, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
    """Write a model to a file, completely or not at all.

    Parameters
    ----------
    model : an estimator of this package, or of scikit-learn (a pipeline, say) that holds such estimators
    path : file to write; an existing file is replaced, and keeps its mode
    metadata : dict of plain values (numbers, words, lists, arrays), saved with the model;
        ``multikernel.persistence.read`` returns it

    Raises
    ------
    TypeError : where ``model`` is no estimator or other object of these packages, such as a path of solutions; where
        the model or the metadata contain a value that has no plain form, which the message names with its place; or
        where ``path`` is neither a string nor a path
    ValueError : where a list or an object contains itself, or is nested too deeply to be read again; or where no file
        can have the name ``path``
    OSError : where the file cannot be written, or is a device

    Examples
    --------
    >>> import os, tempfile
    >>> import multikernel
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = multikernel.EasyMKLClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     multikernel.save(model, os.path.join(folder, "iris.mk"))
    ...     again = multikernel.load(os.path.join(folder, "iris.mk"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    file_path = path_of(path, "save: path")
    if isinstance(model, type) or not (has_state(type(model)) or is_dataclass(model)):
        raise TypeError(
            f"save: model must be an estimator of multikernel or scikit-learn, got {abbreviated(model)} of type "
            f"{type(model).__name__}; what goes beside a model is given as metadata={{...}}"
        )
    if not isinstance(metadata, dict | None):
        raise TypeError(f"metadata is a dict, {{'note': ...}} say, and not {abbreviated(metadata)}")
    writer = Writer()
    try:
        encoded = {"metadata": writer.encode(metadata or {}, "metadata"), "model": writer.encode(model, "model")}
    except RecursionError:
        raise ValueError(
            "the model or its metadata cannot be saved: something in them holds itself, or is nested too deeply"
        ) from None
    header = {
        "format": FORMAT,
        "version": VERSION,
        "multikernel": version("multikernel"),
        "scikit-learn": sklearn.__version__,
        **encoded,
    }
    with replacing(file_path) as file:
        write(file, header, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` wrote.

    Parameters
    ----------
    path : the file

    Raises
    ------
    OSError : where the file cannot be opened
    TypeError : where ``path`` is neither a string nor a path
    ValueError : where the file is something else or damaged, was written by a newer version, or holds a class that has
        to be registered first

    Warns
    -----
    UserWarning : where the model was saved by a newer multikernel, or holds estimators of another scikit-learn
    """
    return read(path)[0]


def read(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a model and the metadata beside it.

    Parameters
    ----------
    path : the file

    Raises
    ------
    OSError, TypeError, ValueError : as ``load``
    """
    path = path_of(path, "load: path")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is a directory or a device, and no file that a model was saved to")
    with path.open("rb") as content:
        try:
            with zipfile.ZipFile(content) as file:
                archive = Archive(file, os.fstat(content.fileno()).st_size)
                header = archive.header()
                _check_header(header, archive.sealed)
                reader = Reader(archive.array, archive.take)
                model = reader.decode(header["model"])
                metadata = header["metadata"]
                if header["version"] >= _SEALED:
                    metadata = reader.decode(metadata)
                warnings = _version_warnings(header)
        except RefusedError as error:
            raise ValueError(f"{path} cannot be loaded: {abbreviated(error, 300)}") from None
        except Exception as error:  # a damaged file may lead to any error: the message names the file as the cause
            raise ValueError(
                f"{path} is not a model saved by multikernel, or is damaged "
                f"({type(error).__name__}: {abbreviated(error, 300)})"
            ) from None
    for warning in warnings:
        warn_user(f"{path} {warning}")
    return model, metadata


def _check_header(header: dict[str, Any], sealed: bool) -> None:
    """RefusedError where a header is not one that ``save`` wrote."""
    if header.get("format") != FORMAT:
        raise RefusedError("it is not a model saved by multikernel")
    header.setdefault("multikernel", "0")  # files of format 1 have no such entry
    for name, kind in {"version": int, "multikernel": str, "scikit-learn": str, "metadata": dict}.items():
        if not isinstance(header.get(name), kind):
            raise RefusedError(f"its header gives {abbreviated(header.get(name))} as {name}")
    if header["version"] > VERSION:
        raise RefusedError(
            f"it was saved by multikernel {header['multikernel']} in a newer format; update multikernel to that version"
        )
    if header["version"] >= _SEALED and not sealed:
        raise RefusedError("the digest of its header is missing")


def _version_warnings(header: dict[str, Any]) -> list[str]:
    """Warnings about versions with which the model may behave differently than when it was saved."""
    warnings = []
    saved = header["multikernel"]
    installed = version("multikernel")
    if _release(saved) > _release(installed):
        warnings.append(
            f"was saved by multikernel {saved}, newer than {installed} here; check its predictions, or update"
        )
    saved = header["scikit-learn"]
    installed = sklearn.__version__
    if _release(saved) != _release(installed) and _contains_foreign(header["model"]):
        warnings.append(
            f"holds estimators of scikit-learn {saved}, and {installed} is installed here; check its predictions, or "
            "install that version"
        )
    return warnings


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(component) for component in version.split(".")[:2] if component.isdigit())


def _contains_foreign(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_contains_foreign, value))
    if not isinstance(value, dict):
        return False
    return is_foreign(str(value.get("estimator", ""))) or any(map(_contains_foreign, value.values()))
