"""Multiple-kernel ridge regression whose weights and ridge minimise the cross-validated error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._parameters import PART, Count, NonNegative, Part, Seed, Starts, Threads, Verbosity
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.binding import Binding, bound_given, double_precision
from multikernel.estimators.checks import check_predicted
from multikernel.estimators.fit import fit_model
from multikernel.estimators.fixed import (
    FixedParameter,
    fixed_columns,
    hidden_columns,
    unpenalised,
    without_fixed_views,
)
from multikernel.estimators.linear_coefficients import linear_coefficients
from multikernel.estimators.method import Method, scale_free
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.ridge_cv_learning import (
    cost_of,
    has_separate_weights,
    learn,
    prepare,
    publish,
    ridge_of,
    tasks,
)
from multikernel.estimators.ridge_cv_sums import check_sums, folds_of_rows, kept_factors, learn_sums
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.streamed.estimator import LearnsFromSums
from multikernel.estimators.streamed.streaming import Streaming
from multikernel.estimators.targets import one_for_all_targets
from multikernel.estimators.variance_components import components_frame
from multikernel.kernels import KernelFamily, polynomials, rbf_grid


def _default_kernels(model: Any) -> KernelFamily:
    return polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))


def _bound_given(model: Any, X: Any, binder: Any) -> KernelBank:
    """The bank of the views that are not fixed, of matrices, or the bank that the user bound."""
    return bound_given(model, without_fixed_views(model, X), binder)


@dataclass(eq=False, repr=False, kw_only=True)
class MultipleKernelRidgeCV(LearnsFromSums, RidgeRegressor):
    """Kernel ridge regression with the kernel weights and the ridge of least held-out squared error, or most evidence.

    Solves

        min over w >= 0, alpha > 0 of (1 / n) sum_i (y_i - f_i(x_i))^2,

    f_i kernel ridge regression with kernel sum_k w_k k and ridge alpha, trained on the samples outside the fold that
    holds out sample i. The error of all folds and its derivatives follow from one matrix inverse on all samples, so
    weights are found by Gauss-Newton steps with w >= 0, many of them zero at the end. The problem is not convex: the
    point found is stationary, and never worse than equal weights with the best of their ridges a decade apart; more
    starts (``n_init``) may lead to a better one. The model is then trained on all samples.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, which should be
        standardised.
    cv : int, splitter, iterable of (train, test) pairs, or "loo"; default 5
        Folds that hold out each sample exactly once; the others are the training samples. "loo" leaves one out. An
        int takes consecutive samples, as KFold does: give ``KFold(5, shuffle=True)`` where their order means something.
    criterion : {"held_out", "evidence"}, default "held_out"
        What weights and ridge are chosen by: the held-out error, or the density of all targets, less their mean, under
        a Gaussian process with this kernel and noise, largest over its scale. Evidence needs no folds, and its noise
        variance is the better estimate; held-out error assesses predictions only. Either criterion has a quadratic
        model for its steps, and leads to weights that are exactly zero.
    fixed : None, names or positions of columns of X, or the name of a view; one of them or a list; default None
        Columns without penalty, such as age or site: f(x) = sum_j b_j x_j + a function of the kernels. Categories and
        strings are a column for each level, named "site=B"; the first level is the one that others compare with.
        Kernels get the other columns, except kernels that name their columns by ``on``. Where X has several views,
        ``fixed`` names views, all of whose columns are then fixed and get no kernel; the others may be kernel matrices.
        Folds estimate b from their training samples. With criterion="evidence" the likelihood is restricted (REML). An
        empty list means that only the intercept is without penalty.
    fit_intercept : bool, default True
        Whether the mean of the training targets is subtracted first and becomes the intercept. With ``fixed`` it is one
        more column without penalty instead.
    shared_weights : bool, default False
        With targets of shape (n, t): one set of weights instead of one for each, that of least summed error with one
        ridge in common; each target then has the ridge of least error for these weights. One ridge is all with
        criterion="evidence", with ``fixed``, and from streams.
    standard_errors : float >= 0, default 1.0
        With weights for each of several targets, chosen by held-out errors: a target whose weights lower its error by
        no more than this many standard errors has equal weights instead (of kernels divided by their traces) with the
        best ridge for them. The standard error of a gain g of an error s^2 is about 2 s sqrt(g / n). With 0 weights are
        always those of least error, as they are for one target.
    tol : float, default 1e-4
        Relative stationarity to reach. Steps also end where ten of them together gained less than a hundredth of that:
        the model has then not converged, and there is a ConvergenceWarning.
    max_iter : int, default 500
        Gauss-Newton steps at most from each start.
    n_init : int, default 1
        How many starts: equal weights (or equal traces, the better of the two) with the best ridge for them, the same
        with a ridge a hundred times smaller, then random multiples of the first. They are compared after a few steps.
    random_state : int, RandomState or None
        The seed of the random starts.
    n_jobs : int or None, default None
        Threads over blocks of targets, where targets have separate weights.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
    approximation, rank : as in L1MKLClassifier

    Attributes
    ----------
    weights_ : array (m,), with sum 1; (t, m) for t targets with separate weights. All weights are zero where no kernel
        helps on held-out samples: the predictor is then constant.
    alpha_ : float, or array (t,): the ridge for these weights. Only the ratio of weights and ridge matters. With
        ``shared_weights`` a target that is best predicted by its mean has a ridge so large that the kernel has no
        effect.
    cv_loss_ : float, or array (t,): the mean squared error on the held-out samples, for either criterion; NaN where
        the samples outside a fold do not determine the coefficients of ``fixed``
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k that of the weights
    intercept_ : float or array (t,)
    fixed_names_ : array (c,), names of the columns without penalty; these attributes only with ``fixed``
    fixed_coef_ : array (c,) or (t, c), their coefficients b by generalised least squares for the learned kernel; 0 for
        a column that depends on those before it
    fixed_std_errors_ : array (c,) or (t, c), their standard errors for this kernel, and NaN for a column that depends
        on those before it; ``intercept_std_error_``, float or array (t,), is that of the intercept
    objective_ : what was minimised: ``cv_loss_``, or its sum over targets that share weights, with the ridge that
        is best for all of them in common, which their own ridges make smaller; with the evidence
        (prod_t z_t'S^-1 z_t / n)^(1/t) det(S)^(1/n), S = sum_k w_k K_k / alpha + I and z_t targets less their means;
        with ``fixed`` the same of the n - p contrasts of the samples that the columns, of rank p, do not change
    stationarity_ : float, what the Gauss-Newton model of the objective still promises, relative to it, or to a
        hundredth of its value for a constant predictor where this is more; zero at a point that satisfies the
        first-order conditions. Of weights that grow without end, what larger ones were found to gain where the model
        promises more. The largest over the targets.
    target_stationarity_ : array (t,), the stationarity of each of t targets with separate weights. For a target that
        kept equal weights (``standard_errors``), and with ``shared_weights``, it is that of the target's ridge for
        these weights. Shared weights are themselves stationary for a common ridge: ``stationarity_`` is the largest of
        all these
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``stationarity_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way for each problem

    Notes
    -----
    A step costs one n x n inverse, a pass over the kernels with a column for each fold (ten where there are more) and
    a least-squares problem of order m, or of as many residuals where these are fewer. Centred kernels are centred once,
    on all samples.

    Several targets with separate weights are solved together, at points that they share, for either criterion and with
    ``fixed``: an inverse serves all of them, and 1,000 targets with three kernels need about 1,200 inverses. Then
    ``verbose`` reports the geometric mean of their stationarities, and ``history_`` has the largest before each round.

    References
    ----------
    Allen (1974), The relationship between variable selection and data augmentation and a method for prediction,
    Technometrics 16, for the held-out residuals.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from multikernel import MultipleKernelRidgeCV, kernels
    >>> X, y = make_friedman1(150, 6, random_state=0)
    >>> family = [kernels.RBF(gamma).on([j]) for j in range(6) for gamma in (0.3, 3.0)]
    >>> model = MultipleKernelRidgeCV(family).fit(X[:100], y[:100])
    >>> bool(model.score(X[100:], y[100:]) > 0.8), bool((model.weights_ == 0).any())
    (True, True)
    """

    kernels: Any = field(default=None, kw_only=False)
    fixed: FixedParameter = None
    cv: CrossValidation | Literal["loo"] = 5
    criterion: Literal["held_out", "evidence"] = "held_out"
    fit_intercept: bool = True
    shared_weights: bool = False
    standard_errors: NonNegative = 1.0
    tol: Part = 1e-4
    max_iter: Count = 500
    n_init: Starts = 1
    random_state: Seed = None
    n_jobs: Threads = None
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _fixed_samples = None  # how fixed columns become numbers, a FixedSamples
    _fixed_columns = None  # a basis of these columns at the training samples, a FixedColumns

    _method: ClassVar[Method] = Method(
        learn=learn,
        prepare=prepare,
        cost=cost_of,
        binding=Binding(
            default_kernels=_default_kernels,
            precision=double_precision,
            hidden=hidden_columns,
            of_given=_bound_given,
            of_new=without_fixed_views,
        ),
        tasks=tasks,
        single=one_for_all_targets,
        publish=publish,
        ridge=ridge_of,
        streaming=Streaming(learn=learn_sums, folds=folds_of_rows, kept_factors=kept_factors, check=check_sums),
        sizes=scale_free,
        several_targets=True,
        reads_columns=has_separate_weights,
        holds_samples_out=True,
    )

    @property
    def coef_(self) -> dict[str, Array]:
        """The coefficients of the features of each space; AttributeError where a kernel is not linear in columns."""
        check_is_fitted(self)
        return linear_coefficients(self)

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:  # type: ignore[override]
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : real targets of shape (n,) or (n, t). A memory map, or a data set of HDF5 or zarr, is read some columns at a
            time, where targets have separate weights
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, groups=groups)

    # -- columns without penalty ---------------------------------------------------------------------------------------

    def fixed_frame(self) -> Any:
        """The coefficients of the intercept and of ``fixed`` with their standard errors; needs pandas.

        Returns
        -------
        DataFrame with a row for each column, by name, and columns "coefficient" and "standard error"; for several
        targets a row for each target and column

        Raises
        ------
        ValueError : for a model without ``fixed``
        """
        import pandas as pd

        check_is_fitted(self)
        if self._fixed_samples is None:
            raise ValueError(f"{type(self).__name__}: no columns are fixed; fit a model with fixed=[...]")
        names = list(self.fixed_names_)
        coef, errors = np.atleast_2d(self.fixed_coef_), np.atleast_2d(self.fixed_std_errors_)
        if self.fit_intercept:
            names = ["intercept", *names]
            coef = np.column_stack([np.atleast_1d(self.intercept_), coef])
            errors = np.column_stack([np.atleast_1d(self.intercept_std_error_), errors])
        index = pd.Index(names, name="column")
        if self.dual_coef_.ndim > 1:
            index = pd.MultiIndex.from_product([range(len(coef)), names], names=["target", "column"])
        return pd.DataFrame({"coefficient": coef.ravel(), "standard error": errors.ravel()}, index=index)

    def _values(self, X: Any) -> Array:
        values, fixed = super()._values(X), self._fixed_values(X)
        if fixed is None:
            return values
        return check_predicted(values + fixed, type(self).__name__)

    def _fixed_values(self, X: Any) -> Array | None:
        if self._fixed_samples is None or not self._fixed_samples.columns:
            return None
        return np.asarray(fixed_columns(self, X) @ np.atleast_2d(self.fixed_coef_).T)

    def _unpenalised(self, X: Any, n: int) -> Array | None:
        if self._fixed_samples is None:
            return None
        return unpenalised(self, X, n)

    # -- variance components -----------------------------------------------------------------------------------------

    def variance_components(self, X: Any, y: Any, coverage: float | None = 0.95) -> Any:
        """The variance of each kernel's function and of the noise, with intervals and tests of zero; needs pandas.

        Each target is F b + sum_k f_k + noise, the f_k and the noise independent with covariances s_k K_k and s_0 I,
        and F the fixed columns with the intercept. The s are those of largest restricted likelihood (REML); with
        ``fixed=None`` as well, where F is the intercept, although the weights of that model are those of the targets
        less their mean.

        Parameters
        ----------
        X, y : the samples and targets of ``fit``
        coverage : float in (0, 1), of the intervals; None leaves them out, which saves most of the time

        Returns
        -------
        DataFrame with a row for each kernel and one for the noise, of each target where there are several, and columns

        - "variance": s_k, what the kernel is multiplied with, in squared units of the target
        - "standard error": from the average information; NaN where another kernel explains the same
        - "lower", "upper": the ends of the profile likelihood's interval. It contains variances of
          zero, or nearly zero, at least as often as requested.
        - "share": of the variance among these samples, beside fixed effects: s_k times the mean square of a function
          of the kernel about its mean, over the sum of all; and "error of share", its standard error
        - "statistic", "p": of the likelihood-ratio test of s_k = 0. The p-value of one kernel is exact but for the
          error of 10,000 draws; that of one of several kernels is a little too large rather than too small (a mixture
          of 0 and chi-squared in equal parts).

        Where kernels explain a target without noise in double precision, the likelihood has no maximum: variances are
        then rough, everything else is NaN, and there is a warning.

        Raises
        ------
        ValueError : for a model that was not fitted with criterion="evidence", or whose targets share their weights

        Notes
        -----
        One kernel is decomposed once for all targets. With three a target costs some fourteen inverses of order n for
        the tests, and about fifty more for the intervals.

        References
        ----------
        Patterson and Thompson (1971), Biometrika 58; Gilmour, Thompson and Cullis (1995), Biometrics 51; Stram and Lee
        (1994), Biometrics 50; Crainiceanu and Ruppert (2004), Journal of the Royal Statistical Society B 66.

        Examples
        --------
        The yields of six batches of dyestuff (Davies and Goldsmith 1972):

        >>> import numpy as np
        >>> from multikernel import MultipleKernelRidgeCV
        >>> batch = np.repeat(np.arange(6), 5)
        >>> yields = [1545, 1440, 1440, 1520, 1580, 1540, 1555, 1490, 1560, 1495, 1595, 1550, 1605, 1510, 1560,
        ...           1445, 1440, 1595, 1465, 1545, 1595, 1630, 1515, 1635, 1625, 1520, 1455, 1450, 1480, 1445]
        >>> same = {"batch": np.equal.outer(batch, batch).astype(float)}
        >>> model = MultipleKernelRidgeCV(criterion="evidence", fixed=[]).fit(same, yields)
        >>> model.variance_components(same, yields)["variance"].round().to_dict()
        {'batch': 1764.0, 'noise': 2451.0}
        """
        check_is_fitted(self)
        if self.criterion != "evidence" or (self.shared_weights and np.ndim(y) > 1):
            raise ValueError(
                f"{type(self).__name__}: variance components are those of criterion='evidence' and of weights for each "
                "target: fit a model with these parameters"
            )
        if coverage is not None:
            PART.check(coverage, f"{type(self).__name__}: variance_components: coverage")
        return components_frame(self, X, y, coverage)
