"""Kernels of few features that stand for kernels of many: K_k ~ F_k F_k', so that no matrix of the samples is stored.

feature_map.py   what makes features of samples
nystroem.py      kernel values against landmarks, whitened
landmarks.py     which samples are landmarks
fourier.py       random features of functions of a distance
polynomial.py    monomials, and sketches of them
random_maps.py   which of these a kernel takes
bank.py          the bank
approximate.py   from kernels, or from a bank, to the bank and the error of it
"""

from multikernel.banks.low_rank.approximate import Approximation, approximate_bank, approximate_kernels
from multikernel.banks.low_rank.bank import LowRankBank

__all__ = ["Approximation", "LowRankBank", "approximate_bank", "approximate_kernels"]
