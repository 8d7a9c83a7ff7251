"""The kernel: a specification of one similarity measure, free of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import numpy as np

from multikernel._rules import Instance, abbreviated
from multikernel._typing import Array, Columns
from multikernel.kernels.features import Features
from multikernel.kernels.specification import Specification, plain


class Fact:
    """A statement of a kernel about its structure (kernels/facts.py), which banks exploit."""


class Kernel(Specification, ABC):
    """One positive semi-definite kernel k(x, z).

    Call it on samples: ``kernel(X, Z)`` is the matrix of shape (len(X), len(Z)); Z is the reference sample (the
    training set) and defaults to X. Kernels combine: ``k1 + k2``, ``k1 * k2``, ``k ** 2``, ``2.0 * k`` are kernels.
    """

    # -- must define ---------------------------------------------------------------------------------------------

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None) -> Array:
        """K(X, Z) of shape (len(X), len(Z)), a new array of floats, which the caller may write into."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """The self-values k(x, x), shape (len(X),)."""

    # -- may override --------------------------------------------------------------------------------------------

    def facts(self) -> tuple[Fact, ...]:
        """The facts about the structure of the kernel."""
        return ()

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        """The same kernel with every inner kernel changed; a kernel without inner kernels is returned as it is."""
        return self

    @property
    def takes_objects(self) -> bool:
        """Whether samples may be objects of any kind; by default, whether all inner kernels take them."""
        answers: list[bool] = []

        def note(kernel: Kernel) -> Kernel:
            answers.append(kernel.takes_objects)
            return kernel

        self.map_parts(note)
        return bool(answers) and all(answers)

    @property
    def follows_sample(self) -> bool:
        """Whether k(x, z) depends on the training sample (a centred kernel does)."""
        return False

    def self_values(self, X: Any, Z: Any) -> Array:
        """k(x, x) with Z as the training sample, shape (len(X),); kernels that follow the sample override this."""
        kernel = self.learned(Z) if self.learns else self
        return kernel.diagonal(X)

    @property
    def learns(self) -> bool:
        """Whether it learns anything from a training sample; by default, whether an inner kernel does."""
        any_learns = False

        def note(kernel: Kernel) -> Kernel:
            nonlocal any_learns
            any_learns = any_learns or kernel.learns
            return kernel

        self.map_parts(note)
        return any_learns

    def learned(self, X: Any) -> Kernel:
        """The same kernel with what it learns from a training sample: widths, means, categories, words.

        Parameters
        ----------
        X : array, CSR matrix or table of samples
        """
        return self.map_parts(lambda kernel: kernel.learned(X))

    def resolve(self, features: Features) -> Kernel:
        """The same kernel with columns given by position.

        Raises
        ------
        ValueError : where a column is unknown, or the kernel does not accept its contents
        """
        n_inner = 0

        def resolved(kernel: Kernel) -> Kernel:
            nonlocal n_inner
            n_inner += 1
            return kernel.resolve(features)

        changed = self.map_parts(resolved)
        if not n_inner:  # the kernel reads the samples itself
            features.check_numbers(self)
        return changed

    # -- views and algebra ---------------------------------------------------------------------------------------
    # The modules of these kernels import this one, so they are imported inside the methods.

    def on(self, columns: int | str | slice | Columns) -> Kernel:
        """The kernel restricted to columns, by index, by data-frame name, by a slice or by a mask of all columns.

        Parameters
        ----------
        columns : one or more of them; a slice of the columns; or True and False for each column of the samples

        Raises
        ------
        ValueError : where a mask is given beside numbers, or marks no column
        TypeError : where ``columns`` is a dict

        Examples
        --------
        >>> from multikernel import kernels
        >>> kernels.RBF(gamma=0.5).on(["age", "weight"])
        RBF(gamma=0.5).on(['age', 'weight'])
        """
        from multikernel.kernels.views import Restricted

        if isinstance(columns, slice):
            return Restricted(self, columns)
        if isinstance(columns, Mapping):
            raise TypeError(
                f"on: columns must be names, numbers, a slice or a mask, got the dict {abbreviated(columns)}"
            )
        if isinstance(columns, Iterable) and not isinstance(columns, str):
            column_list = columns
        else:
            column_list = (columns,)
        return Restricted(self, tuple(plain(c) for c in column_list))

    def normalized(self) -> Kernel:
        """k(x, z) / sqrt(k(x, x) k(z, z)); samples with k(x, x) = 0 get zeros."""
        from multikernel.kernels.views import Normalized

        return Normalized(self)

    def centered(self) -> Kernel:
        """The kernel of the features minus their mean over the training sample."""
        from multikernel.kernels.views import Centered

        return Centered(self)

    def standardized(self) -> Kernel:
        """The kernel of columns with mean 0 and deviation 1 in training; missing cells get the mean, and an indicator.

        Examples
        --------
        >>> from multikernel import kernels
        >>> kernels.RBF("median").standardized().on(["age", "weight"])
        RBF(gamma='median').standardized().on(['age', 'weight'])
        """
        from multikernel.kernels.encodings import standardized

        return standardized(self)

    def __radd__(self, other: object) -> Kernel:
        if isinstance(other, int) and other == 0:
            return self  # where sum() begins
        return NotImplemented

    def __add__(self, other: object) -> Kernel:
        from multikernel.kernels.algebra import Sum

        if isinstance(other, Kernel):
            return Sum.of(self, other)
        return NotImplemented

    def __mul__(self, other: object) -> Kernel:
        from multikernel.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product.of(self, other)
        if isinstance(other, int | float | np.number):
            return Scaled(self, float(other))
        return NotImplemented

    __rmul__ = __mul__

    def __pow__(self, degree: object) -> Kernel:
        from multikernel.kernels.algebra import Power

        if isinstance(degree, int | np.integer):
            return Power(self, int(degree))
        return NotImplemented


KERNEL = Instance(Kernel, "a kernel such as RBF(gamma=0.1)")
Inner = Annotated[Kernel, KERNEL]  # the type of a field that holds an inner kernel
