"""What a fitted model claims, and how cases of an estimator are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from fuzz.samples import Given, Kind, Target, as_numbers, label_targets, value_targets
from fuzz.stationary import Surface
from fuzz.wide import Array, Number, combine

FEW = 30  # steps of a solver that is there to be compared with


@dataclass(frozen=True)
class Claim:
    """What a fitted model says of one of its problems.

    Parameters
    ----------
    problem : Saddle, or another with the same methods
    weights, coef, intercept : as published
    objective : as published, in units of the problem; None where the model tells none
    floor : a value that the documentation counts as zero
    nothing : a value that is rounding of the target
    point : what is told to be near the optimum beside the objective: the published predictor, the weights with the best
        coefficients for them, or nothing
    """

    problem: Any
    weights: Array
    coef: Array
    intercept: Any
    objective: Number | None
    floor: float = 0.0
    nothing: float = 0.0
    point: str = "predictor"


@dataclass(frozen=True)
class Flatness:
    """What a fitted model says of a problem that is not convex: that these weights are so far from being stationary."""

    landscape: Surface
    weights: Array
    coef: Array


@dataclass(frozen=True)
class Case:
    """One fit."""

    family: str
    kind: Kind
    target: Target
    parameters: dict[str, Any]
    weights: str = "none"  # of samples


@dataclass(frozen=True)
class Family:
    """How cases of an estimator are drawn and what its models claim."""

    estimator: Callable[..., Any]
    parameters: st.SearchStrategy[dict[str, Any]]
    claims: Callable[[Any, Given, Array, Array | None, dict[str, Any]], Iterator[Any]]
    kinds: st.SearchStrategy[Kind]
    labels: bool
    weighted: bool = False
    needs_target: bool = True
    classes: int = 2
    kernel: Callable[[Any, Array], Array | None] = lambda model, K: combine(  # the learned one, of these kernels
        K, as_numbers(model.weights_) * as_numbers(getattr(model, "scaling_", 1.0))
    )

    def cases(self, name: str) -> st.SearchStrategy[Case]:
        weights = st.sampled_from(["none", "none", "random", "some zero"]) if self.weighted else st.just("none")
        target = label_targets() if self.labels else value_targets()
        return st.builds(Case, st.just(name), self.kinds, target, self.parameters.map(_stopped), weights)


def _stopped(parameters: dict[str, Any]) -> dict[str, Any]:
    """Solvers that are there to be compared with take few steps."""
    return parameters | ({"max_iter": FEW} if parameters.get("solver", "auto") != "auto" else {})
