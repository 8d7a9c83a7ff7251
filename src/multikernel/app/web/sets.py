"""Data sets that need no upload: those that come along, and those of the directory that MULTIKERNEL_DATA names."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from multikernel.app.web.reading import Loaded, named, opened
from multikernel.app.web.settings import Settings

BUNDLED = {
    "breast_cancer": "Is a tumour benign? 569 patients, 30 measurements of cells",
    "wine": "Which of three growers made a wine? 178 wines, 13 chemical values",
    "iris": "Which of three species is a flower? 150 flowers, 4 lengths",
    "diabetes": "How far goes the disease in a year? 442 patients, 10 measurements",
    "digits": "Which digit was written? 1797 pictures of 8 x 8 points",
}
_WHOLE = ".csv.gz"  # files that are read as they are, with their categories and missing cells


def own_sets(settings: Settings) -> tuple[dict[str, str], str]:
    """The sets of the directory by name, with a line about each, and what is wrong with the directory."""
    if not os.environ.get("MULTIKERNEL_DATA"):
        return {}, ""
    from multikernel.datasets.directory import DataDirectory  # takes a while to import

    try:
        directory = DataDirectory.find(None)
    except (ValueError, OSError) as error:
        return {}, str(error)
    found = {}
    for name, source in (directory.sources if directory else {}).items():
        fits = (source.n or 0) <= settings.most_rows and (source.d or 0) < settings.most_columns
        if fits and all(file.path.is_file() for file in source.files):
            words = [{"classification": "classes", "regression": "numbers"}.get(source.task or "", "")]
            words += [f"{source.n} rows"] if source.n else []
            words += [f"{source.d} columns"] if source.d else []
            found[name] = ", ".join(filter(None, words))
    return found, ""


def of_name(name: str, folder: Path, settings: Settings) -> Loaded:
    """One of these sets; ValueError where it cannot be read."""
    from multikernel.datasets import DataDirectory

    directory = DataDirectory.find(None)
    source = directory.sources.get(name) if directory else None
    if source is not None and len(source.files) == 1 and source.files[0].path.name.endswith(_WHOLE):
        return replace(opened(source.files[0].path, folder, settings), name=name)
    return named(name, folder, settings)
