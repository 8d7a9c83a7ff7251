"""Hierarchical kernel learning: products of kernels selected from all subsets, simple ones before their products."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel.banks import KernelBank
from multikernel.estimators.classifier import WeightedClassifier
from multikernel.estimators.hierarchical.base import HierarchicalKernelLearning
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.regressor import WeightedRegressor
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.machines import HingeMachine, SupportMachine
from multikernel.observer import Observer
from multikernel.procedures.ridge_program import RidgeSupport


@dataclass(eq=False, repr=False, kw_only=True)
class HKLClassifier(HierarchicalKernelLearning, WeightedClassifier):
    """Products of kernels selected by hierarchical kernel learning, with a support vector machine.

    Solves min over f = sum_w f_w and b of 1/2 Omega(f)^2 + C sum_i max(0, 1 - y_i (f(x_i) + b)) over all 2^p subsets w
    of the p kernels, f_w in the space of the product of the kernels in w, with

        Omega(f) = sum_v beta^|v| (sum over w that contain v of |f_w|^rho)^(1/rho).

    A product can be selected only where all products of fewer of its factors are, so the model reads as interactions:
    first single kernels, then pairs, and so on. The subsets are never enumerated; ``duality_gap_`` bounds how far the
    value is from the optimum over all of them. A Gaussian of width gamma on each feature, the default, expects features
    of about unit variance.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        The p kernels whose products are searched, best with k(x, x) about 1; by default a Gaussian on each feature.
    C : float > 0 or "auto", default 1.0
        Weight of the hinge losses; "auto" takes the value of least held-out error, which ``C_`` tells.
    rho : float in (1, 2], default 2.0
        2 is hierarchical kernel learning (Bach 2009). Smaller values, its generalisation, select fewer kernels among
        those that the hierarchy allows.
    beta : float > 0, default 2.0
        How much more a product costs for each further factor. With many kernels (p beyond 20) a larger value keeps
        the search short.
    chains : None, int or list of int, default None
        How many of the kernels, in their order, are on each variable's chain, from simple to complex; a number where
        all chains are equally long. The products then have at most one kernel of each chain, and one can be selected
        only where those with a simpler kernel on any chain, or none, are. A product costs beta for each step of its
        kernels along their chains. All prod_i (length_i + 1) products are searched, and never listed.
    parents : None or list of lists, default None
        A graph of your own in place of the products: for each kernel the numbers of those that have to be selected
        before it may be; none for a kernel that may come first. ``kernels.chains`` and ``kernels.grid`` make some. What
        is learned is then the weights of the kernels themselves.
    node_weights : None or array (m,) > 0, default None
        With parents, what each kernel costs; by default beta to the length of the longest way to it.
    tol : float, default 1e-3
        Relative duality gap, over all 2^p products, at which to stop.
    max_iter : int, default 100
        Rounds of the search at most.
    max_nodes : int, default 2000
        Products that are looked at one by one at most; each takes 4 n (n + 1) bytes while fitting.
    class_weight, multiclass, probability, n_jobs, checkpoint, time_budget, verbose : as in L1MKLClassifier
    cv : as in L1MKLClassifier

    Attributes
    ----------
    nodes_ : tuple of tuples of int, the selected products by the numbers of their kernels; () is the constant
    weights_ : array (len(nodes_),), or (problems, len(nodes_)) with more than two classes
    kernel_names_ : array (len(nodes_),), names of the products
    base_kernel_names_ : array (p,)
    n_nodes_searched_ : int, how many products were looked at one by one
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k the weighted sum
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,), the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float or array (problems,), a value that the optimum is not below
    duality_gap_ : float, the largest relative gap of ``objective_`` over the problems
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap after each round of the search, of each problem

    References
    ----------
    Bach (2009), Exploring large feature spaces with hierarchical multiple kernel learning, NIPS 21.
    Jawanpuria, Nath and Ramakrishnan (2015), Generalized hierarchical kernel learning, JMLR 16.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import HKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = HKLClassifier(C=10).fit(X, y)
    >>> (0, 1) in model.nodes_, bool(model.duality_gap_ < 1e-3)
    (True, True)
    """

    def _machine(self) -> SupportMachine:
        return HingeMachine(C=self.C, tol=self.tol)


@dataclass(eq=False, repr=False, kw_only=True)
class HKLRegressor(HierarchicalKernelLearning, RidgeRegressor, WeightedRegressor):
    """Products of kernels selected by hierarchical kernel learning, with least squares.

    Solves min over f of 1/2 Omega(f)^2 + C sum_i (y_i - f(x_i) - b)^2 over all 2^p products of the p kernels, with b
    the (weighted) mean of y and Omega as in HKLClassifier.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        The p kernels whose products are searched; by default a Gaussian on each feature.
    C : float > 0 or "auto", default 1.0
        Weight of the squared errors.
    rho, beta, chains, parents, node_weights, tol, max_iter, max_nodes, time_budget, verbose : as in HKLClassifier
    cv : as in L1MKLRegressor

    Attributes
    ----------
    As those of HKLClassifier, without ``classes_``.

    References
    ----------
    Bach (2009), Exploring large feature spaces with hierarchical multiple kernel learning, NIPS 21.
    Jawanpuria, Nath and Ramakrishnan (2015), Generalized hierarchical kernel learning, JMLR 16.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import HKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(150, 5))
    >>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    >>> model = HKLRegressor(C=100).fit(X, y)
    >>> (1, 2) in model.nodes_, (0, 3) in model.nodes_, bool(model.score(X, y) > 0.9)
    (True, False, True)
    """

    def _machine(self) -> SupportMachine:
        return RidgeSupport(alpha=0.5 / self.C, scale=1.0, tol=self.tol)

    def _ridge(self, fitted: Fitted) -> float:
        return 0.5 / float(fitted.numbers.get("C", self.C))

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        mean = float(np.average(task.target, weights=task.sample_weight))
        weights, dual = super()._learn(bank, replace(task, target=task.target - mean), warm, observe)
        return weights, replace(dual, intercept=mean)
