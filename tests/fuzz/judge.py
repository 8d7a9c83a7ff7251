"""Whether a fit keeps what the package promises.

    false       a better point is known: the true gap is provably above the published one
    true        the published gap is above a proven bound of the true one
    rounding    the true gap is above it, by less than errors of the last digit of the given kernel values may cause
    undecided   neither could be proved with the points at hand
    stationary  no gap is told
    refused     the fit raised a documented exception, with one sentence that says what is wrong

Beside that: a model that is not finite never says that it converged, and every fitted model predicts, what its own
formula says.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fuzz.claims import Case, Claim, Flatness
from fuzz.families import FAMILIES
from fuzz.held_out import HeldOutLoss
from fuzz.samples import Given
from fuzz.wide import EPS, Array, Number, wide

_OWN = 8 * EPS / np.finfo(float).eps  # what is left of a rounding in double precision
_DIGITS = 1e-13  # of the value, and of the gap: what a judge of this precision does not call false


@dataclass(frozen=True)
class Verdict:
    outcome: str
    told: float = float("nan")
    proved: float = float("nan")  # a lower bound of the true gap
    bound: float = float("nan")  # an upper bound of it
    text: str = ""
    rounding: float = float("nan")  # what rounding of kernel values in double precision may add to the gap


ORDER = ("false", "rounding", "undecided", "true", "stationary")
_SEEN = 1e-15  # of the targets: what a prediction may differ by without being seen
_FIRST_ORDER = 1.01  # slopes are known to the root of the machine's gap
_FLAT = 1e-8
_LOSS = 1e-8  # of a held-out error, and of its targets' squares: what the published one may differ by
_FINEST = 1e-11  # the gap asked of a second opinion


class Broken(AssertionError):
    """A promise that was not kept."""


def examine(case: Case) -> Verdict:
    """Fit, predict, and compare the published gap with the true one.

    Raises
    ------
    Broken : where a promise is not kept, other than a certificate, which the verdict tells
    """
    family, given = FAMILIES[case.family], case.kind.make()
    y = case.target.labels(given, family.classes) if family.labels else case.target.values(given)
    weight = _weights(case, len(y), y if family.labels else None)
    estimator = family.estimator(kernels=given.kernels, **case.parameters)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = _fitted(estimator, given, y if family.needs_target else None, weight)
    except (ValueError, TypeError) as error:
        if not _said(error):
            raise
        return Verdict("refused", text=f"{type(error).__name__}: {error}")
    warned = any(issubclass(each.category, ConvergenceWarning) for each in told)
    strange = [each for each in told if not issubclass(each.category, UserWarning)]
    if strange:
        raise Broken(f"a warning of another kind: {strange[0].category.__name__}: {strange[0].message}")
    if not model.converged_ and not warned:
        raise Broken("not converged, and no ConvergenceWarning")
    told_gap = float(getattr(model, "duality_gap_", getattr(model, "stationarity_", np.nan)))
    values = [model.weights_, model.dual_coef_, model.intercept_, told_gap, model.predict(given.X)]
    finite = all(np.isfinite(np.asarray(value, dtype=float)).all() for value in values)
    if model.converged_ and not finite:
        raise Broken("NaN or infinity in a model that says converged")
    _predicts(model, given, family.kernel(model, given.K), family.kernel(model, given.K_new), _SEEN * np.abs(y).max())

    def again() -> list[Claim]:
        """A second opinion: the same problem from its kernel matrices, solved as well as the package can."""
        finer = {name: value for name, value in case.parameters.items() if name not in ("solver", "max_iter", "tol")}
        finer |= {"tol": _FINEST} if "tol" in case.parameters else {}
        matrices = Given("precomputed", given.K.astype(float), None, given.K, given.K_new)
        other = _fitted(family.estimator(kernels="precomputed", **finer), matrices, y, weight)
        return list(claims(case, other, given, y, weight))

    verdicts = [_verdict(claim, told_gap, again) for claim in claims(case, model, given, y, weight)]
    return min(verdicts or [Verdict("stationary", told_gap)], key=lambda verdict: ORDER.index(verdict.outcome))


def _said(error: Exception) -> bool:
    """Whether a line of Python raised it with a sentence, not a routine that was given what it cannot take."""
    return "raise" in (traceback.extract_tb(error.__traceback__)[-1].line or "")


def claims(case: Case, model: Any, given: Given, y: Array, weight: Array | None) -> Iterator[Claim]:
    return FAMILIES[case.family].claims(model, given, y, weight, case.parameters)


def _weights(case: Case, n: int, labels: Array | None) -> Array | None:
    if case.weights == "none":
        return None
    rng = np.random.default_rng(case.target.seed + 1)
    weight = rng.exponential(size=n)
    if case.weights == "some zero":
        weight[rng.random(n) < 0.3] = 0.0
        weight[:2] = 1.0
        if labels is not None:
            weight[np.argmax(labels)], weight[np.argmin(labels)] = 1.0, 1.0
    return weight


def _fitted(estimator: Any, given: Given, y: Array | None, weight: Array | None) -> Any:
    if y is None:
        return estimator.fit(given.X)
    return estimator.fit(given.X, y) if weight is None else estimator.fit(given.X, y, sample_weight=weight)


def _predicts(model: Any, given: Given, own: Array, new: Array, nothing: float) -> None:
    """New samples are met, and the values are those of the published coefficients, but for what counts as nothing."""
    decide = getattr(model, "decision_function", model.predict)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X, K in ((given.X, own), (given.new, new)):
            found = np.asarray(decide(X), dtype=float)
            model.predict(X)
            if K is None:
                continue
            coef, intercept = wide(model.dual_coef_), wide(model.intercept_)
            wrong = float(np.abs(found - (K @ coef + intercept)).max())
            size = float(np.abs(K).max() * np.abs(coef).sum() + np.abs(intercept))
            if model.converged_ and not wrong <= (1e-5 if _single(given) else 1e-10) * size + nothing:
                raise Broken(f"predictions differ from the published coefficients by {wrong / size:.1e} of their size")


def _single(given: Given) -> bool:
    return getattr(given.X, "dtype", None) == np.float32


# -- the certificate ---------------------------------------------------------------------------------------------------


@dataclass
class Known:
    """What the points met so far prove, in values of the problem.

    Parameters
    ----------
    lower, upper : bounds of the optimum
    least, most : bounds of the value that is claimed to be near it
    """

    lower: Number
    upper: Number
    least: Number
    most: Number


def _verdict(claim: Claim | Flatness | HeldOutLoss, told: float, again: Callable[[], list[Claim]]) -> Verdict:
    """The published point first; better ones where it does not decide."""
    if not np.isfinite(told):
        return Verdict("true", told)
    if isinstance(claim, HeldOutLoss):
        return _loss(claim, told)
    if isinstance(claim, Flatness) and told >= 1:
        return Verdict("stationary", told, text="nothing is claimed")
    if isinstance(claim, Flatness):
        found, allowed = float(claim.landscape.stationarity(claim.weights, claim.coef)), told * _FIRST_ORDER + _FLAT
        if not found > allowed:
            return Verdict("stationary", told, found, found)
        hidden = float(claim.landscape.hidden(claim.weights, claim.coef))
        return Verdict("false" if found > allowed + hidden else "rounding", told, found, found, rounding=hidden)
    problem, d, b = claim.problem, claim.weights, claim.coef
    at_point, infinite = problem.upper(d, b, claim.intercept), Number(np.inf)
    rounding = problem.rounding(d, b, claim.intercept)
    own = _OWN * rounding if at_point != 0 else Number(0)  # of this arithmetic
    known = Known(problem.lower(b) - own, at_point + own, -infinite, infinite)
    if claim.point == "predictor":
        known.least, known.most = at_point - own, at_point + own
    verdict = _compared(claim, told, known, rounding)
    if verdict.outcome == "true":
        return verdict
    for weights, coef in _better(problem, d, b, again):
        value = problem.upper(weights, coef)
        own = _OWN * problem.rounding(weights, coef, claim.intercept) if value != 0 else Number(0)
        value += own
        known.lower = np.fmax(known.lower, problem.lower(coef) - own)
        known.upper = np.fmin(known.upper, value)
        if claim.point == "weights" and weights is d:
            known.least, known.most = np.fmax(known.least, problem.at(d, coef) - own), np.fmin(known.most, value)
        verdict = _compared(claim, told, known, rounding)
        if verdict.outcome in ("false", "true"):
            return verdict
    return verdict


def _loss(claim: HeldOutLoss, told: float) -> Verdict:
    """Whether the error on held-out samples is the one published, and no weight alone promises more than is told."""
    true, hidden = claim.value(), claim.hidden()
    size = max(true, claim.told, Number(1e-300))
    nothing = float(_LOSS * (1 + claim.size() / size))
    wrong, hidden = float(abs(claim.told - true) / size), float(hidden / size)
    promised = float(claim.promised())
    if wrong <= nothing and promised <= told * _FIRST_ORDER + nothing:
        return Verdict("stationary", told, promised, promised)
    hides = wrong <= nothing + hidden and promised <= told * _FIRST_ORDER + nothing + hidden
    return Verdict("rounding" if hides else "false", told, promised, promised, f"error wrong by {wrong:.1e}", hidden)


def _compared(claim: Claim, told: float, known: Known, rounding: Number) -> Verdict:
    """The true gap is between what is proved and its bound; rounding of kernel values counts for itself."""
    values = [abs(value) for value in (known.most, claim.objective) if value is not None and np.isfinite(value)]
    size = max([*values, Number(claim.floor), Number(1e-300)])
    if size <= claim.nothing:
        return Verdict("true", told)
    proved = float((known.least - known.upper) / size)
    bound = float((known.most - known.lower) / size) if claim.point != "nothing" else 0.0
    rounding, allowed = float(rounding / size), told * (1 + 1e-6) + _DIGITS
    if claim.objective is not None:  # which may be on either side of the optimum, and is as exact as the kernel values
        value = claim.objective
        proved = max(proved, float(max(value - known.upper, known.lower - value) / size) - rounding)
        bound = max(bound, float(max(value - known.lower, known.upper - value) / size) - rounding)
    if proved > allowed:
        outcome = "false" if proved > allowed + rounding else "rounding"
    else:
        outcome = "true" if bound <= allowed else "undecided"
    return Verdict(outcome, told, proved, bound, rounding=rounding)


def _better(problem: Any, d: Array, b: Array, again: Callable[[], list[Claim]]) -> Iterator[tuple[Array, Array]]:
    """Weights and coefficients that may prove more, dearer and dearer."""
    b = problem.solved(d, b)
    yield d, b
    with suppress(Exception), warnings.catch_warnings():  # whatever it is, a second opinion only helps
        warnings.simplefilter("ignore")
        for claim in again():
            yield claim.weights, claim.coef
            yield claim.weights, problem.solved(claim.weights, claim.coef)
