"""Hierarchical kernel learning: products of kernels, chosen from all subsets without enumerating them."""

from multikernel.procedures.hkl.grid import Grid
from multikernel.procedures.hkl.lattice import Hull, Node
from multikernel.procedures.hkl.listed import Listed, depths
from multikernel.procedures.hkl.search import NodeWeights, hierarchical_mkl

__all__ = ["Grid", "Hull", "Listed", "Node", "NodeWeights", "depths", "hierarchical_mkl"]
