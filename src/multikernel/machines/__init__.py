"""The inner problem for a fixed kernel matrix."""

from multikernel.machines.base import DualSolution, Machine
from multikernel.machines.epsilon import EpsilonMachine
from multikernel.machines.hinge import HingeMachine
from multikernel.machines.margin import MarginMachine
from multikernel.machines.one_class import OneClassMachine
from multikernel.machines.program import SupportProgram
from multikernel.machines.ridge import RidgeMachine
from multikernel.machines.squared_hinge import SquaredHingeMachine
from multikernel.machines.support import SupportMachine
from multikernel.machines.weighted import SampleWeighted

__all__ = [
    "DualSolution",
    "EpsilonMachine",
    "HingeMachine",
    "Machine",
    "MarginMachine",
    "OneClassMachine",
    "RidgeMachine",
    "SampleWeighted",
    "SquaredHingeMachine",
    "SupportMachine",
    "SupportProgram",
]
