"""What a fit is said to take before it: how it grows, what it is beside the truth, and what is refused."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import multikernel as mk
from cases import one_in
from multikernel import _memory, kernels
from multikernel.banks import speed
from multikernel.domains import Simplex
from multikernel.estimators.forecast import forecast_on_bank
from multikernel.procedures.forecast import interior_steps, machine_rounds

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 6))
Z = np.sin(X[:, 0]) - X[:, 1] * X[:, 2] + 0.3 * RANDOM.normal(size=400)
Y = np.where(Z > 0, "yes", "no")
WIDTHS = kernels.rbf_grid([0.01, 0.1, 1.0])
EACH = kernels.per_feature(kernels.rbf_grid(np.geomspace(0.01, 10.0, 8)))
KNOWN = {
    "L1": mk.L1MKLClassifier(EACH),
    "Lp": mk.LpMKLRegressor(EACH, C=1.0),
    "SMKL": mk.SMKLClassifier(EACH),
    "EasyMKL": mk.EasyMKLClassifier(EACH),
    "RLS2": mk.RLS2Regressor(EACH),
    "average": mk.AverageMKLClassifier(EACH),
    "GMKL": mk.GMKLRegressor(EACH, alpha=1.0),
    "polynomial": mk.PolynomialMKLRegressor(WIDTHS, alpha=1.0),
    "ridge": mk.MultipleKernelRidgeCV(EACH, max_iter=5),
}


def target(model: Any) -> np.ndarray:
    return Y if hasattr(model, "decision_function") else Z


@pytest.mark.parametrize("name", KNOWN)
def test_time_and_memory_are_known_and_grow_with_samples_and_kernels(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "_measured", lambda: speed._REFERENCE)  # of a machine that others use, measured anew
    model, more = KNOWN[name], np.tile(X, (10, 1))
    told, larger = model.forecast(X, target(model)), model.forecast(more, np.tile(target(model), 10))
    assert 0.0 < told.seconds < 60.0
    assert 5.0 * told.seconds < larger.seconds  # between the square and the cube of ten times as many
    assert 20.0 * told.bytes < larger.bytes or larger.form != told.form
    assert (told.samples, told.kernels) == (400, len(mk.bind(model.kernels, X)))
    assert not any(name.endswith("_") for name in vars(model))  # nothing is fitted
    fewer = clone(model).set_params(kernels=WIDTHS)
    assert fewer.forecast(more, np.tile(target(model), 10)).seconds <= larger.seconds


@pytest.mark.parametrize(("n", "targets", "seconds"), [(400, 1000, 8.4), (400, 5000, 32.3), (1200, 1000, 41.2)])
def test_seconds_of_many_targets_are_those_that_were_measured(
    n: int, targets: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``benchmarks/targets.py`` measured them, on one thread."""
    monkeypatch.setattr(speed, "_measured", lambda: speed._REFERENCE)
    monkeypatch.setattr(speed, "n_threads", lambda: 1)
    columns = RANDOM.normal(size=(3, n, 5))
    bank = mk.precomputed(columns @ columns.transpose(0, 2, 1))
    model = mk.MultipleKernelRidgeCV("precomputed", fit_intercept=False, cv=5)
    told = model.forecast(bank, RANDOM.normal(size=(n, targets)))
    assert seconds / 1.7 < told.seconds < 1.7 * seconds


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", one_in(2, ["L1", "EasyMKL", "RLS2", "GMKL", "ridge"]))
def test_memory_is_that_of_the_fit(name: str) -> None:
    model = KNOWN[name]
    clone(model).fit(X[:60], target(model)[:60])  # imports and compiled code are there from now on
    told = model.forecast(X, target(model)).bytes
    tracemalloc.start()
    clone(model).fit(X, target(model))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 * peak < told < 2.2 * peak  # not traced: what BLAS and the system hold beside it


def test_a_sketch_tells_the_cost_of_the_bank_that_is_made() -> None:
    """Whatever the kernels are wrapped in; what a bound bank is known to hold is what was foretold."""
    families = {
        "stored": EACH,
        "normalised and centred": kernels.Kernels(tuple(kernel.normalized().centered() for kernel in WIDTHS)),
        "powers": kernels.homogeneous_polynomials(5),
        "features": kernels.linear_features(),
        "both": kernels.linear_features() + WIDTHS,
    }
    for family in families.values():
        model = mk.L1MKLClassifier(family)
        told = model.forecast(X, Y)
        bank, labels = model.bind(X, Y)
        after = forecast_on_bank(model, bank, model._method.tasks(model, labels, None))
        assert (told.bytes, told.form, told.kernels) == (after.bytes, after.form, after.kernels)
        assert told.seconds >= after.seconds  # what is bound needs not be made


