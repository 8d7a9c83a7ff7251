"""Kernels of samples some of whose columns are not for them."""

from __future__ import annotations

from multikernel.kernels.base import Kernel
from multikernel.kernels.family import Concatenation, KernelFamily, Kernels
from multikernel.kernels.features import Features
from multikernel.kernels.views import Restricted


def resolved_on(family: KernelFamily, features: Features, seen: tuple[int, ...]) -> KernelFamily:
    """A family resolved for data with these features, whose kernels see some of the columns.

    A kernel that names columns itself, by ``on``, sees those, wherever they are.

    Parameters
    ----------
    family : KernelFamily
    features : of all columns
    seen : positions of the columns for kernels that name none

    Raises
    ------
    ValueError : where a column is unknown, or a kernel does not take what it holds
    """
    if isinstance(family, Concatenation):
        return Concatenation(tuple(resolved_on(part, features, seen) for part in family.families)).resolve(features)
    if not isinstance(family, Kernels):
        found = family.resolve(features.take(seen))
        names = tuple(found.names)
        return Kernels(tuple(_moved(kernel, seen) for kernel in found), names)
    kernels = []
    for kernel in family.kernels:
        if _names_columns(kernel):
            kernels.append(kernel.resolve(features))
        else:
            kernels.append(Restricted(kernel.resolve(features.take(seen)), seen))
    return Kernels(tuple(kernels), family.names)


def _moved(kernel: Kernel, seen: tuple[int, ...]) -> Kernel:
    """A kernel of some columns by their positions among those that are seen, on the samples with all columns."""
    if isinstance(kernel, Restricted) and not isinstance(kernel.columns, slice):
        return Restricted(kernel.kernel, tuple(seen[int(j)] for j in kernel.columns))
    return Restricted(kernel, seen)


def _names_columns(kernel: Kernel) -> bool:
    found = isinstance(kernel, Restricted)

    def look(part: Kernel) -> Kernel:
        nonlocal found
        found = found or _names_columns(part)
        return part

    kernel.map_parts(look)
    return found
