"""The families of kernels that a recipe names, as objects and as Python code, and the estimator of a recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import multikernel as mk
from multikernel import kernels
from multikernel.app.jobs.follow_path import values_of
from multikernel.app.jobs.methods import most_folds, shuffled_folds, with_possible_folds
from multikernel.app.web.learning.measures import measure_of, scorer_of
from multikernel.app.web.learning.recipe import Kind, Recipe
from multikernel.app.web.learning.samples import as_estimator_input, name_without_view
from multikernel.kernels import Encoded, KernelFamily, Kernels, Together, beside_each_other
from multikernel.selection import BankSearchCV
from multikernel.tables import typed


@dataclass(frozen=True)
class Family:
    """A family that can be chosen.

    Parameters
    ----------
    label, about : str, its name and a sentence
    name : str, the function or class of ``multikernel.kernels`` that makes it
    preset : dict of the arguments that differ from the defaults of this function
    normalized : bool, whether every kernel is scaled to k(x, x) = 1
    """

    label: str
    about: str
    name: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    normalized: bool = False

    @property
    def by_type(self) -> bool:
        """Whether its kernels depend on the types of the columns; the others take numbers only."""
        return self.name in ("for_columns", "for_each_column")

    @property
    def maker(self) -> Any:
        """The function or the class that makes it."""
        return getattr(kernels, self.name)

    def build(self, changed: Mapping[str, Any], *samples: Any, **options: Any) -> KernelFamily:
        """The kernels; ValueError where an argument has a value that is not allowed."""
        family = kernels.as_family(self.maker(*samples, **{**options, **self.preset, **changed}))
        if self.normalized:
            return family.normalized()
        return family

    def code(self, changed: Mapping[str, Any]) -> str:
        """The Python expression of its kernels; by type, for the samples ``view`` with columns of these ``types``."""
        arguments = ["view", "types=types"] if self.by_type else []
        arguments += [f"{name}={value!r}" for name, value in {**self.preset, **changed}.items()]
        return f"kernels.{self.name}({', '.join(arguments)}){'.normalized()' if self.normalized else ''}"


FAMILIES = {
    "types": Family(
        "By the type of each column",
        "Gaussians for numbers, equality for categories, days and seasons for dates, words for texts: each column "
        "alone, and all together.",
        "for_columns",
    ),
    "gaussians": Family(
        "Gaussians of several widths",
        "On all columns together, from fine to coarse: smooth relations of any shape.",
        "rbf_grid",
    ),
    "polynomials": Family(
        "Polynomials",
        "On all columns together: products of as many columns as the degree says.",
        "polynomials",
        {"degrees": [1, 2, 3]},
        normalized=True,
    ),
    "degrees": Family(
        "Homogeneous polynomials",
        "On all columns together, as in the papers on deep kernels: how high the interactions go.",
        "homogeneous_polynomials",
    ),
    "anova": Family(
        "Products of different columns",
        "ANOVA kernels on all columns together: interactions of two columns, of three, and so on.",
        "anova",
        {"max_degree": 3},
    ),
    "linear": Family("Linear", "On all columns together: each column has one slope.", "Linear"),
    "slopes": Family(
        "Linear, each column by itself",
        "The method chooses how much each column counts: with RLS2 a sparse linear model, the same as linear RLS2.",
        "for_each_column",
        {"basis": "linear"},
    ),
    "rls2": Family(
        "The 13 kernels of the RLS2 toolbox",
        "Three polynomials and ten Gaussians on each of p columns and on all together: 13 (p + 1) kernels.",
        "for_each_column",
        {"basis": "rls2"},
    ),
}


def families(samples: Any, recipe: Recipe) -> Any:
    """The kernels of the chosen families, by default the one by type; for several views, a dict of the kernels of each.

    Parameters
    ----------
    samples : the samples, as ``as_estimator_input`` returns them
    recipe : the settings with the chosen families

    Raises
    ------
    ValueError : where a view has no column from which these kernels can learn
    """
    samples_by_view = {"": samples} if hasattr(samples, "columns") else samples
    families_by_view: dict[str, list[KernelFamily]] = {view: [] for view in recipe.by_view}
    for view, word, changed in recipe.families:
        types = {name_without_view(name, view): recipe.columns[name] for name in recipe.by_view[view]}
        families_by_view[view].append(_family(samples_by_view[view], FAMILIES[word], changed, types))
    kernels_by_view = {view: _with_distinct_names(view_families) for view, view_families in families_by_view.items()}
    if len(kernels_by_view) > 1:
        return kernels_by_view
    return next(iter(kernels_by_view.values()))


def _with_distinct_names(kernel_families: Sequence[KernelFamily]) -> KernelFamily:
    """The kernels of several families; a name that occurs twice gets a number."""
    members = [kernel for family in kernel_families for kernel in family]
    names = [str(name) for family in kernel_families for name in family.names]
    if len(set(names)) < len(names):
        names = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
    return Kernels(tuple(members), tuple(names))


def _family(X: Any, chosen: Family, changed: Mapping[str, Any], types: Mapping[str, Kind]) -> KernelFamily:
    if chosen.by_type:
        return chosen.build(changed, X, types=types)
    encoded_columns = encoding(X, types)
    family = chosen.build(changed)
    return Kernels(tuple(Encoded(kernel, encoded_columns) for kernel in family), tuple(map(str, family.names)))


def encoding(X: Any, types: Mapping[str, Kind]) -> Together:
    """The encoding of all columns except texts as numbers; ValueError where there is no such column."""
    columns = [column for column, _ in typed(X, types) if column.used and column.type != "text"]
    if not columns:
        raise ValueError(
            "These kernels need columns of numbers, categories or dates; choose kernels by type for texts."
        )
    return beside_each_other(columns)


REGULARISES = ("C", "alpha", "lam")


def estimator_of(recipe: Recipe, X: pd.DataFrame, y: Any, groups: Any = None) -> tuple[Any, Any]:
    """The estimator, and the samples in the form that it takes.

    Parameters
    ----------
    recipe : the settings of the run
    X, y : the samples and their target
    groups : array (n,), the group of each sample, to be passed to ``fit`` as well; None where there are no groups

    Raises
    ------
    ValueError : where a parameter has a value that is not allowed, or there is no column to learn from
    """
    if recipe.automatic:
        if recipe.task == "classification":
            kind = mk.MultiKernelClassifier
        else:
            kind = mk.MultiKernelRegressor
        return kind(random_state=recipe.seed, types=dict(recipe.columns), **recipe.parameters), as_estimator_input(
            X, recipe
        )
    model_input = as_estimator_input(X, recipe)
    if recipe.scales:
        kind = getattr(mk, recipe.method)
        return kind(**parameters_with_seed(kind, recipe)), model_input
    return _kernel_estimator(recipe, families(model_input, recipe), y, groups), model_input


def _kernel_estimator(recipe: Recipe, chosen_kernels: Any, y: Any, groups: Any) -> Any:
    """The estimator with its kernels, inside a search along the path where the recipe has one."""
    kind = getattr(mk, recipe.method)
    model = kind(kernels=chosen_kernels, **parameters_with_seed(kind, recipe))
    if not recipe.path:
        if "cv" in recipe.parameters:
            return model
        return with_possible_folds(model, len(y))
    group_count = 1 if groups is None else len(np.unique(groups))
    folds = min(recipe.path_folds or 5, most_folds(y, recipe.task))
    if folds < 2:
        raise ValueError(
            f"A path over {recipe.path} chooses on folds of the rows that are learned from, and these are too few, of "
            "a class or of all; give more rows, or leave the path out."
        )
    values = {recipe.path: path_values(recipe.path, recipe.path_count)}
    cv: Any = min(folds, group_count)
    if group_count <= 1:
        cv = shuffled_folds(recipe.task, folds, recipe.seed)
    scoring = None
    if recipe.chosen_by:
        scoring = scorer_of(measure_of(recipe.task, recipe.chosen_by))
    return BankSearchCV(model, values, cv=cv, scoring=scoring, one_standard_error=True)


def parameters_with_seed(kind: Any, recipe: Recipe) -> dict[str, Any]:
    """The parameters of the recipe, with the seed where the estimator has a random state."""
    seed = {"random_state": recipe.seed} if hasattr(kind, "random_state") else {}
    return seed | recipe.parameters


def path_values(parameter: str, count: int = 0) -> list[float]:
    """The values of a path.

    Parameters
    ----------
    parameter : the parameter of the path
    count : the number of values; 0 for the default
    """
    return [float(f"{value:.6g}") for value in values_of(parameter, count or None)]
