"""A directory of data files: which data sets it holds, and how each is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from multikernel.datasets.dataset import Content, Dataset, Entry
from multikernel.datasets.formats import IDX_FILES, read_csv, read_idx, read_jsonl, read_npz
from multikernel.datasets.manifest import DataFiles, read_manifest
from multikernel.datasets.source_file import SourceFile
from multikernel.files import path_of

VARIABLE = "MULTIKERNEL_DATA"
_READERS = {".csv.gz": read_csv, ".jsonl.gz": read_jsonl, ".npz": read_npz}


@dataclass(frozen=True)
class DataDirectory:
    """The data sets of a directory.

    Parameters
    ----------
    path : Path of the directory
    sources : dict of DataFiles by name, those of the manifest first, then those of files that it does not mention
    """

    path: Path
    sources: dict[str, DataFiles]

    @staticmethod
    def find(data_dir: str | os.PathLike[str] | None) -> DataDirectory | None:
        """The directory that the argument or else the environment names; FileNotFoundError where it does not exist."""
        directory = data_dir if data_dir is not None else os.environ.get(VARIABLE) or None
        if directory is None:
            return None
        origin = "data_dir"
        if data_dir is None:
            origin = f"the environment variable {VARIABLE}"
        path = path_of(directory, origin).expanduser()
        if not path.is_dir():
            raise FileNotFoundError(f"{origin} names {str(path)!r}, which is not an existing directory")
        sources = read_manifest(path)
        file_names = {file.path.name for source in sources.values() for file in source.files}
        return DataDirectory(path, sources | _files_without_manifest(path, file_names, set(sources)))

    def load(self, name: str) -> Dataset:
        """Read the data set of that name, one of ``sources``; ValueError where a file is not what it should be."""
        source = self.sources[name]
        content = _read(source)
        about = " ".join(f"{source.about} {content.remark}".split())  # joined to one paragraph
        return Dataset(
            name=name,
            X=content.X,
            y=content.y,
            feature_names=content.feature_names,
            task=content.task,
            description=about or f"Read from {source.files[0].path.name}; there is no manifest entry for it.",
            split=content.split,
            origin="directory",
        )

    def entries(self) -> list[Entry]:
        """The lines of the catalogue for all sets whose files exist; what the manifest does not describe is read."""
        return [_entry(source) for source in self.sources.values() if all(file.path.is_file() for file in source.files)]


def _entry(source: DataFiles) -> Entry:
    if source.task is not None and source.n is not None:
        return Entry(source.name, source.task, source.n, source.d, "directory")
    content = _read(source)
    return Entry(source.name, content.task, content.n, content.d, "directory")


def _read(source: DataFiles) -> Content:
    content = _parse(source)
    first_file = source.files[0]
    if source.n is not None and content.n != source.n:
        raise ValueError(f"{first_file}: {content.n} rows, the manifest says {source.n}")
    if source.d is not None and content.d != source.d:
        raise ValueError(f"{first_file}: {content.d} feature columns, the manifest says {source.d}")
    return content


def _parse(source: DataFiles) -> Content:
    ending = _ending(source.files[0].path.name)
    if ending is not None and len(source.files) == 1:
        return _READERS[ending](source.files[0], source.task)
    if all(file.path.name.endswith(IDX_FILES) for file in source.files):
        return read_idx(source.files, source.task)
    files = ", ".join(file.path.name for file in source.files)
    raise ValueError(f"data set {source.name!r}: no reader for {files}; known are {', '.join(_READERS)} and idx files")


def _files_without_manifest(path: Path, file_names: set[str], set_names: set[str]) -> dict[str, DataFiles]:
    """The data sets of files that the manifest, if there is one, does not mention."""
    names = sorted(file.name for file in path.iterdir() if file.is_file() and file.name not in file_names)
    sources: dict[str, DataFiles] = {}
    for name in names:
        ending = _ending(name)
        if ending is not None and (stem := name.removesuffix(ending)) not in set_names:
            sources.setdefault(stem, DataFiles(stem, (SourceFile(path / name),)))
    idx = [f"mnist-{ending}" for ending in IDX_FILES]
    # One of the four files is enough for a source: the error of loading the set then says which file is missing.
    if "mnist" not in set_names and any(name in idx for name in names):
        sources["mnist"] = DataFiles("mnist", tuple(SourceFile(path / name) for name in idx))
    return sources


def _ending(name: str) -> str | None:
    return next((ending for ending in _READERS if name.endswith(ending)), None)
