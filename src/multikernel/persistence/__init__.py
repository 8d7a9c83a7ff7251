"""Models on disk without pickle: a zip of a JSON header and plain arrays.

What is written: estimators of this package and of scikit-learn (parameters and fitted attributes), the specifications
and banks of this package (dataclasses), arrays, CSR matrices, and JSON's own types. Loading looks up classes of these
two packages, and those that the user registered, by name and sets their attributes; it runs no code from the file.
"""

from __future__ import annotations

import os
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sklearn

from multikernel._files import replacing
from multikernel._warnings import warn_user
from multikernel.persistence.archive import Archive, write
from multikernel.persistence.checkpoint import checkpoints
from multikernel.persistence.names import RefusedError, is_foreign, register
from multikernel.persistence.reader import Reader
from multikernel.persistence.writer import Writer

__all__ = ["checkpoints", "load", "read", "register", "save"]

FORMAT = "multikernel model"
VERSION = 2


def save(model: Any, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    model : an estimator of this package, or of scikit-learn (a pipeline, say) that holds such estimators
    path : file to write; an existing file is replaced, and keeps its mode
    metadata : anything that JSON can hold, kept beside the model; ``multikernel.persistence.read`` gives it back

    Raises
    ------
    TypeError : where the model holds something that has no plain form; the message says what and where.
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
    writer = Writer()
    header = {
        "format": FORMAT,
        "version": VERSION,
        "multikernel": version("multikernel"),
        "scikit-learn": sklearn.__version__,
        "metadata": metadata or {},
        "model": writer.encode(model, "model"),
    }
    with replacing(Path(path)) as file:
        write(file, header, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` wrote.

    Parameters
    ----------
    path : the file

    Raises
    ------
    OSError : where the file cannot be opened
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
    OSError, ValueError : as ``load``
    """
    path = Path(path)
    with path.open("rb") as content:
        try:
            with zipfile.ZipFile(content) as file:
                archive = Archive(file, os.fstat(content.fileno()).st_size)
                header = archive.header()
                _check_format(header)
                model, metadata = Reader(archive.array).decode(header["model"]), dict(header["metadata"])
        except RefusedError as error:
            raise ValueError(f"{path} cannot be loaded: {error}") from None
        except Exception as error:  # whatever a damaged file leads to, the user is told that this file is the cause
            raise ValueError(
                f"{path} is not a model saved by multikernel, or is damaged ({type(error).__name__}: {error})"
            ) from None
    _compare_versions(path, header)
    return model, metadata


def _check_format(header: Any) -> None:
    if header["format"] != FORMAT:
        raise RefusedError("it is not a model saved by multikernel")
    if header["version"] > VERSION:
        raise RefusedError(
            f"it was saved by multikernel {header['multikernel']} in a newer format; update multikernel to that version"
        )


def _compare_versions(path: Path, header: dict[str, Any]) -> None:
    """Warn where the model may behave otherwise than when it was saved."""
    saved, here = header.get("multikernel", "0"), version("multikernel")
    if _release(saved) > _release(here):
        warn_user(f"{path} was saved by multikernel {saved}, newer than {here} here; check its predictions, or update")
    saved, here = header["scikit-learn"], sklearn.__version__
    if _release(saved) != _release(here) and _holds_foreign(header["model"]):
        warn_user(
            f"{path} holds estimators of scikit-learn {saved}, and {here} is installed here; check its predictions, or "
            "install that version"
        )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _holds_foreign(part: Any) -> bool:
    if isinstance(part, list):
        return any(map(_holds_foreign, part))
    if not isinstance(part, dict):
        return False
    return is_foreign(str(part.get("estimator", ""))) or any(map(_holds_foreign, part.values()))
