"""Results that pages compute from a saved model and its training table, with caches."""

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
    samples : its training samples
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
    ValueError : where the model file has no recipe, as in earlier versions
    """
    estimator, metadata = saved_model(model)
    if "recipe" not in metadata:
        raise ValueError("The model of this run is of an earlier version, and cannot be looked into; run it again.")
    recipe = Recipe.from_json(metadata["recipe"])
    learned = LearnedModel(estimator, TrainingRanges.of(metadata), recipe, [])
    return Explored(learned, TrainingSamples.of(read_table(table), recipe))


@lru_cache(maxsize=256)
def dependence_of(model: Path, table: Path, column: str, output_index: int) -> Dependence | None:
    """The partial dependence on a column, see ``dependence``.

    Parameters
    ----------
    model, table : as of ``explored``
    column, output_index : the column, and the index of the class or the target
    """
    exploration = explored(model, table)
    return dependence(exploration.learned, exploration.samples, column, output_index)


@lru_cache(maxsize=8)
def map_of(model: Path, table: Path) -> LearnedMap:
    """The map of the samples, see ``sample_map``.

    Parameters
    ----------
    model, table : as of ``explored``
    """
    exploration = explored(model, table)
    return sample_map(exploration.learned, exploration.samples)


@lru_cache(maxsize=8)
def pictures_of(model: Path, table: Path) -> KernelPictures:
    """The pictures of kernels, see ``kernel_pictures``.

    Parameters
    ----------
    model, table : as of ``explored``
    """
    exploration = explored(model, table)
    return kernel_pictures(exploration.learned, exploration.samples)
