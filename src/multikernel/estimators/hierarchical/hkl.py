"""Hierarchical kernel learning: products of kernels selected from all subsets, simple ones before their products.

The bank holds the p base kernels. A fit learns a weight for each selected node of the lattice of their subsets, so the
number of weights and their names are known only after the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._parameters import Count, Part, Positive, Verbosity
from multikernel._rules import AnyOf, Nothing, Number, Rule, Vector, Whole
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.combinations.subset_products import SubsetProducts
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Binding, double_precision
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, PositiveOrAuto
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.search import Samples, Search, loss_weights, names_of
from multikernel.estimators.targets import binary_tasks
from multikernel.kernels import RBF, KernelFamily, per_feature
from multikernel.machines import HingeMachine, SupportMachine
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.observer import Observer
from multikernel.procedures import Weights
from multikernel.procedures.hkl import Grid, Listed, Node, NodeWeights, depths, hierarchical_mkl
from multikernel.procedures.hkl.lattice import in_order, names
from multikernel.procedures.ridge_program import RidgeSupport

# -- parameters --------------------------------------------------------------------------------------------------------


class Lists(Rule):
    """The numbers of the parents of each kernel."""

    words = "a list with the numbers of the parents of each kernel, such as [[], [0], [0, 1]]"

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, list | tuple) or not value:
            return False
        return all(isinstance(parents, list | tuple) and all(map(Whole(0).accepts, parents)) for parents in value)


@dataclass(frozen=True)
class Lengths(Rule):
    """How many kernels each chain has."""

    words = "a whole number >= 1, for chains that are equally long, or a list of such numbers"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, list | tuple):
            return all(map(Whole(1).accepts, value)) and len(value) > 0
        return Whole(1).accepts(value)


@dataclass(eq=False, repr=False, kw_only=True)
class HierarchicalModel(KernelEstimator):
    """The parameters of the classifier and of the regressor, and the lattice of a fitted model."""

    kernels: Any = field(default=None, kw_only=False)
    C: PositiveOrAuto = 1.0
    rho: Annotated[float, Number(above=1, most=2, why="2 is hierarchical kernel learning")] = 2.0
    beta: Positive = 2.0
    chains: Annotated[Any, AnyOf((Lengths(), Nothing()))] = None
    parents: Annotated[Any, AnyOf((Lists(), Nothing()))] = None
    # a cost is at least 1e-100, so that its inverse square is finite
    node_weights: Annotated[Any, AnyOf((Vector(least=1e-100), Nothing()))] = None
    tol: Part = 1e-3
    max_iter: Count = 100
    max_nodes: Count = 2000
    verbose: Verbosity = 0

    _bank_parameters: ClassVar[tuple[str, ...]] = (*KernelEstimator._bank_parameters, "chains", "parents")

    def kernel_keys(self) -> Sequence[Any]:
        """The selected products, small ones first: each fit selects its own."""
        return [(len(node), node) for node in self.nodes_]

    def plot_lattice(self, ax: Any = None) -> Any:
        """Draw the selected nodes, a column for each number of factors; needs matplotlib. Returns the axes.

        The area of a disc is the weight (the mean over the problems). Lines join a product to its factors' products.

        Parameters
        ----------
        ax : axes of matplotlib; new ones by default
        """
        from multikernel.estimators.hierarchical.lattice_plot import draw_lattice

        check_is_fitted(self)
        weights = np.atleast_2d(self.weights_).mean(axis=0)
        return draw_lattice(self.nodes_, weights, self.base_kernel_names_, ax)


def _check(model: HierarchicalModel) -> None:
    if model.parents is not None and model.chains is not None:
        raise ValueError(
            f"{type(model).__name__}: parents list a graph of single kernels, and chains make one of products: give "
            "one of the two"
        )
    if model.parents is not None:
        try:
            depths(model.parents)
        except ValueError as wrong:
            raise ValueError(f"{type(model).__name__}: {wrong}") from None
    elif model.node_weights is not None:
        raise ValueError(
            f"{type(model).__name__}: node_weights are those of a graph of your own; give its parents, or leave "
            "them out: products of kernels cost beta to the number of their factors"
        )


def _candidates(model: HierarchicalModel, name: str, samples: Samples) -> Array:
    return loss_weights(samples.size)


def _default_kernels(model: HierarchicalModel) -> KernelFamily:
    return per_feature(RBF(0.5))


def _finished(model: HierarchicalModel, bank: KernelBank, weight: Array | None) -> KernelBank:
    """Publish the names of the base kernels; those of the learned products are known after the fit."""
    kernel_names = model.kernel_names_
    if model.kernels is None and model._samples_bound is not None:  # a kernel for each feature has its name
        kernel_names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(len(bank))])
    model.base_kernel_names_ = np.array([str(name) for name in kernel_names], dtype=object)
    return bank


# -- learning ----------------------------------------------------------------------------------------------------------


def _learn(
    machine: Callable[[Any], SupportMachine],
    model: HierarchicalModel,
    bank: KernelBank,
    task: Task,
    earlier: Fitted | None,
    observe: Observer,
) -> Learned:
    return hierarchical_mkl(
        bank,
        machine(model),
        task.target,
        model.rho,
        model.beta,
        model.max_iter,
        model.max_nodes,
        _nodes(earlier.weights) if earlier is not None else (),
        task.sample_weight,
        observe,
        _graph(model, len(bank)),
    )


def _graph(model: HierarchicalModel, m: int) -> Listed | Grid | None:
    """The graph of the m kernels that the user listed, or that of chains; None for the lattice of all products."""
    if model.chains is not None:
        return Grid(_lengths(model, m), model.beta)
    if model.parents is None:
        return None
    for name, entries in (("parents", model.parents), ("node_weights", model.node_weights)):
        if entries is not None and len(entries) != m:
            raise ValueError(
                f"{type(model).__name__}: {name} has {len(entries)} entries for {m} kernels; it needs one for each"
            )
    listed = tuple(tuple(int(parent) for parent in parents_of_kernel) for parents_of_kernel in model.parents)
    if model.node_weights is None:
        costs = model.beta ** depths(listed)
    else:
        costs = np.asarray(model.node_weights, dtype=float)
    return Listed(listed, costs)


def _lengths(model: HierarchicalModel, m: int) -> tuple[int, ...]:
    """How many of the m kernels are on each chain."""
    if np.ndim(model.chains):
        lengths = tuple(map(int, model.chains))
    else:
        lengths = (int(model.chains),) * (m // int(model.chains))
    if sum(lengths) != m:
        raise ValueError(
            f"{type(model).__name__}: chains={model.chains!r} does not divide {m} kernels: the lengths of the chains "
            "have to sum to the number of kernels"
        )
    return lengths


# -- after fitting -----------------------------------------------------------------------------------------------------


def _with_all_nodes(model: HierarchicalModel, bank: KernelBank, fitted: Sequence[Fitted]) -> list[Fitted]:
    """Solutions whose weights are over the union of the nodes that the problems selected."""
    model.nodes_ = tuple(in_order({node for f in fitted for node in _nodes(f.weights)}))
    position = {node: k for k, node in enumerate(model.nodes_)}
    solutions = []
    for f in fitted:
        values = np.zeros(len(position))
        values[[position[node] for node in _nodes(f.weights)]] = f.weights.values
        solutions.append(replace(f, weights=replace(f.weights, values=values)))
    base = getattr(model, "base_kernel_names_", [f"kernel {k}" for k in range(len(bank))])
    model.kernel_names_ = np.array(names(model.nodes_, base), dtype=object)
    model.n_nodes_searched_ = max(cast(NodeWeights, f.weights).hull for f in fitted)
    return solutions


def _combination(model: HierarchicalModel) -> SubsetProducts:
    return SubsetProducts(model.nodes_)


def _nodes(weights: Weights) -> tuple[Node, ...]:
    return cast(NodeWeights, weights).nodes


def hierarchical_method(machine: Callable[[Any], SupportMachine]) -> Method:
    """The method of an estimator with this machine."""
    return Method(
        learn=partial(_learn, machine),
        binding=Binding(default_kernels=_default_kernels, finished=_finished, precision=double_precision, reach=10.0),
        search=Search(names=names_of("C"), candidates=_candidates),
        combination=_combination,
        before_publishing=_with_all_nodes,
        check=_check,
    )


# -- classes -----------------------------------------------------------------------------------------------------------


def _hinge(model: HierarchicalModel) -> SupportMachine:
    return HingeMachine(C=model.C, tol=model.tol)


@dataclass(eq=False, repr=False, kw_only=True)
class HKLClassifier(HierarchicalModel, BinaryClassifier):
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
        Weight of the hinge losses; "auto" takes the value of least held-out error, published as ``C_``.
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
        The most products that are evaluated individually; each takes 4 n (n + 1) bytes while fitting.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of C for the samples of each class, as in scikit-learn.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank, and each learns separate weights.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    n_jobs : int or None, default None
        Threads over the binary problems.
    checkpoint : str, path or None, default None
        A directory where solved binary problems are saved: after a fit was killed, the same fit resumes from them.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto", and those that probabilities are calibrated on: a number of folds with their
        share of each class, three and five by default, or your own folds. With groups in ``fit`` they hold out whole
        groups.

    Attributes
    ----------
    nodes_ : tuple of tuples of int, the selected products by the numbers of their kernels; () is the constant
    weights_ : array (len(nodes_),), or (problems, len(nodes_)) with more than two classes
    kernel_names_ : array (len(nodes_),), names of the products
    base_kernel_names_ : array (p,)
    n_nodes_searched_ : int, how many products were evaluated individually
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k the weighted sum
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,), the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float or array (problems,), a lower bound of the optimum
    duality_gap_ : float, the largest relative gap of ``objective_`` over the problems
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
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

    class_weight: ClassWeight = None

    _method: ClassVar[Method] = replace(hierarchical_method(_hinge), tasks=binary_tasks)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _squares(model: HierarchicalModel) -> SupportMachine:
    return RidgeSupport(alpha=0.5 / model.C, scale=1.0, tol=model.tol)


def _ridge(model: HierarchicalModel, fitted: Fitted) -> float:
    return 0.5 / float(fitted.numbers.get("C", model.C))


def _learn_numbers(
    model: HierarchicalModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer
) -> Learned:
    """Solve the problem of the centred target; the intercept is its mean."""
    targets = CentredTargets.of(task.target, True, task.sample_weight)
    weights, dual = _learn(_squares, model, bank, replace(task, target=targets.target), earlier, observe)
    return weights, replace(dual, intercept=targets.intercept)


@dataclass(eq=False, repr=False, kw_only=True)
class HKLRegressor(HierarchicalModel, RidgeRegressor):
    """Products of kernels selected by hierarchical kernel learning, with least squares.

    Solves min over f of 1/2 Omega(f)^2 + C sum_i (y_i - f(x_i) - b)^2 over all 2^p products of the p kernels, with b
    the (weighted) mean of y and Omega as in HKLClassifier.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        The p kernels whose products are searched; by default a Gaussian on each feature.
    C : float > 0 or "auto", default 1.0
        Weight of the squared errors; "auto" takes the value of least held-out error, published as ``C_``.
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
        The most products that are evaluated individually; each takes 4 n (n + 1) bytes while fitting.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    nodes_ : tuple of tuples of int, the selected products by the numbers of their kernels; () is the constant
    weights_ : array (len(nodes_),)
    kernel_names_ : array (len(nodes_),), names of the products
    base_kernel_names_ : array (p,)
    n_nodes_searched_ : int, how many products were evaluated individually
    dual_coef_ : array (n,); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k the weighted sum
    intercept_ : float
    objective_ : float, the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float, a lower bound of the optimum
    duality_gap_ : float, the relative gap of ``objective_``
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap after each round of the search

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

    _method: ClassVar[Method] = replace(hierarchical_method(_squares), learn=_learn_numbers, ridge=_ridge)
