"""Localised multiple kernel learning: kernel weights of each group of samples, with a duality gap."""

from __future__ import annotations

from dataclasses import dataclass

from multikernel.estimators.localized.base import LocalizedMKL
from multikernel.estimators.support.base import SupportClassifier, SupportRegressor


@dataclass(eq=False, repr=False, kw_only=True)
class LocalizedMKLClassifier(LocalizedMKL, SupportClassifier):
    """Kernel weights that differ between groups of samples, and a support vector classifier, learned together.

    With memberships h_j(x) >= 0 in groups j, which are known before, solves

        min over d >= 0, |d_j|_p <= 1 for every group j, of the value of a support vector machine with

        K(x, z) = sum_j h_j(x) h_j(z) sum_k d_jk k_k(x, z):

    max over a of sum a - 1/2 a'Y K Y a, 0 <= a <= C, y'a = 0. It is convex, and ``objective_`` is its value. The
    groups are clusters in the feature space of the mean of the kernels, each divided by its mean self-value, unless
    ``memberships`` tells others; a new sample belongs to the group whose centre is nearest there. Centres and clusters
    follow ``sample_weight``: a sample of weight 2 is like two samples.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        As in LpMKLClassifier; they are the same for all groups.
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
        Weight of the hinge losses; "auto" takes the value of least held-out error, which ``C_`` tells.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality y'a = 0.
    solver : {"auto", "block_norm", "projected_gradient"}, default "auto"
        "auto" is "block_norm", the update in closed form of Kloft and others in each group.
    random_state : int, RandomState or None
        Of the clusters.
    class_weight, multiclass, probability, tol, max_iter, n_jobs, checkpoint, time_budget, verbose : as in
        L1MKLClassifier
    approximation, rank : as in L1MKLClassifier
    cv : as in L1MKLClassifier

    Attributes
    ----------
    weights_ : array (groups * m,) or (problems, groups * m), group by group, as ``kernel_names_`` says
    cluster_weights_ : array (groups, m) or (problems, groups, m), the same
    memberships_ : array (n, groups), of the training samples
    n_clusters_ : int
    Others are those of L1MKLClassifier.

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


@dataclass(eq=False, repr=False, kw_only=True)
class LocalizedMKLRegressor(LocalizedMKL, SupportRegressor):
    """Kernel weights that differ between groups of samples, and support vector regression, learned together.

    The problem is that of LocalizedMKLClassifier with the epsilon-insensitive loss.

    Parameters
    ----------
    C, epsilon, fit_intercept : as in L1MKLRegressor
    kernels, n_clusters, memberships, temperature, p, random_state, solver, tol, max_iter, time_budget, verbose : as in
        LocalizedMKLClassifier
    approximation, rank : as in L1MKLClassifier
    cv : as in L1MKLRegressor

    Attributes
    ----------
    As those of LocalizedMKLClassifier, without ``classes_``.

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
