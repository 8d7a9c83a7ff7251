"""Bench: how long one fit of each method takes on a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from multikernel.app.jobs.methods import METHODS, FitRequest, make_model
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.encoding import TableEncoding
from multikernel.app.tables.table import CsvTable
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
    encoding, raw, y = TableEncoding.learn(table, request.target, request.task)
    X = encoding.scale(raw)
    task = encoding.task
    fitting = [
        name
        for name, method in METHODS.items()
        if (method.classifier if task == "classification" else method.regressor)
    ]
    if request.kernels is not None:
        fitting.remove("linearrls2")  # which takes none
    chosen = fitting if names is None else names
    models = {name: make_model(replace(request, method=name), task) for name in chosen}
    found = []
    with watch.steps(len(models), "bench") as observe, threadpool_limits(1, user_api="blas"):
        for name, model in models.items():
            found.append(_timed(name, model, X, y, repeat))
            observe(name)
    return Bench(len(y), X.shape[1], tuple(found))


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
