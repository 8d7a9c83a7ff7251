"""Kernels derived from one kernel: restricted to columns, normalised, or centred."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, cast

import numpy as np

from multikernel._arrays import foreign, host, like, namespace, taken
from multikernel._linalg import inverse_root
from multikernel._rules import abbreviated
from multikernel._typing import Array, Columns
from multikernel.kernels.algebra import View, within
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.distance import DistanceKernel, OfDistance
from multikernel.kernels.facts import Costly, Elementary, Encodes, ExplicitFeatures, OnDemand, PowerOf, Wrapped
from multikernel.kernels.features import Features
from multikernel.kernels.samples import scaled_rows
from multikernel.tables.cells import is_frame
from multikernel.tables.table import as_samples


@dataclass(repr=False)
class Restricted(View):
    """k(x, z) = kernel(x_c, z_c) with the columns c.

    Parameters
    ----------
    kernel : Kernel
    columns : one or more columns, by index or by data-frame name; a slice of them; or a mask

    Raises
    ------
    ValueError : where there is no column, or a column is given twice
    """

    columns: Columns | slice

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.columns, slice):
            return
        marks = [isinstance(column, bool | np.bool_) for column in self.columns]
        if len(marks) == 0 or (all(marks) and not any(self.columns)):
            raise ValueError(f"{self.kernel!r}.on(...) needs at least one column")
        if any(marks) and not all(marks):
            raise ValueError(
                f"{self.kernel!r}.on(...) takes columns or a mask of True and False, got both: "
                f"{abbreviated(self.columns)}"
            )
        for column in cast(tuple[Any, ...], self.columns):
            is_position = isinstance(column, Integral | np.bool_) or (isinstance(column, float) and column.is_integer())
            if not isinstance(column, str) and not is_position:
                raise ValueError(
                    f"{self.kernel!r}.on(...) takes columns by position, a whole number, or by name, got {column!r}"
                )

    @property
    def _mask(self) -> bool:
        """Whether ``columns`` is a mask, with True or False for each column of the samples."""
        return not isinstance(self.columns, slice) and isinstance(self.columns[0], bool)

    def _take(self, X: Any) -> Any:
        if is_frame(X):
            samples = as_samples(X)
            features = Features.of(samples).named_as_in(X)
            index = self._index(features)
            self.kernel.resolve(features.take(index))  # which refuses columns that the kernel does not take
            return samples[:, list(index)]
        if not isinstance(self.columns, slice) and any(isinstance(c, str) for c in self.columns):
            raise ValueError(
                f"{self!r} names its columns: bind it to a data frame, or resolve(Features.of(frame)) it first"
            )
        return taken(X, list(self._index(Features(X.shape[1]))), axis=1)

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return self.kernel(self._take(X), None if Z is None or Z is X else self._take(Z))

    def diagonal(self, X: Any) -> Array:
        return self.kernel.diagonal(self._take(X))

    def self_values(self, X: Any, Z: Any) -> Array:
        return self.kernel.self_values(self._take(X), self._take(Z))

    def _index(self, features: Features) -> tuple[int, ...]:
        """The columns by position."""
        if isinstance(self.columns, slice):
            index = tuple(range(features.n)[self.columns])
            if not index:
                raise ValueError(f"{self!r} has no columns among the {features.n} of the samples")
            return index
        if not isinstance(self.columns[0], bool):
            return features.different(self.columns, self)
        if len(self.columns) != features.n:
            raise ValueError(
                f"{self!r}: the mask has {len(self.columns)} entries, and the samples have {features.n} columns"
            )
        return tuple(np.flatnonzero(self.columns).tolist())

    def facts(self) -> tuple[Fact, ...]:
        if isinstance(self.columns, slice) or self._mask:
            return ()  # known only once the number of columns is
        columns = tuple(self.columns)
        return tuple(
            fact for inner in self.kernel.facts() if (fact := self._restricted_fact(inner, columns)) is not None
        )

    def _restricted_fact(self, fact: Fact, columns: Columns) -> Fact | None:
        """The fact that follows from a fact about the inner kernel, for these columns; None where none follows."""
        match fact:
            case PowerOf(base, degree):
                return PowerOf(Restricted(base, columns), degree)
            case OfDistance(kernel, None):
                return OfDistance(kernel, columns)
            case ExplicitFeatures(None):
                return ExplicitFeatures(columns)
            case Encodes(kernel, encoding, None):
                return Encodes(kernel, encoding, columns)
            case Wrapped(kernel, by):
                return Wrapped(Restricted(kernel, columns), by)
            case OnDemand(kernel):
                return OnDemand(Restricted(kernel, columns))
            case Costly():
                return fact
        return None  # for example of a restriction of a restriction: only speed is lost

    def resolve(self, features: Features) -> Kernel:
        index = self._index(features)
        kernel = self.kernel.resolve(features.take(index))
        if isinstance(kernel, Restricted):  # its columns are positions among the columns chosen here
            inner = cast(tuple[int, ...], kernel.columns)
            return Restricted(kernel.kernel, tuple(index[c] for c in inner))
        return Restricted(kernel, index)

    def learned(self, X: Any) -> Kernel:
        if self.kernel.learns:
            return replace(self, kernel=self.kernel.learned(self._take(X)))
        return self

    def __repr__(self) -> str:
        if isinstance(self.columns, slice):
            return f"{within(self.kernel)}.on({self.columns!r})"
        columns = list(self.columns)
        return f"{within(self.kernel)}.on({columns[0] if len(columns) == 1 else columns!r})"


@dataclass(repr=False)
class Normalized(View):
    """k(x, z) = kernel(x, z) / sqrt(kernel(x, x) kernel(z, z)), and 0 where a self-value is 0.

    A normalised power is computed as a power of the normalised base: powers of self-values overflow and underflow.
    """

    @property
    def _power(self) -> PowerOf | None:
        """This kernel as a power of another normalised kernel; None where it is none."""
        powers = (f for f in self.kernel.facts() if isinstance(f, PowerOf) and f.degree != 1)
        return next((PowerOf(Normalized(f.base), f.degree) for f in powers), None)

    def __call__(self, X: Any, Z: Any = None) -> Array:
        if (power := self._power) is not None:
            return power.base(X, Z) ** int(power.degree)
        same = Z is None or Z is X
        if foreign(X):
            return self._foreign(X, X if same else Z)
        if any(isinstance(f, ExplicitFeatures) and f.columns is None for f in self.kernel.facts()):
            # rows are scaled to length 1 first, which saves a second pass over K
            row_scales = inverse_root(self.kernel.diagonal(X))
            U = scaled_rows(X, row_scales)
            V = None
            if not same:
                V = scaled_rows(Z, inverse_root(self.kernel.diagonal(Z)))
            K = self.kernel(U, V)
        else:
            K = self.kernel(X, Z)
            if same:
                row_scales = column_scales = inverse_root(np.diagonal(K))
            else:
                row_scales = inverse_root(self.kernel.self_values(X, Z))
                column_scales = inverse_root(self.kernel.diagonal(Z))
            K *= row_scales[:, None]
            K *= column_scales
        np.clip(K, -1.0, 1.0, out=K)
        if same:
            np.fill_diagonal(K, _signs(row_scales))
        return K

    def _foreign(self, X: Any, Z: Any) -> Any:
        """The kernel of arrays of another library; where Z is X, its diagonal is exact as in ``__call__``."""
        row_scales = inverse_root(host(self.kernel.self_values(X, Z)))
        column_scales = inverse_root(host(self.kernel.diagonal(Z)))
        K = self.kernel(X, Z)
        K = K * like(K, row_scales)[:, None] * like(K, column_scales)
        xp = namespace(K)
        K = xp.clip(K, -1.0, 1.0)
        if X is Z:
            identity = xp.eye(K.shape[0], dtype=K.dtype, device=K.device)
            K = K * (1.0 - identity) + identity * like(K, _signs(row_scales))
        return K

    def diagonal(self, X: Any) -> Array:
        if (power := self._power) is not None:
            return power.base.diagonal(X) ** int(power.degree)
        values = self.kernel.diagonal(X)
        return like(values, _signs(host(values)))

    def self_values(self, X: Any, Z: Any) -> Array:
        if (power := self._power) is not None:
            return power.base.self_values(X, Z) ** int(power.degree)
        return _signs(self.kernel.self_values(X, Z))

    def facts(self) -> tuple[Fact, ...]:
        """A normalised power is a power of the normalised kernel; a kernel of a distance may be normalised already."""
        if self.follows_sample:
            return (Wrapped(self.kernel, "normalized"),)
        inner = self.kernel.facts()
        facts: list[Fact] = [PowerOf(Normalized(f.base), f.degree) for f in inner if isinstance(f, PowerOf)]
        facts += [f for f in inner if isinstance(f, OfDistance) and _is_normalized(f.kernel)]
        facts += [Encodes(Normalized(f.kernel), f.encoding, f.columns) for f in inner if isinstance(f, Encodes)]
        facts += [f for f in inner if isinstance(f, Costly)]
        facts += [Elementary(f.kernel, f.degree, True) for f in inner if isinstance(f, Elementary)]
        return tuple(facts)

    def __repr__(self) -> str:
        return f"{within(self.kernel)}.normalized()"


@dataclass(repr=False)
class Centered(View):
    """k(x, z) = <phi(x) - c, phi(z) - c> with c the mean of phi over the reference sample Z.

    With J = I - 11'/n the matrix on the reference sample itself is J K J (Cortes et al. 2012, section 2).
    """

    def __call__(self, X: Any, Z: Any = None) -> Array:
        same = Z is None or Z is X
        K = self.kernel(X, Z)
        means = (K if same else self.kernel(Z)).mean(axis=0)
        K -= K.mean(axis=1, keepdims=True)
        K -= means
        K += means.mean()
        return K

    def diagonal(self, X: Any) -> Array:
        """Self-values with X itself as the reference sample."""
        return np.diagonal(self(X)).copy()

    def self_values(self, X: Any, Z: Any) -> Array:
        """k(x, x) - 2 mean_j k(x, z_j) + mean_jl k(z_j, z_l)."""
        return self.kernel.self_values(X, Z) - 2.0 * self.kernel(X, Z).mean(axis=1) + self.kernel(Z).mean()

    def facts(self) -> tuple[Fact, ...]:
        return (Wrapped(self.kernel, "centered"),)

    @property
    def follows_sample(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"{within(self.kernel)}.centered()"


def _is_normalized(kernel: DistanceKernel) -> bool:
    """Whether a kernel of a distance is 1 at distance 0; this is unknown until the kernel has its width."""
    return not kernel.learns and bool(kernel.profile(np.zeros(1))[0] == 1.0)


def _signs(diagonal: Array) -> Array:
    """1, 0 where d = 0 and NaN where d is not finite: the self-values of a normalised kernel."""
    return np.where(np.isfinite(diagonal), diagonal > 0, np.nan).astype(diagonal.dtype)
