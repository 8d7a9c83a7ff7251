"""Approximations of kernels by few features, K_k ~ F_k F_k', for which no matrix of the samples is stored.

feature_map.py   the interface of maps from samples to features
nystroem.py      kernel values against landmarks, whitened
random_maps.py   random features of functions of a distance; monomials, and sketches of them
bank.py          the bank
space.py         storage of the features of all samples, in memory or on disk
approximate.py   from kernels, or from a bank, to the bank and its error; which samples are landmarks
"""

from multikernel.banks.low_rank.approximate import Approximation, approximate_bank, approximate_kernels
from multikernel.banks.low_rank.bank import LowRankBank

__all__ = ["Approximation", "LowRankBank", "approximate_bank", "approximate_kernels"]
