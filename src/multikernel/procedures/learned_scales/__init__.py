"""Scales inside kernels, learned together with the weights of the kernels and the ridge."""

from multikernel.procedures.learned_scales.search import LearnedScales, learned_scales

__all__ = ["LearnedScales", "learned_scales"]
