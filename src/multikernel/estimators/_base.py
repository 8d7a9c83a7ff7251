"""What all estimators share: from X to a bank, from weights and coefficients to predictions."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank, bind_kernels, precomputed
from multikernel.banks.threads import slices
from multikernel.kernels import Features, KernelFamily, as_family
from multikernel.kernels.string_table import as_table
from multikernel.machines import DualSolution
from multikernel.procedures import Weights

_MANY = 100_000  # kernels
_CHUNK_VALUES = 1 << 25  # kernel values of new samples in memory at a time: 256 MB


@dataclass(frozen=True, eq=False)
class Fitted:
    """One problem (a regression, or one class against others), solved.

    ``rows`` are the training samples that took part; the coefficients are over all of them.
    """

    rows: Array
    weights: Weights
    solution: DualSolution

    def over_all(self, n: int) -> Fitted:
        """The coefficients over all n training samples, zero where a sample took no part."""
        coef = np.zeros((n, *self.solution.coef.shape[1:]))
        coef[self.rows] = self.solution.coef
        return replace(self, solution=replace(self.solution, coef=coef))


class KernelEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator that learns weights of kernels and a predictor on the weighted sum.

    It is fitted on X or on a bank that is already bound; with ``kernels="precomputed"`` on matrices (m, n, n).
    """

    kernels: Any
    kernel_names_: Any
    _strings: tuple[int, ...] = ()  # the columns that held strings in training

    @abstractmethod
    def _default_kernels(self) -> KernelFamily:
        """The family used where ``kernels`` is None."""

    @abstractmethod
    def _learn(self, bank: KernelBank, target: Array, warm: Fitted | None) -> tuple[Weights, DualSolution]:
        """Solve one problem: a target of -1 and +1, or of real numbers, shape (n, t) where the estimator says so."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernels, str) and self.kernels == "precomputed"
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags

    # -- from X to a bank ----------------------------------------------------------------------------------------

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        """The training bank and the checked target."""
        if isinstance(X, KernelBank) or self._is_precomputed():
            bank = self._given(X)
            y = self._check_target(y, bank.shape[0], **checks)
            return bank, y
        if as_table(X) is not None:
            samples = self._samples(X, reset=True)
            return self._bound(samples), self._check_target(y, len(samples), **checks)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2, **checks
        )
        self._strings = ()
        return self._bound(X), y

    def _bind_samples(self, X: Any) -> KernelBank:
        """The training bank where there is no target."""
        if isinstance(X, KernelBank) or self._is_precomputed():
            return self._given(X)
        return self._bound(self._samples(X, reset=True))

    def _samples(self, X: Any, reset: bool = False) -> Any:
        """Samples, checked: an array, a CSR matrix or a table with strings; columns as in training unless ``reset``."""
        samples = as_table(X)
        if samples is None:
            least = 2 if reset else 1
            samples = validate_data(
                self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset, ensure_min_samples=least
            )
        else:
            named = X if hasattr(X, "columns") else samples.numbers
            validate_data(self, named, reset=reset, skip_check_array=True)
        strings = Features.of(samples).strings
        if reset:
            self._strings = strings
        if strings != self._strings:
            was, now = (", ".join(map(str, columns)) or "none" for columns in (self._strings, strings))
            raise ValueError(
                f"{type(self).__name__} was fitted with strings in columns {was} of X, and got them in {now}"
            )
        return samples

    def _given(self, X: Any) -> KernelBank:
        """A training bank that the user bound or computed."""
        bank = precomputed(X)
        if not bank.square:
            raise ValueError(f"a training bank must be square, got shape {bank.shape}")
        self.kernel_names_ = self._names(len(bank))
        return bank

    def _bound(self, X: Any) -> KernelBank:
        names = getattr(self, "feature_names_in_", None)
        features = replace(Features.of(X), names=None if names is None else tuple(names))
        family = self._family().resolve(features)
        # the names of very many kernels stay what they are, a sequence that makes them when they are asked for
        self.kernel_names_ = np.array(family.names, dtype=object) if len(family) <= _MANY else family.names
        return bind_kernels(family, X, dtype=self._precision(len(family), X.shape[0]))

    def _precision(self, m: int, n: int) -> Any:
        """The precision in which a bank may store m matrices of n samples; None is that of the samples."""
        return None

    def _is_precomputed(self) -> bool:
        if isinstance(self.kernels, str) and self.kernels != "precomputed":
            raise ValueError(f"kernels must be kernels or 'precomputed', got {self.kernels!r}")
        return isinstance(self.kernels, str)

    def _family(self) -> KernelFamily:
        return self._default_kernels() if self.kernels is None else as_family(self.kernels)

    def _names(self, m: int) -> Array:
        """Names for a bank that is already bound, where the family can tell them."""
        if not self._is_precomputed():
            try:
                names = self._family().names
            except TypeError:  # the family follows the number of features, which a bank does not tell
                names = ()
            if len(names) == m:
                return np.array(names, dtype=object)
        return np.array([f"kernel {k}" for k in range(m)], dtype=object)

    def _check_target(self, y: Any, n: int, **checks: Any) -> Array:
        from sklearn.utils import check_array, check_consistent_length, column_or_1d

        several = checks.get("multi_output") and np.ndim(y) == 2
        target: Array = check_array(y, input_name="y") if several else column_or_1d(y, warn=True)
        check_consistent_length(target, np.empty(n))
        if checks.get("y_numeric"):
            target = target.astype(float)
            if not np.isfinite(target).all():
                raise ValueError(f"y has a NaN or infinity at row {int(np.argwhere(~np.isfinite(target))[0, 0])}")
        return target

    # -- after fitting -------------------------------------------------------------------------------------------

    def _keep(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        """Set the fitted attributes; one problem gives vectors and numbers, several give a row each.

        One problem with t targets that share the weights gives one vector of weights, and a row of coefficients and an
        intercept for each target.
        """
        n = bank.shape[1]
        whole = [f.over_all(n) for f in fitted]
        coef = np.concatenate([np.atleast_2d(f.solution.coef.T) for f in whole])
        weights = np.stack([f.weights.values for f in whole])
        intercept = np.concatenate([np.atleast_1d(f.solution.intercept) for f in whole])
        objective = [f.weights.objective for f in whole]
        vector = single and whole[0].solution.coef.ndim == 1
        self.weights_ = weights[0] if single else weights
        self.dual_coef_ = coef[0] if vector else coef
        self.intercept_ = float(intercept[0]) if vector else intercept
        self.n_iter_ = max(1, *(f.weights.n_iter + f.solution.n_iter for f in whole))
        self.converged_ = all(f.weights.converged and f.solution.converged for f in whole)
        self.history_ = [f.weights.history or f.solution.history for f in whole]
        self.objective_: Any = objective[0] if single else np.array(objective)
        measure, reached = self._keep_certificate(whole)
        self._support = np.flatnonzero(coef.any(axis=0))
        self._reference = bank.reference(self._support)
        self._n_train = n
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} did not converge: it reached a relative {measure} of {reached:.2g} in "
                f"{self.n_iter_} iterations. The model is usable; raise max_iter or tol, or scale the data.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep_certificate(self, whole: Sequence[Fitted]) -> tuple[str, float]:
        """Set ``duality_gap_``, or ``stationarity_`` where the problem is not convex; its name, and the worst gap."""
        gaps = [f.weights.gap for f in whole if f.weights.gap is not None]
        inner = [f.solution.gap for f in whole]
        stationary = [f.weights.stationarity for f in whole if f.weights.stationarity is not None]
        for name in {"duality_gap_", "stationarity_"} & set(vars(self)):  # of an earlier fit
            delattr(self, name)
        if stationary:
            self.stationarity_ = max(stationary)
            return "stationarity", max(stationary + inner)
        self.duality_gap_ = max(gaps or inner)
        return "duality gap", max(gaps + inner)

    def _decide(self, X: Any) -> Array:
        """f(x) of every problem or target: shape (len(X), problems)."""
        check_is_fitted(self)
        if isinstance(X, KernelBank):
            if X.shape[1] != self._n_train or len(X) != self._n_kernels:
                raise ValueError(
                    f"a bank of new samples must hold {self._n_kernels} kernels against the {self._n_train} "
                    f"training samples, got {len(X)} kernels against {X.shape[1]}"
                )
            # a square bank whose matrices follow the sample is not cut: its part would be another bank
            return self._decide_bank(X if X.square and not X.local else X.block(slice(None), self._support))
        if self._is_precomputed() or not hasattr(self, "n_features_in_"):
            return self._decide_bank(self._reference.cross(X))
        X = self._samples(X)
        height = max(1, _CHUNK_VALUES // max(1, len(self._support)))
        parts = [self._decide_bank(self._reference.cross(X[rows])) for rows in slices(X.shape[0], height)]
        return np.concatenate(parts)

    def _decide_bank(self, bank: KernelBank) -> Array:
        coef, weights = np.atleast_2d(self.dual_coef_), np.atleast_2d(self._kernel_weights)
        coef = coef if bank.shape[1] == coef.shape[1] else coef[:, self._support]
        values = np.empty((bank.shape[0], len(coef)))
        for p, targets in enumerate(
            [slice(None)] if len(weights) == 1 else [slice(p, p + 1) for p in range(len(coef))]
        ):
            A = coef[targets].T
            own = np.flatnonzero(A.any(axis=1))  # of one-vs-one problems: only the columns of two classes
            whole = len(own) > 0.7 * len(A) or (bank.square and not bank.local)
            part = bank if whole else bank.block(slice(None), own)
            values[:, targets] = self._combined(part, weights[p]).multiply(A[own] if part is not bank else A)
        values += np.atleast_1d(self.intercept_)
        return values

    @property
    def _n_kernels(self) -> int:
        """How many kernels the predictor is made of; some estimators learn further weights."""
        return int(self.weights_.shape[-1])

    @property
    def _kernel_weights(self) -> Array:
        """The weights of the kernels in the predictor: those learned, unless an estimator scales the kernels itself."""
        return self.weights_

    def _combined(self, bank: KernelBank, weights: Array) -> Gram:
        """How the weights make a kernel: the weighted sum unless an estimator says otherwise."""
        return bank.combine(weights)

    def weights_frame(self) -> Any:
        """Kernel names and weights as a pandas data frame, one column for each problem; needs pandas."""
        import pandas as pd

        check_is_fitted(self)
        weights = np.atleast_2d(self.weights_)
        columns = ["weight"] if len(weights) == 1 else [f"weight of problem {p}" for p in range(len(weights))]
        return pd.DataFrame(weights.T, index=pd.Index(self.kernel_names_, name="kernel"), columns=columns)

    def plot_weights(self, ax: Any = None) -> Any:
        """Bars of the kernel weights (their mean over the problems); needs matplotlib. Returns the axes."""
        import matplotlib.pyplot as plt

        check_is_fitted(self)
        if ax is None:
            _, ax = plt.subplots(figsize=(6, 0.6 + 0.24 * min(len(self.kernel_names_), 40)), layout="constrained")
        weights = np.atleast_2d(self.weights_).mean(axis=0)
        shown = np.argsort(-weights, kind="stable")[:40] if len(weights) > 40 else np.arange(len(weights))
        ax.barh([str(self.kernel_names_[k]) for k in shown], weights[shown])
        ax.invert_yaxis()
        ax.set_xlabel("weight" if len(weights) == len(shown) else "weight (the 40 largest)")
        return ax


def knowing(model: Any, values: Array) -> Any:
    """The model with its function values, shape (len(X), problems), for whatever samples it is asked about."""
    known = copy(model)
    vars(known)["_decide"] = lambda X: values
    return known
