"""``bench``: how long one fit of each method takes on a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from multikernel.app.jobs.method_samples import MethodSamples
from multikernel.app.jobs.methods import METHODS, FitRequest, takes_kernels
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.table import CsvTable, read_target
from multikernel.certificate import Certificate


@dataclass(frozen=True)
class Timed:
    """The times of a method, and the size and the certificate of its last fit."""

    method: str
    estimator: str
    seconds: tuple[float, ...]
    kernels: int
    steps: int
    certificate: Certificate


@dataclass(frozen=True)
class Bench:
    """The times of all methods on a table."""

    samples: int
    features: int
    methods: tuple[Timed, ...]

    def to_json(self) -> dict[str, Any]:
        """The times as a dictionary."""
        methods = [
            {
                "method": timing.method,
                "estimator": timing.estimator,
                "seconds": float(np.median(timing.seconds)),
                "seconds_all": list(timing.seconds),
                "kernels": timing.kernels,
                "steps": timing.steps,
                "certificate": asdict(timing.certificate),
            }
            for timing in self.methods
        ]
        return {"samples": self.samples, "features": self.features, "methods": methods}


def time_methods(table: CsvTable, request: FitRequest, names: Sequence[str] | None, repeat: int, watch: Watch) -> Bench:
    """Fit each method ``repeat`` times; ValueError where the table or a named method does not allow it."""
    y, task, _ = read_target(table, request.target, request.task)
    fitting = [
        name
        for name, method in METHODS.items()
        if (method.classifier if task == "classification" else method.regressor)
    ]
    requests = {name: replace(request, method=name) for name in (fitting if names is None else names)}
    if request.kernels is not None and names is None:
        requests = {
            name: method_request for name, method_request in requests.items() if takes_kernels(method_request, task)
        }
    models = {}
    for name, method_request in requests.items():
        samples = MethodSamples.of(table, method_request)
        models[name] = samples.model(method_request), samples.prepared()[0]
    timings = []
    with watch.steps(len(models), "bench") as observe, threadpool_limits(1, user_api="blas"):
        for name, (model, X) in models.items():
            timings.append(_time_method(name, model, X, y, repeat))
            observe(name)
    return Bench(len(y), len(samples.features), tuple(timings))


def _time_method(name: str, model: Any, X: Any, y: Any, repeat: int) -> Timed:
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # only the time matters, and not the model
        model.fit(X, y)
        for _ in range(repeat):
            start = time.perf_counter()
            model.fit(X, y)
            seconds.append(time.perf_counter() - start)
    return Timed(
        name, type(model).__name__, tuple(seconds), len(model.kernel_names_), model.n_iter_, model.certificate_
    )


def rows_of(bench: Bench) -> list[list[str]]:
    """The lines of the table, the fastest first."""
    ordered = sorted(bench.methods, key=lambda timing: float(np.median(timing.seconds)))
    return [
        [
            timing.method,
            f"{np.median(timing.seconds):.3f}",
            str(timing.kernels),
            str(timing.steps),
            f"{timing.certificate.value:.1e}",
        ]
        for timing in ordered
    ]
