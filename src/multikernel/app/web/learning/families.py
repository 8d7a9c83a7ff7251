"""Kernels by families, for the columns of a view: what a word means, as Python that a person can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from multikernel import kernels
from multikernel.app.web.learning.recipe import Kind, Recipe
from multikernel.kernels import Encoded, KernelFamily, Kernels, Together
from multikernel.kernels.for_columns import beside_each_other
from multikernel.tables.columns import typed


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
        return self.name == "for_columns"

    @property
    def maker(self) -> Any:
        """The function or the class that makes it."""
        return getattr(kernels, self.name)

    def made(self, changed: Mapping[str, Any], *given: Any, **more: Any) -> KernelFamily:
        """The kernels; ValueError where an argument is not what it may be."""
        found = kernels.as_family(self.maker(*given, **{**more, **self.preset, **changed}))
        return found.normalized() if self.normalized else found

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
}


def family(X: Any, recipe: Recipe) -> KernelFamily:
    """The kernels of all views, of the families that were chosen for each; by type where none was.

    Parameters
    ----------
    X : data frame
    recipe : what says so

    Raises
    ------
    ValueError : where a view has no column that could help
    """
    found: list[tuple[str, Any]] = []
    for view, word, changed in recipe.families:
        columns = recipe.by_view[view]
        types = {name: recipe.columns[name] for name in columns}
        own = _family(X[columns], FAMILIES[word], changed, types)
        found += [(f"{view}: {name}" if view else name, kernel) for name, kernel in zip(own.names, own, strict=True)]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):  # families of one view may use a name twice
        names = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
    return Kernels(tuple(kernel for _, kernel in found), tuple(names))


def _family(X: Any, chosen: Family, changed: Mapping[str, Any], types: Mapping[str, Kind]) -> KernelFamily:
    if chosen.by_type:
        return chosen.made(changed, X, types=types)
    together, plain = encoding(X, types), chosen.made(changed)
    return Kernels(tuple(Encoded(kernel, together) for kernel in plain), tuple(map(str, plain.names)))


def encoding(X: Any, types: Mapping[str, Kind]) -> Together:
    """All columns but texts as numbers side by side; ValueError where there is none."""
    columns = [column for column, _ in typed(X, types) if column.used and column.type != "text"]
    if not columns:
        raise ValueError(
            "These kernels need columns of numbers, categories or dates; choose kernels by type for texts."
        )
    return beside_each_other(columns)
