"""What a model that has learned a kernel says of it: its weights by name, and the kernel for other methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._typing import Array
from multikernel.estimators.names import short_names
from multikernel.estimators.transformer import KernelTransformer


class LearnedKernel(ABC):
    """A model whose ``weights_`` belong to the kernels that ``kernel_names_`` names."""

    @abstractmethod
    def problem_names(self) -> list[str]:
        """A name for each problem that has weights of its own."""

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
    """The name of an estimator that is refused where a bank of kernels is needed, and why it has none."""
    name = type(model).__name__
    return f"{name}, which takes no kernels but chooses them itself" if isinstance(model, LearnedKernel) else name


def _fitted(model: Any) -> Any:
    """A model whose attributes are set by a fit, or are properties, checked to be fitted."""
    check_is_fitted(model)
    return model
