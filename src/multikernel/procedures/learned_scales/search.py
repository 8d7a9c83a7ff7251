"""Scales inside kernels, weights of the kernels and ridge of least held-out error.

    min over w, s > 0 of  log L(sum_r w_r f_r(sum_k s_rk D_k)) + penalty / n * sum_r sum of squares_k(log s_rk)

as error.py has it. The problem is not convex. Equal scales are tried first, of several widths and with several ridges,
on some of the samples where there are many; limited-memory quasi-Newton steps (SciPy's L-BFGS-B) lead on from the best,
on these samples and then on all. Steps never go uphill, so the end is no worse than the equal scales chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate
from multikernel.combinations import Profiles
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.base import Weights
from multikernel.procedures.learned_scales.error import ScalesError, Trial, mean_distances
from multikernel.procedures.ridge_cv.residuals import HeldOut
from multikernel.procedures.units import spread

MANY = 2000  # samples up to which BLAS has one thread: the passes have their own, and BLAS's would wait for each other
_FEW = 500  # samples on which the steps begin, where there are more
_FEWEST = 250  # samples on which equal scales are compared
_WIDTHS = (0.1, 0.3, 1.0, 3.0)  # the mean of the distance in equal scales
_RIDGES = (1.0, 10.0, 100.0, 1e3, 1e4)  # weights of the kernel relative to the ridge
_LARGEST = 1e7  # the largest weight relative to the ridge: the inverse of the matrix loses as many digits
_SMALLEST = 1e-8
_REACH = 14.0  # by how much a logarithm of a scale may differ from the first one
_PAIRS = 20  # steps that a quasi-Newton matrix is made of


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedScales(Weights):
    """Weights of the kernels that sum to 1, the scales inside them, and the ridge that belongs to both.

    Parameters
    ----------
    scales : array (R, m), the scales of the m distances in each of R kernels
    means : array (m,), the mean distances over pairs of samples, the inverse units of the scales
    alpha : float, the ridge
    errors : array (t,), the mean squared held-out error of each target
    equal : float, the least held-out error of equal scales that was found, the sum over the targets
    constant : float, the held-out error of the constant predictor, the sum over the targets
    """

    scales: Array
    means: Array
    alpha: float
    errors: Array
    equal: float
    constant: float

    @property
    def theta(self) -> Array:
        """The parameters of the combination."""
        return np.concatenate([self.values, self.scales.ravel()])


def learned_scales(
    bank: KernelBank,
    combination: Profiles,
    held_out: HeldOut,
    penalty: float = 1.0,
    tol: float = 1e-2,
    max_iter: int = 100,
    seed: int = 0,
    observe: Observer = silent,
) -> LearnedScales:
    """Scales, weights and ridge of least penalised held-out error.

    Parameters
    ----------
    bank : KernelBank of distances, of shape (n, n)
    combination : Profiles
    held_out : the targets and the folds
    penalty : float >= 0, one over the variance of the logarithms of the scales that is expected beforehand
    tol : the stationarity at which to stop: what a factor e in one parameter would change the error by, to first order,
        relative to the error
    max_iter : steps at most on some, and on all, of the samples
    seed : of the samples on which the steps begin
    observe : told of each step on all samples
    """
    unit, n = spread(held_out.Y), len(held_out.Y)
    held_out = replace(held_out, Y=held_out.Y / unit)
    matrices = 3.0 + len(combination.kernels)
    check_memory(matrices * n * n, f"learning scales inside kernels of {n} samples", "take a part of the samples")
    error = ScalesError(bank, combination, held_out, penalty, mean_distances(bank, seed))
    few = _some(error, _FEW, seed)
    with one_blas_thread(0):
        equal = begin = _equal(few, _some(error, _FEWEST, seed))
        if few is not error:
            begin = _descend(few, equal, tol, max_iter, silent).best
    with one_blas_thread(n, MANY):
        if few is not error:
            equal, begin = _at(error, equal.u), _at(error, begin.u)
        run = _descend(error, min(begin, equal, key=lambda trial: trial.value), tol, max_iter, observe)
    return _result(error, run, equal, tol, unit)


@dataclass(frozen=True, eq=False)
class Run:
    """The lowest point of a descent and its stationarity, and the stationarity along the way."""

    best: Trial
    certificate: Certificate
    history: tuple[float, ...]


def _some(error: ScalesError, count: int, seed: int) -> ScalesError:
    """The error on so many of the samples; on all, where there are no more or folds would be gone."""
    n = len(error.held_out.Y)
    few = error.on(np.sort(np.random.default_rng(seed).permutation(n)[:count])) if n > count else error
    return few if few.held_out.folds.count > 1 else error


def _equal(error: ScalesError, few: ScalesError) -> Trial:
    """The lowest of equal scales over widths and ridges on a few of the samples, where all admit it; else on all."""
    for on in (few, error):
        losses = {(weight, width): loss for width in _WIDTHS for weight, loss in on.losses(width, _RIDGES)}
        for pair in sorted(losses, key=lambda pair: losses[pair]):
            found = error.at(error.equal(*pair))
            if found is not None:
                return found
    raise ValueError("learned scales: no kernel matrix of equal scales is positive definite with a ridge")


def _at(error: ScalesError, u: Array) -> Trial:
    """E at a point where the matrix of some of the samples was definite."""
    found = error.at(u)
    return _equal(error, error) if found is None else found


def _descend(error: ScalesError, start: Trial, tol: float, max_iter: int, observe: Observer) -> Run:
    R, best = len(error.combination.kernels), start
    lower, upper = start.u - _REACH, start.u + _REACH
    lower[:R], upper[:R] = np.log(_SMALLEST), np.log(_LARGEST)
    last: dict[bytes, Trial] = {}
    history = [_stationarity(start, lower, upper)]

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        trial = start if np.array_equal(u, start.u) else error.at(u)
        if trial is None:  # a step too far: the line search shortens it
            return start.value + 1.0 + abs(start.value), np.zeros(len(u))
        last[u.tobytes()] = trial
        best = min(best, trial, key=lambda each: each.value)
        return trial.value, trial.gradient

    def told(intermediate_result: OptimizeResult) -> None:
        step = last.get(np.asarray(intermediate_result.x).tobytes(), best)
        last.clear()
        history.append(_stationarity(step, lower, upper))
        observe(Event(len(history), Certificate("stationarity", history[-1])))

    observe(Event(1, Certificate("stationarity", history[0])))
    options = {"maxiter": max_iter, "maxcor": _PAIRS, "gtol": tol, "ftol": 0.0}
    if len(start.u) and history[0] > tol:
        bounds = np.column_stack([lower, upper])
        minimize(value, start.u, (), "L-BFGS-B", True, bounds=bounds, callback=told, options=options)  # type: ignore[call-overload]
    return Run(best, Certificate("stationarity", _stationarity(best, lower, upper)), tuple(history))


def _stationarity(trial: Trial, lower: Array, upper: Array) -> float:
    """The largest entry of the projected gradient: E is a logarithm, so it is relative to the error."""
    step = np.clip(trial.u - trial.gradient, lower, upper) - trial.u
    return float(np.abs(step).max(initial=0.0))


def _result(error: ScalesError, run: Run, equal: Trial, tol: float, unit: float) -> LearnedScales:
    """The scale of the weights goes into the ridge: they sum to 1."""
    R, theta = len(error.combination.kernels), error.theta(run.best.u)
    total = float(theta[:R].sum())
    with np.errstate(
        over="ignore"
    ):  # squares of a target of 1e200 are beyond double precision, its predictions are not
        errors = unit * (unit * run.best.errors)
        others = [unit * (unit * each) for each in (equal.loss, error.held_out.constant())]
    return LearnedScales(
        values=theta[:R] / total,
        objective=float(errors.sum()),
        certificate=run.certificate,
        converged=run.certificate.reached(tol),
        n_iter=len(run.history) - 1,
        history=run.history,
        scales=theta[R:].reshape(len(error.combination.users), -1),
        means=error.means,
        alpha=1.0 / total,
        errors=errors,
        equal=others[0],
        constant=others[1],
    )
