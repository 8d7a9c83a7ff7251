"""Groups of weights, each with a separate domain: D = D_1 x .. x D_g.

The penalty and the support h(q) are the sums over the domains; the nearest point is found for each domain separately.
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
        valid = isinstance(self.domains, tuple) and len(self.domains) > 0
        if not valid or not all(isinstance(part, Domain) and part.constrained for part in self.domains):
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
        converted = [domain.in_units(weight, value) for domain in self.domains]
        rescaled = tuple(domain for domain in converted if domain is not None)
        if len(rescaled) == len(converted):
            return Product(rescaled, self.sizes)
        return None

    def check(self, m: int) -> None:
        if m != sum(self.sizes):
            raise ValueError(f"the parts of the domain have {sum(self.sizes)} weights for {m} kernels")
        for domain, size in zip(self.domains, self.sizes, strict=True):
            domain.check(size)

    def split(self, values: Array) -> list[Array]:
        """An array over all weights, divided into the parts of the domains."""
        self.check(len(values))
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def start(self, m: int) -> Array:
        self.check(m)
        return np.concatenate([domain.start(size) for domain, size in zip(self.domains, self.sizes, strict=True)])

    def project(self, z: Array) -> Array:
        return self._by_domain(lambda domain, values: domain.project(values), z)

    def maximiser(self, q: Array) -> Array:
        return self._by_domain(lambda domain, values: domain.maximiser(values), q)

    def feasible(self, d: Array) -> Array:
        return self._by_domain(lambda domain, values: domain.feasible(values), d)

    def penalty_gradient(self, d: Array) -> Array:
        return self._by_domain(lambda domain, values: domain.penalty_gradient(values), d)

    def minimal(self, d: Array, idle: Array) -> Array:
        groups = zip(self.domains, self.split(d), self.split(idle), strict=True)
        return np.concatenate(
            [
                weights if idle_of_domain.all() else domain.minimal(weights, idle_of_domain)
                for domain, weights, idle_of_domain in groups
            ]
        )

    def support(self, q: Array) -> float:
        return float(sum(domain.support(scores) for domain, scores in zip(self.domains, self.split(q), strict=True)))

    def penalty(self, d: Array) -> float:
        return float(sum(domain.penalty(weights) for domain, weights in zip(self.domains, self.split(d), strict=True)))

    def contains(self, d: Array, tol: float = 1e-9) -> bool:
        return all(domain.contains(weights, tol) for domain, weights in zip(self.domains, self.split(d), strict=True))

    def block_update(self, norms: Array) -> Array:
        """argmin of sum_k c_k^2 / d_k, for each domain separately; TypeError where one has no such update."""
        updates: list[Callable[[Array], Array]] = []
        for domain in self.domains:
            if not isinstance(domain, HasBlockUpdate):
                raise TypeError(f"the update in closed form is not known for {domain}; choose balls around 0")
            updates.append(domain.block_update)
        return np.concatenate(
            [update(norms_of_domain) for update, norms_of_domain in zip(updates, self.split(norms), strict=True)]
        )

    def _by_domain(self, function: Callable[[Domain, Array], Array], values: Array) -> Array:
        """The values of a function of each domain and its part of ``values``, concatenated."""
        return np.concatenate(
            [
                function(domain, values_of_domain)
                for domain, values_of_domain in zip(self.domains, self.split(values), strict=True)
            ]
        )
