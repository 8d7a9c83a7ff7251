"""Time and memory decide on how many samples kernels are chosen and trained, and it is said."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from time import sleep

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning

from multikernel import MultiKernelRegressor, PredictionWarning
from multikernel._folds import in_proportion
from multikernel._workers import limited, time_is_up
from multikernel.auto import answering
from multikernel.auto.candidates import FixedKernel, KernelAndRidge, KernelCandidate, candidates
from multikernel.auto.limits import Limits
from multikernel.auto.preparation import Preparation
from multikernel.auto.samples import LinearSimilarity, PreparedSamples
from multikernel.auto.table import read
from multikernel.auto.task import RidgeTask


@pytest.fixture
def tried() -> list[KernelCandidate]:
    table = read(np.random.default_rng(0).normal(size=(20, 4)))
    return candidates(Preparation.of(table).samples(table))


def test_few_samples_are_all_used(tried):
    limits = Limits.of(tried, 300, 4, None, None)
    assert (limits.choice, limits.training, limits.candidates) == (300, 300, tuple(tried))


def test_less_time_takes_fewer_samples_and_then_fewer_candidates(tried):
    by_time = [Limits.of(tried, 5000, 4, seconds, None) for seconds in (100.0, 5.0, 0.5, 0.01)]
    choices = [limits.choice for limits in by_time]
    assert choices == sorted(choices, reverse=True)
    assert choices[0] > choices[-1]
    assert len(by_time[-1].candidates) < len(tried)
    assert by_time[-1].candidates[0].name == "Gaussian, one width"


def test_much_time_takes_more_samples_than_no_word_of_it(tried):
    assert Limits.of(tried, 4000, 4, 1e5, 1e12).choice > Limits.of(tried, 4000, 4, None, 1e12).choice
    assert Limits.of(tried, 4000, 4, None, 1e12).training == 4000


def test_many_samples_are_all_trained_on_by_centres(tried):
    limits = Limits.of(tried, 20_000, 4, None, 1e12)
    assert (limits.choice, limits.training) == (1000, 20_000)
    assert limits.centres is not None
    assert Limits.of(tried, 4000, 4, None, 1e12).centres is None
    assert Limits.of(tried, 20_000, 4, None, 1e6).centres is None  # too little memory for the squares of centres


def test_time_without_end_takes_all_samples(tried):
    limits = Limits.of(tried, 300, 4, 1e300, None)
    assert (limits.choice, limits.training, limits.candidates) == (300, 300, tuple(tried))


def test_a_time_limit_where_there_is_nothing_to_learn_from():
    X, y = np.full((20, 2), np.nan), np.arange(20.0)
    model = MultiKernelRegressor(time_budget=5.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_less_memory_takes_fewer_samples(tried):
    limits = Limits.of(tried, 5000, 4, None, 8e6)
    assert 8.0 * 8.0 * limits.training**2 <= 8e6


def test_a_fit_takes_no_more_memory_than_it_is_given():
    X, y = make_friedman1(2000, noise=0.5, random_state=0)
    MultiKernelRegressor(memory=1e6, random_state=0).fit(X[:200], y[:200])  # modules and compiled code are there
    tracemalloc.start()
    MultiKernelRegressor(memory=8e6, random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.1 * 8e6


def test_some_samples_keep_the_shares_of_the_classes():
    labels = np.repeat([0, 1], [900, 100])
    rows = in_proportion(labels, 100, 0)
    assert len(rows) == 100
    assert abs((labels[rows] == 1).sum() - 10) <= 1


def test_a_fit_on_some_samples_says_so():
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    model = MultiKernelRegressor(memory=1e6, random_state=0).fit(X, y)
    assert "Kernels were chosen on 125 of 400 samples" in model.explain()
    assert "The answer was trained on 125 of 400 samples" in model.explain()
    assert model.score(X, y) > 0.7


def test_a_seed_decides_everything():
    X, y = load_diabetes(return_X_y=True)
    first, second = (MultiKernelRegressor(random_state=3).fit(X[:60], y[:60]) for _ in range(2))
    assert np.array_equal(first.predict(X), second.predict(X))
    threads = MultiKernelRegressor(random_state=3, n_jobs=2).fit(X[:60], y[:60])
    assert np.allclose(first.predict(X), threads.predict(X))


def test_no_time_at_all_still_gives_the_gaussian():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="4 of 5 candidates were not tried") as warned:
        model = MultiKernelRegressor(time_budget=1e-9, random_state=0).fit(X[:120], y[:120])
    assert [row["candidate"] for row in model.candidates_] == ["Gaussian, one width", "their blend"]
    message = str(warned[-1].message)
    assert "kernels were chosen on 97 samples and not on 120" in message
    assert "the time ended before these were learned to their end: Gaussian, one width" in message
    assert "There was no time to try 4 more: linear, " in model.explain()
    assert "The time ended before these were learned to their end: Gaussian, one width." in model.explain()


class Endless(FixedKernel):
    """Learns for as long as there is time."""

    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
        for _ in range(6000):
            if time_is_up():
                found = super().learn(samples, task)
                return None if found is None else replace(found, cut=True)
            sleep(0.01)
        raise AssertionError("the time limit does not reach candidates")


def test_time_ends_a_candidate_that_takes_longer_than_its_forecast(monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    linear = LinearSimilarity()
    tried = [FixedKernel("linear", linear), Endless("endless", linear), FixedKernel("late", linear)]
    monkeypatch.setattr(answering, "candidates", lambda samples: tried)
    with pytest.warns(ConvergenceWarning, match=r"not tried \(late\); .* learned to their end: endless") as warned:
        model = MultiKernelRegressor(time_budget=2.0, random_state=0).fit(X[:120], y[:120])
    assert len(warned) == 1
    assert [row["candidate"] for row in model.candidates_] == ["linear", "endless", "their blend"]


def test_a_limit_from_outside_is_named_in_the_warning():
    X, y = load_diabetes(return_X_y=True)
    with limited(1e-9), pytest.warns(ConvergenceWarning, match="a time limit cut the choice: 4 of 5 candidates"):
        MultiKernelRegressor(random_state=0).fit(X[:120], y[:120])


def test_samples_that_occur_twice_are_counted():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(PredictionWarning, match="7 of 57 samples are the same as an earlier one, .* groups=..."):
        model = MultiKernelRegressor(random_state=0).fit(np.vstack([X[:50], X[:7]]), np.append(y[:50], y[:7]))
    assert "7 of 57 samples are the same as an earlier one" in model.explain()
