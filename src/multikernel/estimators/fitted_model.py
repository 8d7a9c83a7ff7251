"""What a fitted model tells: its values, its weights, its kernel, and what each kernel adds to a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.binding import TakesKernels
from multikernel.estimators.given import check_predicted
from multikernel.estimators.learned_kernel import LearnedKernel
from multikernel.estimators.predictor import Predictor


class FittedModel(LearnedKernel, TakesKernels):
    """An estimator whose fit leaves weights and a predictor."""

    def _values(self, X: Any) -> Array:
        """f(x) of every problem or target: shape (len(X), problems)."""
        check_is_fitted(self)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is said below
            values = self.predictor_.at(lambda: self.banks(X))
        return check_predicted(values, type(self).__name__)

    def share(self, reference: KernelBank, support: Array) -> None:
        """Take the reference to the training samples that models of one bank share, with these of the samples."""
        predictor: Any = self.predictor_
        self.predictor_ = predictor.on(reference, support)

    def kernel_keys(self) -> Sequence[Any]:
        """What tells the kernels of ``weights_`` apart from those of other fits, in an order; their numbers here."""
        return range(self.weights_.shape[-1])

    def problem_names(self) -> list[str]:
        """A name for each problem that has weights of its own: the class, the pair of classes, or the target."""
        return [f"target {p}" for p in range(len(np.atleast_2d(self.weights_)))]

    # -- the learned kernel --------------------------------------------------------------------------------------------

    def kernel_matrix(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel between samples: shape (len(X), len(Z)).

        It is the combination of the kernels by the learned weights; where problems have weights of their own, the mean
        of their kernels.

        Parameters
        ----------
        X : samples like those of ``fit``; or, in place of samples, a bank of them, or with ``kernels="precomputed"``
            matrices (m, len(X), len(Z)), which say themselves what they are against
        Z : samples like X; X itself by default

        Raises
        ------
        ValueError : for a kernel that is centred by the training sample, which is between other samples not known, and
            for Z beside a bank or matrices
        MemoryError : where the matrix is larger than the memory
        """
        check_is_fitted(self)
        if self._is_given(X):
            if Z is not None:
                raise ValueError(f"{type(self).__name__}: a bank or matrices say what X is against; leave out Z")
            return self._kernel_of(self._between(X))
        against = self._samples(X if Z is None else Z)
        rows = against if Z is None else self._samples(X)
        n, c = rows.shape[0], against.shape[0]
        check_memory(float(n) * c, f"the learned kernel of {n} and {c} samples", "take fewer of them at a time")
        K = self._kernel_of(self._against(against).cross(rows))
        return 0.5 * (K + K.T) if Z is None else K

    def _kernel_of(self, bank: KernelBank) -> Array:
        """The learned kernel of a bank."""
        predictor: Any = self.predictor_
        return predictor.gram(bank)

    # -- a prediction --------------------------------------------------------------------------------------------------

    def contributions(self, X: Any) -> Array:
        """What each kernel adds to each decision value or prediction.

        With a weighted sum of kernels kernel k adds w_k sum_i coef_i k_k(x_i, x); the sum over the kernels and
        ``intercept_`` is the value. Where kernels are multiplied, the value of a product is shared equally among its
        factors: that is the integral of the derivative in each weight, as all of them grow from zero together.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)

        Returns
        -------
        array (len(X), m) for one problem, (len(X), m, problems) for several classes or targets: of every binary problem
        before votes are counted

        Raises
        ------
        ValueError : where kernels are combined in another way, as in a product of Gaussians
        MemoryError : where the contributions are more than the memory holds
        """
        check_is_fitted(self)
        problems, m = np.size(self.intercept_), self.weights_.shape[-1]
        predictor: Predictor = self.predictor_
        parts, count = [], 0
        with np.errstate(over="ignore", invalid="ignore"):
            for bank in self.banks(X, problems * m):
                count += bank.shape[0]
                check_memory(
                    float(count) * problems * m,
                    f"the contributions of {m} kernels to {count} samples",
                    "take fewer samples",
                )
                parts.append(predictor.contributions(bank))
        found = check_predicted(np.concatenate(parts), type(self).__name__)
        return found[:, :, 0] if self.dual_coef_.ndim == 1 else found
