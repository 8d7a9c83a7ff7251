"""Conformance suites: one line checks that a new kernel, bank, domain, machine or optimizer keeps its contract."""

from multikernel.testing.banks import check_bank
from multikernel.testing.combinations import check_combination
from multikernel.testing.domains import check_domain
from multikernel.testing.kernels import check_kernel
from multikernel.testing.machines import check_machine
from multikernel.testing.optimizers import check_optimizer

__all__ = ["check_bank", "check_combination", "check_domain", "check_kernel", "check_machine", "check_optimizer"]