def test_nothing_of_the_size_of_the_kernels_is_made() -> None:
    samples = np.tile(X, (3, 1))
    for given in (samples, {"one": samples[:, :3], "other": samples[:, 3:]}):
        tracemalloc.start()
        told = mk.L1MKLClassifier(EACH).forecast(given, np.tile(Y, 3))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.1 * told.bytes  # what the speed of the machine is measured with


def test_it_prints_as_a_sentence() -> None:
    told = mk.L1MKLClassifier(EACH).forecast(X, np.arange(400) % 3)
    assert re.fullmatch(
        r"L1MKLClassifier: about [\d.]+ s and \d+ MB: 48 kernels of 400 samples, stored, 3 problems", str(told)
    )
    large = mk.Forecast("L1MKLClassifier", 1, 50_000, 1, 8000.0, 6e10, 3.2e10, "evaluated in every pass")
    assert str(large) == (
        "L1MKLClassifier: about 2.2 hours and 60 GB, and 32 GB are available: 1 kernel of 50,000 samples, evaluated "
        "in every pass"
    )
    assert not large.fits
    slow = mk.L1MKLClassifier(EACH, time_budget=1e-3)
    assert slow.forecast(X, Y).seconds == 1e-3


def test_what_nobody_knows_is_not_invented() -> None:
    class Own(kernels.RBF):
        """A kernel of another package."""

    several = [
        mk.L1MKLClassifier(EACH, solver="cutting_plane"),
        mk.L1MKLClassifier(EACH, approximation="nystroem", rank=20),
        mk.HKLClassifier(),
        mk.BestKernelClassifier(EACH),
        mk.L1MKLClassifier([Own(0.1), Own(1.0)]),
        mk.RLS2Classifier(kernels.linear_features()),
    ]
    for model in several:
        told = model.forecast(X, Y)
        assert told.seconds is None
        assert "a time that is not known beforehand" in str(told)
        assert told.bytes > 0.0 or told.form == "known by features"


@pytest.mark.parametrize(("verbose", "count"), [(0, 0), (1, 1)])
@pytest.mark.parametrize("given", [False, True])
def test_a_fit_says_it_first(verbose: int, count: int, given: bool, capsys: pytest.CaptureFixture[str]) -> None:
    samples = mk.bind(WIDTHS, X[:80]).matrices() if given else X[:80]
    mk.L1MKLClassifier("precomputed" if given else WIDTHS, verbose=verbose).fit(samples, Y[:80])
    lines = capsys.readouterr().out.splitlines()
    assert sum("3 kernels of 80 samples" in line for line in lines[:1]) == count


def test_a_forecast_draws_nothing_from_a_users_generator() -> None:
    generator = np.random.RandomState(0)
    mk.GMKLRegressor(WIDTHS, alpha=1.0, approximation="nystroem", rank=20, random_state=generator).forecast(X, Z)
    mk.LocalizedMKLClassifier(WIDTHS, random_state=generator).forecast(X[:40], Y[:40])
    assert generator.randint(10**6) == np.random.RandomState(0).randint(10**6)


def test_what_does_not_fit_is_refused_with_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "total_memory", lambda: 4e6)
    model = mk.L1MKLClassifier(EACH)
    with pytest.raises(
        MemoryError,
        match=r"L1MKLClassifier: a fit of 48 kernels to 400 samples.* takes .* 0\.004 GB are available: take at most "
        r"\d+ samples, or fewer kernels, or approximation='nystroem'",
    ):
        model.fit(X, Y)
    assert not model.forecast(X, Y).fits
    for way_out in (mk.L1MKLClassifier, mk.RLS2Classifier, mk.EasyMKLClassifier):
        way_out(WIDTHS, approximation="nystroem", rank=5).fit(X, Y)


@pytest.mark.parametrize("method", one_in(2, ["L1", "RLS2"]))
def test_a_fit_is_refused_where_its_forecast_beside_its_bank_is_more_than_what_is_left(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = clone(KNOWN[method])
    needed = model.forecast(X, target(model)).bytes - model.bind(X, target(model))[0].cost().held
    monkeypatch.setattr(_memory, "total_memory", lambda: 1e9)
    monkeypatch.setattr(_memory, "available_memory", lambda: 0.9 * needed)
    with pytest.raises(MemoryError, match=r"GB are available: take at most"):
        model.fit(X, target(model))
    monkeypatch.setattr(_memory, "available_memory", lambda: 1.1 * needed)
    model.fit(X, target(model))


def test_the_choice_of_a_solver_follows_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = mk.bind(EACH, X).cost()
    before = machine_rounds(cost, Simplex(), 1e-3).seconds, interior_steps(cost).seconds
    monkeypatch.setattr(speed, "_measured", lambda: speed.Speed(1.0, 1.0, 1.0, 1.0))
    assert (machine_rounds(cost, Simplex(), 1e-3).seconds, interior_steps(cost).seconds) == before
