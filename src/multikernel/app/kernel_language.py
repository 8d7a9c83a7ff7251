"""The words of ``--kernels``: ``hpk:10``, ``rbf:0.01,0.1,1``, ``linear`` and so on, as kernel families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multikernel.kernels import KernelFamily


@dataclass(frozen=True)
class Word:
    """One word of the language: how it is written, what it means, and how it is made from its values."""

    form: str
    about: str
    make: Callable[[Sequence[str]], KernelFamily]
    takes_values: bool


def _homogeneous(values: Sequence[str]) -> KernelFamily:
    from multikernel import kernels

    if len(values) != 1:
        raise ValueError("hpk takes one number, the largest degree")
    return kernels.homogeneous_polynomials(_degree(values[0], 1))


def _rbf(values: Sequence[str]) -> KernelFamily:
    from multikernel import kernels

    return kernels.rbf_grid([_positive(v) for v in values])


def _polynomials(values: Sequence[str]) -> KernelFamily:
    from multikernel import kernels

    return kernels.polynomials([_degree(v, 1) for v in values])


def _anova(values: Sequence[str]) -> KernelFamily:
    from multikernel import kernels

    if len(values) != 1:
        raise ValueError("anova takes one number, the largest degree")
    return kernels.anova(_degree(values[0], 1))


def _monomials(values: Sequence[str]) -> KernelFamily:
    from multikernel import kernels

    if len(values) != 1:
        raise ValueError("monomials takes one number, the largest degree")
    return kernels.random_monomials(_degree(values[0], 1), random_state=0)


def _named(name: str) -> Callable[[Sequence[str]], KernelFamily]:
    def make(values: Sequence[str]) -> KernelFamily:
        from multikernel import kernels

        return getattr(kernels, name)()

    return make


def _linear(values: Sequence[str]) -> KernelFamily:
    from multikernel import kernels

    return kernels.as_family(kernels.Linear())


WORDS = {
    "hpk": Word("hpk:10", "homogeneous polynomials of degrees 0 to 10 on samples of unit length", _homogeneous, True),
    "rbf": Word("rbf:0.01,0.1,1", "Gaussian kernels exp(-gamma |x - z|^2), one for each gamma", _rbf, True),
    "poly": Word("poly:1,2,3", "polynomials (x'z + 1)^d, one for each degree", _polynomials, True),
    "anova": Word("anova:5", "ANOVA kernels: products of 1 to 5 different features", _anova, True),
    "monomials": Word("monomials:10", "50,000 random monomials of degrees 0 to 10, by degree", _monomials, True),
    "linear": Word("linear", "x'z on all features", _linear, False),
    "features": Word("features", "x'z on every single feature", _named("linear_features"), False),
    "rls2": Word(
        "rls2", "13 (p + 1) kernels: polynomials and Gaussians per feature and on all", _named("rls2_basis"), False
    ),
    "smkl": Word("smkl", "13 p kernels: polynomials and Gaussians per feature", _named("smkl_basis"), False),
}


def known() -> str:
    """The forms of all words, in a line."""
    return ", ".join(word.form for word in WORDS.values())


def parse(words: Sequence[str]) -> KernelFamily | None:
    """The family that the words describe, one after the other; None for no word. ValueError says what is wrong."""
    return reduce(add, map(_parse_word, words)) if words else None


def _parse_word(text: str) -> KernelFamily:
    name, colon, rest = text.strip().partition(":")
    word = WORDS.get(name)
    if word is None:
        raise ValueError(f"unknown kernels {text!r}; known are {known()}")
    values = [value.strip() for value in rest.split(",")] if colon else []
    if word.takes_values and not all(values or [""]):
        raise ValueError(f"{text!r} lacks a number; it is written like {word.form}")
    if not word.takes_values and colon:
        raise ValueError(f"{text!r}: {name} takes no numbers; it is written {word.form}")
    try:
        return word.make(values)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}; it is written like {word.form}") from None


def _degree(value: str, least: int) -> int:
    if not value.isdecimal() or int(value) < least:
        raise ValueError(f"a degree is a whole number >= {least}, got {value!r}")
    return int(value)


def _positive(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError(f"gamma is a number > 0, got {value!r}")
    return number
