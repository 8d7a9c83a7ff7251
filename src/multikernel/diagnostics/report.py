"""Is this matrix a kernel matrix, and of what scale and complexity?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from multikernel._typing import Array
from multikernel.diagnostics import _input
from multikernel.diagnostics.spectrum import spectral_ratio
from multikernel.numerics import definite

_NAN = float("nan")


@dataclass(frozen=True)
class KernelReport:
    """What ``check_kernel`` found; print it for a table.

    Where the matrix is not finite nothing else is computed: the flags are False, the numbers nan and the rank 0.

    Parameters
    ----------
    n : int, how many samples
    finite : bool, whether no entry is NaN or infinite
    not_finite_at : (row, column) of the first NaN or infinity, or None
    symmetric : bool, whether asymmetry is at most 1e-10 (in single precision 1e-5) times the largest entry
    asymmetry : float, the largest |K_ij - K_ji|
    asymmetry_at : (row, column) of that largest difference, or None where it is 0
    smallest_eigenvalue : float, of (K + K')/2
    positive_semidefinite : bool, whether K is symmetric and no eigenvalue is below -1e-10 (-1e-5) times the trace
    trace : float
    mean_self_value : float, the mean of the diagonal
    normalized : bool, whether every K_ii is 1
    rank : int, how many absolute eigenvalues are above n eps times the largest
    spectral_ratio : float, tr K / |K|_F; nan for K = 0
    """

    n: int
    finite: bool
    not_finite_at: tuple[int, int] | None = None
    symmetric: bool = False
    asymmetry: float = _NAN
    asymmetry_at: tuple[int, int] | None = None
    smallest_eigenvalue: float = _NAN
    positive_semidefinite: bool = False
    trace: float = _NAN
    mean_self_value: float = _NAN
    normalized: bool = False
    rank: int = 0
    spectral_ratio: float = _NAN

    @property
    def ok(self) -> bool:
        """Whether it is a kernel matrix: finite, symmetric and positive semi-definite."""
        return self.finite and self.symmetric and self.positive_semidefinite

    def __str__(self) -> str:
        rows = [("kernel matrix", f"{self.n} x {self.n}")]
        if not self.finite:
            row, column = self.not_finite_at or (0, 0)
            rows += [("finite", f"no: NaN or infinity at row {row}, column {column}")]
        else:
            where = f" at {self.asymmetry_at}" if self.asymmetry_at else ""
            normalised = ", normalised" if self.normalized else ""
            symmetric, positive = ("yes" if flag else "no" for flag in (self.symmetric, self.positive_semidefinite))
            rows += [
                ("finite", "yes"),
                ("symmetric", f"{symmetric}, largest difference {self.asymmetry:.3g}{where}"),
                ("positive", f"{positive}, smallest eigenvalue {self.smallest_eigenvalue:.3g}"),
                ("trace", f"{self.trace:.6g}"),
                ("mean self-value", f"{self.mean_self_value:.6g}{normalised}"),
                ("rank", f"{self.rank}"),
                ("spectral ratio", f"{self.spectral_ratio:.6g}"),
            ]
        return "\n".join(f"{name:<16} {text}" for name, text in rows)


def check_kernel(K: Any) -> KernelReport:
    """Symmetry, positive semi-definiteness, scale, rank and spectral ratio of a matrix.

    For a matrix that is no kernel matrix, ``report.ok`` is False. The cost is that of all eigenvalues.

    Parameters
    ----------
    K : array-like (n, n)

    Raises
    ------
    ValueError : where K is not a square matrix of real numbers

    References
    ----------
    Schoelkopf and Smola (2002), Learning with kernels, section 2.2; Donini and Aiolli (2017), equation 3.

    Examples
    --------
    >>> from multikernel.diagnostics import check_kernel
    >>> print(check_kernel([[1.0, 0.5], [0.5, 1.0]]))
    kernel matrix    2 x 2
    finite           yes
    symmetric        yes, largest difference 0
    positive         yes, smallest eigenvalue 0.5
    trace            2
    mean self-value  1, normalised
    rank             2
    spectral ratio   1.26491
    """
    matrix = _input.square(K)
    if not np.isfinite(matrix).all():
        return KernelReport(len(matrix), False, _first(~np.isfinite(matrix)))
    array = np.asarray(K)
    rounding = definite.precision(array)
    eps = float(np.finfo(np.float32 if array.dtype == np.float32 else np.float64).eps)
    difference = np.abs(matrix - matrix.T)
    asymmetry = float(difference.max())
    size = float(np.abs(matrix).max()) or 1.0
    unit = matrix / size  # sums of its entries do not overflow
    symmetrised = 0.5 * (unit + unit.T)
    trace = float(np.trace(unit))
    values = linalg.eigvalsh(symmetrised)
    symmetric = asymmetry <= rounding * size
    return KernelReport(
        n=len(matrix),
        finite=True,
        symmetric=symmetric,
        asymmetry=asymmetry,
        asymmetry_at=_first(difference == asymmetry) if asymmetry > 0 else None,
        smallest_eigenvalue=size * float(values[0]),
        positive_semidefinite=symmetric and bool(values[0] >= -rounding * max(trace, 0.0)),
        trace=size * trace,
        mean_self_value=size * (trace / len(matrix)),
        normalized=bool(np.abs(np.diagonal(matrix) - 1.0).max() <= rounding),
        rank=int((np.abs(values) > len(matrix) * eps * np.abs(values).max()).sum()),
        spectral_ratio=spectral_ratio(symmetrised) if symmetrised.any() else _NAN,
    )


def _first(mask: Array) -> tuple[int, int]:
    i, j = np.argwhere(mask)[0]
    return int(i), int(j)
