"""What to compute: kernels and families of kernels, free of data."""

from multikernel.kernels.base import Features, Kernel
from multikernel.kernels.discrete import Hamming, Tanimoto
from multikernel.kernels.distance import RBF, Laplacian
from multikernel.kernels.dot import HomogeneousPolynomial, Linear, Polynomial
from multikernel.kernels.families import (
    column_groups,
    homogeneous_polynomials,
    linear_features,
    per_feature,
    polynomials,
    rbf_grid,
    rls2_basis,
    smkl_basis,
)
from multikernel.kernels.family import KernelFamily, Kernels, as_family
from multikernel.kernels.monomials import random_monomials
from multikernel.kernels.subsets import rbf_subsets

__all__ = [
    "RBF",
    "Features",
    "Hamming",
    "HomogeneousPolynomial",
    "Kernel",
    "KernelFamily",
    "Kernels",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Tanimoto",
    "as_family",
    "column_groups",
    "homogeneous_polynomials",
    "linear_features",
    "per_feature",
    "polynomials",
    "random_monomials",
    "rbf_grid",
    "rbf_subsets",
    "rls2_basis",
    "smkl_basis",
]
