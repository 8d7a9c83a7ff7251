"""Kernels bound to samples of one source or of several."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Any

from multikernel._rules import Number, abbreviated
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.bind import bind_kernels, bind_samples
from multikernel.kernels.base import Kernel
from multikernel.kernels.family import KernelFamily, as_family
from multikernel.sources.bank import bank_of_views, bind_views, learned_views
from multikernel.sources.views import Views, is_views, views


def bind(
    family: KernelFamily | Kernel | list[Kernel] | Mapping[str, Any], X: Any, *, memory: int = MEMORY, dtype: Any = None
) -> KernelBank:
    """Bind kernels to a sample: the bank of their matrices on X.

    Parameters
    ----------
    family : a kernel, a list of kernels or a KernelFamily, which all sources share; or a dict from names of sources to
        such kernels; kernel matrices need none
    X : array or CSR matrix of shape (n, p), or data frame; float32 is kept, other numbers become float64. Arrays of
        torch or cupy stay on their device, in double precision. Kernels of strings take a sequence of strings, or
        columns of them, and kernels made by ``kernels.external`` take a list of any objects. What kernels learn from a
        training sample (widths, means, categories, words), they learn from X, and blocks of the bank keep it. Several
        sources are given as a dict, or as ``views``.
    memory : bytes that the largest stored array may take. Where the one n x n matrix of powers or of distances exceeds
        this limit, the matrix is stored in float32; where that exceeds it too, its rows are computed on demand. A stack
        of unrelated kernels that exceeds the limit is computed on demand.
    dtype : the precision in which matrices are stored, float64 or float32; by default the precision of X. float32 takes
        half the memory and half the time of a pass; kernels are evaluated in X's precision and rounded, and
        ``bank.exact(index)`` gives chosen ones in double precision.

    Raises
    ------
    ValueError : where X holds a NaN or infinity, a column is unknown, a kernel does not take what a column holds, or
        dtype is another precision, or memory is no finite number >= 0
    TypeError : where the family holds something that is no kernel

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> bank = bind(kernels.homogeneous_polynomials(10), X)
    >>> len(bank), bank.shape
    (11, (20, 20))
    """
    if not (isinstance(X, Views) or is_views(X)):
        if isinstance(family, Mapping):
            raise TypeError(
                "bind: kernels by source need samples of several sources, a dict or views; got kernels for "
                f"{abbreviated(list(family))}"
            )
        return bind_samples(family, X, memory=memory, dtype=dtype)
    Number(least=0.0).check(memory, "bind: memory")
    views_of_X = views(X)
    if isinstance(views_of_X, KernelBank):
        return views_of_X
    views_of_X.check_matrices(family if isinstance(family, Mapping) else ())
    learned = learned_views(views_of_X, partial(_kernels_of, family))
    binder = partial(bind_kernels, memory=memory)
    return bank_of_views(bind_views(views_of_X, learned, lambda m, n: dtype, binder=binder))


def _kernels_of(family: Any, view: str, source: Any) -> KernelFamily:
    """A copy of the kernels for one source."""
    if not isinstance(family, Mapping):
        return deepcopy(as_family(family))
    if view not in family:
        raise ValueError(f"bind: there are no kernels for the source {view!r}, but for {abbreviated(list(family))}")
    return deepcopy(as_family(family[view]))
