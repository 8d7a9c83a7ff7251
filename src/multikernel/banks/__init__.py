"""m kernel matrices on fixed samples, as one operator."""

from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels, bind_samples
from multikernel.banks.factor_gram import FactorGram
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.precomputed import precomputed

__all__ = ["DenseGram", "FactorGram", "Gram", "KernelBank", "bind_kernels", "bind_samples", "precomputed"]
