"""Kernel machines with two layers, the second one of any kind."""

from multikernel.procedures.two_layers.first_layer import LayerWeights, two_layers
from multikernel.procedures.two_layers.second_layer import SecondLayer

__all__ = ["LayerWeights", "SecondLayer", "two_layers"]
