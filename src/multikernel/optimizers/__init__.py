"""Algorithms that see only the problem: value, gradient, certificate."""

from multikernel.optimizers.base import Optimizer
from multikernel.optimizers.block_norm import BlockNorm
from multikernel.optimizers.cutting_plane import CuttingPlane
from multikernel.optimizers.level import LevelMethod
from multikernel.optimizers.projected_gradient import ProjectedGradient
from multikernel.optimizers.published_gradient import PublishedGradient
from multikernel.optimizers.quasi_newton import QuasiNewton
from multikernel.optimizers.reduced_gradient import ReducedGradient
from multikernel.optimizers.ridge.interpolated import Interpolated
from multikernel.optimizers.ridge.sphere import SphereTrustRegion
from multikernel.optimizers.state import Result
from multikernel.optimizers.subgradient import Subgradient

__all__ = [
    "BlockNorm",
    "CuttingPlane",
    "Interpolated",
    "LevelMethod",
    "Optimizer",
    "ProjectedGradient",
    "PublishedGradient",
    "QuasiNewton",
    "ReducedGradient",
    "Result",
    "SphereTrustRegion",
    "Subgradient",
]
