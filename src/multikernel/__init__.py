"""Multiple kernel learning with a certificate of optimality, in the manner of scikit-learn."""

from multikernel import kernels
from multikernel.banks import KernelBank, bind

__all__ = ["KernelBank", "bind", "kernels"]
