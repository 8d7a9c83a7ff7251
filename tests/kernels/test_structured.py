"""Kernels of strings, sets and trees: what they have in common, what they learn, and what they refuse."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import multikernel as mk
import reference as ref
from multikernel import bind, kernels
from multikernel.kernels.sequences import shared_words
from multikernel.tables.table import as_table

RNG = np.random.default_rng(0)
STRINGS = ["".join(RNG.choice(list("acgt"), length)) for length in RNG.integers(0, 40, 25)]
CHAIN = [(k, "", k + 1, 1.0) for k in range(3)]


def test_all_are_the_spectrum_kernel_where_nothing_may_differ() -> None:
    spectrum = kernels.Spectrum(3)(STRINGS)
    np.testing.assert_allclose(kernels.Mismatches(3, 0)(STRINGS), spectrum)
    np.testing.assert_allclose(kernels.Rational(CHAIN, (1, 0, 0, 0), (0, 0, 0, 1))(STRINGS), spectrum)
    tight = kernels.GappedSubsequences(3, 1e-6)(STRINGS) / 1e-36  # whatever has a gap is a millionth part
    np.testing.assert_allclose(tight, spectrum, rtol=1e-3, atol=1e-3)


def test_shared_neighbours_are_those_that_are_counted() -> None:
    for q, m, s in ((3, 1, 4), (3, 2, 3), (4, 2, 2)):
        words = np.array(list(product(range(s), repeat=q)))
        for d in range(q + 1):
            one, other = np.zeros(q), np.r_[np.ones(d), np.zeros(q - d)]
            near = ((words != one).sum(axis=1) <= m) & ((words != other).sum(axis=1) <= m)
            assert shared_words(q, m, s, d) == near.sum()


@pytest.mark.parametrize("separator", [",", None, " ", ", ", "aa", "\n"])
def test_items_are_read_as_python_reads_them(separator: str | None) -> None:
    """Blanks of any script around items, separators that overlap, items twice, characters beyond 16 bits."""
    letters = list("aab,, \n\u2003\u00e9\U0001f600")
    texts = ["".join(RNG.choice(letters, RNG.integers(0, 30))) for _ in range(40)] + ["", " \t", "\ud800,a"]
    sets = [{item.strip() for item in text.split(separator)} - {""} for text in texts]
    truth = np.array([[len(one & other) for other in sets] for one in sets])
    kernel = kernels.Items(separator)
    np.testing.assert_array_equal(kernel(texts), truth)
    np.testing.assert_array_equal(kernel(texts[:9], texts[9:]), truth[:9, 9:])
    np.testing.assert_array_equal(kernel.diagonal(texts), np.diag(truth))


def test_every_blank_of_unicode_is_known() -> None:
    from multikernel.kernels import _items

    known = {chr(code) for code in np.flatnonzero(_items.BLANK)}
    assert known == {chr(code) for code in range(0x110000) if chr(code).isspace()}


def test_long_runs_of_an_automaton_with_a_circle() -> None:
    """Strings that are nearly equal, where products of many moves meet."""
    moves = [(0, "a", 0, 0.9), (0, "b", 1, 0.5), (1, "", 0, -0.7), (1, "b", 1, 1.1)]
    strings = ["abba" * 4, "abba" * 4 + "b", "aaaaaaaaaaaa", "bbbb"]
    truth = ref.gram(ref.rational(moves, (1.0, 0.3), (0.2, 1.0)), strings, strings)
    np.testing.assert_allclose(kernels.Rational(moves, (1.0, 0.3), (0.2, 1.0))(strings), truth, rtol=1e-10)


def test_letters_are_those_of_the_training_sample() -> None:
    bank = bind(kernels.Mismatches(2, 1), ["aabb", "abab", "bbbb"])
    new = ["abxb", "xxxx", "bb"]  # substrings with an x do not count
    truth = ref.gram(ref.mismatches(2, 1, "ab"), new, ["aabb", "abab", "bbbb"])
    np.testing.assert_array_equal(bank.cross(as_table(new)).matrices()[0], truth)
    np.testing.assert_array_equal(bank.self_values(as_table(new))[0], [ref.mismatches(2, 1, "ab")(x, x) for x in new])


def test_widths_of_vectors_are_those_of_the_training_sample() -> None:
    bags = kernels.written([RNG.normal(size=(int(size), 2)) for size in RNG.integers(1, 5, 12)])
    vectors = np.array([line.split() for text in bags for line in text.split(";")], dtype=float)
    inner = bind(kernels.RBF("median"), vectors).matrices()[0]
    counts = [text.count(";") + 1 for text in bags]
    members = np.repeat(np.eye(12), counts, axis=0)
    means = members.T @ inner @ members / np.outer(counts, counts)
    np.testing.assert_allclose(bind(kernels.VectorSets(kernels.RBF("median")), bags).matrices()[0], means, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_a_mixed_table_is_learned_from_saved_and_read(tmp_path: Path) -> None:
    n = 40
    frame = pd.DataFrame(
        {
            "sequence": ["".join(RNG.choice(list("acgt"), 12)) for _ in range(n)],
            "tree": [f"(S (A {a}) (B {b}))" for a, b in RNG.choice(list("xyz"), (n, 2))],
            "basket": [",".join(RNG.choice(list("abcdef"), 3)) for _ in range(n)],
            "bag": kernels.written([RNG.normal(size=(2, 2)) for _ in range(n)]),
            "age": RNG.normal(size=n),
        }
    )
    family = [
        kernels.Mismatches(3, 1).on("sequence").normalized(),
        kernels.Rational(CHAIN, (1, 0, 0, 0), (0, 1, 1, 1)).on("sequence").centered(),
        kernels.Subtrees(partial=True).on("tree") * kernels.Items(",").on("basket"),
        kernels.VectorSets(kernels.RBF("median")).on("bag"),
        kernels.RBF("scale").on("age"),
    ]
    model = mk.L1MKLClassifier(family, C=1.0).fit(frame[:30], frame["sequence"][:30].str.contains("ga"))
    mk.save(model, tmp_path / "model.mk")
    again = mk.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    named = mk.EasyMKLClassifier(["subsequences", "mismatches", "items", "subtrees"])
    assert named.fit(frame["sequence"].tolist(), np.arange(n) % 2).weights_.shape == (4,)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: kernels.Subtrees()(["(A (B x)", "a"]), "leaves 1 brackets open"),
        (lambda: kernels.Subtrees()(["A x)", "a"]), "closes a bracket that is not open"),
        (lambda: kernels.VectorSets(kernels.RBF(1.0))(["1 2; 3"]), "have 2 numbers, and '3' has another count"),
        (lambda: kernels.VectorSets(kernels.RBF(1.0))(["1 a"]), "'1 a' is not"),
        (lambda: kernels.VectorSets(kernels.RBF(1.0))(["nan 1"]), "NaN or infinite"),
        (lambda: kernels.Items(",")(np.eye(3)), "compares strings, one a sample, and got numbers"),
        (lambda: bind(kernels.Items(","), ["a", None]), "takes no missing cells"),
        (lambda: kernels.Rational([(0, "a", 1, 1.0)], (1,), (1,)), r"has state 1, and initial has weights"),
        (lambda: kernels.Rational([], (1,), (1, 1)), "a weight for each state"),
        (lambda: kernels.Mismatches(3, 1, "aa"), "two or more different characters"),
        (lambda: kernels.written([np.ones(3)]), r"set 0 must be an array \(number of vectors, p\)"),
    ],
)
def test_refusals(make: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()
