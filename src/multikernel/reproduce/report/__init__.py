"""Learning the kernel for classification and regression."""

from multikernel.reproduce.report import curves, tables

EXPERIMENTS = (tables.EXPERIMENT, curves.EXPERIMENT)
