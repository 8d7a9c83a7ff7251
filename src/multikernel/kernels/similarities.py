"""Features made of similarities that are no kernel, for training and for new samples alike.

With s = (k(x, z_1), ..., k(x, z_n)) the similarities of a sample to the training samples, K those of the training
samples and K = U diag(l) U' its decomposition:

    clip      l^(-1/2) U's for l > 0       training samples: U diag(max(l, 0)) U', the nearest kernel matrix
    flip      |l|^(-1/2) U's               training samples: U diag(|l|) U'
    square    s / sqrt(n)                  training samples: K K' / n, where K need not be symmetric

Inner products of features are a kernel, of new samples as well: against training samples the first two multiply s by
U diag(l > 0) U' and by U diag(sign(l)) U' (Chen, Garcia, Gupta, Rahimi and Cazzanti 2009, section 4). A shift of the
diagonal has no such form: it says nothing of new samples.
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
    features : array (n, q), theirs
    map : array (n, q), similarities to the training samples times it are features; None is a division by sqrt(n)
    """

    reference: Reference
    features: Array
    map: Array | None


@dataclass(repr=False)
class Similarities(Encoding):
    """Samples by their similarities to those of training.

    Parameters
    ----------
    kernel : External, the similarity
    psd : how features are made of it
    space : what is learned from the training sample
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
        places = space.reference.places(X)
        if places is not None:
            return space.features[places]
        S = self.kernel.similarities(X, space.reference.samples)
        if space.map is None:
            return S / np.sqrt(S.shape[1])
        return S @ space.map

    def resolve(self, features: Features) -> Self:
        return replace(self, kernel=self.kernel.resolve(features))

    @property
    def sources(self) -> tuple[int, ...]:
        """They are made of all columns; there is one where samples are objects."""
        assert self.space is not None
        return (0,) * self.space.features.shape[1]

    @property
    def takes_objects(self) -> bool:
        return True

    def notation(self, kernel: str) -> str:
        return self.kernel.notation(psd=self.psd)


def _roots(K: Array, flip: bool) -> tuple[Array, Array]:
    """The features of training samples, and the map from similarities to them."""
    values, vectors = linalg.eigh(K)
    sizes = np.abs(values) if flip else values
    kept = sizes > precision(K) * sizes.max(initial=0.0)
    if not kept.any():  # all similarities are zero
        return np.zeros((len(K), 1)), np.zeros((len(K), 1))
    roots = np.sqrt(sizes[kept])
    return vectors[:, kept] * (np.sign(values[kept]) * roots), vectors[:, kept] / roots
