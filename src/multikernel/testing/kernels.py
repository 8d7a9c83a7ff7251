"""The conformance suite of kernels: a kernel is symmetric and positive, and has the properties that it states."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from multikernel._arrays import as_dense
from multikernel._floats import TINY
from multikernel._linalg import inverse_root
from multikernel._typing import Array
from multikernel.kernels import Features, Kernel
from multikernel.kernels.base import Fact
from multikernel.kernels.distance import DistanceKernel, OfDistance
from multikernel.kernels.facts import Elementary, ExplicitFeatures, PowerOf, Wrapped
from multikernel.kernels.interactions import elementary
from multikernel.kernels.samples import as_floats
from multikernel.sources import bind
from multikernel.tables.objects import as_objects
from multikernel.tables.table import as_table
from multikernel.testing.assertions import require
from multikernel.testing.comparison import close

_SAME = 1e-11  # the rounding error between two runs of one computation
_NEARLY = 1e-8  # and between two different computations of a number
_OF_DIFFERENCES = 1e-5  # the error of finite differences


def check_kernel(kernel: Kernel, X: Any) -> None:
    """Check that a kernel keeps the contract of kernels.

    The matrix is symmetric and positive semi-definite, has the diagonal that the kernel states, and is a new array in
    each call; samples are not written into, and may be sparse, of whole numbers or in single precision; what
    ``facts()`` states is true; the parameters are cloned, read and set as scikit-learn does; and a bank of the kernel
    holds its matrix.

    Parameters
    ----------
    kernel : Kernel
    X : array (n, p) of at least six samples, or a sequence of strings or objects for a kernel of these. More kinds of
        samples (some equal, some with zeros) check more.

    Raises
    ------
    AssertionError : where the contract is broken, with what is wrong

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> from multikernel.testing import check_kernel
    >>> check_kernel(kernels.RBF(0.5).on([0, 2]), np.random.default_rng(0).normal(size=(8, 3)))
    """
    objects = as_objects(X) if kernel.takes_objects else None
    table = objects if objects is not None else as_table(X)
    samples = as_floats(X) if table is None else table
    require(samples.shape[0] >= 6, f"check_kernel: needs at least six samples, got {samples.shape[0]}")
    K = np.array(kernel(samples))
    _check_matrix(kernel, samples, K)
    _check_facts(kernel, samples, K)
    _check_specification(kernel, samples, K)
    if isinstance(kernel, DistanceKernel) and table is None:
        _check_profile(kernel, samples)
    _check_bank(kernel, samples, K)
    if table is None:
        _check_forms_of_samples(kernel, samples, K)


def _check_matrix(kernel: Kernel, X: Any, K: Array) -> None:
    n = X.shape[0]
    head = slice(0, X.shape[0] // 2)
    matrix = kernel(X)
    require(isinstance(matrix, np.ndarray), f"{kernel!r}: the matrix is a {type(matrix).__name__}, not an array")
    require(K.dtype.kind == "f", f"{kernel!r}: the matrix is of {K.dtype}, not of floats")
    require(K.shape == (n, n), f"{kernel!r}: the matrix of {n} samples has shape {K.shape}")
    require(np.isfinite(K).all(), f"{kernel!r}: the matrix holds a NaN or infinity")
    close(f"{kernel!r}: symmetry", K, K.T, 1e-14)
    smallest = float(np.linalg.eigvalsh(K)[0])
    lowest = -1e-10 * max(float(np.trace(K)), TINY)
    require(
        smallest >= lowest, f"{kernel!r}: the matrix is not positive semi-definite, it has an eigenvalue {smallest:.3g}"
    )
    require(matrix.flags.writeable, f"{kernel!r}: the matrix cannot be written into, as sums and multiples of it are")
    matrix[:] = 0.0
    close(f"{kernel!r}: a second call, after the first matrix was written into", kernel(X), K, _SAME)
    close(f"{kernel!r}: k(X, X)", kernel(X, X), K, _SAME)
    close(f"{kernel!r}: k(X, a copy of X)", kernel(X, X[np.arange(n)]), K, _NEARLY)
    close(f"{kernel!r}: rows against a sample", kernel(X[head], X), K[head], _NEARLY)
    close(f"{kernel!r}: diagonal", kernel.diagonal(X), np.diag(K), _NEARLY)
    close(f"{kernel!r}: self_values", kernel.self_values(X[head], X), np.diag(K)[head], _NEARLY)


def _check_forms_of_samples(kernel: Kernel, X: Any, K: Array) -> None:
    """Check sparse samples, whole numbers and single precision; and that samples are not written into."""
    dense = as_dense(X)
    half = len(K) // 2
    before = dense.copy()
    kernel(dense), kernel(dense[:half], dense), kernel.diagonal(dense)
    require(np.array_equal(dense, before), f"{kernel!r}: the samples were written into")
    for sparse_type in (sparse.csr_array, sparse.csr_matrix):
        sparse_samples = sparse_type(dense)
        try:
            matrix = kernel(sparse_samples)
        except ValueError:  # a kernel may refuse sparse samples
            continue
        except Exception as error:
            raise AssertionError(
                f"{kernel!r}: sparse samples raise {type(error).__name__}: take them, or refuse them by a ValueError"
            ) from error
        close(f"{kernel!r}: sparse samples", matrix, K, _NEARLY)
        close(f"{kernel!r}: rows of sparse samples", kernel(sparse_samples[:half], sparse_samples), K[:half], _NEARLY)
        close(
            f"{kernel!r}: rows of sparse samples against dense ones",
            kernel(sparse_samples[:half], dense),
            K[:half],
            _NEARLY,
        )
        close(
            f"{kernel!r}: rows of dense samples against sparse ones",
            kernel(dense[:half], sparse_samples),
            K[:half],
            _NEARLY,
        )
        close(f"{kernel!r}: diagonal of sparse samples", kernel.diagonal(sparse_samples), np.diag(K), _NEARLY)
    integers = np.random.default_rng(0).integers(0, 100, size=dense.shape)
    for kind in (np.uint8, np.int64):
        close(
            f"{kernel!r}: {kind.__name__} samples",
            _tried(kernel, integers.astype(kind)),
            _tried(kernel, integers * 1.0),
            _SAME,
        )
    single = dense.astype(np.float32)
    matrix = kernel(single)
    expected = kernel(single.astype(np.float64))
    require(matrix.dtype in (np.float32, np.float64), f"{kernel!r}: samples in single precision give {matrix.dtype}")
    close(f"{kernel!r}: samples in single precision", matrix, expected, 1e-4)


def _tried(kernel: Kernel, X: Array) -> Array:
    """The matrix; a single zero where the kernel refuses these numbers."""
    try:
        return kernel(X)
    except ValueError:
        return np.zeros(1)


def _check_facts(kernel: Kernel, X: Any, K: Array) -> None:
    facts = kernel.facts()
    require(
        all(isinstance(fact, Fact) for fact in facts), f"{kernel!r}: facts() holds something that is no Fact: {facts}"
    )
    for fact in facts:
        stated = _stated(fact, X)
        if stated is not None:
            close(f"{kernel!r}: what {fact!r} states", stated, K, _NEARLY)


def _check_profile(kernel: DistanceKernel, X: Any) -> None:
    """Check a profile's slope, where it is implemented, by finite differences; and the degree of the distances."""
    learned_kernel = kernel.learned(X)
    close(
        f"{kernel!r}: distances of samples times 2",
        learned_kernel.distance(2.0 * X),
        2.0**learned_kernel.degree * learned_kernel.distance(X),
        _NEARLY,
    )
    D = np.array([0.05, 0.3, 1.0, 2.5, 7.0])
    step = 1e-5
    try:
        slope = learned_kernel.slope(D)
    except NotImplementedError:  # scales inside the kernel cannot be learned
        return
    differences = (learned_kernel.profile(D + step) - learned_kernel.profile(D - step)) / (2.0 * step)
    close(f"{kernel!r}: slope", slope, differences, _OF_DIFFERENCES)
    profile_too, slope_too = learned_kernel.profile_and_slope(D.copy())
    close(f"{kernel!r}: profile of profile_and_slope", profile_too, learned_kernel.profile(D), _NEARLY)
    close(f"{kernel!r}: slope of profile_and_slope", slope_too, slope, _NEARLY)


