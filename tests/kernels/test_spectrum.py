"""Spectrum kernels against counts of substrings, and the table that carries strings to them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel import bind, kernels
from multikernel.kernels import Features, Linear, Spectrum
from multikernel.tables.table import Table, as_table

Array = Any
WORDS = ["banana", "ananas", "", "an", "b", "nananana", "äöü😀äöü", "\x00\x00a\x00"]
texts = st.lists(st.text(max_size=12) | st.text(alphabet="ab", max_size=12), min_size=1, max_size=6)


def truth(X: list[str], Z: list[str], length: int) -> Array:
    """The sum over substrings of the product of counts."""

    def count(text: str) -> Counter[str]:
        return Counter(text[i : i + length] for i in range(len(text) - length + 1))

    return np.array([[sum(n * count(z)[u] for u, n in count(x).items()) for z in Z] for x in X], dtype=float)


@pytest.mark.parametrize("length", range(1, 9))
def test_spectrum_counts_substrings(length: int) -> None:
    new = ["nanab", "", "😀ä", "zzz"]
    np.testing.assert_array_equal(Spectrum(length)(WORDS), truth(WORDS, WORDS, length))
    np.testing.assert_array_equal(Spectrum(length)(new, WORDS), truth(new, WORDS, length))
    np.testing.assert_array_equal(Spectrum(length).diagonal(WORDS), np.diag(truth(WORDS, WORDS, length)))


@given(X=texts, Z=texts, length=st.integers(1, 6))
def test_spectrum_is_its_definition(X: list[str], Z: list[str], length: int) -> None:
    np.testing.assert_array_equal(Spectrum(length)(X, Z), truth(X, Z, length))


@given(X=texts, length=st.integers(1, 6), normalize=st.booleans())
def test_spectrum_is_symmetric_and_positive_semi_definite(X: list[str], length: int, normalize: bool) -> None:
    kernel = Spectrum(length).normalized() if normalize else Spectrum(length)
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, atol=1e-15)
    np.testing.assert_array_equal(np.diag(K), kernel.diagonal(X))
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * max(1.0, np.trace(K))


def test_long_substrings_of_a_large_alphabet_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    alphabet = [chr(c) for c in range(0x4E00, 0x9000)]
    text = "".join(rng.choice(alphabet, size=300))
    X = [text, text[:150] + text[149::-1], text[100:260], "".join(rng.choice(alphabet, size=300))]
    for length in (5, 20, 50):
        np.testing.assert_array_equal(Spectrum(length)(X), truth(X, X, length))


def test_many_different_substrings_go_by_a_sparse_product() -> None:
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), size=60)) for _ in range(30)]
    for length in (2, 8):
        np.testing.assert_array_equal(Spectrum(length)(X[:9], X), truth(X[:9], X, length))


def test_a_string_shorter_than_the_length_has_zeros() -> None:
    K = Spectrum(3).normalized()(["ab", "abc", "xabc"])
    np.testing.assert_allclose(K, [[0.0, 0.0, 0.0], [0.0, 1.0, np.sqrt(0.5)], [0.0, np.sqrt(0.5), 1.0]])


# -- families and banks ------------------------------------------------------------------------------------------------


def test_spectra_grow() -> None:
    assert list(kernels.spectra(3)) == [Spectrum(q).normalized() for q in (1, 2, 3)]
    assert list(kernels.spectra(2, normalize=False)) == [Spectrum(1), Spectrum(2)]


@pytest.mark.parametrize("memory", [2 << 30, 1])
def test_bank_of_strings(memory: int) -> None:
    family = kernels.spectra(4)
    bank = bind(family, WORDS, memory=memory)
    want = np.array([k(WORDS) for k in family])
    np.testing.assert_allclose(bank.matrices(), want, atol=1e-12)
    part = bank.block([4, 1, 5], [0, 3, 5])
    np.testing.assert_allclose(part.matrices(), want[:, [4, 1, 5]][:, :, [0, 3, 5]], atol=1e-12)
    new = as_table(["nana", "x"])
    crossed = bank.reference([0, 1, 5]).cross(new)
    np.testing.assert_allclose(crossed.matrices(), [k(["nana", "x"], [WORDS[i] for i in (0, 1, 5)]) for k in family])
    np.testing.assert_array_equal(bank.self_values(new), [[1, 1], [1, 0], [1, 0], [1, 0]])


def test_strings_beside_numbers() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "sequence": ["abab", "abba", "bbbb"], "dose": [0.5, -1.0, 2.0]})
    family = [
        Spectrum(2).on("sequence"),
        Linear().on(["dose", "age"]),
        Spectrum(1).on("sequence").normalized() * Linear().on("age"),
        (Spectrum(1) + Spectrum(2)).on("sequence").centered(),
    ]
    K = bind(list(family), frame).matrices()
    words, numbers = frame["sequence"].tolist(), frame[["dose", "age"]].to_numpy()
    centring = np.eye(3) - 1.0 / 3.0
    np.testing.assert_allclose(K[0], truth(words, words, 2))
    np.testing.assert_allclose(K[1], numbers @ numbers.T)
    np.testing.assert_allclose(K[2], Spectrum(1).normalized()(words) * np.outer(frame["age"], frame["age"]))
    np.testing.assert_allclose(
        K[3], centring @ (truth(words, words, 1) + truth(words, words, 2)) @ centring, atol=1e-12
    )


# -- the table ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS, dtype=object),
        np.array(WORDS, dtype=object)[:, None],
        pd.Series(WORDS),
        pd.Series(WORDS, dtype="string"),
        pd.Series(WORDS, dtype="category"),
        pd.DataFrame({"word": WORDS}),
    ],
    ids=lambda form: type(form).__name__,
)
def test_strings_come_in_many_forms(form: Any) -> None:
    table = as_table(form)
    assert isinstance(table, Table)
    assert (table.shape, table.texts[:, 0].tolist(), table.strings.tolist()) == ((8, 1), WORDS, [0])


@pytest.mark.parametrize(
    "X",
    [
        np.eye(3),
        [[1, 2], [3, 4]],
        pd.DataFrame({"a": [1, 2]}),
        np.array([[1.0, {}]], dtype=object),
        [],
        None,
        [[1], [2, 3]],
    ],
)
def test_samples_without_strings_are_no_table(X: Any) -> None:
    assert as_table(X) is None


def test_table_hands_out_rows_and_columns() -> None:
    table = as_table([["a", 1, "x"], ["b", 2, "y"], ["c", 3, "z"]])
    assert isinstance(table, Table)
    assert as_table(table) is table
    assert (table.shape, len(table[:2]), len(table[:0])) == ((3, 3), 2, 0)
    np.testing.assert_array_equal(table[:, [1]], [[1.0], [2.0], [3.0]])
    swapped = table[np.array([2, 0])][:, [2, 1, 0]]
    assert swapped.texts.tolist() == [["z", "c"], ["x", "a"]]
    assert swapped.strings.tolist() == [0, 2]
    np.testing.assert_array_equal(swapped.numbers[:, 1], [3.0, 1.0])
    assert table.astype(np.float32).dtype == np.float32
    assert Features.of(table) == Features(3, None, (0, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spectrum(0), "Spectrum: length must be an integer in .*, got 0"),
        (lambda: kernels.spectra(0), "spectra: max_length must be an integer in .*, got 0"),
        (lambda: Spectrum(2)(np.eye(3)), r"Spectrum\(length=2\) compares strings, one a sample, and got numbers"),
        (lambda: Spectrum(2)([["a", "b"]]), "got a table of 2 columns; restrict it to one column"),
        (lambda: bind(Spectrum(2), np.eye(3)), "X has 0 columns of strings among 3"),
        (lambda: bind(Spectrum(2), [["a", "b"]]), "X has 2 columns of strings among 2"),
        (lambda: bind(Linear(), WORDS), r"Linear\(\) takes numbers, but column 0 of X holds strings"),
        (lambda: bind(kernels.ANOVA(2), pd.DataFrame({"word": WORDS})), "column 'word' of X holds strings"),
        (lambda: bind(kernels.random_monomials(2), WORDS), "RandomMonomials.* takes numbers"),
        (lambda: bind(kernels.rbf_subsets(2, [0.1]), WORDS), "takes numbers"),
        (lambda: bind(Spectrum(2), ["a", None]), "takes no missing cells, and column 0 of X has some: fill them in"),
        (
            lambda: as_table(["a", 1]),
            "column 0 of X holds strings, but 1 in row 1, and 'a' in row 0: give the column strings alone",
        ),
        (
            lambda: as_table([["a", 1], ["b", np.inf]]),
            "column 1 of X holds inf in row 1, where a finite number is needed",
        ),
        (lambda: as_table([["a", 1], ["b", {}]]), "column 1 of X holds neither strings nor numbers"),
    ],
)
def test_mistakes_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_missing_string_is_refused_by_the_kernel_itself() -> None:
    for kernel in (kernels.Spectrum(2), kernels.GappedSubsequences(2), kernels.Items(",")):
        with pytest.raises(ValueError, match="takes no missing cells, and column 0 of X has some"):
            kernel(["a,b", None])
