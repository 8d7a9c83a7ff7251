"""Forecasts of memory beside peaks that were measured: what the process held at most less what it held before the fit.

The peaks are those of one process for each fit, on one thread, by ``resource.getrusage`` (Linux, AMD EPYC, NumPy 2.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import multikernel as mk
from multikernel import kernels

FEATURES = 20


def widths(m: int) -> Any:
    return kernels.rbf_grid(np.geomspace(1e-3, 1.0, m))


def landmarks(rank: int) -> dict[str, Any]:
    return {"approximation": "nystroem", "rank": rank}


THIRTY = widths(10) + kernels.per_feature(kernels.RBF(0.5))
MEASURED: dict[str, tuple[Any, int, float]] = {  # the estimator, samples, and the peak in MB
    "Lp": (mk.LpMKLClassifier(widths(10), C=1.0), 3000, 278),
    "L1": (mk.L1MKLClassifier(THIRTY, C=1.0), 2000, 378),
    "L1, many samples": (mk.L1MKLClassifier(THIRTY, C=1.0), 9000, 790),
    "EasyMKL, powers": (mk.EasyMKLClassifier(lam=0.1), 4000, 363),
    "average": (mk.AverageMKLClassifier(widths(3)), 4000, 330),
    "RLS2": (mk.RLS2Regressor(widths(10), alpha=0.1), 2500, 407),
    "RLS2, many samples": (mk.RLS2Regressor(THIRTY, alpha=0.01), 9000, 1250),
    "ridge, held out": (mk.MultipleKernelRidgeCV(widths(5)), 2000, 250),
    "ridge, held out, landmarks": (mk.MultipleKernelRidgeCV(widths(4), **landmarks(128)), 6000, 71),
    "scales": (mk.LearnedScalesRegressor(), 3000, 187),
    "scales, two kernels": (mk.LearnedScalesRegressor(widths(2)), 2000, 168),
    "scales, few centres": (mk.LearnedScalesRegressor(approximation="nystroem", rank=500), 12_000, 62),
    "scales, centres": (mk.LearnedScalesRegressor(approximation="nystroem", rank=2500), 12_000, 323),
    "Lp, landmarks": (mk.LpMKLClassifier(widths(10), C=1.0, **landmarks(64)), 20_000, 240),
    "L1, landmarks": (mk.L1MKLClassifier(widths(3), C=1.0, **landmarks(64)), 40_000, 262),
    "EasyMKL, landmarks": (mk.EasyMKLClassifier(widths(4), lam=0.1, **landmarks(128)), 12_000, 182),
    "average, landmarks": (mk.AverageMKLClassifier(widths(4), C=1.0, **landmarks(128)), 12_000, 79),
    "RLS2, landmarks": (mk.RLS2Regressor(widths(10), alpha=0.1, **landmarks(64)), 12_000, 260),
    "RLS2, many landmarks": (mk.RLS2Regressor(widths(20), alpha=0.1, **landmarks(128)), 2000, 133),
    "RLS2, random features": (
        mk.RLS2Regressor(widths(10), alpha=0.1, approximation="fourier", rank=64),
        12_000,
        251,
    ),
}


@pytest.mark.parametrize(("model", "n", "peak"), MEASURED.values(), ids=MEASURED)
def test_no_fit_takes_more_than_was_forecast_or_less_than_half(model: Any, n: int, peak: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, FEATURES))
    y = np.sign(X[:, 0]) if hasattr(model, "decision_function") else X[:, 0]
    forecast = model.forecast(X, y).bytes / 1e6
    assert peak <= forecast <= 2.0 * peak


# eight features, and RLS2 with five widths; peaks of the resident memory
EIGHT: dict[str, tuple[Any, dict[int, float]]] = {
    "RLS2": (mk.RLS2Regressor(widths(5), alpha=0.1), {2000: 179, 4000: 483, 8000: 1463}),
    "scales": (mk.LearnedScalesRegressor(), {2000: 102, 4000: 377, 8000: 1376}),
}


@pytest.mark.parametrize(("model", "peaks"), EIGHT.values(), ids=EIGHT)
def test_forecasts_are_at_most_half_above_the_peak_from_2000_to_8000_samples(
    model: Any, peaks: dict[int, float]
) -> None:
    rng = np.random.default_rng(0)
    for n, peak in peaks.items():
        X = rng.normal(size=(n, 8))
        assert peak <= model.forecast(X, X[:, 0]).bytes / 1e6 <= 1.5 * peak
