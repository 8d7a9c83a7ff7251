"""How well each kernel separates two classes by their means: Fisher's score in its feature space.

    |m_+ - m_-|^2 / (v_+ + v_-),       v_c = tr K_cc / n_c - 1'K_cc 1 / n_c^2,      |m_+ - m_-|^2 = u'K u,

u_i = 1 / n_+ or -1 / n_-. Neither part changes where a kernel is centred. For one feature it is the score of a gene;
RLS2 with ``scaling="fisher"`` takes kernels in this order, as alpha falls from infinity (Dinuzzo 2010, rule 18).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._floats import SINGULAR
from multikernel._row_labels import check_rows
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.diagnostics import _input


def fisher_scores(K: Any, y: Any) -> Array:
    """The squared distance of the class means over the sum of the variances within the classes, of every kernel.

    Parameters
    ----------
    K : KernelBank, array (m, n, n), list of matrices or one matrix (n, n)
    y : array-like (n,), labels of two classes

    Returns
    -------
    array (m,); 0 where the means agree, infinite where they differ and both classes have no variance

    Raises
    ------
    ValueError : where the bank is not square, or y does not have two classes

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.diagnostics import fisher_scores
    >>> X = np.array([[0.0, 3.0], [2.0, 1.0], [4.0, 2.0], [6.0, 2.0]])
    >>> fisher_scores(bind(kernels.linear_features(), X), [0, 0, 1, 1])
    array([8., 0.])
    """
    check_rows(("K", K), ("y", y))
    bank = _input.as_bank(K)
    signs = _input.signs(y, bank.shape[0])
    first = (signs > 0).astype(float)
    second = (signs <= 0).astype(float)
    squared_distances = bank.quad(first / first.sum() - second / second.sum())
    variances = class_variances(bank, first) + class_variances(bank, second)
    mean_self_values = bank.diagonal().mean(axis=1)
    squared_distances = np.where(squared_distances > SINGULAR * mean_self_values, squared_distances, 0.0)
    infinite = np.where(squared_distances > 0.0, np.inf, 0.0)
    return np.asarray(np.divide(squared_distances, variances, out=infinite, where=variances > 0.0))


def class_variances(bank: KernelBank, s: Array) -> Array:
    """The variance of a class in every feature space, s the weights of its members; 0 for a single member."""
    share = s / s.sum()
    mean_self_values = bank.diagonal() @ share
    variance = mean_self_values - bank.quad(share)
    return np.where(variance > SINGULAR * mean_self_values, variance, 0.0)
