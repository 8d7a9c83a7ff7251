"""Weights of scaled kernels s_k K_k, with factors s_k that make the weights independent of the units of the kernels.

The factors s_k follow from a rule:

    trace          1 / s_k = tr K_k; of a rank-one kernel x_k x_k' this is |x_k|^2 (rules 19 and 17 of the paper)
    transductive   the same over the training inputs and further ones, whose targets are not known
    fisher         1 / s_k = sum over the classes c of the variance of c in the feature space of kernel k,
                   tr K_cc / n_c - 1'K_cc 1 / n_c^2; of a rank-one kernel the variances of the feature (rule 18)
    fisher_root    the inverse root of the same sum, with n_c - 1 in place of n_c: the paper's experiment with gene
                   expressions uses it in place of rule 18

A sample of weight two counts as two equal samples. Where the denominator is 0 the kernel is constant: its factor and
its weight are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.diagnostics.fisher import class_variances
from multikernel.procedures.base import Weights


@dataclass(frozen=True, eq=False)
class ScaledWeights(Weights):
    """Weights of the kernels s_k K_k.

    Parameters
    ----------
    scaling : array (m,), the factors s_k
    scores : array (m,), tr C's_k K_k C at the solution; only kernels of the largest score have a weight
    """

    scaling: Array | None = None
    scores: Array | None = None


def equal_weights(scaling: Array) -> Array:
    """Equal weights of all kernels with nonzero factors: the solution where no kernel explains anything."""
    nonzero = scaling > 0 if scaling.any() else np.ones(len(scaling), dtype=bool)
    return nonzero / np.count_nonzero(nonzero)


# -- the factors of the kernels ----------------------------------------------------------------------------------------


def scaling_factors(
    rule: str, bank: KernelBank, target: Array, further: Array | None = None, sample_weight: Array | None = None
) -> Array:
    """s_k of every kernel, shape (m,).

    Parameters
    ----------
    rule : "trace", "transductive", "fisher", "fisher_root" or "none"
    bank : square KernelBank of the training sample
    target : array (n,), for "fisher" and "fisher_root" the labels -1 and +1
    further : array (m,), for "transductive" the sum of each kernel's self-values at the further inputs
    sample_weight : array (n,) > 0; 1 if not given
    """
    s = np.ones(bank.shape[0]) if sample_weight is None else sample_weight
    match rule:
        case "trace":
            sizes = _traces(bank, sample_weight)
        case "transductive":
            if further is None:
                raise ValueError("transductive factors need the self-values at the further inputs")
            sizes = _traces(bank, sample_weight) + further
        case "fisher":
            sizes = class_variances(bank, s * (target > 0)) + class_variances(bank, s * (target <= 0))
        case "fisher_root":
            classes = (s * (target > 0), s * (target <= 0))
            sizes = np.sqrt(
                sum(class_variances(bank, class_weights) * _unbiased(class_weights) for class_weights in classes)
            )
        case "none":
            return np.ones(len(bank))
        case _:
            raise ValueError(f"there is no scaling {rule!r}")
    return np.divide(1.0, sizes, out=np.zeros(len(bank)), where=sizes > 0)


def _unbiased(s: Array) -> float:
    """n / (n - 1) for the n members of a class; 1 for a single one, whose variance is 0."""
    n = float(s.sum())
    if n > 1.0:
        return n / (n - 1.0)
    return 1.0


def _traces(bank: KernelBank, s: Array | None) -> Array:
    if s is None:
        return bank.traces()
    return bank.diagonal() @ s
