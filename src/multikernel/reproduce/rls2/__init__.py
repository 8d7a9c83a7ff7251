"""Kernel machines with two layers and multiple kernel learning."""

from multikernel.reproduce.rls2 import benchmark, cancers, prostate, strings

EXPERIMENTS = (strings.EXPERIMENT, prostate.EXPERIMENT, benchmark.EXPERIMENT, cancers.EXPERIMENT)
