"""The methods of the paper: descent (PGD) and interpolation (IIA) in a ball or with a penalty (rPGD, rIIA).

For degree 1 PGD and IIA solve the same problem, as do rPGD and rIIA, so one certified solution is reported for both.
"""

from __future__ import annotations

from multikernel.reproduce.data import FeatureScaling
from multikernel.reproduce.polynomial import PolynomialMethod

LAMBDAS = (10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)
RADII = (0.001, 0.1, 0.5, 1.0, 2.0, 10.0)
PENALTIES = (1e-3, 1e-2, 0.1, 1.0, 10.0)
METHODS = {
    "ball, degree 1": PolynomialMethod(1, 2),
    "ball, degree 2": PolynomialMethod(2, 2),
    "penalty, degree 1": PolynomialMethod(1, 2, penalised=True),
    "penalty, degree 2": PolynomialMethod(2, 2, penalised=True),
    "weights 1, degree 1": PolynomialMethod(1, None),
    "weights 1, degree 2": PolynomialMethod(2, None),
}
STATED = FeatureScaling("interval", "features")
NO_INTERCEPT = "no intercept"
PREPARATIONS = {
    "stated": STATED,
    "uncentred": FeatureScaling("interval", "none"),
    "raw": FeatureScaling("raw", "none"),
    NO_INTERCEPT: STATED,
}
ONE_WAY = ("raw", NO_INTERCEPT)  # variants whose folds are drawn once
VARIANTS = {
    "uncentred": "Features are scaled to [0, 1] and not centred.",
    "raw": (
        "Features are used as they are in the file, as the report mentions no preparation; the folds are drawn once."
    ),
    NO_INTERCEPT: (
        "Labels are not centred, and halves are not stratified, as in the program that two of the authors have "
        "published (Learning-Kernel-Group/final-, December 2017). Features are scaled and centred as in the experiment "
        "as stated; the folds are drawn once."
    ),
}


def sizes(method: PolynomialMethod) -> tuple[float, ...]:
    """The grid of the second parameter: the strength of the penalty, or the radius."""
    if method.penalised:
        return PENALTIES
    return RADII
