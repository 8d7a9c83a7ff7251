"""The words of --kernels."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel import bind, kernels
from multikernel.app.cli.kernel_words import WORDS, parse


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["hpk:4"], kernels.homogeneous_polynomials(4)),
        (["rbf:0.01,0.1,1"], kernels.rbf_grid([0.01, 0.1, 1.0])),
        (["rbf: 1e-2 , 3"], kernels.rbf_grid([0.01, 3.0])),
        (["poly:1,3"], kernels.polynomials([1, 3])),
        (["anova:2"], kernels.anova(2)),
        (["monomials:3"], kernels.random_monomials(3, random_state=0)),
        (["linear"], kernels.as_family(kernels.Linear().standardized())),
        (["features"], kernels.linear_features().standardized()),
        (["rls2"], kernels.rls2_basis()),
        (["smkl"], kernels.smkl_basis()),
        (["linear", "rbf:2"], kernels.as_family(kernels.Linear().standardized()) + kernels.rbf_grid([2.0])),
    ],
)
def test_words_make_the_families_of_the_library(words: list[str], expected: kernels.KernelFamily) -> None:
    X = np.random.default_rng(0).uniform(size=(6, 2))
    family = parse(words)
    assert family is not None
    np.testing.assert_array_equal(bind(family, X).matrices(), bind(expected, X).matrices())


def test_no_word_is_no_family() -> None:
    assert parse([]) is None


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_the_form_shown_in_the_help_is_understood(word: object) -> None:
    assert parse([word.syntax]) is not None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gauss:1", "unknown kernels 'gauss:1'; known are hpk:10, rbf:0.01,0.1,1"),
        ("", "unknown kernels ''"),
        ("rbf", "lacks a number"),
        ("rbf:", "lacks a number"),
        ("rbf:1,,2", "lacks a number"),
        ("rbf:0", "gamma is a number > 0, got '0'"),
        ("rbf:inf", "gamma is a number > 0, got 'inf'"),
        ("rbf:wide", "gamma is a number > 0, got 'wide'"),
        ("hpk:2,3", "the word takes one number"),
        ("hpk:999999999", "max_degree must be an integer in"),
        ("anova:1000000000", "max_degree must be an integer in"),
        ("hpk:-1", "a degree is a whole number >= 1, got '-1'"),
        ("anova:0", "a degree is a whole number >= 1, got '0'"),
        ("anova:2,3", "takes one number, the largest degree, got 2"),
        ("monomials:", "lacks a number"),
        ("monomials:1,2", "takes one number, the largest degree, got 2"),
        ("poly:1.5", "a degree is a whole number >= 1, got '1.5'"),
        ("linear:3", "linear takes no numbers"),
    ],
)
def test_a_wrong_word_is_refused_with_the_right_form(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=r"known are|written") as caught:
        parse([text])
    assert complaint in str(caught.value)
