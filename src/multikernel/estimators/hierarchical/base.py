"""What the classifier and the regressor of hierarchical kernel learning share: products of kernels as learned kernels.

The bank holds the p base kernels. What is learned has a weight for each selected node of the lattice of their subsets,
so the names and the number of the weights are known after the fit only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._parameters import Count, Part, Positive, Verbosity
from multikernel._rules import AnyOf, Nothing, Number, Rule, Vector, Whole
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.combinations.subset_products import SubsetProducts
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.chosen import Samples, loss_weights
from multikernel.estimators.parameters import PositiveOrAuto
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.kernels import RBF, KernelFamily, per_feature
from multikernel.machines import SupportMachine
from multikernel.observer import Observer
from multikernel.procedures import Weights
from multikernel.procedures.hkl import Grid, Listed, Node, NodeWeights, depths, hierarchical_mkl
from multikernel.procedures.hkl.lattice import in_order, names

_TINY = 1e-100  # the least cost of a node


@dataclass(frozen=True)
class Lists(Rule):
    """The numbers of the parents of each kernel."""

    words = "a list with the numbers of the parents of each kernel, such as [[], [0], [0, 1]]"

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, list | tuple) or not value:
            return False
        return all(isinstance(own, list | tuple) and all(map(Whole(0).accepts, own)) for own in value)


@dataclass(frozen=True)
class Lengths(Rule):
    """How many kernels each chain has."""

    words = "a whole number >= 1, for chains that are equally long, or a list of such numbers"

    def accepts(self, value: Any) -> bool:
        return (
            all(map(Whole(1).accepts, value)) and len(value) > 0
            if isinstance(value, list | tuple)
            else Whole(1).accepts(value)
        )


@dataclass(eq=False, repr=False, kw_only=True)
class HierarchicalKernelLearning(KernelEstimator):
    """Nodes of the lattice and a predictor on their products."""

    _reach: ClassVar[float] = 10.0  # its Gaussians have one width

    kernels: Any = field(default=None, kw_only=False)
    C: PositiveOrAuto = 1.0
    rho: Annotated[float, Number(above=1, most=2, why="2 is hierarchical kernel learning")] = 2.0
    beta: Positive = 2.0
    chains: Annotated[Any, AnyOf((Lengths(), Nothing()))] = None
    parents: Annotated[Any, AnyOf((Lists(), Nothing()))] = None
    node_weights: Annotated[Any, AnyOf((Vector(least=_TINY), Nothing()))] = None
    tol: Part = 1e-3
    max_iter: Count = 100
    max_nodes: Count = 2000
    verbose: Verbosity = 0

    @abstractmethod
    def _machine(self) -> SupportMachine:
        """The loss, with the gap to reach."""

    def _regularises(self) -> tuple[str, ...]:
        return ("C",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        return loss_weights(whole.size)

    def _precision(self, m: int, n: int) -> Any:
        """Double: a search works on copies of the kernels in double precision anyway."""
        return np.float64

    def _default_kernels(self) -> KernelFamily:
        return per_feature(RBF(0.5))

    def bind(self, X: Any, y: Any = None) -> tuple[KernelBank, Array]:
        bank, y = super().bind(X, y)
        known = self.kernel_names_
        if self.kernels is None and not self._is_given(X):  # a kernel for each feature: its name says it all
            known = getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(bank))])
        self.base_kernel_names_ = np.array([str(name) for name in known], dtype=object)
        return bank, y

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.parents is not None and self.chains is not None:
            raise ValueError(
                f"{type(self).__name__}: parents list a graph of single kernels, and chains make one of products: give "
                "one of the two"
            )
        if self.parents is not None:
            try:
                depths(self.parents)
            except ValueError as wrong:
                raise ValueError(f"{type(self).__name__}: {wrong}") from None
        elif self.node_weights is not None:
            raise ValueError(
                f"{type(self).__name__}: node_weights are those of a graph of your own; give its parents, or leave "
                "them out: products of kernels cost beta to the number of their factors"
            )

    # -- learning ------------------------------------------------------------------------------------------------------

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        return hierarchical_mkl(
            bank,
            self._machine(),
            task.target,
            self.rho,
            self.beta,
            self.max_iter,
            self.max_nodes,
            _nodes(warm.weights) if warm is not None else (),
            task.sample_weight,
            observe,
            self._graph(len(bank)),
        )

    def _graph(self, m: int) -> Listed | Grid | None:
        """The graph of the m kernels that the user listed, or of chains; None for that of all their products."""
        if self.chains is not None:
            return Grid(self._lengths(m), self.beta)
        if self.parents is None:
            return None
        for name, given in (("parents", self.parents), ("node_weights", self.node_weights)):
            if given is not None and len(given) != m:
                raise ValueError(
                    f"{type(self).__name__}: {name} has {len(given)} entries for {m} kernels; it needs one for each"
                )
        listed = tuple(tuple(int(parent) for parent in own) for own in self.parents)
        costs = self.beta ** depths(listed) if self.node_weights is None else np.asarray(self.node_weights, dtype=float)
        return Listed(listed, costs)

    def _lengths(self, m: int) -> tuple[int, ...]:
        """How many of the m kernels are on each chain."""
        if np.ndim(self.chains):
            lengths = tuple(map(int, self.chains))
        else:
            lengths = (int(self.chains),) * (m // int(self.chains))
        if sum(lengths) != m:
            raise ValueError(
                f"{type(self).__name__}: chains={self.chains!r} does not part {m} kernels: the lengths of the chains "
                "have to sum to the number of kernels"
            )
        return lengths

    def publish(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        """Every problem has nodes of its own: the weights are over the nodes of any."""
        self.nodes_: tuple[Node, ...] = tuple(in_order({node for f in fitted for node in _nodes(f.weights)}))
        place = {node: k for k, node in enumerate(self.nodes_)}
        spread = []
        for f in fitted:
            values = np.zeros(len(place))
            values[[place[node] for node in _nodes(f.weights)]] = f.weights.values
            spread.append(replace(f, weights=replace(f.weights, values=values)))
        base = getattr(self, "base_kernel_names_", [f"kernel {k}" for k in range(len(bank))])
        self.kernel_names_ = np.array(names(self.nodes_, base), dtype=object)
        self.n_nodes_searched_ = max(cast(NodeWeights, f.weights).hull for f in fitted)
        super().publish(bank, spread, single)

    def kernel_keys(self) -> Sequence[Any]:
        """The selected products, small ones first: each fit selects its own."""
        return [(len(node), node) for node in self.nodes_]

    def _combination(self) -> SubsetProducts:
        return SubsetProducts(self.nodes_)

    def plot_lattice(self, ax: Any = None) -> Any:
        """The selected nodes drawn by how many factors they have; needs matplotlib. Returns the axes.

        A disc's area is the weight (their mean over the problems), a line joins a product to those of one factor less.

        Parameters
        ----------
        ax : axes of matplotlib; new ones by default
        """
        from multikernel.estimators.hierarchical.lattice_plot import draw_lattice

        check_is_fitted(self)
        weights = np.atleast_2d(self.weights_).mean(axis=0)
        return draw_lattice(self.nodes_, weights, self.base_kernel_names_, ax)


def _nodes(weights: Weights) -> tuple[Node, ...]:
    return cast(NodeWeights, weights).nodes
