"""m kernel matrices on fixed samples, as one operator."""

from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind, bind_kernels
from multikernel.banks.factor_gram import FactorGram
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.precomputed import precomputed

__all__ = ["DenseGram", "FactorGram", "Gram", "KernelBank", "bind", "bind_kernels", "precomputed"]
