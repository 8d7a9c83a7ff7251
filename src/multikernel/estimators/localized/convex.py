"""Localised multiple kernel learning: kernel weights of each group of samples, with a duality gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from multikernel._memory import check_memory
from multikernel._parameters import Count, NonNegative, Part, Seed, Verbosity
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.indexed import IndexedBank
from multikernel.banks.localized import LocalizedBank
from multikernel.banks.memberships import Memberships, NearestCentre, OfFunction, as_memberships, evaluated
from multikernel.banks.rows import BankRows
from multikernel.domains import Domain, NormBall, Product
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import is_given, kernels_against
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, NonNegativeOrAuto, PositiveOrAuto, drawn_seed
from multikernel.estimators.regressor import KernelRegressor
from multikernel.estimators.samples import samples_of
from multikernel.estimators.support.lp import SOLVERS
from multikernel.estimators.support.method import (
    SupportMKL,
    classifier_method,
    epsilon_machine,
    hinge_machine,
    regressor_method,
)
from multikernel.optimizers import BlockNorm, Optimizer
from multikernel.procedures.kernel_k_means import kernel_k_means, shares_of

# -- groups ------------------------------------------------------------------------------------------------------------


def _name_of(group: int, kernel: Any) -> str:
    """The name of a kernel of a group."""
    return f"group {group}: {kernel}"


def _groups(bank: Any) -> int:
    """The number of groups of a localised bank, which may be inside other banks."""
    while not isinstance(bank, LocalizedBank):
        bank = bank.parent if isinstance(bank, IndexedBank) else bank.bank
    return len(bank.left)


def _is_rule(memberships: Any) -> bool:
    """Whether memberships are a function of the samples, or a clustering that is to be fitted."""
    return callable(memberships) or hasattr(memberships, "predict")


def _check(model: LocalizedModel) -> None:
    memberships = model.memberships
    if memberships is not None and not _is_rule(memberships) and np.ndim(memberships) == 0:
        raise ValueError(
            f"{type(model).__name__}: memberships must be an array, a function of the samples or a clustering with "
            f"fit and predict, got {memberships!r}"
        )


def _grouped(
    model: LocalizedModel, bank: KernelBank, names: Sequence[Any], weight: Array | None = None
) -> LocalizedBank:
    """The bank of the kernels of all groups; sets the fitted attributes that describe the groups."""
    try:
        h, rule = _groups_of(model, bank, np.ones(bank.shape[0]) if weight is None else weight)
    except ValueError as error:
        raise ValueError(f"{type(model).__name__}: {error}") from None
    model.n_clusters_ = h.shape[1]
    model.memberships_ = h
    model.kernel_names_ = np.array([_name_of(j, name) for j in range(h.shape[1]) for name in names], dtype=object)
    return LocalizedBank.of(bank, h, rule)


def _groups_of(model: LocalizedModel, bank: KernelBank, weight: Array) -> tuple[Array, Memberships]:
    """Memberships of the training samples, and the rule for new samples."""
    memberships, n = model.memberships, bank.shape[0]
    if memberships is not None and _is_rule(memberships):
        samples = model._samples_bound
        if samples is None:
            raise ValueError(
                "memberships by a function or a clustering need samples, and there are kernel matrices only: leave "
                "memberships out, or give them as an array"
            )
        rule = clone(memberships).fit(samples) if hasattr(memberships, "predict") else memberships
        h = as_memberships(evaluated(rule, samples), n)
        return h, OfFunction(rule, h.shape[1])
    sizes = np.average(bank.diagonal(), axis=1, weights=weight)
    weights = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0.0) / len(sizes)
    if memberships is not None:
        return (h := as_memberships(memberships, n)), _nearest(model, bank, weights, h * weight[:, None])
    check_memory(float(n) * n, f"the matrix that {n} samples are clustered by", "give memberships as a function")
    generator = np.random.default_rng(drawn_seed(model.random_state))
    count = min(int(model.n_clusters), int(np.count_nonzero(weight)))
    labels = kernel_k_means(bank.combine(weights).dense(), count, generator, weight=weight)
    nearest = _nearest(model, bank, weights, np.eye(count)[labels] * weight[:, None])
    return nearest.near(bank), nearest


def _nearest(model: LocalizedModel, bank: KernelBank, weights: Array, h: Array) -> NearestCentre:
    """The rule by which new samples belong to the groups with the nearest centres."""
    shares = shares_of(h)
    inner = bank.combine(weights).multiply(np.ascontiguousarray(shares))
    return NearestCentre(bank.reference(), weights, shares, (shares * inner).sum(axis=0), model.temperature)


def _finished(model: LocalizedModel, bank: KernelBank, weight: Array | None) -> KernelBank:
    """The bank of all groups; clusters and centres follow the sample weights, weight 2 counting like two samples."""
    return _grouped(model, bank, model.kernel_names_, weight)


def _sketched(model: LocalizedModel, bank: KernelBank, weight: Array | None) -> KernelBank:
    """A bank for forecasts: groups of equal size replace clusters, which would take the matrix of all samples."""
    if model.memberships is not None:
        return _finished(model, bank, weight)
    groups = min(int(model.n_clusters), bank.shape[0])
    h = np.eye(groups)[np.arange(bank.shape[0]) % groups]
    return LocalizedBank.of(bank, h, OfFunction(None, groups))  # never evaluated: a forecast has no new samples


def _against(model: LocalizedModel, Z: Any) -> KernelBank:
    bank, rule = kernels_against(model, Z), _rule(model)
    h = np.ascontiguousarray(rule.of(Z).T)
    return LocalizedBank(bank, h[:, : bank.shape[0]], h, rule, np.arange(len(h) * len(bank)))


def _of_new(model: LocalizedModel, X: Any) -> Any:
    """Kernels of new samples against the training samples become kernels of the groups."""
    if isinstance(X, BankRows):
        X = X.bank.block(X.rows, slice(None) if model._rows is None else model._rows)
    if isinstance(X, KernelBank) and not isinstance(X, LocalizedBank):
        return _localised(model, X)
    return X


def _localised(model: LocalizedModel, bank: KernelBank) -> LocalizedBank:
    """The kernels of the groups, from kernels between new samples and the training samples."""
    rule, h = _rule(model), np.ascontiguousarray(model.memberships_.T)
    if not isinstance(rule, NearestCentre):
        raise ValueError(f"{type(model).__name__}: memberships by a function need samples, not kernel matrices")
    m = len(rule.weights)
    if bank.shape[1] != h.shape[1] or len(bank) != m:
        raise ValueError(
            f"a bank of new samples must hold {m} kernels against the {h.shape[1]} training samples, "
            f"got {len(bank)} kernels against {bank.shape[1]}"
        )
    left = np.ascontiguousarray(rule.near(bank).T)
    return LocalizedBank(bank, left, h, rule, np.arange(len(h) * len(bank)))


def _rule(model: LocalizedModel) -> Memberships:
    predictor: Any = model.predictor_
    rule: Memberships = predictor.reference.rule
    return rule


# -- learning ----------------------------------------------------------------------------------------------------------


def _domain(model: LocalizedModel, bank: Any) -> Domain:
    """A ball for the weights of each group; a ``BankCost`` has no groups and is treated as a single one."""
    if isinstance(bank, BankCost):
        groups, m = (1, 1)
    else:
        groups, m = (_groups(bank), len(bank) // _groups(bank))
    return Product.copies(NormBall(norm=model.p), groups, m)


def _sizes(model: LocalizedModel, bank: KernelBank) -> KernelBank | None:
    """The user's kernels, whose sizes are compared; the kernels of a small group are small without harm."""
    if isinstance(bank, LocalizedBank):
        return bank.whole
    return bank


