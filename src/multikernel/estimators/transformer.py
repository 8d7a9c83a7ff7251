"""The kernel that a model has learned, as a step of a pipeline."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from multikernel._typing import Array


class KernelTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A learned kernel between new samples and those that this step is fitted to, or features that make it.

    Fitting remembers samples and learns nothing of the kernel, which stays that of the model, also in a clone: as in a
    pipeline's step that is frozen. Its columns are called kerneltransformer0, kerneltransformer1, ...: in the kernel
    the samples of ``fit`` in their order.

    Parameters
    ----------
    model : a fitted estimator of this package
    output : {"kernel", "features"}, default "kernel"
        "kernel": the matrix K of samples against those of ``fit``. "features": K V diag(l)^(-1/2), with V and l the
        eigenvectors and eigenvalues of the matrix of the samples of ``fit``, whose inner products are the kernel there.

    Attributes
    ----------
    samples_ : the samples of ``fit``; None for banks and precomputed matrices, which say what they are against
    map_ : array (len(samples_), q), V diag(l)^(-1/2), for output="features"
    """

    def __init__(self, model: Any, output: Literal["kernel", "features"] = "kernel") -> None:
        self.model = model
        self.output = output

    def __sklearn_clone__(self) -> KernelTransformer:
        copied = KernelTransformer(self.model, self.output)
        for name in ("_sklearn_output_config", "_metadata_request"):  # as clone does for other estimators
            if hasattr(self, name):
                setattr(copied, name, deepcopy(getattr(self, name)))
        return copied

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the samples that new ones are compared with; ``y`` is not used.

        Parameters
        ----------
        X : samples like those that the model was fitted to, or a bank or matrices of them
        y : not used
        """
        self._fitted_kernel(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """``fit(X).transform(X)``, with one evaluation of the kernel; ``y`` is not used."""
        K = self._fitted_kernel(X)
        return K if self.output == "kernel" else K @ self.map_

    def transform(self, X: Any) -> Array:
        """The kernel of samples X against those of ``fit``, or their features: shape (len(X), n) or (len(X), q)."""
        check_is_fitted(self, "samples_")
        K = self.model.kernel_matrix(X, self.samples_)
        return K if self.output == "kernel" else K @ self.map_

    def _fitted_kernel(self, X: Any) -> Array:
        """The matrix of the samples of ``fit``, which are remembered."""
        if self.output not in ("kernel", "features"):
            raise ValueError(f"KernelTransformer: output must be 'kernel' or 'features', got {self.output!r}")
        K: Array = self.model.kernel_matrix(X)
        given = self.model._is_given(X)
        self.samples_ = None if given else X
        self._n_features_out = len(K)
        if self.output == "features":
            values, vectors = linalg.eigh(K)
            kept = values > len(K) * np.finfo(float).eps * values[-1]
            self.map_ = vectors[:, kept] / np.sqrt(values[kept])
            self._n_features_out = self.map_.shape[1]
        return K
