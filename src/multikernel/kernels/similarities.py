"""Features made of similarities that are not kernels, in the same way for training and for new samples.

Let s = (k(x, z_1), ..., k(x, z_n)) be the similarities of a sample to the training samples, K the matrix of
similarities between training samples, and K = U diag(l) U' its decomposition. The features and the resulting matrix
are:

    clip      l^(-1/2) U's for l > 0       training samples: U diag(max(l, 0)) U', the nearest kernel matrix
    flip      |l|^(-1/2) U's               training samples: U diag(|l|) U'
    square    s / sqrt(n)                  training samples: K K' / n, where K need not be symmetric

Inner products of features are a kernel, also for new samples: between new and training samples, the first two multiply
s by U diag(l > 0) U' and by U diag(sign(l)) U' (Chen, Garcia, Gupta, Rahimi and Cazzanti 2009, section 4). A shift of
the diagonal has no such form, as it does not define a kernel for new samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from scipy import linalg

from multikernel._typing import Array
from multikernel.kernels.encoding import Encoding
from multikernel.kernels.external_kernels import External, unwrapped
from multikernel.kernels.features import Features
from multikernel.kernels.reference import Reference
from multikernel.numerics.definite import precision


@dataclass(frozen=True, eq=False)
class Space:
    """Features of a training sample.

    Parameters
    ----------
    reference : the training samples
    features : array (n, q), their features
    map : array (n, q), the matrix by which similarities to training samples are multiplied to give features; None
        divides them by sqrt(n)
    """

    reference: Reference
    features: Array
    map: Array | None


@dataclass(repr=False)
class Similarities(Encoding):
    """Samples encoded by their similarities to the training samples.

    Parameters
    ----------
    kernel : External, the similarity
    psd : how features are made of the similarity
    space : the features of the training sample; None until they are learned
    """

    kernel: External
    psd: Literal["clip", "flip", "square"]
    space: Space | None = None

    def learned(self, X: Any) -> Self:
        if self.space is not None:
            return self
        X = unwrapped(X)
        kernel = self.kernel.learned(X)
        if self.psd == "square":
            space = Space(Reference(X), kernel.similarities(X, X) / np.sqrt(X.shape[0]), None)
        else:
            K = kernel.symmetric(X)
            space = Space(Reference(X), *_roots(K, self.psd == "flip"))
        return replace(self, kernel=kernel, space=space)

    def __call__(self, X: Any) -> Array:
        space = self.space
        assert space is not None
        X = unwrapped(X)
        positions = space.reference.places(X)
        if positions is not None:
            return space.features[positions]
        S = self.kernel.similarities(X, space.reference.samples)
        if space.map is None:
            return S / np.sqrt(S.shape[1])
        return S @ space.map

    def resolve(self, features: Features) -> Self:
        return replace(self, kernel=self.kernel.resolve(features))

    @property
    def sources(self) -> tuple[int, ...]:
        """Every feature depends on all columns; they are attributed to column 0."""
        assert self.space is not None
        return (0,) * self.space.features.shape[1]

    @property
    def takes_objects(self) -> bool:
        return True

    def notation(self, kernel: str) -> str:
        return self.kernel.notation(psd=self.psd)


def _roots(K: Array, flip: bool) -> tuple[Array, Array]:
    """The features of training samples, and the map from similarities to features."""
    values, vectors = linalg.eigh(K)
    sizes = np.abs(values) if flip else values
    significant = sizes > precision(K) * sizes.max(initial=0.0)
    if not significant.any():  # all similarities are zero
        return np.zeros((len(K), 1)), np.zeros((len(K), 1))
    roots = np.sqrt(sizes[significant])
    return vectors[:, significant] * (np.sign(values[significant]) * roots), vectors[:, significant] / roots
