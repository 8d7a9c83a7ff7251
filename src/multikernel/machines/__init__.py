"""The inner problem for a fixed kernel matrix."""

from multikernel.machines.base import DualSolution, Machine
from multikernel.machines.hinge import HingeMachine
from multikernel.machines.margin import MarginMachine
from multikernel.machines.ridge import RidgeMachine

__all__ = ["DualSolution", "HingeMachine", "Machine", "MarginMachine", "RidgeMachine"]
