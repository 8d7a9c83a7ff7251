"""The kernel: a specification of one similarity measure, free of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from multikernel._typing import Array, Columns
from multikernel.kernels.facts import Fact


@dataclass(frozen=True)
class Features:
    """The columns of a data set: how many there are, where known their names, and which of them hold strings."""

    n: int
    names: tuple[str, ...] | None = None
    strings: tuple[int, ...] = ()

    @classmethod
    def of(cls, X: Any) -> Features:
        """Read them off an array, a sparse matrix, a data frame or a table with strings."""
        if hasattr(X, "columns"):
            return cls(int(X.shape[1]), tuple(str(c) for c in X.columns))
        return cls(int(X.shape[1]), None, tuple(int(j) for j in getattr(X, "strings", ())))

    def take(self, index: tuple[int, ...]) -> Features:
        """Some of the columns, by position."""
        names = tuple(self.names[i] for i in index) if self.names else None
        return Features(len(index), names, tuple(j for j, i in enumerate(index) if i in self.strings))

    def check_numbers(self, user: object) -> None:
        """ValueError where a column holds strings and ``user`` takes numbers."""
        if self.strings:
            which = f"column {self.names[self.strings[0]]!r}" if self.names else f"column {self.strings[0]}"
            raise ValueError(
                f"{user!r} takes numbers, but {which} of X holds strings: use a kernel of strings such as "
                "Spectrum(3), or restrict this one to columns of numbers by .on(columns)"
            )

    def index(self, columns: Columns) -> tuple[int, ...]:
        """Positions of the columns, given by index or by name; ValueError names the one that is unknown."""
        known = {name: i for i, name in enumerate(self.names or ())}
        return tuple(self._position(c, known) for c in columns)

    def _position(self, column: int | str, known: dict[str, int]) -> int:
        if isinstance(column, str):
            if column not in known:
                have = ", ".join(known) if known else "no names: pass a data frame, or give columns by index"
                raise ValueError(f"unknown column {column!r}; the data have {have}")
            return known[column]
        if not -self.n <= column < self.n:
            raise ValueError(f"column {column} is out of range: the data have {self.n} columns")
        return int(column) % self.n


def as_floats(X: Any) -> Any:
    """X itself where it holds floats, else as float64: integer products wrap around, and integers cannot be scaled."""
    X = X if hasattr(X, "dtype") else np.asarray(X)
    return X if X.dtype.kind == "f" else X.astype(np.float64)


class Specification:
    """Parameters as scikit-learn handles them (clone, grid search), for a dataclass.

    Values are meant to be frozen, but ``set_params`` of scikit-learn changes its (cloned) object in place; hence
    dataclasses that are compared by value and not hashed.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, those of nested specifications as ``part__name``."""
        params = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        if deep:
            nested = {k: v for k, v in params.items() if isinstance(v, Specification)}
            for name, part in nested.items():
                params |= {f"{name}__{k}": v for k, v in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place; ValueError for a name that does not exist."""
        own = self.get_params(deep=False)
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in own or (rest and not isinstance(own[name], Specification)):
                raise ValueError(f"{type(self).__name__} has no parameter {key!r}; it has {', '.join(own) or 'none'}")
            if rest:
                own[name].set_params(**{rest: value})
            else:
                setattr(self, name, value)
        self.__post_init__()
        return self

    def __post_init__(self) -> None:
        """Check the parameters; specifications that have something to check override this."""

    def __repr__(self) -> str:
        """As a user would write it, with plain numbers for those of numpy."""
        parameters = (f"{name}={_plain(value)!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({', '.join(parameters)})"


def _plain(value: Any) -> Any:
    """A number of numpy as a number of Python; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


class Kernel(Specification, ABC):
    """One positive semi-definite kernel k(x, z).

    Call it on samples: ``kernel(X, Z)`` is the matrix of shape (len(X), len(Z)); Z is the reference sample (the
    training set) and defaults to X. Kernels combine: ``k1 + k2``, ``k1 * k2``, ``k ** 2``, ``2.0 * k`` are kernels.
    """

    # -- must define ---------------------------------------------------------------------------------------------

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None) -> Array:
        """K(X, Z) of shape (len(X), len(Z)); floats of X's precision."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """The self-values k(x, x), shape (len(X),)."""

    # -- may override --------------------------------------------------------------------------------------------

    def facts(self) -> tuple[Fact, ...]:
        """What is known of its structure."""
        return ()

    def map_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        """The same kernel with every kernel it is made of changed; kernels without parts are returned as they are."""
        return self

    @property
    def follows_sample(self) -> bool:
        """Whether k(x, z) depends on the training sample (a centred kernel does)."""
        return False

    def self_values(self, X: Any, Z: Any) -> Array:
        """k(x, x) with Z as the training sample, shape (len(X),); kernels that follow the sample override this."""
        return self.diagonal(X)

    def resolve(self, features: Features) -> Kernel:
        """The same kernel with columns given by position; ValueError where it cannot take what they hold."""
        resolved = self.map_parts(lambda part: part.resolve(features))
        if resolved is self:  # it has no parts: it looks at the samples itself
            features.check_numbers(self)
        return resolved

    # -- views and algebra ---------------------------------------------------------------------------------------

    def on(self, columns: int | str | Columns) -> Kernel:
        """The kernel restricted to columns, by index or by data-frame name.

        Examples
        --------
        >>> from multikernel import kernels
        >>> kernels.RBF(gamma=0.5).on(["age", "weight"])
        RBF(gamma=0.5).on(['age', 'weight'])
        """
        from multikernel.kernels.views import Restricted

        several = (columns,) if isinstance(columns, int | str | np.integer) else columns
        return Restricted(self, tuple(_plain(c) for c in several))

    def normalized(self) -> Kernel:
        """k(x, z) / sqrt(k(x, x) k(z, z)); samples with k(x, x) = 0 get zeros."""
        from multikernel.kernels.views import Normalized

        return Normalized(self)

    def centered(self) -> Kernel:
        """The kernel of the features minus their mean over the training sample."""
        from multikernel.kernels.views import Centered

        return Centered(self)

    def __add__(self, other: object) -> Kernel:
        from multikernel.kernels.algebra import Sum, parts

        return Sum((*parts(self, Sum), *parts(other, Sum))) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        from multikernel.kernels.algebra import Product, Scaled, parts

        if isinstance(other, Kernel):
            return Product((*parts(self, Product), *parts(other, Product)))
        return Scaled(self, float(other)) if isinstance(other, int | float | np.number) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, degree: object) -> Kernel:
        from multikernel.kernels.algebra import Power

        return Power(self, int(degree)) if isinstance(degree, int | np.integer) else NotImplemented
