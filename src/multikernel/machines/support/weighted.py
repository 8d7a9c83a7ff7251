"""A support vector machine whose samples count differently."""

from __future__ import annotations

from dataclasses import dataclass

from multikernel._typing import Array
from multikernel.machines.support.base import SupportMachine
from multikernel.machines.support.program import SupportProgram


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleWeighted(SupportMachine):
    """A machine with weights of the samples' losses.

    Parameters
    ----------
    machine : the machine, for losses that count alike
    sample_weight : array (n,) > 0
    tol, max_iter : as in every support machine; those of ``machine`` are not looked at
    """

    machine: SupportMachine
    sample_weight: Array

    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The machine's program with these weights, times further ones."""
        weight = self.sample_weight if sample_weight is None else self.sample_weight * sample_weight
        return self.machine.program(target, weight)
