"""How weights make a kernel: the value for a bank, and the gradient of a quadratic form in it."""

from multikernel.combinations.base import Combination, HasSecondDerivatives
from multikernel.combinations.linear import Linear
from multikernel.combinations.of_distances import ProductOfRBF, ScaledProfile
from multikernel.combinations.polynomial import HadamardPower
from multikernel.combinations.profiles import Profiles
from multikernel.combinations.tied_and_free import TiedAndFree

__all__ = [
    "Combination",
    "HadamardPower",
    "HasSecondDerivatives",
    "Linear",
    "ProductOfRBF",
    "Profiles",
    "ScaledProfile",
    "TiedAndFree",
]
