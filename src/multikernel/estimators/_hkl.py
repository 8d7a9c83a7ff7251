"""What the classifier and the regressor of hierarchical kernel learning share: products of kernels as learned kernels.

The bank holds the p base kernels. What is learned has a weight for each selected node of the lattice of their subsets,
so the names and the number of the weights are known after the fit only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.combinations.subset_products import SubsetProducts
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.kernels import RBF, KernelFamily, per_feature
from multikernel.machines import DualSolution, SupportMachine
from multikernel.procedures import Weights
from multikernel.procedures.hkl import Node, NodeWeights, hierarchical_mkl
from multikernel.procedures.hkl.lattice import in_order, names


class HierarchicalKernelLearning(KernelEstimator):
    """Nodes of the lattice and a predictor on their products."""

    C: float
    rho: float
    beta: float
    tol: float
    max_iter: int
    max_nodes: int

    @abstractmethod
    def _machine(self) -> SupportMachine:
        """The loss, with the gap to reach."""

    def _default_kernels(self) -> KernelFamily:
        return per_feature(RBF(0.5))

    def _check_parameters(self) -> None:
        name = type(self).__name__
        if not 1.0 < self.rho <= 2.0:
            raise ValueError(f"{name}: rho must be in (1, 2], got {self.rho}; 2 is hierarchical kernel learning")
        if not (self.beta > 0 and np.isfinite(self.beta)):
            raise ValueError(f"{name}: beta must be a finite number > 0, got {self.beta}")
        if not (self.tol > 0 and np.isfinite(self.tol)):
            raise ValueError(f"{name}: tol must be a finite number > 0, got {self.tol}")
        for parameter in ("max_iter", "max_nodes"):
            if not getattr(self, parameter) >= 1:
                raise ValueError(f"{name}: {parameter} must be at least 1, got {getattr(self, parameter)}")
        self._machine()

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        bank, y = super()._bind(X, y, **checks)
        known = self.kernel_names_
        if self.kernels is None and not isinstance(X, KernelBank):  # a kernel for each feature: its name says it all
            known = getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(bank))])
        self.base_kernel_names_ = np.array([str(name) for name in known], dtype=object)
        return bank, y

    # -- learning ------------------------------------------------------------------------------------------------------

    def _learn(self, bank: KernelBank, target: Array, warm: Fitted | None) -> tuple[Weights, DualSolution]:
        start = warm.weights.nodes if warm is not None and isinstance(warm.weights, NodeWeights) else ()
        return hierarchical_mkl(
            bank, self._machine(), target, self.rho, self.beta, self.max_iter, self.max_nodes, start
        )

    def _keep(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        """Every problem has nodes of its own: the weights are over the nodes of any."""
        learned = [f.weights for f in fitted if isinstance(f.weights, NodeWeights)]
        self.nodes_: tuple[Node, ...] = tuple(in_order({node for weights in learned for node in weights.nodes}))
        place = {node: k for k, node in enumerate(self.nodes_)}
        spread = []
        for f, weights in zip(fitted, learned, strict=True):
            values = np.zeros(len(place))
            values[[place[node] for node in weights.nodes]] = weights.values
            spread.append(replace(f, weights=replace(weights, values=values, nodes=self.nodes_)))
        base = getattr(self, "base_kernel_names_", [f"kernel {k}" for k in range(len(bank))])
        self.kernel_names_ = np.array(names(self.nodes_, base), dtype=object)
        self.n_nodes_searched_ = max(weights.hull for weights in learned)
        self._n_base = len(bank)
        super()._keep(bank, spread, single)

    @property
    def _n_kernels(self) -> int:
        return self._n_base

    def _combined(self, bank: KernelBank, weights: Array) -> Gram:
        return SubsetProducts(self.nodes_).gram(bank, weights)

    def plot_lattice(self, ax: Any = None) -> Any:
        """The selected nodes drawn by how many factors they have; needs matplotlib. Returns the axes.

        A disc's area is the weight (their mean over the problems), a line joins a product to those of one factor less.
        """
        from multikernel.estimators._lattice_plot import draw_lattice

        check_is_fitted(self)
        weights = np.atleast_2d(self.weights_).mean(axis=0)
        return draw_lattice(self.nodes_, weights, self.base_kernel_names_, ax)
