"""Kernels by families, for the columns of a view: what a word means, as Python that a person can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from multikernel import kernels
from multikernel.app.web.learning.recipe import Kind, Recipe
from multikernel.kernels import Encoded, KernelFamily, Kernels, Together
from multikernel.kernels.columns import typed
from multikernel.kernels.for_columns import beside_each_other


@dataclass(frozen=True)
class Family:
    """A family that can be chosen.

    Parameters
    ----------
    label, about : str, its name and a sentence
    code : str, the Python expression of its kernels of numbers; "" where they follow the types of the columns
    """

    label: str
    about: str
    code: str = ""


FAMILIES = {
    "types": Family(
        "By the type of each column",
        "Gaussians for numbers, equality for categories, days and seasons for dates, words for texts: each column "
        "alone, and all together.",
    ),
    "gaussians": Family(
        "Gaussians of several widths",
        "On all columns together, from fine to coarse: smooth relations of any shape.",
        "kernels.rbf_grid()",
    ),
    "polynomials": Family(
        "Polynomials of degrees 1 to 3",
        "On all columns together: products of up to three columns.",
        "kernels.polynomials([1, 2, 3]).normalized()",
    ),
    "degrees": Family(
        "Homogeneous polynomials of degrees 0 to 10",
        "On all columns together, as in the papers on deep kernels: how high the interactions go.",
        "kernels.homogeneous_polynomials(10)",
    ),
    "linear": Family(
        "Linear", "On all columns together: each column has one slope.", "kernels.as_family(kernels.Linear())"
    ),
}
_MADE: Mapping[str, Any] = {
    "gaussians": lambda: kernels.rbf_grid(),
    "polynomials": lambda: kernels.polynomials([1, 2, 3]).normalized(),
    "degrees": lambda: kernels.homogeneous_polynomials(10),
    "linear": lambda: kernels.as_family(kernels.Linear()),
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
    for view, columns in recipe.by_view.items():
        types = {name: recipe.columns[name] for name in columns}
        for word in recipe.kernels.get(view) or ["types"]:
            own = _family(X[columns], word, types)
            found += [
                (f"{view}: {name}" if view else name, kernel) for name, kernel in zip(own.names, own, strict=True)
            ]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):  # families of one view may use a name twice
        names = [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]
    return Kernels(tuple(kernel for _, kernel in found), tuple(names))


def _family(X: Any, word: str, types: Mapping[str, Kind]) -> KernelFamily:
    if word == "types":
        return kernels.for_columns(X, types=types)
    together, plain = encoding(X, types), _MADE[word]()
    return Kernels(tuple(Encoded(kernel, together) for kernel in plain), tuple(map(str, plain.names)))


def encoding(X: Any, types: Mapping[str, Kind]) -> Together:
    """All columns but texts as numbers side by side; ValueError where there is none."""
    columns = [column for column, _ in typed(X, types) if column.used and column.type != "text"]
    if not columns:
        raise ValueError(
            "These kernels need columns of numbers, categories or dates; choose kernels by type for texts."
        )
    return beside_each_other(columns)
