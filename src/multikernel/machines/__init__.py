"""The inner problem for a fixed kernel matrix."""

from multikernel.machines.base import DualSolution, Machine
from multikernel.machines.crammer_singer.machine import CrammerSingerMachine
from multikernel.machines.margin.machine import MarginMachine
from multikernel.machines.ridge.machine import RidgeMachine
from multikernel.machines.support.base import SupportMachine
from multikernel.machines.support.epsilon import EpsilonMachine
from multikernel.machines.support.hinge import HingeMachine, SquaredHingeMachine
from multikernel.machines.support.one_class import OneClassMachine
from multikernel.machines.support.program import SupportProgram

__all__ = [
    "CrammerSingerMachine",
    "DualSolution",
    "EpsilonMachine",
    "HingeMachine",
    "Machine",
    "MarginMachine",
    "OneClassMachine",
    "RidgeMachine",
    "SquaredHingeMachine",
    "SupportMachine",
    "SupportProgram",
]
