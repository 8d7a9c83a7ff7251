"""Groups of weights, each with a domain of its own: D = D_1 x .. x D_g.

The penalty, the support h(q) and the nearest point are those of the parts, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from multikernel._parameters import COUNT, check_each
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.domains.base import Domain, HasBlockUpdate


@dataclass(frozen=True)
class Product(Domain):
    """The first sizes[0] weights in domains[0], the next sizes[1] in domains[1], and so on.

    The parts are domains whose constraint bounds the weights, such as balls and simplices.

    Parameters
    ----------
    domains : tuple of Domain
    sizes : tuple of int >= 1, as many

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.domains import NormBall, Product, Simplex
    >>> domain = Product((Simplex(), NormBall(norm=2.0)), (2, 2))
    >>> domain.maximiser(np.array([1.0, 2.0, 3.0, 4.0]))
    array([0. , 1. , 0.6, 0.8])
    >>> domain.support(np.array([1.0, 2.0, 3.0, 4.0]))
    7.0
    """

    domains: tuple[Domain, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        known = isinstance(self.domains, tuple) and len(self.domains) > 0
        if not known or not all(isinstance(part, Domain) and part.constrained for part in self.domains):
            raise ValueError(
                f"Product: domains must be bounded domains, such as balls, got {abbreviated(self.domains)}"
            )
        check_each(COUNT, self.sizes, "Product: sizes")
        if len(self.sizes) != len(self.domains):
            raise ValueError(f"Product: sizes must be one for each of {len(self.domains)} domains, got {self.sizes}")

    @classmethod
    def copies(cls, part: Domain, count: int, size: int) -> Product:
        """The same domain for each of ``count`` groups of ``size`` weights."""
        return cls((part,) * count, (size,) * count)

    def in_units(self, weight: float, value: float) -> Product | None:
        parts = [part.in_units(weight, value) for part in self.domains]
        known = tuple(part for part in parts if part is not None)
        if len(known) == len(parts):
            return Product(known, self.sizes)
        return None

    def check(self, m: int) -> None:
        if m != sum(self.sizes):
            raise ValueError(f"the parts of the domain have {sum(self.sizes)} weights for {m} kernels")
        for part, size in zip(self.domains, self.sizes, strict=True):
            part.check(size)

    def split(self, values: Array) -> list[Array]:
        """What belongs to each part, of an array over all weights."""
        self.check(len(values))
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def start(self, m: int) -> Array:
        self.check(m)
        return np.concatenate([part.start(size) for part, size in zip(self.domains, self.sizes, strict=True)])

    def project(self, z: Array) -> Array:
        return self._each(lambda part, own: part.project(own), z)

    def maximiser(self, q: Array) -> Array:
        return self._each(lambda part, own: part.maximiser(own), q)

    def feasible(self, d: Array) -> Array:
        return self._each(lambda part, own: part.feasible(own), d)

    def penalty_gradient(self, d: Array) -> Array:
        return self._each(lambda part, own: part.penalty_gradient(own), d)

    def minimal(self, d: Array, idle: Array) -> Array:
        groups = zip(self.domains, self.split(d), self.split(idle), strict=True)
        return np.concatenate([part if own.all() else domain.minimal(part, own) for domain, part, own in groups])

    def support(self, q: Array) -> float:
        return float(sum(part.support(own) for part, own in zip(self.domains, self.split(q), strict=True)))

    def penalty(self, d: Array) -> float:
        return float(sum(part.penalty(own) for part, own in zip(self.domains, self.split(d), strict=True)))

    def contains(self, d: Array, tol: float = 1e-9) -> bool:
        return all(part.contains(own, tol) for part, own in zip(self.domains, self.split(d), strict=True))

    def block_update(self, norms: Array) -> Array:
        """argmin of sum_k c_k^2 / d_k, in each part by itself; TypeError where a part has no such update."""
        updates: list[Callable[[Array], Array]] = []
        for part in self.domains:
            if not isinstance(part, HasBlockUpdate):
                raise TypeError(f"the update in closed form is not known for {part}; choose balls around 0")
            updates.append(part.block_update)
        return np.concatenate([update(own) for update, own in zip(updates, self.split(norms), strict=True)])

    def _each(self, function: Callable[[Domain, Array], Array], values: Array) -> Array:
        """What each part makes of its own values."""
        return np.concatenate([function(part, own) for part, own in zip(self.domains, self.split(values), strict=True)])
