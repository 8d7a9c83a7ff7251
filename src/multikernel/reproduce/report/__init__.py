"""Learning the kernel for classification and regression."""

from multikernel.reproduce.report import curves, facts, tables

EXPERIMENTS = (facts.EXPERIMENT, tables.EXPERIMENT, curves.EXPERIMENT)
