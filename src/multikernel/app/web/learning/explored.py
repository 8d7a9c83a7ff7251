"""What a page computes of a saved model and the table that it learned from, kept for a while."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from multikernel.app.tables.table import read_table
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.app.web.learning.alike import KernelPictures, LearnedMap, kernel_pictures, sample_map
from multikernel.app.web.learning.dependence import Dependence, dependence
from multikernel.app.web.learning.predicting import LearnedModel, saved_model
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import TrainingSamples


@dataclass(frozen=True, eq=False)
class Explored:
    """A model and its samples.

    Parameters
    ----------
    learned : the model
    samples : those that it learned from
    """

    learned: LearnedModel
    samples: TrainingSamples


@lru_cache(maxsize=2)
def explored(model: Path, table: Path) -> Explored:
    """The model of a run and the samples of its table.

    Parameters
    ----------
    model, table : files, which do not change

    Raises
    ------
    ValueError : where the model does not say what it has learned by
    """
    own, metadata = saved_model(model)
    if "recipe" not in metadata:
        raise ValueError("The model of this run is of an earlier version, and cannot be looked into; run it again.")
    recipe = Recipe.from_json(metadata["recipe"])
    learned = LearnedModel(own, TrainingRanges.of(metadata), recipe, [])
    return Explored(learned, TrainingSamples.of(read_table(table), recipe))


@lru_cache(maxsize=256)
def dependence_of(model: Path, table: Path, column: str, place: int) -> Dependence | None:
    """The partial dependence on a column, as ``dependence`` finds it.

    Parameters
    ----------
    model, table : as of ``explored``
    column, place : the column, and the class
    """
    found = explored(model, table)
    return dependence(found.learned, found.samples, column, place)


@lru_cache(maxsize=8)
def map_of(model: Path, table: Path) -> LearnedMap:
    """The map of the samples, as ``sample_map`` finds it.

    Parameters
    ----------
    model, table : as of ``explored``
    """
    found = explored(model, table)
    return sample_map(found.learned, found.samples)


@lru_cache(maxsize=8)
def pictures_of(model: Path, table: Path) -> KernelPictures:
    """The pictures of kernels, as ``kernel_pictures`` finds them.

    Parameters
    ----------
    model, table : as of ``explored``
    """
    found = explored(model, table)
    return kernel_pictures(found.learned, found.samples)
