"""The words of ``--kernels``: ``hpk:10``, ``rbf:0.01,0.1,1``, ``linear`` and so on, as kernel families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multikernel.kernels import KernelFamily


@dataclass(frozen=True)
class Word:
    """A word of ``--kernels``: its syntax, with example numbers where it takes any, and its meaning."""

    syntax: str
    about: str
    # Makes the kernels from the numbers as written, with functions of ``multikernel.kernels``. That module is an
    # argument because it is imported only when a word is used, so that --help is quick.
    make: Callable[[Any, Sequence[str]], Any]


def _degree(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"a degree is a whole number >= 1, got {value!r}")
    return int(value)


def _largest_degree(values: Sequence[str]) -> int:
    if len(values) != 1:
        raise ValueError(f"the word takes one number, the largest degree, got {len(values)}")
    return _degree(values[0])


def _gamma(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError(f"gamma is a number > 0, got {value!r}")
    return number


WORDS = {
    "hpk": Word(
        "hpk:10",
        "homogeneous polynomials of degrees 0 to 10 on samples of unit length",
        lambda kernels, values: kernels.homogeneous_polynomials(_largest_degree(values)),
    ),
    "rbf": Word(
        "rbf:0.01,0.1,1",
        "Gaussian kernels exp(-gamma |x - z|^2), one for each gamma",
        lambda kernels, values: kernels.rbf_grid([_gamma(v) for v in values]),
    ),
    "poly": Word(
        "poly:1,2,3",
        "polynomials (x'z + 1)^d, one for each degree",
        lambda kernels, values: kernels.polynomials([_degree(v) for v in values]),
    ),
    "anova": Word(
        "anova:5",
        "ANOVA kernels: products of 1 to 5 different features",
        lambda kernels, values: kernels.anova(_largest_degree(values)),
    ),
    "monomials": Word(
        "monomials:10",
        "50,000 random monomials of degrees 0 to 10, by degree",
        lambda kernels, values: kernels.random_monomials(_largest_degree(values), random_state=0),
    ),
    "linear": Word("linear", "x'z on all features, of mean 0 and deviation 1", lambda kernels, _: kernels.Linear()),
    "features": Word("features", "the same on every single feature", lambda kernels, _: kernels.linear_features()),
    "rls2": Word(
        "rls2",
        "13 (p + 1) kernels: polynomials and Gaussians per feature and on all",
        lambda kernels, _: kernels.rls2_basis(),
    ),
    "smkl": Word(
        "smkl", "13 p kernels: polynomials and Gaussians per feature", lambda kernels, _: kernels.smkl_basis()
    ),
}


_LINEAR = ("linear", "features")


def parse(words: Sequence[str], *, standardized: bool = True) -> KernelFamily | None:
    """The kernels of all words, joined in their order; None for no word.

    Parameters
    ----------
    words : as the user writes them
    standardized : whether the features of linear kernels have mean 0 and deviation 1; without this a function that is
        linear in features far from 0 is penalised for its constant

    Raises
    ------
    ValueError : with the correct syntax of a word
    """
    if words:
        return reduce(add, (_parse_word(word, standardized) for word in words))
    return None


def _parse_word(text: str, standardized: bool) -> KernelFamily:
    name, colon, numbers = text.strip().partition(":")
    word = WORDS.get(name)
    if word is None:
        raise ValueError(f"unknown kernels {text!r}; known are {', '.join(word.syntax for word in WORDS.values())}")
    values = [value.strip() for value in numbers.split(",")] if colon else []
    takes_numbers = ":" in word.syntax
    if takes_numbers and not all(values or [""]):
        raise ValueError(f"{text!r} lacks a number; it is written like {word.syntax}")
    if colon and not takes_numbers:
        raise ValueError(f"{text!r}: {name} takes no numbers; it is written {word.syntax}")
    from multikernel import kernels

    try:
        family = kernels.as_family(word.make(kernels, values))
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}; it is written like {word.syntax}") from None
    if standardized and name in _LINEAR:
        return family.standardized()
    return family
