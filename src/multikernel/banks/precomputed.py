"""Matrices that the user computed, checked and packed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import host, is_sparse, part_of, unmasked
from multikernel._row_labels import check_rows
from multikernel._rules import Flag, Number, abbreviated, repeated, shortened
from multikernel._typing import Array, Index
from multikernel._warnings import warn_user
from multikernel.banks.base import KernelBank
from multikernel.banks.checks import as_positive, check_finite, check_symmetric, check_trace, real
from multikernel.banks.dense import DenseBank
from multikernel.banks.indices import positions
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import half_size, pack
from multikernel.banks.threads import one_blas_thread, over_rows


def precomputed(
    K: Any, *, psd: float | None = None, clip: bool = False, names: Sequence[str] | None = None
) -> KernelBank:
    """A bank of precomputed training matrices.

    Parameters
    ----------
    K : array (m, n, n), list or dict of m matrices (n, n), or one matrix (n, n), symmetric and positive semi-definite;
        or a KernelBank, which is returned as it is. float32 is kept, other numbers become float64. A row and column
        of NaN mark a sample that the kernel lacks, and count as zeros.
    psd : float > 0, a negative eigenvalue down to -psd times the trace counts as rounding, and the matrix is taken
        unchanged. By default 1e-10, or 1e-5 for matrices whose entries are numbers of single precision.
    clip : bool, whether a matrix with eigenvalues below this limit is replaced by the nearest positive semi-definite
        one, with its negative eigenvalues set to zero, instead of refused; a UserWarning says which matrices were
        changed, and how much.
    names : a name for each kernel; by default the keys of the dict

    Raises
    ------
    ValueError : where a matrix is not real, not square, not finite, not symmetric or not positive semi-definite, is NaN
        at every entry or has a trace beyond double precision; the message names the kernel and the entry; or where
        names are not a different name for each kernel

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import precomputed
    >>> K = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.8], [0.0, 0.8, 1.0]])  # its smallest eigenvalue is -0.13
    >>> bank = precomputed([K], psd=0.05)
    """
    if psd is not None:
        Number(above=0.0, why="a share of the trace").check(psd, "precomputed: psd")
    Flag().check(clip, "precomputed: clip")
    if isinstance(K, KernelBank):
        if names is not None:
            raise ValueError("precomputed: the kernels of a bank keep their names: give names with matrices")
        return K
    if names is None and isinstance(K, Mapping):
        names = tuple(map(str, K))
    if names is not None and (isinstance(names, str) or not isinstance(names, Iterable)):
        raise ValueError(f"precomputed: names must be a list of names, one for each kernel, got {abbreviated(names)}")
    names = None if names is None else tuple(map(str, names))
    duplicate = repeated(names or ())
    if duplicate is not None:
        raise ValueError(f"precomputed: two kernels have the name {duplicate!r}; give each a different name")
    matrices = list(_matrices(K))
    if names is not None and len(names) != len(matrices):
        raise ValueError(f"precomputed: {len(matrices)} kernels need as many names, got {len(names)}")
    m = len(matrices)
    n = matrices[0].shape[0]
    labels = _labels(names, m)
    for name, matrix in zip(labels, matrices, strict=True):
        if matrix.shape != (n, n):
            raise ValueError(f"{name} has shape {matrix.shape}; precomputed kernels must be square, here ({n}, {n})")
    present = None
    if any(map(_has_gaps, matrices)):
        present = np.stack([_present_samples(matrix) for matrix in matrices])
    if present is not None:
        for name, has_sample in zip(labels, present, strict=True):
            if not has_sample.any():
                raise ValueError(f"{name} is NaN at every entry: it lacks all samples, so leave it out")
        matrices = [
            _filled(matrix, has_sample[:, None] & has_sample)
            for matrix, has_sample in zip(matrices, present, strict=True)
        ]
    packed = np.empty((m, half_size(n)), dtype=np.result_type(*matrices))
    changes = np.zeros(m)

    def check_and_pack(kernels: slice) -> None:
        for k in range(m)[kernels]:
            check_finite(matrices[k], labels[k])
            check_trace(matrices[k], labels[k])
            check_symmetric(matrices[k], labels[k])
            positive, changes[k] = as_positive(matrices[k], labels[k], psd, clip)
            packed[k] = pack(positive)

    with one_blas_thread(0 if m > 1 else n):  # the matrices are distributed among threads
        over_rows(check_and_pack, m, 1)
    if changes.any():
        _warn_of_clipping(changes)
    return PackedBank(Precomputed(m, n, None, names, present), packed, n)


def _labels(names: tuple[str, ...] | None, m: int) -> list[str]:
    """Each kernel as messages call it: by its name, or by its number."""
    return [f"kernel {k}" if names is None else f"kernel {names[k]!r}" for k in range(m)]


def _warn_of_clipping(changes: Array) -> None:
    kernels = np.flatnonzero(changes)
    numbers = shortened(list(map(str, kernels)), 10)
    warn_user(
        f"precomputed: negative eigenvalues of {len(kernels)} of {len(changes)} kernels ({numbers}) were set to zero, "
        f"which moved these by up to {changes.max():.2g} of their norm (kernel {int(changes.argmax())})"
    )


def rectangular(
    K: Any, m: int, n: int, names: tuple[str, ...] | None = None, present: Array | None = None
) -> KernelBank:
    """A bank of precomputed matrices of new samples against the training samples.

    Parameters
    ----------
    K : KernelBank, array (m, n_new, n), list or dict of m matrices (n_new, n), or one matrix (n_new, n)
    m : int, the expected number of kernels
    n : int, the number of training samples
    names : the names of the kernels, in order, by which the matrices of a dict are matched
    present : bool array (m, n), whether a kernel has a training sample; None where all have all

    Raises
    ------
    ValueError : where the shape is another one, or an entry is not finite
    """
    if isinstance(K, KernelBank):
        if len(K) != m or K.shape[1] != n:
            raise ValueError(f"expected {m} kernels against {n} training samples, got {len(K)} against {K.shape[1]}")
        return K
    if isinstance(K, Mapping) and names is not None:
        if set(map(str, K)) != set(names):
            received, expected = (shortened(list(map(repr, sorted(map(str, kernels))))) for kernels in (K, names))
            raise ValueError(f"expected the kernels {expected}, got {received}")
        K = {str(name): matrix for name, matrix in K.items()}
        K = [K[name] for name in names]
    matrices = list(_matrices(K))
    if len(matrices) != m or any(matrix.shape != (matrices[0].shape[0], n) for matrix in matrices):
        raise ValueError(
            f"expected precomputed kernels of shape ({m}, n_new, {n}): {m} kernels, new samples against {n} training "
            f"samples; got {len(matrices)} of shape {', '.join(sorted({str(matrix.shape) for matrix in matrices}))}"
        )
    matrices = [
        _filled(
            matrix,
            np.logical_and(~np.isnan(matrix).all(axis=1, keepdims=True), True if present is None else present[k]),
        )
        for k, matrix in enumerate(matrices)
    ]
    for name, matrix in zip(_labels(names, m), matrices, strict=True):
        check_finite(matrix, name)
    return DenseBank(Precomputed(m, n, names=names), np.stack(matrices))


def _matrices(K: Any) -> Iterator[Array]:
    """The matrices one by one, as floats; a ValueError for anything that is not a matrix."""
    K = unmasked(host(K))
    if isinstance(K, Mapping | list | tuple):
        items = K.items() if isinstance(K, Mapping) else enumerate(K)
        check_rows(*((f"K[{key!r}]", matrix) for key, matrix in items))
    if isinstance(K, Mapping):
        K = list(K.values())
    elif _is_matrix(K):
        K = np.asarray(K)[None]
    if not isinstance(K, np.ndarray | list | tuple) and not hasattr(K, "shape"):
        raise ValueError(
            "precomputed kernels must be a matrix (n, n), an array (m, n, n), or a list or dict of matrices, "
            f"got {abbreviated(K)}"
        )
    if isinstance(K, np.ndarray) and K.ndim != 3:
        raise ValueError(
            "precomputed kernels must be a matrix (n, n), an array (m, n, n), or a list or dict of matrices, "
            f"got shape {K.shape}"
        )
    if len(K) == 0:
        raise ValueError("precomputed kernels: got an empty list, at least one matrix is needed")
    for k, matrix in enumerate(K):
        if is_sparse(matrix):
            raise ValueError(f"kernel {k} is a sparse matrix; precomputed kernels are dense: give K.toarray()")
        array = real(unmasked(host(matrix)), f"kernel {k}")
        if array.dtype != np.float32:
            array = array.astype(np.float64, copy=False)
        if array.ndim != 2:
            raise ValueError(f"kernel {k} is not a matrix: it has shape {array.shape}")
        yield array


def _is_matrix(K: Any) -> bool:
    """Whether K is a single matrix, and not a stack or a list of matrices."""
    return len(getattr(K, "shape", ())) == 2


def _has_gaps(K: Array) -> bool:
    """Whether a training matrix may lack samples: NaN on its diagonal is necessary for that."""
    return K.shape[0] == K.shape[1] and bool(np.isnan(np.diagonal(K)).any())


def _present_samples(K: Array) -> Array:
    """Which samples have a row or column that is not all NaN, bool array (n,)."""
    return np.asarray(~(np.isnan(K).all(axis=0) & np.isnan(K).all(axis=1)))


def _filled(K: Array, present: Array) -> Array:
    """The matrix with zeros where it is not present."""
    if present.all():
        return K
    return np.where(present, K, K.dtype.type(0.0))


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(KernelBank):
    """The columns of matrices that the user computed: a bank without rows, to which new samples are given as matrices.

    Parameters
    ----------
    m : int, the number of kernels
    n : int, the number of training samples, which are the columns of matrices of new samples
    columns : int array, the training samples that are the columns of this bank; None takes all
    names : tuple of str, the names that the user gave the kernels
    known : bool array (m, n), whether a kernel has a training sample; None where all have all
    """

    m: int
    n: int
    columns: Array | None = None
    names: tuple[str, ...] | None = None
    known: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return 0, self.n if self.columns is None else len(self.columns)

    def __len__(self) -> int:
        return self.m

    @property
    def square(self) -> bool:
        return False

    @property
    def rounding(self) -> float:
        """The unit roundoff of single precision, since matrices may be given in it."""
        return 2.0**-24

    def tiles(self, rows: Index) -> Iterator[Array]:
        return iter(np.empty((self.m, *self.shape)))

    def block(self, rows: Index, columns: Index) -> Precomputed:
        return replace(self, columns=(np.arange(self.n) if self.columns is None else self.columns)[columns])

    def select(self, index: Index) -> Precomputed:
        chosen = positions(index, self.m)
        names = None
        if self.names is not None:
            names = tuple(self.names[k] for k in chosen)
        return replace(self, m=len(chosen), names=names, known=part_of(self.known, chosen))

    def cross(self, X: Any) -> KernelBank:
        bank = rectangular(X, self.m, self.n, self.names, self.known)
        if self.columns is None:
            return bank
        return bank.block(slice(None), self.columns)

    def self_values(self, X: Any) -> Array:
        raise ValueError(
            "precomputed kernels cannot be normalised for new samples: their self-values are not known; "
            "normalise the matrices before you pass them"
        )
