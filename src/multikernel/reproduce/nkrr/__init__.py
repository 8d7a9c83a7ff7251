"""Learning non-linear combinations of kernels."""

from multikernel.reproduce.nkrr import bigrams, kin8nm, steps, surfaces, table1

EXPERIMENTS = (
    surfaces.EXPERIMENT,
    table1.EXPERIMENT,
    steps.EXPERIMENT,
    bigrams.EXPERIMENT,
    kin8nm.EXPERIMENT,
)
