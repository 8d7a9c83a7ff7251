"""Learning the kernel for classification and regression."""

from multikernel.reproduce.report import curves, facts, tables

EXPERIMENTS = (tables.EXPERIMENT, curves.EXPERIMENT, facts.EXPERIMENT)
