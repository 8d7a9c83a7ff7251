"""Smooth optimization for effective multiple kernel learning."""

from multikernel.reproduce.smkl import table2, table3, toy

EXPERIMENTS = (toy.EXPERIMENT, table2.EXPERIMENT, table3.EXPERIMENT)
