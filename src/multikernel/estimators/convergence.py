"""What is said where a fit stopped before the certificate that was asked for: how good the model is, and what to do."""

from __future__ import annotations

import numpy as np

from multikernel.certificate import Certificate

_USABLE = 0.05  # of the objective: with less left to gain, predictions seldom change
_ADVICE = (
    "Raise max_iter; where that does not help, bring the kernels to about the same size, lower C (raise alpha), or "
    "raise tol."
)


def not_converged(name: str, reached: Certificate, n_iter: int, budget: float | None = None) -> str:
    """The sentence for one estimator.

    Parameters
    ----------
    name : of the estimator's class
    reached : the worst certificate over its problems
    n_iter : the steps taken
    budget : the seconds that it was given, where these are what ended it
    """
    said = f"{name} did not converge: it reached a {reached} in {n_iter} iterations. "
    advice = _ADVICE
    if budget is not None:
        said = f"{name} stopped after its time budget of {budget:g} s: it reached a {reached} in {n_iter} iterations. "
        advice = "Raise time_budget for a better one."
    if not np.isfinite(reached.value):
        return said + f"Nothing is known of how good the model is. {advice}"
    model = "The model is usable" if reached.value <= _USABLE else "Do not rely on the model"
    return said + f"{model}: {_meaning(reached)}. {advice}"


def _meaning(reached: Certificate) -> str:
    part = f"{reached.value:.2g} of its value"
    if reached.kind == "duality gap":
        return f"its objective is at most {part} above the optimum"
    return f"to first order, other weights would lower its objective by at most {part}"
