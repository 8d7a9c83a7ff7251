"""Kernels of encoded samples: k(x, z) = kernel(e(x), e(z)), e an encoding that learns from the training sample.

Columns become numbers in a way that depends on the training sample: means and deviations, the categories that occur,
the words of texts. An encoding without these is a specification; ``learned(X)`` is the same encoding with what it
learns from X and applies to new samples. A bank encodes its samples once for all kernels (banks/mapped.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse

from multikernel._arrays import is_sparse
from multikernel._rules import Instance, abbreviated
from multikernel._typing import Array, Columns
from multikernel._warnings import warn_user
from multikernel.kernels.algebra import View, within
from multikernel.kernels.base import Fact
from multikernel.kernels.facts import Encodes, Wrapped
from multikernel.kernels.features import Features
from multikernel.kernels.specification import Specification
from multikernel.tables.cells import check_same_columns, column_names, is_frame
from multikernel.tables.table import as_samples


class Encoding(Specification, ABC):
    """How columns become numbers."""

    @abstractmethod
    def learned(self, X: Any) -> Self:
        """The same encoding with what it learns from a training sample; itself where it has learned already."""

    @abstractmethod
    def __call__(self, X: Any) -> Any:
        """Samples as an array or a CSR array (n, q) of finite numbers; only once it is learned."""

    @abstractmethod
    def resolve(self, features: Features) -> Self:
        """The encoding for data with these columns; it may keep their names for its messages.

        Raises
        ------
        ValueError : where it does not accept the contents of a column
        """

    @property
    @abstractmethod
    def sources(self) -> tuple[int, ...]:
        """For each of the q numbers the column that it comes from; only once it is learned."""

    @property
    def takes_objects(self) -> bool:
        """Whether samples may be objects of any kind."""
        return False

    def notation(self, kernel: str) -> str:
        """The representation of a kernel of samples with this encoding."""
        return f"Encoded({kernel}, {self!r})"

    def around(self, kernel: str) -> str:
        """The former name of ``notation``."""
        warn_user("encoding.around is now encoding.notation", FutureWarning)
        return self.notation(kernel)

    @property
    def sparse(self) -> bool:
        """Whether encoded samples are a CSR array, because a dense one of so many columns would waste memory."""
        return False


@dataclass(repr=False)
class Encoded(View):
    """k(x, z) = kernel(e(x), e(z)) with an encoding e of the samples.

    Parameters
    ----------
    kernel : Kernel, of numbers
    encoding : Encoding

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> kernels.Encoded(kernels.RBF(1.0), kernels.Standardize())(np.array([[1.0], [3.0], [np.nan]])).round(2)
    array([[1.  , 0.02, 0.14],
           [0.02, 1.  , 0.14],
           [0.14, 0.14, 1.  ]])
    """

    encoding: Annotated[Encoding, Instance(Encoding, "an encoding such as Standardize()")]

    def __call__(self, X: Any, Z: Any = None) -> Array:
        if is_frame(Z):
            check_same_columns(X, column_names(Z))
        learned, reference = self._learned_on(X if Z is None else Z)
        return learned.kernel(learned.encoding(as_samples(X)), None if Z is None else learned.encoding(reference))

    def diagonal(self, X: Any) -> Array:
        learned, reference = self._learned_on(X)
        return learned.kernel.diagonal(learned.encoding(reference))

    def self_values(self, X: Any, Z: Any) -> Array:
        learned, reference = self._learned_on(Z)
        return learned.kernel.self_values(learned.encoding(as_samples(X)), learned.encoding(reference))

    def _learned_on(self, Z: Any) -> tuple[Encoded, Any]:
        """The kernel that has learned from Z, and Z in the form that kernels take."""
        return self.learned(Z), as_samples(Z)

    def resolve(self, features: Features) -> Encoded:
        return replace(self, encoding=self.encoding.resolve(features))

    @property
    def takes_objects(self) -> bool:
        return self.encoding.takes_objects

    @property
    def learns(self) -> bool:
        return True

    def learned(self, X: Any) -> Encoded:
        samples = as_samples(X)
        if is_frame(X):
            return self.resolve(Features.of(samples).named_as_in(X)).learned(samples)
        encoding = self.encoding.learned(samples)
        if self.kernel.learns:
            kernel = self.kernel.learned(encoding(samples))
        else:
            kernel = self.kernel
        if encoding is self.encoding and kernel is self.kernel:
            return self
        return Encoded(kernel, encoding)

    def facts(self) -> tuple[Fact, ...]:
        """A centred kernel of encoded samples is the centred form of a kernel of encoded samples."""
        if self.follows_sample:
            inner = (fact for fact in self.kernel.facts() if isinstance(fact, Wrapped))
            return tuple(Wrapped(Encoded(fact.kernel, self.encoding), fact.by) for fact in inner)
        return (Encodes(self.kernel, self.encoding),)

    def __repr__(self) -> str:
        return self.encoding.notation(within(self.kernel))


@dataclass(repr=False)
class Together(Encoding):
    """Several encodings side by side, each for some columns.

    Parameters
    ----------
    parts : tuple of pairs, an encoding and its columns

    Raises
    ------
    ValueError : where there is no such pair

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import kernels
    >>> frame = pd.DataFrame({"age": [20.0, 40.0], "sex": ["f", "m"]})
    >>> both = kernels.Together(((kernels.Standardize(), ("age",)), (kernels.OneHot(), ("sex",))))
    >>> kernels.Encoded(kernels.Linear(), both)(frame)
    array([[ 2., -1.],
           [-1.,  2.]])
    """

    parts: tuple[tuple[Encoding, Columns], ...]

    def __post_init__(self) -> None:
        are_pairs = isinstance(self.parts, tuple) and all(isinstance(p, tuple) and len(p) == 2 for p in self.parts)
        if not are_pairs or not self.parts or not all(_is_part(*part) for part in self.parts):
            raise ValueError(
                f"Together: parts must be a tuple of pairs, an encoding and its columns, got {abbreviated(self.parts)}"
            )

    def learned(self, X: Any) -> Together:
        changed = tuple((encoding.learned(X[:, list(columns)]), columns) for encoding, columns in self.parts)
        unchanged = all(
            learned_encoding is encoding
            for (learned_encoding, _), (encoding, _) in zip(changed, self.parts, strict=True)
        )
        if unchanged:
            return self
        return Together(changed)

    def __call__(self, X: Any) -> Any:
        return beside([encoding(X[:, list(columns)]) for encoding, columns in self.parts])

    def resolve(self, features: Features) -> Together:
        positions_of_parts = [features.index(columns) for _, columns in self.parts]
        pairs = zip(self.parts, positions_of_parts, strict=True)
        return Together(
            tuple((encoding.resolve(features.take(positions)), positions) for (encoding, _), positions in pairs)
        )

    @property
    def sources(self) -> tuple[int, ...]:
        return tuple(int(columns[source]) for encoding, columns in self.parts for source in encoding.sources)

    @property
    def sparse(self) -> bool:
        return any(encoding.sparse for encoding, _ in self.parts)


def _is_part(encoding: Any, columns: Any) -> bool:
    """Whether these are an encoding and a sequence of columns, which a single name is not."""
    return isinstance(encoding, Encoding) and isinstance(columns, Iterable) and not isinstance(columns, str)


def beside(blocks: list[Any]) -> Any:
    """Arrays and CSR arrays side by side; a CSR array where one of them is."""
    if len(blocks) == 1:
        return blocks[0]
    if any(is_sparse(block) for block in blocks):
        return sparse.hstack(blocks, "csr")
    return np.hstack(blocks)


__all__ = ["Encoded", "Encoding", "Together", "beside"]
