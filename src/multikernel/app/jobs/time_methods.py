"""Bench: how long one fit of each method takes on a table."""

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
    """One method: seconds of its fits, and what the last of them found."""

    method: str
    estimator: str
    seconds: tuple[float, ...]
    kernels: int
    steps: int
    certificate: Certificate


@dataclass(frozen=True)
class Bench:
    """All methods on a table."""

    samples: int
    features: int
    methods: tuple[Timed, ...]

    def to_json(self) -> dict[str, Any]:
        """The times by names."""
        methods = [
            {
                "method": each.method,
                "estimator": each.estimator,
                "seconds": float(np.median(each.seconds)),
                "seconds_all": list(each.seconds),
                "kernels": each.kernels,
                "steps": each.steps,
                "certificate": asdict(each.certificate),
            }
            for each in self.methods
        ]
        return {"samples": self.samples, "features": self.features, "methods": methods}


def time_methods(table: CsvTable, request: FitRequest, names: Sequence[str] | None, repeat: int, watch: Watch) -> Bench:
    """Fit each method some times; ValueError where the table or a method that was named does not allow it."""
    y, task, _ = read_target(table, request.target, request.task)
    fitting = [
        name
        for name, method in METHODS.items()
        if (method.classifier if task == "classification" else method.regressor)
    ]
    requests = {name: replace(request, method=name) for name in (fitting if names is None else names)}
    if request.kernels is not None and names is None:
        requests = {name: own for name, own in requests.items() if takes_kernels(own, task)}
    models = {}
    for name, own in requests.items():
        samples = MethodSamples.of(table, own)
        models[name] = samples.model(own), samples.prepared()[0]
    found = []
    with watch.steps(len(models), "bench") as observe, threadpool_limits(1, user_api="blas"):
        for name, (model, X) in models.items():
            found.append(_timed(name, model, X, y, repeat))
            observe(name)
    return Bench(len(y), len(samples.features), tuple(found))


def _timed(name: str, model: Any, X: Any, y: Any, repeat: int) -> Timed:
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
    ordered = sorted(bench.methods, key=lambda each: float(np.median(each.seconds)))
    return [
        [
            each.method,
            f"{np.median(each.seconds):.3f}",
            str(each.kernels),
            str(each.steps),
            f"{each.certificate.value:.1e}",
        ]
        for each in ordered
    ]
