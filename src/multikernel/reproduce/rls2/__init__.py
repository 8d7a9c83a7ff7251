"""Kernel machines with two layers and multiple kernel learning."""

from multikernel.reproduce.rls2 import benchmark, facts, prostate, strings

EXPERIMENTS = (facts.EXPERIMENT, strings.EXPERIMENT, prostate.EXPERIMENT, benchmark.EXPERIMENT)
