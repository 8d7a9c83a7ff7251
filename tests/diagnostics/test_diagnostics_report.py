"""The report on a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel import diagnostics, kernels, precomputed


def with_entry(i: int, j: int, value: float) -> Any:
    K = np.eye(3)
    K[i, j] = value
    return K


def test_report_on_a_kernel_matrix() -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    report = diagnostics.check_kernel(X @ X.T)
    assert report.ok
    assert report.rank == 3
    assert not report.normalized
    assert report.trace == pytest.approx((X**2).sum())
    assert report.mean_self_value == pytest.approx(report.trace / 12)
    assert report.spectral_ratio == pytest.approx(diagnostics.spectral_ratio(X @ X.T))
    assert abs(report.smallest_eigenvalue) < 1e-10


@pytest.mark.parametrize(
    ("K", "rank", "normalized"),
    [(np.eye(7), 7, True), (np.ones((7, 7)), 1, True), (np.zeros((7, 7)), 0, False), ([[2.0]], 1, False)],
)
def test_reports_on_known_matrices(K: Any, rank: int, normalized: bool) -> None:
    report = diagnostics.check_kernel(K)
    assert report.ok
    assert (report.rank, report.normalized) == (rank, normalized)
    assert np.isnan(report.spectral_ratio) == (rank == 0)


def test_report_says_what_is_wrong() -> None:
    skew = diagnostics.check_kernel(with_entry(0, 2, 0.5))
    assert not skew.ok
    assert not skew.symmetric
    assert (skew.asymmetry, skew.asymmetry_at) == (0.5, (0, 2))
    assert "no, largest difference 0.5 at (0, 2)" in str(skew)
    indefinite = diagnostics.check_kernel([[0.0, 1.0], [1.0, 0.0]])
    assert indefinite.symmetric
    assert not indefinite.positive_semidefinite
    assert "no, smallest eigenvalue -1" in str(indefinite)
    broken = diagnostics.check_kernel(with_entry(1, 0, np.inf))
    assert not broken.ok
    assert broken.not_finite_at == (1, 0)
    assert str(broken).splitlines()[1].endswith("no: NaN or infinity at row 1, column 0")
    with pytest.raises(ValueError, match="square"):
        diagnostics.check_kernel(np.ones(3))


def test_single_precision_is_judged_as_such() -> None:
    X = np.random.default_rng(1).normal(size=(40, 3)).astype(np.float32)
    K = kernels.RBF(0.5).normalized()(X)
    assert K.dtype == np.float32
    report = diagnostics.check_kernel(K)
    assert report.ok
    assert report.normalized
    assert diagnostics.check_kernel(X @ X.T).rank == 3
    K[0, 1] *= 1.0 + 1e-6
    assert diagnostics.check_kernel(K).symmetric
    assert diagnostics.check_kernel(K.astype(float)).symmetric  # as precomputed takes it
    precomputed(K.astype(float))
    assert float(diagnostics.meb_radius(K)) == pytest.approx(float(diagnostics.meb_radius(K.astype(float))), rel=1e-5)


def test_entries_near_the_end_of_the_range() -> None:
    report = diagnostics.check_kernel(np.full((3, 3), 1.7e308))
    assert report.ok
    assert (report.rank, report.mean_self_value) == (1, 1.7e308)
    assert report.spectral_ratio == pytest.approx(1.0)
    assert diagnostics.check_kernel(1e308 * np.eye(2)).smallest_eigenvalue == 1e308
