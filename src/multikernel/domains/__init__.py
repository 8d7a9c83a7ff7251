"""Where kernel weights live: a set, a penalty, and what an algorithm needs to know of them."""

from multikernel.domains.ball import NormBall
from multikernel.domains.base import Domain, HasBlockUpdate
from multikernel.domains.ellipsoid import Ellipsoid
from multikernel.domains.entropy import EntropySimplex
from multikernel.domains.orthant import Orthant
from multikernel.domains.product import Product
from multikernel.domains.separable import Separable, as_separable
from multikernel.domains.simplex import Simplex

__all__ = [
    "Domain",
    "Ellipsoid",
    "EntropySimplex",
    "HasBlockUpdate",
    "NormBall",
    "Orthant",
    "Product",
    "Separable",
    "Simplex",
    "as_separable",
]
