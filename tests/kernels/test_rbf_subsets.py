"""Gaussians on subsets of the features: a family that is described, and the same as its kernels listed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from multikernel import kernels
from multikernel.kernels import RBF, Features, KernelFamily

GAMMAS = [0.1, 0.2, 0.4]
FOUR = Features(4)


def test_all_subsets_up_to_a_size_come_by_size() -> None:
    family = kernels.rbf_subsets(2, GAMMAS)
    resolved = family.resolve(FOUR)
    subsets = [*combinations(range(4), 1), *combinations(range(4), 2)]
    listed = [RBF(g).on(s) for s in subsets for g in GAMMAS]
    assert list(resolved) == listed
    assert len(resolved) == 30
    assert list(resolved.names) == list(map(repr, listed))
    assert clone(family) == family
    assert clone(family).resolve(FOUR) == resolved
    assert repr(resolved) == "RBFSubsets(<10 subsets>, <3 gammas>)"


def test_size_may_be_a_number_of_numpy() -> None:
    assert kernels.rbf_subsets(np.int64(2), GAMMAS) == kernels.rbf_subsets(2, GAMMAS)


def test_more_features_than_there_are_give_all_subsets() -> None:
    assert len(kernels.rbf_subsets(9, GAMMAS).resolve(FOUR)) == 3 * 15


def test_columns_by_name() -> None:
    frame = pd.DataFrame(np.eye(3), columns=["age", "dose", "weight"])
    family = kernels.rbf_subsets([["weight", "age"], ["dose"]], [0.5])
    assert (len(family), list(family)[1]) == (2, RBF(0.5).on("dose"))
    assert family.names[0] == "RBF(gamma=0.5).on(['weight', 'age'])"
    resolved = family.resolve(Features.of(frame))
    assert list(resolved) == [RBF(0.5).on([2, 0]), RBF(0.5).on([1])]
    assert list(resolved.names) == list(family.names)
    every = kernels.rbf_subsets(1, [0.5]).resolve(Features.of(frame))
    assert list(every.names) == ["RBF(gamma=0.5).on('age')", "RBF(gamma=0.5).on('dose')", "RBF(gamma=0.5).on('weight')"]


def test_a_name_is_a_subset_of_one_column() -> None:
    features = Features(3, ("a", "b", "ab"))
    assert list(kernels.rbf_subsets(["ab", ["a", "b"], 0], [0.5]).resolve(features)) == [
        RBF(0.5).on([2]),
        RBF(0.5).on([0, 1]),
        RBF(0.5).on([0]),
    ]


def test_families_together() -> None:
    first, second = kernels.rbf_grid([0.1, 0.2]), kernels.rbf_subsets([[0], [1, 2]], GAMMAS)
    both = (first + second + first).resolve(FOUR)
    listed = [*first, *second.resolve(FOUR), *first]
    assert (len(both), list(both)) == (10, listed)
    assert list(both.names) == list(map(repr, listed))
    assert both.names[-3:] == tuple(map(repr, listed[-3:]))
    assert (first + first).resolve(FOUR).names == first.names + first.names
    with pytest.raises(IndexError):
        both.names[10]


def test_number_of_kernels_follows_the_features() -> None:
    family = kernels.rbf_subsets(2, GAMMAS)
    for ask in (len, list, lambda f: f.names, lambda f: len(kernels.rbf_grid([0.1]) + f)):
        with pytest.raises(TypeError, match="depends on the number of features"):
            ask(family)


BAD: dict[str, tuple[Callable[[], KernelFamily], str]] = {
    "no-gamma": (lambda: kernels.rbf_subsets(2, []), "needs at least one gamma"),
    "negative-gamma": (
        lambda: kernels.rbf_subsets(2, [0.1, -1.0]),
        "each of rbf_subsets: gammas must be a finite number > 0",
    ),
    "size-0": (lambda: kernels.rbf_subsets(0, GAMMAS), "subsets must be an integer >= 1, got 0"),
    "no-subset": (lambda: kernels.rbf_subsets([], GAMMAS), "needs at least one subset"),
    "empty-subset": (lambda: kernels.rbf_subsets([[0], []], GAMMAS), "at least one column in each"),
    "column-twice": (lambda: kernels.rbf_subsets([[0, 1], [2, -2]], GAMMAS).resolve(FOUR), "has column 2 twice"),
    "mask": (
        lambda: kernels.rbf_subsets([[True, False]], GAMMAS).resolve(FOUR),
        "a whole number, .* got True",
    ),
    "fraction": (lambda: kernels.rbf_subsets([[0.7]], GAMMAS).resolve(FOUR), "a whole number, .* got 0.7"),
    "unknown-column": (lambda: kernels.rbf_subsets([[0, 4]], GAMMAS).resolve(FOUR), "column 4 is out of range"),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_bad_descriptions_are_refused(make: Callable[[], KernelFamily], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