def _stated(fact: Fact, X: Any) -> Array | None:
    """The matrix that a fact implies; None where it implies none."""
    match fact:
        case PowerOf(base, degree):
            return base(X) ** degree
        case OfDistance(kernel, _):
            return kernel.profile(fact(X))
        case ExplicitFeatures(columns):
            F = X if columns is None else X[:, list(columns)]
            product = F @ F.T
            return np.asarray(as_dense(product))
        case Elementary(kernel, degree, normalized):
            values = elementary(kernel, X, X, degree)[-1]
            if normalized:
                return _cosines(values)
            return values
        case Wrapped(kernel, "normalized"):
            return _cosines(kernel(X))
        case Wrapped(kernel, "centered"):
            J = np.eye(X.shape[0]) - 1.0 / X.shape[0]
            return J @ kernel(X) @ J
        case Wrapped(kernel, factor):
            return float(factor) * kernel(X)
    return None


def _cosines(K: Array) -> Array:
    roots = inverse_root(np.diag(K).copy())
    return K * roots[:, None] * roots


def _check_specification(kernel: Kernel, X: Any, K: Array) -> None:
    """Check parameters, equality, representation and pickling."""
    copy = clone(kernel)
    require(copy == kernel, f"{kernel!r}: its clone is another kernel")
    require(copy is not kernel, f"{kernel!r}: its clone is the same object")
    require(repr(copy) == repr(kernel), f"{kernel!r}: its clone is written in another way")
    require(type(kernel)(**kernel.get_params(deep=False)) == kernel, f"{kernel!r}: its parameters do not make it")
    require(
        copy.set_params(**kernel.get_params(deep=False)) == kernel, f"{kernel!r}: setting its parameters changes it"
    )
    require(pickle.loads(pickle.dumps(kernel)) == kernel, f"{kernel!r}: another kernel after pickling")
    close(f"{kernel!r}: resolved", kernel.resolve(Features.of(X))(X), K, _SAME)


def _check_bank(kernel: Kernel, X: Any, K: Array) -> None:
    """Check the kernel's matrix in a bank that stores it, one that shares it, and one that computes it on demand."""
    half = X.shape[0] // 2
    new_samples = X[:half]
    resolved_kernel = kernel.resolve(Features.of(X))
    for family, memory in (([kernel], 1 << 30), ([kernel] * 5, 1 << 30), ([kernel] * 2, 1)):
        bank = bind(list(family), X, memory=memory)
        name = f"{kernel!r}: in a {type(bank).__name__}"
        close(f"{name}, the matrix", bank.matrix(len(family) - 1), K, _NEARLY)
        close(f"{name}, new samples", bank.cross(new_samples).matrix(0), resolved_kernel(new_samples, X), _NEARLY)
        close(
            f"{name}, self-values of new samples",
            bank.self_values(new_samples)[0],
            resolved_kernel.self_values(new_samples, X),
            _NEARLY,
        )
