"""Kernel ridge regression with a learned scale for each feature: a regressor and a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from multikernel._parameters import Count, NonNegative, Positive, Seed, Verbosity
from multikernel._typing import Array
from multikernel.estimators.approximated import Rank
from multikernel.estimators.classifier import KernelClassifier
from multikernel.estimators.fit import fit_model
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, CrossValidation
from multikernel.estimators.protocol import Model, Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.scales.from_source import fit_scales
from multikernel.estimators.scales.method import ScalesModel, scales_method
from multikernel.estimators.targets import loss_weight, numbered_labels, signs_of_classes
from multikernel.procedures.learned_scales.posed import Loss

Groups = Sequence[Sequence[int | str]]


def _task_of_all_samples(model: Model, target: Array, sample_weight: Array | None) -> list[Task]:
    """One problem of all samples; folds hold out samples of weight zero, too."""
    return [Task(np.arange(len(target)), target, sample_weight)]


def _one_label(target: Array) -> Array:
    return np.zeros(len(target), dtype=int)


def _signs_task(model: Model, target: Array, sample_weight: Array | None) -> list[Task]:
    """One problem with a column of labels -1 and +1 for each class, or one column for two classes."""
    classes, labels = numbered_labels(model, target)
    signs = signs_of_classes(labels, len(classes))
    return _task_of_all_samples(model, signs, loss_weight(model, target, sample_weight))


def _labels_of_signs(target: Array) -> Array:
    if target.ndim == 1:
        return (target > 0).astype(int)
    return target.argmax(axis=1)


@dataclass(eq=False, repr=False, kw_only=True)
class LearnedScalesRegressor(ScalesModel, RidgeRegressor):
    """Kernel ridge regression whose kernel has a scale for each feature, learned on held-out samples.

    Solves, with the kernel k(x, z) = sum_r w_r f_r(sum_j s_rj |x_j - z_j|^q), f_r the profiles of the kernels given,

        min over w, s > 0, alpha > 0 of  log (1 / n) sum_i (y_i - f_i(x_i))^2 + penalty / n * sum_rj (u_rj - mean u_r)^2

    f_i kernel ridge regression with ridge alpha, trained on the samples outside the fold that holds out sample i, and
    u_rj the logarithm of the scale times the mean of |x_j - z_j|^q over pairs. Features that do not help get small
    scales. The gradient is exact, from one matrix inverse for all folds. The problem is not convex: the point found is
    stationary, and no worse on held-out samples than equal scales with the best of 4 widths and 5 ridges (which are
    chosen on 500 of the samples where there are more), up to the penalty. The result does not depend on the units of
    the features or of the target. Features of strings are categories: |x_j - z_j|^q is 0 for the same and 1 for
    different ones, also for one that training did not meet.

    Parameters
    ----------
    kernels : kernel of a distance or list of them
        RBF(), Laplacian() (absolute differences, q = 1), Matern(), RationalQuadratic(), ExponentialPower(); their own
        widths do not matter. Several are learned with weights, and with scales each unless these are shared. By default
        Matern(nu=1.5).
    metric : "diagonal", "full" or int >= 1, default "diagonal"
        A scale for each feature; or k(x, z) = sum_r w_r f_r((x - z)'M_r (x - z)) with any positive semi-definite M, or
        with one of this rank: for targets that depend on sums and differences of features. Needs kernels of squared
        differences (not Laplacian), samples, and no groups.
    shared_scales : bool, default False
        Whether several kernels share the scales: their own widths matter then, and their sum is one function of the
        distance.
    groups : None or list of lists of features, default None
        Features that share a scale, by position or by data-frame name; all others have separate scales.
    cv : int, splitter, iterable of (train, test) pairs, or "loo"; default 5
        Folds that hold out each sample exactly once. An int is a number of shuffled folds, at most one for each sample.
    penalty : None or float >= 0, default None
        One over the variance that the logarithms of the scales are expected to have: larger values keep the scales
        nearer to each other. It matters less the more samples there are; without it the scales may be fitted to the
        folds where samples are few. By default one of 1, 3, 10 and 30 is chosen, by the error on folds that took no
        part in learning the scales.
    approximation : None, "nystroem" or "auto", default None
        "nystroem" learns from many samples through few: scales on some thousands of them, then ridge regression by the
        kernels of ``rank`` of them, the centres, on all. It needs one kernel. "auto" does so for more than 4000
        samples, and where matrices of all would take half of the memory; None never.
    rank : int >= 1 or float in (0, 1), default 3000
        How many centres; or the error of the kernel matrix that is allowed, from which their number follows. More
        predict better: with 1000, 2000 and 4000 the last step takes about 1, 4 and 14 s for 40,000 samples.
    fit_intercept : bool, default True
        Whether the mean of the training targets is subtracted first and becomes the intercept.
    tol : float, default 1e-2
        Stationarity at which to stop: the change of the objective, to first order and relative to the held-out error,
        when one parameter is multiplied by e.
    max_iter : int, default 100
        The most quasi-Newton steps; where there are more than 500 samples, as many steps on a part of them come first.
    random_state : int, RandomState or None; default 0
        The seed of the folds, and of the samples on which the steps begin.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.

    Attributes
    ----------
    scales_ : array (p,), the scale of each feature in units of 1 / |feature|^q; (R, p) for R kernels
    relative_scales_ : array of the same shape, the scales times the mean of |x_j - z_j|^q over pairs of samples: how
        much a feature takes part, whatever its unit
    metric_ : array (c, c), M in units of 1 / feature^2, or (R, c, c); not set with metric="diagonal". Its scales_ are
        the diagonal, the largest entry of a feature that is several columns
    metric_features_ : int array (c,), the feature that each column of the metric comes from: a number is one column, a
        category one for each of its values and one for others, and numbers that may be missing have one more at the end
    weights_ : array (R,), of the kernels, with sum 1
    alpha_ : float, the ridge for these weights
    kernel_ : the learned kernel, to be used elsewhere; not set for a bank of distances and for categories
    cv_loss_ : float, the mean squared error on the held-out samples, summed over targets. Scales were chosen by it, so
        that it is somewhat lower than the error on new samples. With centres it is the error on a fifth of the samples,
        in whole folds, by which only the ridge was chosen; for a source, the error on 10,000 rows
    centres_ : int array (M,), the training samples that are centres; not set, like the two below, without centres. A
        fit to a source keeps no other samples: it is 0 to M - 1, and dual_coef_ has a value for each centre
    approximation_error_ : array (1,), the relative error of the kernel matrix by the centres, estimated on 500 samples
    landmark_stationarity_ : float, the largest derivative of the error through landmarks, by which scales were learned
        from some thousands of samples, in a parameter; it is no stationarity for all samples
    penalty_ : float, the penalty given or chosen
    cv_loss_outer_ : float, the same of scales that were learned on other folds, by which the penalty was chosen; on
        three folds of at most 500 samples. With no more samples, what it exceeds ``cv_loss_`` by is overfitting of the
        folds. NaN where the penalty was given.
    cv_loss_equal_, cv_loss_constant_ : float, the same for the best of the equal scales tried, and for constants
    kernel_names_ : array (R,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (t,)
    objective_ : float, ``cv_loss_``
    stationarity_ : float, the largest derivative in a logarithm of a scale or a weight; zero at a stationary point
    duality_gap_ : float, with centres, in its place: of the ridge regression with the scales that were found
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``certificate_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way

    Notes
    -----
    A step costs one n x n inverse and n^2 p operations; memory is some 4 n^2 numbers with one kernel, and
    n^2 more for each further one. A full metric has p (p + 1) / 2 parameters: its penalty draws the logarithms of its
    eigenvalues towards each other, in units in which all features vary alike.

    References
    ----------
    Varma and Babu (2009), More generality in efficient multiple kernel learning, ICML, for scales as weights of a
    product of kernels. Allen (1974), Technometrics 16, for the held-out residuals. Radhakrishnan, Beaglehole, Pandit
    and Belkin (2024), Science 383, for scales in the proportion of gradients, from which a second descent starts.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from multikernel import LearnedScalesRegressor
    >>> X, y = make_friedman1(200, 10, noise=0.5, random_state=0)
    >>> model = LearnedScalesRegressor().fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9), bool(model.scales_[:5].mean() > 10 * model.scales_[5:].mean())
    (True, True)
    """

    kernels: Any = field(default=None, kw_only=False)
    metric: Literal["diagonal", "full"] | Count = "diagonal"
    shared_scales: bool = False
    groups: Groups | None = None
    cv: CrossValidation | Literal["loo"] = 5
    penalty: NonNegative | None = None
    approximation: Literal["nystroem", "auto"] | None = None
    rank: Rank = 3000
    fit_intercept: bool = True
    tol: Positive = 1e-2
    max_iter: Count = 100
    random_state: Seed = 0
    verbose: Verbosity = 0

    _method: ClassVar[Method] = replace(
        scales_method(_one_label, fit_scales), tasks=_task_of_all_samples, several_targets=True
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn the scales, the kernel weights, the ridge and the function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); a square KernelBank of distances; or a source of
            ``multikernel.streams``, which holds the target, with approximation="nystroem" or "auto"
        y : targets of shape (n,) or (n, t)
        sample_weight : array (n,) >= 0, what the squared error of each sample is multiplied with
        groups : array (n,), the group of each sample: folds hold out whole groups. The parameter ``groups`` is of
            features
        """
        return fit_model(self, X, y, sample_weight, groups)


@dataclass(eq=False, repr=False, kw_only=True)
class LearnedScalesClassifier(ScalesModel, KernelClassifier):
    """Classification by kernel ridge regression of the labels, with a learned scale for each feature.

    The targets are -1 and +1 for two classes, and such a column for each class where there are more; all share the
    scales. They minimise the squared error on held-out samples as in LearnedScalesRegressor.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) pairs, or "loo"; default 5
        Folds that hold out each sample exactly once. An int is a number of shuffled, stratified folds.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of the squared errors of each class.
    loss : "squared" or "logistic", default "squared"
        The loss of the function that is trained at the end. "logistic" needs an approximation: on centres it is more
        accurate than "squared" where they are few for the classes, takes up to several times as long for the last step,
        and has ``predict_proba`` without calibration. Scales and centres are the same.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that learn their scales without them.
    kernels : kernel of a distance or list of them
        RBF(), Laplacian() (absolute differences, q = 1), Matern(), RationalQuadratic(), ExponentialPower(); their own
        widths do not matter. Several are learned with weights, and with scales each unless these are shared. By default
        Matern(nu=1.5).
    metric : "diagonal", "full" or int >= 1, default "diagonal"
        A scale for each feature; or k(x, z) = sum_r w_r f_r((x - z)'M_r (x - z)) with any positive semi-definite M, or
        with one of this rank: for targets that depend on sums and differences of features. Needs kernels of squared
        differences (not Laplacian), samples, and no groups.
    shared_scales : bool, default False
        Whether several kernels share the scales: their own widths matter then, and their sum is one function of the
        distance.
    groups : None or list of lists of features, default None
        Features that share a scale, by position or by data-frame name; all others have separate scales.
    penalty : None or float >= 0, default None
        One over the variance that the logarithms of the scales are expected to have: larger values keep the scales
        nearer to each other. It matters less the more samples there are; without it the scales may be fitted to the
        folds where samples are few. By default one of 1, 3, 10 and 30 is chosen, by the error on folds that took no
        part in learning the scales.
    approximation : None, "nystroem" or "auto", default None
        "nystroem" learns from many samples through few: scales on some thousands of them, then ridge regression by the
        kernels of ``rank`` of them, the centres, on all. It needs one kernel. "auto" does so for more than 4000
        samples, and where matrices of all would take half of the memory; None never.
    rank : int >= 1 or float in (0, 1), default 3000
        How many centres; or the error of the kernel matrix that is allowed, from which their number follows. More
        predict better: with 1000, 2000 and 4000 the last step takes about 1, 4 and 14 s for 40,000 samples.
    fit_intercept : bool, default True
        Whether the mean of the training targets is subtracted first and becomes the intercept.
    tol : float, default 1e-2
        Stationarity at which to stop: the change of the objective, to first order and relative to the held-out error,
        when one parameter is multiplied by e.
    max_iter : int, default 100
        The most quasi-Newton steps; where there are more than 500 samples, as many steps on a part of them come first.
    random_state : int, RandomState or None; default 0
        The seed of the folds, and of the samples on which the steps begin.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.

    Attributes
    ----------
    classes_ : array
    scales_ : array (p,), the scale of each feature in units of 1 / |feature|^q; (R, p) for R kernels
    relative_scales_ : array of the same shape, the scales times the mean of |x_j - z_j|^q over pairs of samples: how
        much a feature takes part, whatever its unit
    metric_ : array (c, c), M in units of 1 / feature^2, or (R, c, c); not set with metric="diagonal". Its scales_ are
        the diagonal, the largest entry of a feature that is several columns
    metric_features_ : int array (c,), the feature that each column of the metric comes from: a number is one column, a
        category one for each of its values and one for others, and numbers that may be missing have one more at the end
    weights_ : array (R,), of the kernels, with sum 1
    alpha_ : float, the ridge for these weights; with loss="logistic" the sum of the losses and alpha_ / 2 times the
        squared norm of each column's function is least
    kernel_ : the learned kernel, to be used elsewhere; not set for a bank of distances and for categories
    cv_loss_ : float, the mean squared error on the held-out samples, summed over targets. Scales were chosen by it, so
        that it is somewhat lower than the error on new samples. With centres it is the error on a fifth of the samples,
        in whole folds, by which only the ridge was chosen; for a source, the error on 10,000 rows. With loss="logistic"
        it and ``cv_loss_constant_`` are mean logistic losses
    centres_ : int array (M,), the training samples that are centres; not set, like the two below, without centres. A
        fit to a source keeps no other samples: it is 0 to M - 1, and dual_coef_ has a value for each centre
    approximation_error_ : array (1,), the relative error of the kernel matrix by the centres, estimated on 500 samples
    landmark_stationarity_ : float, the largest derivative of the error through landmarks, by which scales were learned
        from some thousands of samples, in a parameter; it is no stationarity for all samples
    penalty_ : float, the penalty given or chosen
    cv_loss_outer_ : float, the same of scales that were learned on other folds, by which the penalty was chosen; on
        three folds of at most 500 samples. With no more samples, what it exceeds ``cv_loss_`` by is overfitting of the
        folds. NaN where the penalty was given.
    cv_loss_equal_, cv_loss_constant_ : float, the same for the best of the equal scales tried, and for constants
    kernel_names_ : array (R,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (t,)
    objective_ : float, ``cv_loss_``
    stationarity_ : float, the largest derivative in a logarithm of a scale or a weight; zero at a stationary point
    duality_gap_ : float, with centres, in its place: of the ridge regression with the scales that were found
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``certificate_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from multikernel import LearnedScalesClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = LearnedScalesClassifier().fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95)
    True
    """

    kernels: Any = field(default=None, kw_only=False)
    metric: Literal["diagonal", "full"] | Count = "diagonal"
    shared_scales: bool = False
    groups: Groups | None = None
    cv: CrossValidation | Literal["loo"] = 5
    penalty: NonNegative | None = None
    approximation: Literal["nystroem", "auto"] | None = None
    rank: Rank = 3000
    fit_intercept: bool = True
    class_weight: ClassWeight = None
    loss: Loss = "squared"
    tol: Positive = 1e-2
    max_iter: Count = 100
    random_state: Seed = 0
    verbose: Verbosity = 0

    _method: ClassVar[Method] = replace(scales_method(_labels_of_signs, fit_scales), tasks=_signs_task)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn the scales, the kernel weights, the ridge and the function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); a square KernelBank of distances; or a source of
            ``multikernel.streams``, which holds the target, with approximation="nystroem" or "auto"
        y : labels of shape (n,)
        sample_weight : array (n,) >= 0, what the squared error of each sample is multiplied with
        groups : array (n,), the group of each sample: folds hold out whole groups. The parameter ``groups`` is of
            features
        """
        return fit_model(self, X, y, sample_weight, groups)
