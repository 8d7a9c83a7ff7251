"""The base class of regressors: one problem with a real target, or with several that share the kernel weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from multikernel._arrays import host, is_sparse, returned
from multikernel._typing import Array
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Training, bind_training
from multikernel.estimators.checks import check_finite_target
from multikernel.estimators.fit import fit_model
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.protocol import Model
from multikernel.estimators.score_split import SplitScoring, parts_of, split_scores
from multikernel.estimators.target_columns import TargetColumns
from multikernel.kernels import KernelFamily, Kernels, polynomials, rbf_grid
from multikernel.sources.rows import aligned


def polynomials_and_gaussians(model: Model) -> KernelFamily:
    """The default kernels: polynomials of degrees 1 to 3 and nine widths of the Gaussian, normalised."""
    family = polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))
    return Kernels(tuple(kernel.normalized() for kernel in family))


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """A regressor, whose ``Method`` says how its problem is solved."""

    cv: CrossValidation | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._method.several_targets
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : real targets of shape (n,); of shape (n, t) where the estimator learns several targets
        sample_weight : array (n,) >= 0, what the loss of each sample is multiplied with
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, sample_weight, groups)

    def _bind(self, X: Any, y: Any, sample_weight: Any = None, sketch: bool = False) -> Training:
        several = self._method.several_targets
        if self._method.reads_columns(self):
            columns = TargetColumns.of(y)
        else:
            columns = None
        if columns is not None:
            bound = bind_training(self, X, np.zeros(len(columns)), sample_weight, sketch, y_numeric=True)
            return Training(bound.bank, columns, bound.weight)
        training = bind_training(self, X, y, sample_weight, sketch, y_numeric=True, multi_output=several)
        target: Any = training.target
        if is_sparse(target):
            raise ValueError(
                f"{type(self).__name__}: y must be an array of numbers, got a sparse matrix; use y.toarray()"
            )
        target = np.asarray(target, dtype=float)
        check_finite_target(target)
        return Training(training.bank, target, training.weight)

    def predict(self, X: Any, *, split: bool = False) -> Array:
        """The predicted values, shape (len(X),), or (len(X), t) after a fit to t targets; an array like X.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        split : bool, default False
            Whether predictions are split over the kernels: shape (m, len(X)) or (m, len(X), t). These are
            ``contributions(X)`` with the kernels first, which sum to the predictions with ``intercept_`` and columns
            that are ``fixed``.

        Raises
        ------
        ValueError : with ``split``, where kernels are combined in another way than by sums and products
        MemoryError : where the predictions by kernel are more than the memory holds
        """
        if split:
            return returned(np.moveaxis(self.contributions(X), 1, 0), X)
        values = self._values(X)
        return returned(values[:, 0] if self.dual_coef_.ndim == 1 else values, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of the predictions for X against y, as scikit-learn's regressors define it.

        Parameters
        ----------
        X, y : as in ``fit``
        sample_weight : array (len(X),)
        """
        y, sample_weight = aligned(X, y=y, sample_weight=sample_weight)
        return float(super().score(host(X), host(y), host(sample_weight)))

    def score_split(self, X: Any, Y: Any, *, scoring: SplitScoring = "r2", sample_weight: Any = None) -> Array:
        """The score of each target, split over the kernels: what each of them explains.

        With predictions f = ``intercept_`` + sum_k f_k, f_k = ``contributions(X)`` of kernel k, the parts are those of
        the product measure, (2 z'f_k - f_k'(sum_j f_j)) / S with z = y - ``intercept_`` and S the sum of squares of y
        about its mean. They are the Shapley values of R2 as kernels enter the sum in any order: what two kernels
        explain together is halved between them, and a part is negative where a kernel makes predictions worse. The
        score of the intercept, zero where the mean of y is that of the training targets, is divided among the kernels
        in proportion to the squares of their f_k. All parts of a target sum to its R2. Columns that are ``fixed`` have
        no part: with such columns, the parts sum to R2 less the R2 of the intercept and these columns.

        Parameters
        ----------
        X, Y : as in ``fit``, better of samples that the model was not fitted to. Of a memory map, or a data set of HDF5
            or zarr, parts are read.
        scoring : {"r2", "correlation"}, default "r2"
            "correlation" splits the correlation of y and f: cov(y, f_k) / (sd(y) sd(f)).
        sample_weight : array (len(X),) >= 0

        Returns
        -------
        array (m, t), the kernels first; (m,) after a fit to a target of shape (n,). Zero for targets that do not vary.

        Raises
        ------
        ValueError : where Y has other targets than the model or other rows than X, and where kernels are combined in
            another way than by sums and products

        References
        ----------
        Dupre la Tour, Eickenberg, Nunez-Elizalde and Gallant (2022), Feature-space selection with banded ridge
        regression, NeuroImage 264, for the product measure.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.metrics import r2_score
        >>> from multikernel import MultipleKernelRidgeCV
        >>> rng = np.random.default_rng(0)
        >>> spaces = {"motion": rng.normal(size=(80, 5)), "words": rng.normal(size=(80, 9))}
        >>> Y = np.stack([spaces["motion"][:, 0], spaces["motion"][:, 1] + spaces["words"][:, 0]], axis=1)
        >>> Y += rng.normal(size=Y.shape)
        >>> model = MultipleKernelRidgeCV("linear").fit(spaces, Y)
        >>> parts = model.score_split(spaces, Y)
        >>> parts.shape, parts.round(1).tolist()
        ((2, 2), [[0.5, 0.4], [0.0, 0.3]])
        >>> whole = r2_score(Y, model.predict(spaces), multioutput="raw_values")
        >>> bool(np.allclose(parts.sum(axis=0), whole))
        True
        """
        check_is_fitted(self)
        fixed = self._fixed_values(X)
        scores = split_scores(self, X, Y, parts_of(self, X), scoring, sample_weight, fixed)
        if self.dual_coef_.ndim == 1:
            return scores[:, 0]
        return scores

    def _fixed_values(self, X: Any) -> Array | None:
        """What columns without penalty add to the predictions, (len(X), t); None for a model without such columns."""
        return None
