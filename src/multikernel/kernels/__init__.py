"""What to compute: kernels and families of kernels, free of data."""

from multikernel.kernels.base import Kernel
from multikernel.kernels.categories import OneHot
from multikernel.kernels.discrete import Hamming, Tanimoto
from multikernel.kernels.distance import RBF, DistanceKernel, Laplacian
from multikernel.kernels.dot import HomogeneousPolynomial, Linear, Polynomial
from multikernel.kernels.encoding import Encoded, Encoding, Together
from multikernel.kernels.encodings import DateParts, NormalScores, Parsed, Ranks, Standardize
from multikernel.kernels.external_kernels import external
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
from multikernel.kernels.features import Features
from multikernel.kernels.for_columns import beside_each_other, column_types, for_columns, for_each_column
from multikernel.kernels.graphs import chains, grid
from multikernel.kernels.interactions import ANOVA, anova
from multikernel.kernels.metrics import Anisotropic, Mahalanobis
from multikernel.kernels.monomials import random_monomials
from multikernel.kernels.radial import ExponentialPower, Matern, RationalQuadratic
from multikernel.kernels.rational import Rational
from multikernel.kernels.sequences import GappedSubsequences, Mismatches
from multikernel.kernels.series import (
    PowerSeries,
    cauchy_coefficients,
    highest_polynomial,
    mean_polynomial,
    polynomial_coefficients,
    rational_quadratic_coefficients,
    rbf_coefficients,
    shifted_polynomial,
    truncated_rbf,
    weighted_polynomials,
)
from multikernel.kernels.sets import Items, VectorSets, written
from multikernel.kernels.strings import Spectrum, gapped_subsequences, spectra
from multikernel.kernels.subsets import rbf_subsets
from multikernel.kernels.text import Grams, NGrams
from multikernel.kernels.trees import Subtrees
from multikernel.kernels.widths import Width

__all__ = [
    "ANOVA",
    "RBF",
    "Anisotropic",
    "DateParts",
    "DistanceKernel",
    "Encoded",
    "Encoding",
    "ExponentialPower",
    "Features",
    "GappedSubsequences",
    "Grams",
    "Hamming",
    "HomogeneousPolynomial",
    "Items",
    "Kernel",
    "KernelFamily",
    "Kernels",
    "Laplacian",
    "Linear",
    "Mahalanobis",
    "Matern",
    "Mismatches",
    "NGrams",
    "NormalScores",
    "OneHot",
    "Parsed",
    "Polynomial",
    "PowerSeries",
    "Ranks",
    "Rational",
    "RationalQuadratic",
    "Spectrum",
    "Standardize",
    "Subtrees",
    "Tanimoto",
    "Together",
    "VectorSets",
    "Width",
    "anova",
    "as_family",
    "beside_each_other",
    "cauchy_coefficients",
    "chains",
    "column_groups",
    "column_types",
    "external",
    "for_columns",
    "for_each_column",
    "gapped_subsequences",
    "grid",
    "highest_polynomial",
    "homogeneous_polynomials",
    "linear_features",
    "mean_polynomial",
    "per_feature",
    "polynomial_coefficients",
    "polynomials",
    "random_monomials",
    "rational_quadratic_coefficients",
    "rbf_coefficients",
    "rbf_grid",
    "rbf_subsets",
    "rls2_basis",
    "shifted_polynomial",
    "smkl_basis",
    "spectra",
    "truncated_rbf",
    "weighted_polynomials",
    "written",
]
