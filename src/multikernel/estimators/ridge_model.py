"""The base classes of all models with squared losses: criteria, leave-one-out residuals and standard deviations.

All of these are the formulas of ridge regression with the learned kernel, whose weights are taken as known. Where the
weights of many kernels are fitted to few samples, the numbers therefore underestimate the uncertainty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._arrays import host, part_of, returned, taken
from multikernel._linalg import as_columns
from multikernel._rules import Choice, Number, abbreviated
from multikernel._typing import Array
from multikernel._warnings import each_warning_once, keeping
from multikernel.banks import KernelBank
from multikernel.banks.checks import numbers
from multikernel.banks.rows import BankRows
from multikernel.banks.threads import slices
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import as_views, is_given
from multikernel.estimators.checks import check_predicted
from multikernel.estimators.posterior import KernelPosterior, Posterior
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.regressor import KernelRegressor
from multikernel.estimators.samples import samples_of
from multikernel.machines.ridge.smoother import CRITERIA
from multikernel.sources.views import Views
from multikernel.tuning import LARGE_VALUES

_NAMES = Choice(tuple(CRITERIA))
_PART = Number(above=0, below=1)


class RidgeModel(KernelEstimator):
    """A model with squared losses: its degrees of freedom, criteria, and residuals of samples that are left out."""

    _posterior: Posterior | None = None

    def share(self, reference: KernelBank, support: Array) -> None:
        super().share(reference, support)
        if isinstance(self._posterior, KernelPosterior):
            self._posterior = replace(self._posterior, predictor=cast(KernelPredictor, self.predictor_))

    @property
    def _checked_posterior(self) -> Posterior:
        check_is_fitted(self)
        if self._posterior is None:
            raise ValueError(
                f"{type(self).__name__}: this model learned from sums over rows, or on a part of a bank that others "
                "cut out, so that its training samples are not known; fit one on samples, on a bank or on matrices"
            )
        return self._posterior

    def _of_smoothers(self, value_of: Any) -> Any:
        """A number from the smoother; an array where there are several problems or targets."""
        with each_warning_once():
            smoothers = self._checked_posterior.smoothers
            values = np.concatenate([np.atleast_1d(value_of(smoother)) for smoother in smoothers])
        if self.dual_coef_.ndim == 1:
            return float(values[0])
        return values

    # -- as a linear map of the targets --------------------------------------------------------------------------------

    @property
    def degrees_of_freedom_(self) -> Any:
        """tr K (K + alpha I)^-1 of the learned kernel K, the intercept not counted; an array for several problems."""
        return self._of_smoothers(lambda s: np.full(s.coef.shape[1], s.degrees_of_freedom))

    def fit_criterion(self, name: str = "gcv", noise_variance: Any = None) -> Any:
        """An estimate of how well the model predicts, without held-out samples; smaller is better.

        With R the weighted sum of the squared residuals, N the sum of the weights of the samples, d the trace of the
        matrix that makes fitted values of targets (the degrees of freedom and one for an intercept) and v the noise
        variance:

        - "gcv": (R / N) / (1 - d / N)^2
        - "loo": the mean squared residual of samples that are left out one by one, in closed form
        - "cp": (R + 2 d v) / N;    "aic": R / v + 2 d;    "bic": R / v + d log N
        - "evidence": the negative log density of the targets, less their mean, under the Gaussian process

        Parameters
        ----------
        name : one of these
        noise_variance : float >= 0 or array (t,) of such, v, which has to be the same for models that are compared; by
            default R / (N - d) of this model

        Returns
        -------
        float, or an array (t,) for several targets or problems

        Raises
        ------
        ValueError : for another name, and for a noise_variance that is neither a number nor one for each target
        """
        owner = f"{type(self).__name__}: fit_criterion"
        _NAMES.check(name, f"{owner}: name")
        if noise_variance is None:
            return self._of_smoothers(lambda s: s.criterion(name))
        check_is_fitted(self)
        t = np.size(self.intercept_)
        noise = numbers(host(noise_variance), f"{owner}: noise_variance")
        if noise.shape not in ((), (t,)) or not (np.isfinite(noise) & (noise >= 0)).all():
            raise ValueError(
                f"{owner}: noise_variance must be a finite number >= 0, or {t} of them, got "
                f"{abbreviated(noise_variance)}"
            )
        noise_of_targets = iter(np.broadcast_to(noise, t))

        def criterion_of(smoother: Any) -> Any:
            """The criterion at the noise variances of this smoother's targets, which are the next ones."""
            return smoother.criterion(name, np.array(list(islice(noise_of_targets, smoother.coef.shape[1]))))

        return self._of_smoothers(criterion_of)

    @property
    def residual_variance_(self) -> Any:
        """R / (N - d), as in ``fit_criterion``: the noise variance where the model has no bias."""
        return self._of_smoothers(lambda s: s.residual_variance)

    @property
    def target_variance_(self) -> Any:
        """The mean square of the training target about its mean, or about 0 without an intercept."""
        return self._of_smoothers(lambda s: s.target_variance)

    @property
    def loo_residuals_(self) -> Array:
        """y_i - f(x_i), f of the others with the same kernel: shape (n,) or (n, t); NaN for samples of weight zero."""
        with each_warning_once():
            residuals, _ = self._checked_posterior.left_out()
        if self.dual_coef_.ndim == 1:
            return residuals[:, 0]
        return residuals

    # -- as a Gaussian process -----------------------------------------------------------------------------------------

    @property
    def kernel_scale_(self) -> Any:
        """What the learned kernel is multiplied with to be the covariance of the function."""
        return self._of_smoothers(lambda s: s.scale)

    @property
    def noise_variance_(self) -> Any:
        """The variance of the noise of an observation of weight one.

        That is alpha times ``kernel_scale_``, unless the targets contradict that ratio by more than chance would do:
        then it is the squared residuals over the degrees of freedom that the function leaves them.
        """
        return self._of_smoothers(lambda s: s.scales.noise)

    @property
    def log_evidence_(self) -> Any:
        """The log density of the training targets, less their mean, largest over the scale of the kernel."""
        return self._of_smoothers(lambda s: s.log_evidence)


