"""How weights make a kernel.

A combination makes one kernel matrix K(theta) of parameters theta and the matrices of a bank, on the training set and,
with the same theta, on new samples. A machine's value J has dJ/dK = -AA', so that dJ/dtheta = -q with

    q = d/dtheta tr A'K(theta)A        at fixed A.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np

from multikernel._parameters import check_parameters
from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank


class Combination(ABC):
    """A family of kernels K(theta), theta >= 0.

    Subclasses are frozen dataclasses of parameters that do not depend on theta, and the annotations of the fields
    define which values are allowed.
    """

    @property
    def linear(self) -> bool:
        """Whether K is linear in theta; J is then convex, and a stationary point is optimal."""
        return False

    def __post_init__(self) -> None:
        check_parameters(self)

    @abstractmethod
    def gram(self, bank: KernelBank, theta: Array) -> Gram:
        """K(theta) for theta of shape (d,), of a square or a rectangular bank."""

    @abstractmethod
    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        """d/dtheta tr A'K(theta)A, shape (d,), for A of shape (n,) or (n, t); square banks only."""

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        """The summand of K(theta) C of each entry of theta: shape (d, r, t) for C of shape (c, t), with sum K(theta) C.

        In a sum of kernels, this is the term of the kernel. A product is divided equally among its factors: this is
        the integral of the derivative in each weight, as all weights grow from zero together (Aumann and Shapley).
        Parameters that are not weights of kernels, such as the scales in ``Profiles``, have no share and are left out.

        Raises
        ------
        ValueError : where K(theta) is no sum of products
        """
        raise ValueError(f"{type(self).__name__} is no sum of products of kernels, so that no kernel has a share in it")

    def shares_of_each(self, bank: KernelBank, thetas: Array, C: Array) -> Array:
        """``shares`` of every column of C, with a separate theta for each: shape (d, r, t) for thetas (t, d).

        Raises
        ------
        ValueError : where K(theta) is no sum of products
        """
        return np.concatenate([self.shares(bank, theta, C[:, [p]]) for p, theta in enumerate(thetas)], axis=2)

    def peaks(self, bank: KernelBank, theta: Array) -> Array:
        """At least the largest entry of the diagonal of dK/dtheta_k, shape (d,); the trace unless written out."""
        return self.pullback(bank, theta, np.eye(bank.shape[0]))

    def powers(self, bank: KernelBank) -> Array:
        """p, shape (d,), for which tr A'K(theta)A is concave in theta^p, whatever A; inf where none are known.

        J(K(theta)) is then convex in theta^p, even where it is not convex in theta.
        """
        return np.full(self.n_parameters(bank), np.inf)

    def in_units(self, kernel: float, balance: float, free: bool) -> tuple[float, float, float] | None:
        """Units of the kernels, of the weights and of K for kernels of this size.

        With these units, K(theta weight) of the kernels is the third times K(theta) of the kernels divided by the
        first. None, the default, where there are no such units.

        Parameters
        ----------
        kernel : float > 0, the unit that the kernels should have
        balance : float >= 0, the unit that K should have where the unit of the weights is free; otherwise the smallest
        free : bool, whether the unit of the weights is free; otherwise it should be 1
        """
        return None

    def idle(self, bank: KernelBank) -> Array:
        """Which parameters change nothing, whatever the others are, boolean of shape (d,); none that are known."""
        return np.zeros(self.n_parameters(bank), dtype=bool)

    def check(self, bank: KernelBank) -> None:
        """Refuse a bank of other matrices than the combination needs: of kernels, unless a subclass needs others.

        Raises
        ------
        ValueError : with a sentence that says which bank to take
        """
        if bank.of_distances:
            raise ValueError(
                f"{type(self).__name__} combines kernels, and this bank holds distances: take the bank of "
                "kernels that they come from, or combine them by ProductOfRBF"
            )

    def n_parameters(self, bank: KernelBank) -> int:
        """d, the length of theta: one weight for each kernel unless a combination says otherwise."""
        return len(bank)


@runtime_checkable
class HasSecondDerivatives(Protocol):
    """A combination whose second derivatives are written out."""

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        """(dK/dtheta_k) A for every k, shape (d, n, t), for A of shape (n,) or (n, t); square banks only."""

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        """The second derivatives of tr A'K(theta)A in theta at fixed A, shape (d, d); square banks only."""
