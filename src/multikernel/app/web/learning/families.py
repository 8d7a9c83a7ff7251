"""From a recipe to kernels by families, as Python that a person can run, and to the estimator that learns by them."""

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
from multikernel.app.web.learning.samples import as_given, bare
from multikernel.kernels import Encoded, KernelFamily, Kernels, Together, beside_each_other
from multikernel.selection import BankSearchCV
from multikernel.tables import typed


@dataclass(frozen=True)
class Family:
    """A family that can be chosen.

    Parameters
    ----------
    label, about : str, its name and a sentence
    name : str, what makes it in ``multikernel.kernels``
    preset : dict of arguments that differ from the defaults there
    normalized : bool, whether every kernel is scaled to self-values 1
    """

    label: str
    about: str
    name: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    normalized: bool = False

    @property
    def by_type(self) -> bool:
        """Whether its kernels follow the types of the columns, else they are those of numbers."""
        return self.name in ("for_columns", "for_each_column")

    @property
    def maker(self) -> Any:
        """The function or the class that makes it."""
        return getattr(kernels, self.name)

    def made(self, changed: Mapping[str, Any], *given: Any, **more: Any) -> KernelFamily:
        """The kernels; ValueError where an argument is not what it may be."""
        found = kernels.as_family(self.maker(*given, **{**more, **self.preset, **changed}))
        if self.normalized:
            return found.normalized()
        return found

    def code(self, changed: Mapping[str, Any]) -> str:
        """The expression of its kernels, of the columns ``part`` of the types ``own`` where it follows types."""
        arguments = ["part", "types=own"] if self.by_type else []
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


def families(given: Any, recipe: Recipe) -> Any:
    """The kernels of the families that were chosen, by type where none was: of several views a dict of those of each.

    Parameters
    ----------
    given : the samples, as ``as_given`` makes them
    recipe : what says so

    Raises
    ------
    ValueError : where a view has no column that could help
    """
    parts = {"": given} if hasattr(given, "columns") else given
    found: dict[str, list[KernelFamily]] = {view: [] for view in recipe.by_view}
    for view, word, changed in recipe.families:
        types = {bare(name, view): recipe.columns[name] for name in recipe.by_view[view]}
        found[view].append(_family(parts[view], FAMILIES[word], changed, types))
    named = {view: _with_own_names(own) for view, own in found.items()}
    if len(named) > 1:
        return named
    return next(iter(named.values()))


def _with_own_names(parts: Sequence[KernelFamily]) -> KernelFamily:
    """The kernels of several families, which may use a name twice."""
    every = [kernel for part in parts for kernel in part]
    names = [str(name) for part in parts for name in part.names]
    if len(set(names)) < len(names):
        names = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
    return Kernels(tuple(every), tuple(names))


def _family(X: Any, chosen: Family, changed: Mapping[str, Any], types: Mapping[str, Kind]) -> KernelFamily:
    if chosen.by_type:
        return chosen.made(changed, X, types=types)
    together = encoding(X, types)
    plain = chosen.made(changed)
    return Kernels(tuple(Encoded(kernel, together) for kernel in plain), tuple(map(str, plain.names)))


def encoding(X: Any, types: Mapping[str, Kind]) -> Together:
    """All columns but texts as numbers side by side; ValueError where there is none."""
    columns = [column for column, _ in typed(X, types) if column.used and column.type != "text"]
    if not columns:
        raise ValueError(
            "These kernels need columns of numbers, categories or dates; choose kernels by type for texts."
        )
    return beside_each_other(columns)


REGULARISES = ("C", "alpha", "lam")


def made(recipe: Recipe, X: pd.DataFrame, y: Any, groups: Any = None) -> tuple[Any, Any]:
    """The estimator, and the samples in the form that it takes.

    Parameters
    ----------
    recipe : what is learned by
    X, y : the samples and their target
    groups : array (n,), the group of each sample, which the fit is to be given as well; None where there are none

    Raises
    ------
    ValueError : where a parameter is not what it may be, or no column is left to learn from
    """
    if recipe.automatic:
        if recipe.task == "classification":
            kind = mk.MultiKernelClassifier
        else:
            kind = mk.MultiKernelRegressor
        return kind(random_state=recipe.seed, types=dict(recipe.columns), **recipe.parameters), as_given(X, recipe)
    given = as_given(X, recipe)
    if recipe.scales:
        kind = getattr(mk, recipe.method)
        return kind(**seeded(kind, recipe)), given
    return _searched(recipe, families(given, recipe), y, groups), given


def _searched(recipe: Recipe, families: Any, y: Any, groups: Any) -> Any:
    """The estimator with its kernels, and with a search along the path where there is one."""
    kind = getattr(mk, recipe.method)
    model = kind(kernels=families, **seeded(kind, recipe))
    if not recipe.path:
        if "cv" in recipe.parameters:
            return model
        return with_possible_folds(model, len(y))
    count = 1 if groups is None else len(np.unique(groups))
    folds = min(recipe.path_folds or 5, most_folds(y, recipe.task))
    if folds < 2:
        raise ValueError(
            f"A path over {recipe.path} chooses on folds of the rows that are learned from, and these are too few, of "
            "a class or of all; give more rows, or leave the path out."
        )
    values = {recipe.path: path_values(recipe.path, recipe.path_count)}
    cv: Any = min(folds, count)
    if count <= 1:
        cv = shuffled_folds(recipe.task, folds, recipe.seed)
    scoring = None
    if recipe.chosen_by:
        scoring = scorer_of(measure_of(recipe.task, recipe.chosen_by))
    return BankSearchCV(model, values, cv=cv, scoring=scoring, one_standard_error=True)


def seeded(kind: Any, recipe: Recipe) -> dict[str, Any]:
    """The parameters, with the seed where the estimator takes one."""
    seed = {"random_state": recipe.seed} if hasattr(kind, "random_state") else {}
    return seed | recipe.parameters


def path_values(parameter: str, count: int = 0) -> list[float]:
    """The values of a path.

    Parameters
    ----------
    parameter : what is followed
    count : how many; 0 for those that suit
    """
    return [float(f"{value:.6g}") for value in values_of(parameter, count or None)]