@dataclass(eq=False, repr=False, kw_only=True)
class LocalizedModel(KernelEstimator):
    """The parameters of the classifier and of the regressor, and the groups of a fitted model."""

    kernels: Any = field(default=None, kw_only=False)
    n_clusters: Count = 2
    memberships: Any = None
    temperature: NonNegative = 0.0
    p: Annotated[float, Number(least=1, why="below 1 the problem is not convex")] = 2.0
    fit_intercept: bool = True
    random_state: Seed = None
    solver: Literal["auto", "block_norm", "projected_gradient"] = "auto"
    tol: Part = 1e-4
    max_iter: Count = 1000
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _bank_parameters: ClassVar[tuple[str, ...]] = (
        *KernelEstimator._bank_parameters,
        *("n_clusters", "memberships", "temperature"),
    )

    @property
    def cluster_weights_(self) -> Array:
        """The weights by group: shape (groups, m), or (problems, groups, m)."""
        check_is_fitted(self)
        predictor: Any = self.predictor_
        return self.weights_.reshape(*self.weights_.shape[:-1], _groups(predictor.reference), -1)

    def membership(self, X: Any) -> Array:
        """How much samples belong to each group, shape (len(X), groups).

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        check_is_fitted(self)
        return _rule(self).of(X if is_given(self, X) else samples_of(self, X))


_SOLVERS: Mapping[str, type[Optimizer]] = {"auto": BlockNorm, **SOLVERS}


def localized(method: Method) -> Method:
    """The method on the kernels of all groups."""
    binding = replace(method.binding, finished=_finished, sketched=_sketched, of_new=_of_new, against=_against)
    return replace(method, binding=binding, check=_check, sizes=_sizes)


@dataclass(eq=False, repr=False, kw_only=True)
class LocalizedMKLClassifier(LocalizedModel, BinaryClassifier):
    """Kernel weights that differ between groups of samples, and a support vector classifier, learned together.

    With memberships h_j(x) >= 0 in groups j, which are known before, solves

        min over d >= 0, |d_j|_p <= 1 for every group j, of the value of a support vector machine with

        K(x, z) = sum_j h_j(x) h_j(z) sum_k d_jk k_k(x, z):

    max over a of sum a - 1/2 a'Y K Y a, 0 <= a <= C, y'a = 0. It is convex, and ``objective_`` is its value. The
    groups are clusters in the feature space of the mean of the kernels, each divided by its mean self-value, unless
    ``memberships`` gives others; a new sample belongs to the group whose centre is nearest there. Centres and clusters
    follow ``sample_weight``: a sample of weight 2 is like two samples.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        The same kernels for all groups. By default polynomials of degrees 1 to 3, normalised, and seven Gaussians, of
        the gamma of ``SVC()``, 1 / (p v) with v the variance of all entries of the p features, and of its halves down
        to the 64th part.
    n_clusters : int, default 2
        How many clusters are made; with 1 this is LpMKLClassifier.
    memberships : None, array (n,) or (n, groups), function, or clustering, default None
        None makes clusters. An array has the group 0, 1, .. of each training sample or its memberships, and new
        samples belong to the nearest centre of these. A function of the samples returns either, and so does the
        ``predict_proba`` or ``predict`` of a clustering of scikit-learn, which is fitted to the training samples.
    temperature : float >= 0, default 0.0
        0 makes every sample a member of the nearest cluster only; else the memberships are proportional to
        exp(-|phi(x) - c_j|^2 / temperature), of distances that are of the order of 1.
    p : finite float >= 1, default 2.0
        The norm of each group's ball; 1 selects few kernels in each group.
    C : float > 0 or "auto", default 1.0
        Weight of the hinge losses; "auto" takes the value of least held-out error, published as ``C_``.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality y'a = 0.
    solver : {"auto", "block_norm", "projected_gradient"}, default "auto"
        "auto" is "block_norm", the update in closed form of Kloft and others in each group.
    random_state : int, RandomState or None
        The seed of the clusters.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of C for the samples of each class, as in scikit-learn.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank, and each learns separate weights.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Support vector machines solved at most.
    n_jobs : int or None, default None
        Threads over the binary problems of "ovo"; those of "ovr" run together, each pass made once for all of them.
    checkpoint : str, path or None, default None
        A directory where solved binary problems are saved: after a fit was killed, the same fit resumes from them.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto", and those that probabilities are calibrated on: a number of folds with their
        share of each class, three and five by default, or your own folds. With groups in ``fit`` they hold out whole
        groups.

    Attributes
    ----------
    weights_ : array (groups * m,) or (problems, groups * m), group by group, as ``kernel_names_`` says
    cluster_weights_ : array (groups, m) or (problems, groups, m), the same
    memberships_ : array (n, groups), of the training samples
    n_clusters_ : int
    kernel_names_ : array (groups * m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,), the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float or array (problems,), a lower bound of the optimum
    duality_gap_ : float, the largest relative gap of ``objective_`` over the problems
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way of each problem

    References
    ----------
    Lei, Binder, Dogan and Kloft (2016), Localized multiple kernel learning: a convex approach, ACML.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import LocalizedMKLClassifier, kernels
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.where(X[:, 0] > 0, X[:, 1], X[:, 2]) > 0  # another feature matters on either side
    >>> family = kernels.per_feature(kernels.Linear())
    >>> def side(X):
    ...     return X[:, 0] > 0
    >>> model = LocalizedMKLClassifier(family, memberships=side, p=1.0, C=10.0).fit(X, y)
    >>> model.cluster_weights_.argmax(axis=1)
    array([2, 1])
    """

    C: PositiveOrAuto = 1.0
    class_weight: ClassWeight = None

    _method: ClassVar[Method] = localized(classifier_method(SupportMKL(_domain, hinge_machine, _SOLVERS)))


@dataclass(eq=False, repr=False, kw_only=True)
class LocalizedMKLRegressor(LocalizedModel, KernelRegressor):
    """Kernel weights that differ between groups of samples, and support vector regression, learned together.

    The problem is that of LocalizedMKLClassifier with the epsilon-insensitive loss.

    Parameters
    ----------
    C : float > 0 or "auto", default "auto"
        Weight of the losses, in units of the target: scale C with it. "auto" takes the value of least held-out error,
        published as ``C_``.
    epsilon : float >= 0 or "auto", default "auto"
        Half-width of the tube in which residuals cost nothing, in units of the target; "auto" is a tenth of its
        standard deviation, published as ``epsilon_``.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality sum b = 0.
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        The same kernels for all groups. By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on
        all features, normalised.
    n_clusters : int, default 2
        How many clusters are made; with 1 this is LpMKLRegressor.
    memberships : None, array (n,) or (n, groups), function, or clustering, default None
        None makes clusters. An array has the group 0, 1, .. of each training sample or its memberships, and new
        samples belong to the nearest centre of these. A function of the samples returns either, and so does the
        ``predict_proba`` or ``predict`` of a clustering of scikit-learn, which is fitted to the training samples.
    temperature : float >= 0, default 0.0
        0 makes every sample a member of the nearest cluster only; else the memberships are proportional to
        exp(-|phi(x) - c_j|^2 / temperature), of distances that are of the order of 1.
    p : finite float >= 1, default 2.0
        The norm of each group's ball; 1 selects few kernels in each group.
    random_state : int, RandomState or None
        The seed of the clusters.
    solver : {"auto", "block_norm", "projected_gradient"}, default "auto"
        "auto" is "block_norm", the update in closed form of Kloft and others in each group.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Support vector machines solved at most.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    weights_ : array (groups * m,), group by group, as ``kernel_names_`` says
    cluster_weights_ : array (groups, m), the same
    memberships_ : array (n, groups), of the training samples
    n_clusters_ : int
    kernel_names_ : array (groups * m,)
    dual_coef_ : array (n,); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float
    objective_ : float, the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float, a lower bound of the optimum
    duality_gap_ : float, the relative gap of ``objective_``
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import LocalizedMKLRegressor, kernels
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(150, 2))
    >>> y = np.where(X[:, 0] > 0, np.sin(9.0 * X[:, 1]), X[:, 1])
    >>> family = [kernels.RBF(9.0).on([1]), kernels.Linear().on([1])]
    >>> model = LocalizedMKLRegressor(family, memberships=lambda X: X[:, 0] > 0, C=10.0, epsilon=0.05).fit(X, y)
    >>> model.cluster_weights_.argmax(axis=1)
    array([1, 0])
    """

    C: PositiveOrAuto = "auto"
    epsilon: NonNegativeOrAuto = "auto"

    _method: ClassVar[Method] = localized(regressor_method(SupportMKL(_domain, epsilon_machine, _SOLVERS)))
