"""Text as words and pairs of words, weighed by how rare they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._typing import Array

_MOST_WORDS = 50_000


@dataclass(frozen=True, eq=False)
class Text:
    """Words and pairs of words, as rows of norm 1.

    Parameters
    ----------
    words : array of str, the vocabulary
    rarity : array, the weight of each word
    """

    words: Array
    rarity: Array

    @classmethod
    def of(cls, cells: Array) -> Text:
        from sklearn.feature_extraction.text import TfidfVectorizer

        least = 2 if len(cells) > 100 else 1
        options: dict[str, Any] = {"ngram_range": (1, 2), "max_features": _MOST_WORDS}
        try:
            found = TfidfVectorizer(min_df=least, **options).fit(_texts(cells))
        except ValueError:  # no word occurs twice
            found = TfidfVectorizer(token_pattern=r"(?u)\S+", **options).fit(_texts(cells))
        return cls(np.array(found.get_feature_names_out(), dtype=object), np.asarray(found.idf_))

    def encode(self, cells: Array) -> Any:
        """A CSR matrix with a row for each cell; zeros where none of its words is known."""
        from sklearn.feature_extraction.text import CountVectorizer

        counts = CountVectorizer(vocabulary=list(self.words), ngram_range=(1, 2)).transform(_texts(cells)).tocsr()
        weights = sparse.csr_matrix(counts, dtype=float)
        weights.data = 1.0 + np.log(weights.data)
        return unit_rows(weights @ sparse.diags(self.rarity))


def _texts(cells: Array) -> list[str]:
    return ["" if cell is None else str(cell) for cell in cells]


def unit_rows(matrix: Any) -> Any:
    """Rows of norm 1; rows of zeros stay what they are."""
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1.0 / np.where(norms > 0, norms, 1.0)) @ matrix)
