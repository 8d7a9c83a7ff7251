"""Kernels of few features that stand for kernels of many: K_k ~ F_k F_k', so that no matrix of the samples is stored.

feature_map.py   what makes features of samples
nystroem.py      kernel values against landmarks, whitened
random_maps.py   random features of functions of a distance; monomials, and sketches of them
bank.py          the bank
space.py         where the features of all samples are kept
approximate.py   from kernels, or from a bank, to the bank and its error; which samples are landmarks
"""

from multikernel.banks.low_rank.approximate import Approximation, approximate_bank, approximate_kernels
from multikernel.banks.low_rank.bank import LowRankBank

__all__ = ["Approximation", "LowRankBank", "approximate_bank", "approximate_kernels"]
