"""Charts of a path beside its scores: weights, coefficients of features, and errors without held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from multikernel.app.charts import lines


def profile_charts(
    profiles: Mapping[str, Any], parameter: str, values: Sequence[float], mean: Sequence[float], measure: str
) -> dict[str, Markup | None]:
    """The charts by name; None for one that the models of the path do not have.

    Parameters
    ----------
    profiles : what ``profiles_of`` made
    parameter, values : what was followed
    mean, measure : the mean scores on held-out rows, and what they are
    """
    found: dict[str, Markup | None] = dict.fromkeys(("weights", "coefficients", "freedom", "errors"))
    for name, title, axis in (
        ("weights", "Kernel weights along the path", "weight"),
        ("coefficients", "Coefficients along the path", "coefficient"),
    ):
        own = profiles[name]
        if own and own["names"] and len(set(map(tuple, own["curves"]))) > 1:  # equal weights are one line
            curves = list(zip(own["names"], own["curves"], strict=True))
            found[name] = lines(title, values, curves, (parameter, axis))
    if profiles["criteria"]:
        freedom = [("", profiles["criteria"]["degrees_of_freedom"])]
        found["freedom"] = lines(
            "Degrees of freedom along the path", values, freedom, (parameter, "degrees of freedom")
        )
    if profiles["criteria"] and profiles["variance"] and measure in ("R2", "R²"):
        gcv = [value / profiles["variance"] for value in profiles["criteria"]["gcv"]]
        curves = [("held out", [1.0 - value for value in mean]), ("GCV", gcv)]
        found["errors"] = lines(
            "Errors with and without held-out rows", values, curves, (parameter, "square error / variance")
        )
    return found


def least(profiles: Mapping[str, Any], values: Sequence[float]) -> dict[str, float]:
    """The value at which each criterion is least."""
    criteria = {name: own for name, own in profiles["criteria"].items() if name != "degrees_of_freedom"}
    return {name: values[own.index(min(own))] for name, own in criteria.items()}
