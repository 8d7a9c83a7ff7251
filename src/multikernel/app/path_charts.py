"""Charts of a path beside its scores: weights, coefficients of features, and errors without held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from multikernel.app.charts import lines


def profile_charts(
    profiles: Mapping[str, Any], parameter: str, values: Sequence[float], mean: Sequence[float], measure: str
) -> dict[str, Markup | None]:
    """The charts by name; None for a chart that the models of the path do not have.

    Parameters
    ----------
    profiles : the result of ``profiles_of``
    parameter, values : the name of the parameter of the path, and its values
    mean, measure : the mean scores on held-out rows, and the name of the score
    """
    charts: dict[str, Markup | None] = dict.fromkeys(("weights", "coefficients", "freedom", "errors"))
    for name, title, axis in (
        ("weights", "Kernel weights along the path", "weight"),
        ("coefficients", "Coefficients along the path", "coefficient"),
    ):
        profile = profiles[name]
        if profile and profile["names"] and len(set(map(tuple, profile["curves"]))) > 1:  # equal weights are one line
            curves = list(zip(profile["names"], profile["curves"], strict=True))
            charts[name] = lines(title, values, curves, (parameter, axis))
    if profiles["criteria"]:
        freedom = [("", profiles["criteria"]["degrees_of_freedom"])]
        charts["freedom"] = lines(
            "Degrees of freedom along the path", values, freedom, (parameter, "degrees of freedom")
        )
    if profiles["criteria"] and profiles["variance"] and measure in ("R2", "R²"):
        gcv = [value / profiles["variance"] for value in profiles["criteria"]["gcv"]]
        curves = [("held out", [1.0 - value for value in mean]), ("GCV", gcv)]
        charts["errors"] = lines(
            "Errors with and without held-out rows", values, curves, (parameter, "square error / variance")
        )
    return charts


def values_at_minima(profiles: Mapping[str, Any], values: Sequence[float]) -> dict[str, float]:
    """The value of the parameter at which each criterion is smallest."""
    criteria = {name: curve for name, curve in profiles["criteria"].items() if name != "degrees_of_freedom"}
    return {name: values[curve.index(min(curve))] for name, curve in criteria.items()}
