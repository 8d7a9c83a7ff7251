"""Kernels of the package beside their formulas in wide arithmetic: matrices (len(X), len(Z)), T the training sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fuzz.wide import Array, Number, wide
from multikernel import kernels

Formula = Callable[[Array, Array, Array], Array]  # of X, Z, T


@dataclass(frozen=True)
class Entry:
    """A kernel and what it should be."""

    kernel: kernels.Kernel
    formula: Formula

    def on(self, columns: list[int]) -> Entry:
        f = self.formula
        return Entry(self.kernel.on(columns), lambda X, Z, T: f(X[:, columns], Z[:, columns], T[:, columns]))

    def scaled(self, factor: float) -> Entry:
        f = self.formula
        return Entry(factor * self.kernel, lambda X, Z, T: Number(factor) * f(X, Z, T))

    def normalized(self) -> Entry:
        f = self.formula

        def formula(X: Array, Z: Array, T: Array) -> Array:
            left = np.array([f(x[None], x[None], T)[0, 0] for x in X])
            right = np.array([f(z[None], z[None], T)[0, 0] for z in Z])
            size = np.sqrt(np.multiply.outer(left, right))
            return np.divide(f(X, Z, T), size, out=np.zeros_like(size), where=size > 0)

        return Entry(self.kernel.normalized(), formula)

    def centered(self) -> Entry:
        f = self.formula

        def formula(X: Array, Z: Array, T: Array) -> Array:
            own = f(T, T, T)
            left, right = f(X, T, T).mean(axis=1), f(Z, T, T).mean(axis=1)
            return f(X, Z, T) - left[:, None] - right + own.mean()

        return Entry(self.kernel.centered(), formula)


def plus(a: Entry, b: Entry) -> Entry:
    return Entry(a.kernel + b.kernel, lambda X, Z, T: a.formula(X, Z, T) + b.formula(X, Z, T))


def times(a: Entry, b: Entry) -> Entry:
    return Entry(a.kernel * b.kernel, lambda X, Z, T: a.formula(X, Z, T) * b.formula(X, Z, T))


def linear() -> Entry:
    return Entry(kernels.Linear(), lambda X, Z, T: X @ Z.T)


def polynomial(degree: int, coef0: float, gamma: float) -> Entry:
    return Entry(
        kernels.Polynomial(degree, coef0, gamma), lambda X, Z, T: (Number(gamma) * (X @ Z.T) + Number(coef0)) ** degree
    )


def homogeneous(degree: int) -> Entry:
    """Degree 0 is the constant kernel."""
    return Entry(kernels.HomogeneousPolynomial(degree), lambda X, Z, T: (X @ Z.T) ** degree)


def rbf(gamma: float) -> Entry:
    return Entry(kernels.RBF(gamma), lambda X, Z, T: np.exp(-Number(gamma) * ((X[:, None] - Z[None]) ** 2).sum(axis=2)))


def laplacian(gamma: float) -> Entry:
    return Entry(
        kernels.Laplacian(gamma), lambda X, Z, T: np.exp(-Number(gamma) * np.abs(X[:, None] - Z[None]).sum(axis=2))
    )


def zero() -> Entry:
    """A kernel that is nothing: a linear one times 0 by its column, made by whoever draws the samples."""
    return linear().on([0])


def stack(entries: list[Entry], X: Array, Z: Array, T: Array) -> Array:
    """The matrices (m, len(X), len(Z))."""
    X, Z, T = wide(X), wide(Z), wide(T)
    return np.array([entry.formula(X, Z, T) for entry in entries], dtype=Number)
