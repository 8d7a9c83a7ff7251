"""Kernels of other packages: their functions and estimators become kernels, which are checked on training samples.

    matrix      k(X, Z) returns a matrix: Gaussian-process kernels of scikit-learn, functions of its metrics.pairwise
    pairwise    k(x, z) returns a number: alignments of two series, similarities of two fingerprints
    estimator   fit_transform(train) returns the matrix of training samples, transform(new) the matrix of new against
                training samples: GraKeL

A matrix of training samples that is not finite, not symmetric or not positive semi-definite is refused.
kernels/similarities.py makes kernels, for new samples too, of similarities that are not positive semi-definite.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from inspect import signature
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone

from multikernel._arrays import as_dense, foreign, host, like
from multikernel._rules import Choice, Flag, Rule, abbreviated
from multikernel._typing import Array
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.dot import Linear
from multikernel.kernels.encoding import Encoded
from multikernel.kernels.facts import Costly
from multikernel.kernels.features import Features
from multikernel.kernels.reference import Reference
from multikernel.kernels.samples import as_floats, dense
from multikernel.numerics.definite import negative_eigenvalue, precision
from multikernel.tables.objects import Objects, as_objects
from multikernel.tables.table import Table, as_samples
from multikernel.tuning import TILE_ROWS


@dataclass(frozen=True)
class Offered(Rule):
    """The rule for an object of another package that can be a kernel."""

    words = (
        "a function k(X, Z) that returns a matrix, an object with fit_transform and transform that return one, or, "
        "with pairwise=True, a function k(x, z) of two samples"
    )

    def accepts(self, value: Any) -> bool:
        return not isinstance(value, type | Kernel) and (callable(value) or is_estimator(value))


def is_estimator(value: Any) -> bool:
    """Whether an object is an estimator, which is fitted to samples and transforms others."""
    return hasattr(value, "fit_transform") and hasattr(value, "transform")


@dataclass(frozen=True, eq=False)
class FittedObject:
    """An estimator of kernels and the training samples to which it is fitted.

    Parameters
    ----------
    estimator : fitted to the training samples
    reference : the training samples
    """

    estimator: Any
    reference: Reference


@dataclass(repr=False, eq=False)
class External(Kernel):
    """A kernel that another package evaluates; ``external`` makes it.

    Parameters
    ----------
    obj : object of the package: a function, or an estimator of kernels
    pairwise : bool, whether the function compares two single samples
    fitted : an estimator of kernels that was fitted to a training sample; None before that
    """

    obj: Annotated[Any, Offered()]
    pairwise: bool = False
    fitted: FittedObject | None = None

    def __call__(self, X: Any, Z: Any = None) -> Array:
        if Z is None or Z is X:
            K = self.symmetric(unwrapped(X))
            self._check_positive(K)
            return like(X, K)
        return like(X, self.similarities(unwrapped(X), unwrapped(Z)))

    def similarities(self, X: Any, Z: Any) -> Array:
        """The matrix as the package evaluates it, for every pair of a row and a column; only checked to be finite."""
        return self._checked(self._between(X, Z), X.shape[0], Z.shape[0])

    def diagonal(self, X: Any) -> Array:
        X = unwrapped(X)
        samples = for_package(X, self.pairwise)
        if self.pairwise:
            return np.array([self._value(x, x) for x in samples])
        if is_estimator(self.obj):
            return self._self_values_of_estimator(X)
        if hasattr(self.obj, "diag"):
            return np.asarray(self.obj.diag(samples), dtype=float)
        values = np.empty(X.shape[0])
        for start in range(0, len(values), TILE_ROWS):
            block = X[start : start + TILE_ROWS]
            values[start : start + TILE_ROWS] = np.diagonal(self.similarities(block, block))
        return values

    # -- what kernels state ------------------------------------------------------------------------------------------

    def facts(self) -> tuple[Fact, ...]:
        return (Costly(),)

    @property
    def takes_objects(self) -> bool:
        return True

    @property
    def learns(self) -> bool:
        return is_estimator(self.obj) and self.fitted is None

    def learned(self, X: Any) -> External:
        if not self.learns:
            return self
        X = unwrapped(X)
        return replace(self, fitted=FittedObject(_fitted(self.obj, X), Reference(X)))

    def resolve(self, features: Features) -> External:
        if features.n == 1 and features.strings:
            features.check_complete(self)
        else:
            features.check_numbers(self)
        return self

    # -- evaluation --------------------------------------------------------------------------------------------------

    def _training(self, X: Any) -> Any:
        """The matrix between samples and themselves, as the package evaluates it."""
        samples = for_package(X, self.pairwise)
        if self.pairwise:
            return self._pairs(samples)
        if not is_estimator(self.obj):
            if _one_suffices(self.obj):
                return self._called(samples)
            return self._called(samples, samples)
        if self.fitted is None:
            return clone(self.obj, safe=False).fit_transform(samples)
        if X is self.fitted.reference.samples:
            return self.fitted.estimator.fit_transform(samples)
        return self._between(X, X)

    def _between(self, X: Any, Z: Any) -> Any:
        rows = for_package(X, self.pairwise)
        columns = for_package(Z, self.pairwise)
        if not X.shape[0]:
            return np.empty((0, Z.shape[0]))
        if self.pairwise:
            return np.array([[self._value(x, z) for z in columns] for x in rows])
        if not is_estimator(self.obj):
            return self._called(rows, columns)
        positions = None
        if self.fitted is not None:
            positions = self.fitted.reference.places(Z)
        if self.fitted is None or positions is None:
            return _fitted(self.obj, Z).transform(rows)
        return np.asarray(self.fitted.estimator.transform(rows))[:, positions]

    def _called(self, *samples: Any) -> Any:
        """What a function of all samples returns; a failure is reported with its likely reason."""
        try:
            return self.obj(*samples)
        except Exception as error:
            raise ValueError(
                f"{self!r} was called with all samples at a time and failed, {type(error).__name__}: {error}. If it "
                "compares two single samples, say so: external(..., pairwise=True)"
            ) from error

    def _pairs(self, samples: list[Any]) -> Array:
        """The matrix of a function of two samples, from its lower half; neighbours in both orders, as a check."""
        n = len(samples)
        K = np.empty((n, n))
        for i, x in enumerate(samples):
            for j in range(i + 1):
                K[i, j] = K[j, i] = self._value(x, samples[j])
        for i in range(1, n):
            K[i - 1, i] = self._value(samples[i - 1], samples[i])
        return K

    def _self_values_of_estimator(self, X: Any) -> Array:
        if self.fitted is None or X is self.fitted.reference.samples:
            return np.diagonal(self._checked(self._training(X), X.shape[0], X.shape[0])).copy()
        if not hasattr(self.obj, "diagonal"):
            return np.array([float(clone(self.obj, safe=False).fit_transform([x])[0, 0]) for x in for_package(X)])
        estimator = self.fitted.estimator
        estimator.transform(for_package(X))
        diagonals = estimator.diagonal()  # of training and of new samples, before they are normalised
        values = np.ravel(diagonals[-1] if isinstance(diagonals, tuple) else diagonals).astype(float)
        if not getattr(estimator, "normalize", False):
            return values
        return (values > 0).astype(float)

    # -- checks ------------------------------------------------------------------------------------------------------

    def _value(self, x: Any, z: Any) -> float:
        """What a function returns for two samples; ValueError where it fails or returns no number."""
        try:
            value = self.obj(x, z)
        except Exception as error:
            shown = [abbreviated(sample.item() if isinstance(sample, np.generic) else sample) for sample in (x, z)]
            raise ValueError(
                f"{self!r} failed for the samples {shown[0]} and {shown[1]}, {type(error).__name__}: "
                f"{error}. Leave out samples that it cannot compare; or, if it compares all samples at a time, leave "
                "pairwise=True out"
            ) from error
        if isinstance(value, float):
            return value
        if np.size(value) != 1 or np.asarray(value).dtype.kind not in "fiub":
            raise ValueError(
                f"{self!r} returned {abbreviated(value)} for two samples, where pairwise=True needs a number; if it "
                "compares all samples at a time, leave pairwise=True out"
            )
        return float(np.ravel(value)[0])

    def _checked(self, K: Any, r: int, c: int) -> Array:
        """A copy as floats; ValueError where K is no matrix of that shape, or an entry is NaN or infinite."""
        K = np.asarray(as_dense(K))
        if K.shape != (r, c) or K.dtype.kind not in "fiub":
            result = "a single number"
            if K.ndim != 0:
                result = f"an array of {K.dtype} of shape {K.shape}"
            raise ValueError(
                f"{self!r} returned {result} for {r} and {c} samples, where a matrix of numbers of shape ({r}, {c}) is "
                "needed; if it compares two single samples, say so: external(..., pairwise=True)"
            )
        K = K.astype(K.dtype if K.dtype == np.float32 else np.float64)
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0]
            raise ValueError(
                f"{self!r} is NaN or infinite for samples {i} and {j}: leave out samples that it cannot compare"
            )
        return K

    def symmetric(self, X: Any) -> Array:
        """The matrix of training samples; ValueError where it is not symmetric, which names a pair of samples."""
        K = self._checked(self._training(X), X.shape[0], X.shape[0])
        if not len(K):
            return K
        difference = np.abs(K - K.T)
        i, j = np.unravel_index(int(difference.argmax()), K.shape)
        if difference[i, j] > precision(K) * np.abs(K).max():
            raise ValueError(
                f"{self!r} is not symmetric: it is {K[i, j]:.6g} for samples {i} and {j}, and {K[j, i]:.6g} in the "
                "other order; external(..., psd='square') compares samples by their similarities to training samples"
            )
        return np.asarray(0.5 * (K + K.T))

    def _check_positive(self, K: Array) -> None:
        """ValueError where a symmetric matrix of training samples is not positive semi-definite."""
        smallest = negative_eigenvalue(K) if len(K) else None
        if smallest is not None:
            raise ValueError(
                f"{self!r} is not positive semi-definite: the smallest eigenvalue of its matrix of training samples is "
                f"{smallest:.3g} (the trace is {float(np.trace(K)):.3g}); external(..., psd='clip') leaves out the "
                "negative part, for new samples as well"
            )

    # -- as a value --------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self.notation()

    def notation(self, **further_options: Any) -> str:
        """The call of ``external`` that makes this kernel."""
        name = getattr(self.obj, "__name__", None) or " ".join(repr(self.obj).split())
        options = ({"pairwise": True} if self.pairwise else {}) | further_options
        return f"external({', '.join([name, *(f'{key}={value!r}' for key, value in options.items())])})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, External):
            return NotImplemented
        return self.pairwise == other.pairwise and self.fitted is other.fitted and _same(self.obj, other.obj)

    def __deepcopy__(self, memo: dict[int, Any]) -> External:
        try:
            obj = deepcopy(self.obj, memo)
        except TypeError:  # functions of compiled packages cannot be copied, and do not change
            obj = self.obj
        return External(obj, self.pairwise, deepcopy(self.fitted, memo))

    def __sklearn_clone__(self) -> External:
        return deepcopy(self)


def external(obj: Any, *, pairwise: bool = False, psd: Literal["clip", "flip", "square"] | None = None) -> Kernel:
    """A kernel made of a function or an estimator of another package.

    Samples are a matrix of numbers, or objects of any kind: a list or an array of graphs, molecules, sets, strings or
    series of different lengths, as X or as one of several views. Matrices of training samples are checked: they have to
    be finite, symmetric and positive semi-definite beyond rounding.

    Parameters
    ----------
    obj : a function k(X, Z) that returns the matrix of all pairs of samples, such as a kernel of
        ``sklearn.gaussian_process`` or a function of ``sklearn.metrics.pairwise``; or an object with ``fit_transform``,
        which returns the matrix of training samples, and ``transform``, which returns that of new samples against
        training samples, such as the graph kernels of GraKeL: a clone is fitted to the training samples.
    pairwise : bool, whether obj is a function k(x, z) of two samples that returns a number
    psd : the treatment of similarities that are not positive semi-definite, or not symmetric. Let s be the similarities
        of a sample to the training samples, K the matrix of the training samples, and K = U diag(l) U':

        - None: they are refused.
        - "clip": features diag(l)^(-1/2) U's, only for l > 0. The matrix of training samples becomes the nearest
          positive semi-definite one.
        - "flip": features |diag(l)|^(-1/2) U's. Negative eigenvalues of the training matrix change their sign.
        - "square": features s / sqrt(n), the similarities themselves. K may have any form.

        New samples get their features by the same formula, so kernels are consistent between both [1]_.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError : where obj is none of these; and when samples are compared, where a matrix has another shape, has a NaN
        or an infinity, or is not symmetric or not positive semi-definite

    References
    ----------
    .. [1] Chen, Garcia, Gupta, Rahimi and Cazzanti (2009), Similarity-based classification: concepts and algorithms,
       JMLR 10, 747-776.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import ExpSineSquared
    >>> from multikernel import L1MKLClassifier, kernels
    >>> hours = [[1.0], [3.0], [9.0], [11.0], [23.0], [14.0]]
    >>> daily = kernels.external(ExpSineSquared(periodicity=24.0))
    >>> daily(hours).shape
    (6, 6)
    >>> def common(x, z):
    ...     return len(x & z)
    >>> baskets = [{"tea", "milk"}, {"tea"}, {"milk", "tea", "eggs"}, {"nails"}, {"nails", "glue"}, {"glue"}]
    >>> model = L1MKLClassifier(kernels.external(common, pairwise=True)).fit(baskets, [0, 0, 0, 1, 1, 1])
    >>> model.predict([{"tea", "bread"}, {"glue", "nails", "wood"}])
    array([0, 1])
    """
    Offered().check(obj, "external: obj")
    Flag().check(pairwise, "external: pairwise")
    Choice(("clip", "flip", "square")).check("clip" if psd is None else psd, "external: psd")
    kernel = External(obj, bool(pairwise))
    if psd is None:
        return kernel
    from multikernel.kernels.similarities import Similarities

    return Encoded(Linear(), Similarities(kernel, psd))


def unwrapped(X: Any) -> Any:
    """Samples as objects, a table, or an array or CSR matrix of numbers."""
    if foreign(X):
        return host(X)
    objects = as_objects(X)
    if objects is None:
        return as_samples(X)
    return objects


def for_package(X: Any, single: bool = False) -> Any:
    """Samples in the form that other packages take: a list of objects or strings, or an array.

    Parameters
    ----------
    X : samples as ``unwrapped`` returns them
    single : whether the package compares single samples, so that rows of an array have to be a list
    """
    if isinstance(X, Objects):
        return list(X.values)
    if isinstance(X, Table):
        return X.texts[:, 0].tolist()
    if single:
        return list(dense(X))
    return as_floats(X)


def _fitted(estimator: Any, X: Any) -> Any:
    """A clone of an estimator of kernels, fitted to samples."""
    copied = clone(estimator, safe=False)
    copied.fit(for_package(X))
    return copied


def _one_suffices(function: Any) -> bool:
    """Whether a function may be called without second samples; only then it adds noise to the diagonal."""
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):  # of compiled functions
        return False
    return len(parameters) > 1 and parameters[1].default is None


def _same(first: Any, second: Any) -> bool:
    """Whether two objects of another package are equal by their parameters or by ``==``."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    try:
        if hasattr(first, "get_params"):
            first = first.get_params()
            second = second.get_params()
        return bool(first == second)
    except ValueError:  # the comparison of arrays is not a single bool
        return False
