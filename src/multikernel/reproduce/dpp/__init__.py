"""Learning deep kernels in the space of dot product polynomials."""

from multikernel.reproduce.dpp import curves, digits, expressiveness, noise, parity, structure, table4, times

EXPERIMENTS = (
    expressiveness.EXPERIMENT,
    times.EXPERIMENT,
    curves.EXPERIMENT,
    structure.EXPERIMENT,
    noise.EXPERIMENT,
    table4.EXPERIMENT,
    parity.EXPERIMENT,
    digits.EXPERIMENT,
)
