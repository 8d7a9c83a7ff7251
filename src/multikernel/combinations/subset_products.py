"""The weighted sum of products of subsets of the kernels.

    K(theta) = sum_w theta_w K_w,    K_w = prod_{i in w} K_i entry by entry, the product of none being 1
    q_w = <AA', K_w>

Subsets that begin with the same kernels share the product of these; subsets without weight are not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from multikernel._linalg import as_columns
from multikernel._parameters import WHOLE
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.combinations.base import Combination


@dataclass(frozen=True)
class SubsetProducts(Combination):
    """K(theta) = sum_w theta_w prod_{i in w} K_i, a weight for each of the subsets.

    Parameters
    ----------
    nodes : the subsets w, as ascending tuples of kernels by number; () is the constant kernel 1

    Raises
    ------
    ValueError : where a subset is no ascending tuple, or names a kernel that the bank does not have

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations.subset_products import SubsetProducts
    >>> bank = bind(kernels.linear_features(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> SubsetProducts(((), (1,), (0, 1))).gram(bank, np.array([0.5, 1.0, 10.0])).dense()
    array([[44.5,  2.5],
           [ 2.5,  1.5]])
    """

    nodes: tuple[tuple[int, ...], ...]

    @property
    def linear(self) -> bool:
        return True

    def __post_init__(self) -> None:
        for w in self.nodes:
            named = isinstance(w, tuple | list) and all(map(WHOLE.accepts, w))
            if not named or any(i >= j for i, j in pairwise(w)):
                raise ValueError(f"a subset is an ascending tuple of kernels by number, from 0 on, got {w!r}")

    def n_parameters(self, bank: KernelBank) -> int:
        largest = max((w[-1] for w in self.nodes if w), default=-1)
        if largest >= len(bank):
            raise ValueError(f"a subset names kernel {largest}, and there are {len(bank)}, counted from 0")
        return len(self.nodes)

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        if len(theta) != self.n_parameters(bank):
            raise ValueError(f"{len(self.nodes)} subsets have {len(self.nodes)} weights, got {len(theta)}")
        K = np.zeros(bank.shape)
        for k, product in self._products(bank, np.flatnonzero(theta)):
            K += theta[k] * product
        return DenseGram(K)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        A = as_columns(A)
        q = np.empty(self.n_parameters(bank))
        for k, product in self._products(bank, range(len(q))):
            q[k] = np.vdot(A, product @ A)
        return q

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        shares = np.zeros((self.n_parameters(bank), bank.shape[0], C.shape[1]))
        for k, product in self._products(bank, np.flatnonzero(theta)):
            shares[k] = theta[k] * (product @ C)
        return shares

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        A = as_columns(A)
        images = np.empty((self.n_parameters(bank), *A.shape))
        for k, product in self._products(bank, range(len(images))):
            images[k] = product @ A
        return images

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return np.zeros((len(theta), len(theta)))

    def powers(self, bank: KernelBank) -> Array:
        return np.ones(self.n_parameters(bank))

    def _products(self, bank: KernelBank, chosen: Iterable[int]) -> Iterator[tuple[int, Array]]:
        """The chosen subsets by number, in lexicographic order, and their products, not to be written into."""
        order = sorted(chosen, key=lambda k: self.nodes[k])
        named = {i for k in order for i in self.nodes[k]}
        factors = {i: bank.matrix(i).astype(np.float64, copy=False) for i in named}
        path: list[tuple[int, Array]] = []  # the kernels of the last subset, each with the product up to it
        for k in order:
            w = self.nodes[k]
            shared = next(
                (position for position, ((i, _), j) in enumerate(zip(path, w, strict=False)) if i != j), len(path)
            )
            del path[shared:]
            for i in w[len(path) :]:
                path.append((i, path[-1][1] * factors[i] if path else factors[i]))
            yield k, path[-1][1] if path else np.ones(bank.shape)
