"""The learned kernel of a model: its weights by name, and the kernel as a step of pipelines of other methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any, Literal, Self

import numpy as np
from scipy import linalg
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from multikernel._floats import EPS
from multikernel._typing import Array
from multikernel.estimators.names import short_names
from multikernel.sources.views import Views


class LearnedKernel(ABC):
    """A model whose ``weights_`` belong to the kernels that ``kernel_names_`` names."""

    @abstractmethod
    def problem_names(self) -> list[str]:
        """A name for each problem with separate weights."""

    @abstractmethod
    def kernel_matrix(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel between samples: shape (len(X), len(Z))."""

    def weights_frame(self) -> Any:
        """Kernel names and weights as a pandas data frame, a column for each class, pair or target; needs pandas."""
        import pandas as pd

        model = _fitted(self)
        weights = np.atleast_2d(model.weights_)
        columns = ["weight"] if len(weights) == 1 else self.problem_names()
        return pd.DataFrame(weights.T, index=pd.Index(model.kernel_names_, name="kernel"), columns=columns)

    def plot_weights(self, ax: Any = None) -> Any:
        """Bars of the kernel weights, a group for each class, pair or target; needs matplotlib. Returns the axes.

        With more than five problems the bars are the mean weights over them.

        Parameters
        ----------
        ax : axes of matplotlib; new ones by default
        """
        from multikernel.estimators.bars import draw_bars

        model = _fitted(self)
        weights = np.atleast_2d(model.weights_)
        names = short_names([str(name) for name in model.kernel_names_])
        return draw_bars(names, weights, self.problem_names(), "weight", ax)

    def as_transformer(self, output: Literal["kernel", "features"] = "kernel") -> KernelTransformer:
        """The learned kernel as a step of a pipeline, for methods that take a kernel or features.

        Parameters
        ----------
        output : "kernel" gives the matrix of new samples against those that the step is fitted to, for
            SpectralClustering(affinity="precomputed"), KernelPCA(kernel="precomputed") and their like; "features" gives
            features whose inner products are that kernel, for linear methods and GaussianProcessRegressor with the
            kernel DotProduct(0)

        Examples
        --------
        >>> from sklearn.cluster import SpectralClustering
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.pipeline import make_pipeline
        >>> from multikernel import EasyMKLClassifier, kernels
        >>> X, y = load_iris(return_X_y=True)
        >>> learned = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0])).fit(X[::2], y[::2])
        >>> clustering = SpectralClustering(3, affinity="precomputed", random_state=0)
        >>> make_pipeline(learned.as_transformer(), clustering).fit_predict(X).shape
        (150,)
        """
        check_is_fitted(self)
        return KernelTransformer(self, output)


def called(model: Any) -> str:
    """The name of an estimator for a message that refuses it, with the reason where it takes no kernels."""
    name = type(model).__name__
    if not isinstance(model, LearnedKernel):
        return name
    return f"{name}, which takes no kernels but chooses them itself"


def _fitted(model: Any) -> Any:
    """The model, checked to be fitted; typed as Any, since its attributes are set by the fit."""
    check_is_fitted(model)
    return model


class KernelTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A learned kernel between new samples and those that this step is fitted to, or features whose products it is.

    Fitting only remembers samples. The kernel stays that of the model, also in a clone, as in a frozen step of a
    pipeline. The columns are called kerneltransformer0, kerneltransformer1, ...; with output="kernel" they are the
    samples of ``fit`` in their order.

    Parameters
    ----------
    model : a fitted estimator of this package
    output : {"kernel", "features"}, default "kernel"
        "kernel": the matrix K of samples against those of ``fit``. "features": K V diag(l)^(-1/2), with V and l the
        eigenvectors and eigenvalues of the matrix of the samples of ``fit``, whose inner products are the kernel there.

    Attributes
    ----------
    samples_ : the samples of ``fit``; None for banks and precomputed matrices, which have them as columns
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
        return self._labelled(K if self.output == "kernel" else K @ self.map_, X)

    def transform(self, X: Any) -> Array:
        """The kernel of samples X against those of ``fit``, or their features: shape (len(X), n) or (len(X), q)."""
        check_is_fitted(self, "samples_")
        K = self.model.kernel_matrix(X, self.samples_)
        return self._labelled(K if self.output == "kernel" else K @ self.map_, X)

    def _labelled(self, values: Array, X: Any) -> Any:
        """The values; as a pandas data frame with the labels of views, where scikit-learn's output is set to pandas."""
        labels = X.index if isinstance(X, Views) else None
        container = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if labels is None or container != "pandas":
            return values
        import pandas as pd

        return pd.DataFrame(values, index=labels)

    def _fitted_kernel(self, X: Any) -> Array:
        """Remember the samples of ``fit``, and return their kernel matrix."""
        if self.output not in ("kernel", "features"):
            raise ValueError(f"KernelTransformer: output must be 'kernel' or 'features', got {self.output!r}")
        K: Array = self.model.kernel_matrix(X)
        is_matrix = self.model._is_given(X)
        self.samples_ = None if is_matrix else X
        self._n_features_out = len(K)
        if self.output == "features":
            values, vectors = linalg.eigh(K)
            positive = values > len(K) * EPS * values[-1]
            self.map_ = vectors[:, positive] / np.sqrt(values[positive])
            self._n_features_out = self.map_.shape[1]
        return K
