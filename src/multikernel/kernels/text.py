"""Texts compared by the words, or the runs of characters, that they share.

    k(x, z) = <t(x), t(z)> / (|t(x)| |t(z)|),    t_u(x) = (1 + log count_u(x)) (1 + log((1 + n) / (1 + n_u)))

summed over the n-grams u of the training sample, where n_u of its n texts contain u: scikit-learn's TF-IDF with
sublinear counts. The features stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from multikernel._parameters import COUNT, Count
from multikernel._rules import Rule
from multikernel._typing import Array
from multikernel.kernels.base import Kernel
from multikernel.kernels.dot import Linear
from multikernel.kernels.encoding import Encoded, Encoding
from multikernel.kernels.features import Features
from multikernel.tables.table import as_table


@dataclass(frozen=True)
class _Lengths(Rule):
    """A pair of numbers, the shortest and the longest."""

    words = "a pair of integers, the shortest and the longest n-gram, such as (1, 2)"

    def accepts(self, value: Any) -> bool:
        pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(COUNT.accepts, value))
        return pair and value[0] <= value[1]


@dataclass(repr=False)
class Grams(Encoding):
    """TF-IDF weights of n-grams, scaled to norm 1 for each text; a missing text has no n-grams.

    Parameters
    ----------
    by : "word" or "character"; n-grams of characters stay within words
    lengths : pair of int, the shortest and the longest n-gram
    most : int, the largest number of n-grams, of which the most frequent are kept
    vocabulary : tuple of str, the n-grams of the training sample; None until they are learned
    rarity : tuple of float, the weight of each n-gram
    """

    by: Literal["word", "character"] = "word"
    lengths: Annotated[tuple[int, int], _Lengths()] = (1, 2)
    most: Count = 100_000
    vocabulary: tuple[str, ...] | None = None
    rarity: tuple[float, ...] = ()

    def resolve(self, features: Features) -> Grams:
        if len(features.strings) != features.n:
            raise ValueError(
                f"NGrams compares texts, and X has {len(features.strings)} columns of strings among "
                f"{features.n}{features.in_parentheses}: pass strings, or restrict the kernel to columns of strings by "
                ".on(columns)"
            )
        return self

    def learned(self, X: Any) -> Grams:
        if self.vocabulary is not None:
            return self
        vectorizer = self._vectorizer()
        texts = _texts(X)
        if not any(map(vectorizer.build_analyzer(), texts)):  # no text holds an n-gram
            return replace(self, vocabulary=())
        vectorizer.fit(texts)
        return replace(
            self, vocabulary=tuple(vectorizer.get_feature_names_out().tolist()), rarity=tuple(vectorizer.idf_.tolist())
        )

    def __call__(self, X: Any) -> Any:
        if not self.vocabulary:
            return np.zeros((X.shape[0], 1))
        vectorizer = self._vectorizer().set_params(vocabulary=self.vocabulary)
        vectorizer.idf_ = np.array(self.rarity)
        return vectorizer.transform(_texts(X))

    @property
    def sources(self) -> tuple[int, ...]:
        return (0,) * max(1, len(self.vocabulary or ()))

    @property
    def sparse(self) -> bool:
        return bool(self.vocabulary)

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer  # takes a while to load

        words: Any = {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b"}
        return TfidfVectorizer(
            **(words if self.by == "word" else {"analyzer": "char_wb"}),
            ngram_range=tuple(self.lengths),
            max_features=self.most,
            sublinear_tf=True,
        )

    def __repr__(self) -> str:
        learned = ""
        if self.vocabulary is not None:
            learned = f", <{len(self.vocabulary)} n-grams>"
        return f"Grams(by={self.by!r}, lengths={tuple(self.lengths)}{learned})"


@dataclass(repr=False)
class NGrams(Kernel):
    """k(x, z) = the cosine of the TF-IDF weights of the n-grams of two texts, in [0, 1]; 0 for a text without any.

    Samples are strings, or columns of them in a data frame, ``NGrams().on("comment")``, which are read one after the
    other. The n-grams are those of the training sample; others are left out. Capital and small letters are the same. A
    missing text is an empty one.

    Parameters
    ----------
    by : "word" or "character"; n-grams of characters stay within words
    lengths : pair of int, the shortest and the longest n-gram
    most : int, the largest number of n-grams, of which the most frequent are kept

    Raises
    ------
    ValueError : where a parameter is not such a value

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.NGrams(lengths=(1, 1))(["a red car", "a red bus", "blue sky"]).round(2)
    array([[1.  , 0.54, 0.  ],
           [0.54, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    by: Literal["word", "character"] = "word"
    lengths: Annotated[tuple[int, int], _Lengths()] = (1, 2)
    most: Count = 100_000

    def resolve(self, features: Features) -> Kernel:
        self._encoded.resolve(features)
        return self

    @property
    def learns(self) -> bool:
        return True

    def learned(self, X: Any) -> Kernel:
        return Encoded(Linear(), Grams(self.by, self.lengths, self.most).learned(X))

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self._encoded(X, Z)

    def diagonal(self, X: Any) -> Array:
        return self._encoded.diagonal(X)

    @property
    def _encoded(self) -> Encoded:
        return Encoded(Linear(), Grams(self.by, self.lengths, self.most))


def _texts(X: Any) -> list[str]:
    """One text for each sample, the texts of its columns one after the other."""
    table = as_table(X)
    if table is None:
        raise ValueError("NGrams compares texts, and got numbers; restrict it to columns of strings by .on(columns)")
    return ["\n".join(text for text in row if text is not None) for row in table.texts]