class RidgeRegressor(RidgeModel, KernelRegressor):
    """A regressor with squared losses, which also has standard deviations and intervals."""

    def predict(self, X: Any, return_std: bool = False, self_values: Any = None, *, split: bool = False) -> Any:
        """The predicted values, and how far observations will be from them.

        The standard deviation is that of the error of the prediction of a new observation of weight one: of the
        Gaussian process whose covariance is the learned kernel times ``kernel_scale_``, with noise of variance
        ``noise_variance_``, both estimated from the targets, and with the uncertainty of the intercept. The kernel
        weights are taken as known.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        return_std : bool, default False, whether standard deviations are returned as well
        self_values : array (m, len(X)), the kernels of each new sample with itself; needed for standard deviations
            where X are matrices or a bank against the training samples, which do not determine them
        split : bool, default False
            Whether predictions are split over the kernels: shape (m, len(X)) or (m, len(X), t). These are
            ``contributions(X)`` with the kernels first, which sum to the predictions with ``intercept_`` and columns
            that are ``fixed``.

        Returns
        -------
        array (len(X),), or (len(X), t) after a fit to t targets; with ``return_std`` a pair of them

        Raises
        ------
        ValueError : with ``return_std``, where self_values are needed and not given, or have another shape; with both
            ``return_std`` and ``split``
        """
        if split and return_std:
            raise ValueError(
                f"{type(self).__name__}: a standard deviation is that of a whole prediction: leave out split"
            )
        mean = super().predict(X, split=split)
        if not return_std:
            return mean
        if self_values is not None:
            self_values = self._checked_self_values(self_values, mean.shape[0])
        columns = self._unpenalised(X, mean.shape[0])
        blocks = []
        start = 0
        with np.errstate(over="ignore", invalid="ignore"), each_warning_once():
            for bank, values in self._banks_with_self_values(X, self_values):
                rows = slice(start, start + bank.shape[0])
                fixed_rows = part_of(columns, rows)
                blocks.append(self._checked_posterior.deviations(bank, values, fixed_rows))
                start = rows.stop
        deviations = np.concatenate(blocks)
        check_predicted(deviations, type(self).__name__)
        return mean, returned(deviations[:, 0] if self.dual_coef_.ndim == 1 else deviations, X)

    def predict_interval(self, X: Any, coverage: float = 0.95, self_values: Any = None) -> tuple[Array, Array]:
        """Ends of intervals that contain this share of new observations.

        An interval extends to both sides of the prediction by a multiple of the standard deviation. With this multiple,
        intervals contain this share of the training samples, left out one by one with the kernel as learned from all.
        Intervals therefore do not assume Gaussian noise. Of n samples the largest multiple belongs to a coverage of
        n / (n + 1), and is taken for a larger one as well.

        Parameters
        ----------
        X, self_values : as for ``predict``
        coverage : float in (0, 1), default 0.95

        Returns
        -------
        lower, upper : arrays (len(X),) or (len(X), t)

        Raises
        ------
        ValueError : for a coverage outside (0, 1)
        """
        _PART.check(coverage, f"{type(self).__name__}: coverage")
        with each_warning_once():
            mean, deviation = map(host, self.predict(X, return_std=True, self_values=self_values))
            reach = self._multiples(coverage) * as_columns(deviation)
        if mean.ndim == 1:
            reach = reach[:, 0]
        return returned(mean - reach, X), returned(mean + reach, X)

    def _multiples(self, coverage: float) -> Array:
        """For each target the quantile of |residual| / deviation over training samples left out one by one."""
        multiples = []
        for smoother in self._checked_posterior.smoothers:
            ratios = np.divide(
                np.abs(smoother.left_out),
                smoother.left_out_deviations,
                out=np.zeros_like(smoother.left_out),
                where=smoother.left_out_deviations > 0,
            )
            multiples += [_quantile(column, smoother.weight, coverage) for column in ratios.T]
        return np.array(multiples)

    def _unpenalised(self, X: Any, n: int) -> Array | None:
        """The columns without penalty of n new samples, with the intercept; None for a model without such columns."""
        return None

    # -- new samples with their self-values ----------------------------------------------------------------------------

    def _banks_with_self_values(self, X: Any, self_values: Any) -> Iterator[tuple[KernelBank, Array]]:
        """New samples against training samples, and their self-values (m, rows), in blocks of limited size."""
        X = as_views(self, X)
        predictor: Any = self.predictor_
        needs_self_values = self._checked_posterior.needs_self_values
        if is_given(self, X) or self_values is not None:
            start = 0
            for bank in self.banks(X):
                rows = slice(start, start + bank.shape[0])
                values = np.empty((0, bank.shape[0]))
                if needs_self_values:
                    values = self._self_values_of(X, bank, self_values)[:, rows]
                yield bank, values
                start = rows.stop
            return
        samples = samples_of(self, X) if hasattr(self, "n_features_in_") else X
        for rows in slices(samples.shape[0], max(1, LARGE_VALUES // max(len(predictor.support), 1))):
            block = taken(samples, rows)
            bank, _ = keeping(partial(predictor.reference.cross, block))
            values = np.empty((0, bank.shape[0]))
            if needs_self_values:
                values = predictor.reference.self_values(block)
            yield bank, values

    def _checked_self_values(self, self_values: Any, n: int) -> Array:
        """The user's self-values of n new samples, checked; ValueError where they cannot be self-values."""
        name, m = type(self).__name__, cast(KernelPredictor, self.predictor_).n_kernels
        values = numbers(host(self_values), f"{name}: self_values")
        if values.shape != (m, n) or not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(
                f"{name}: self_values must be finite numbers >= 0 of shape ({m}, {n}), the value of each kernel at "
                f"each sample with itself; got shape {values.shape}"
            )
        return values

    def _self_values_of(self, X: Any, bank: KernelBank, self_values: Any) -> Array:
        """Self-values of rows of a bank, of views or of matrices, (m, len(X)); ValueError where they are not known."""
        m, name = len(bank), type(self).__name__
        if self_values is not None:
            return cast(Array, self_values)
        if isinstance(X, BankRows):
            return X.bank.held_out_self_values(X.rows, slice(None) if self._rows is None else self._rows)
        if isinstance(X, Views):
            views = self._method.binding.of_new(self, X)
            return cast(KernelPredictor, self.predictor_).reference.self_values(views)
        if isinstance(X, KernelBank) and X.square:
            return X.diagonal()
        if bank.of_distances:
            return np.zeros((m, bank.shape[0]))
        raise ValueError(
            f"{name}: matrices against training samples do not determine the kernels of a new sample with itself, "
            f"which standard deviations need: pass self_values, shape ({m}, {bank.shape[0]})"
        )


def _quantile(values: Array, weight: Array, coverage: float) -> float:
    """The smallest of N values that is at least this quantile of N + 1 samples; the largest where none is.

    The additional sample is the new one, whose value may be larger than all of these.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order]) / (weight.sum() + 1.0)
    position = int(np.searchsorted(reached, coverage - 1e-12))
    return float(values[order[min(position, len(order) - 1)]])
