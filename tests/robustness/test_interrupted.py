"""Ctrl-C ends every fit soon, and leaves the estimator as it was."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from everyone import NAMES, given_to, model_of

from multikernel.auto import base as auto
from multikernel.estimators import publish
from multikernel.selection import search

WHERE = [
    ("EasyMKLClassifier", publish, "_publish_certificate"),
    ("RLS2Regressor", publish, "_publish_certificate"),
    ("MultiKernelRegressor", auto, "explanation_of"),
    ("BankSearchCV", search, "best"),
]


@pytest.mark.crossed
@pytest.mark.parametrize(("name", "owner", "method"), WHERE)
@pytest.mark.parametrize("fitted", [False, True])
def test_an_interrupted_fit_leaves_nothing_of_itself(
    monkeypatch: pytest.MonkeyPatch, name: str, owner: Any, method: str, fitted: bool
) -> None:
    model = model_of(name)
    if fitted:
        model.fit(*given_to(name, model, 40))
    before = dict(vars(model))

    def interrupt(*given: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, method, interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*given_to(name, model, 50))
    assert vars(model).keys() == before.keys()
    assert all(value is before[word] for word, value in vars(model).items())


def stopped(model: Any, given: tuple[Any, ...], moment: float) -> float | None:
    """Processor seconds from Ctrl-C at a moment of the fit to its end; None where the fit was done before."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.process_time())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    timer = threading.Timer(moment, send)
    try:
        timer.start()
        model.fit(*given)
        timer.cancel()
        time.sleep(0.01)  # in which a signal that is under way arrives
    except KeyboardInterrupt:
        return time.process_time() - sent[0]
    return None


@pytest.mark.study
@pytest.mark.parametrize("name", NAMES)
def test_a_signal_at_any_moment_is_heard_within_a_second(name: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    model, random = model_of(name, probability="platt"), np.random.default_rng(0)
    endless = {"tol": 1e-13, "max_iter": 1_000_000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*given_to(name, model, 60))
        inner = getattr(model, "estimator", model)
        inner.set_params(**{word: value for word, value in endless.items() if word in inner.get_params()})
        before, given = dict(vars(model)), given_to(name, model, 1500)
        for moment in np.append(random.uniform(0.0, 2.0, 4), 4.0):
            seconds = stopped(model, given, moment)
            if seconds is None:
                break
            assert seconds < 1.0
            assert all(value is before[word] for word, value in vars(model).items())
