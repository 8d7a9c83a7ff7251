"""An exported run, once more."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from multikernel._files import write_whole
from multikernel.app.web.learning.findings import found
from multikernel.app.web.learning.recipe import COMPARISON, Recipe


def repeated(run: Path, table: Path, out: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """The scores of the run on held-out folds; its model is written to ``out``.

    Parameters
    ----------
    run : the exported TOML
    table : the exported table
    out : the model file
    tell : called with a line for each stage

    Raises
    ------
    ValueError : where the file is no such export
    """
    try:
        recipe = Recipe.from_json(tomllib.loads(run.read_text(encoding="utf-8")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as error:
        raise ValueError(f"{run} is no run that the application has exported: {error}") from None
    if recipe.method == COMPARISON:
        raise ValueError(f"{run} is a comparison, which leaves no model; use multikernel compare")
    stages: list[str] = []

    def heard(stage: str, part: float, said: str = "") -> None:
        if stage not in stages:
            stages.append(stage)
            tell(stage)

    with tempfile.TemporaryDirectory() as folder:
        found(recipe.to_json(), table, Path(folder), heard)
        result = json.loads((Path(folder) / "result.json").read_text())
        write_whole(out, (Path(folder) / "model.mk").read_bytes())
    return {"measure": result["measure"], "scores": result["scores"], "n": result["n"]}
