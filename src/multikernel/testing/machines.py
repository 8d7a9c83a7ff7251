"""Checks of a machine on small problems: its value, its certificate, its derivative, starts, weights and refusals.

The value J(K) of a machine is convex and decreasing in K. All machines have a dual problem whose objective is linear in
K, so every solution, however rough, gives a tangent, which is a lower bound of all values:

    J(K') >= value - <A A', K' - K>        for all K',        A the ``factor`` of a solution at K

The correct value itself is checked by the tests of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import DenseGram, FactorGram
from multikernel.machines import DualSolution, Machine
from multikernel.testing.assertions import STEP, must_refuse, refusal, require

# values of tol
_ROUGH = 1e-2
_FINE = 1e-8
_FINEST = 1e-10
_LOOSE = 1e-2  # of predictions: their error is about the root of the gap, and an intercept may have several best values


@dataclass(frozen=True, eq=False)
class MachineCase:
    """A kernel matrix of full rank with a target.

    Parameters
    ----------
    K : array (n, n), symmetric and positive definite
    target : array (n,) or (n, t), in the form that the machine takes
    """

    K: Array
    target: Array


def labelled_case(n: int = 24) -> MachineCase:
    """Gaussian kernels of samples in the plane, with labels -1 and +1 that overlap."""
    X = _samples(n)
    rng = np.random.default_rng(1)
    return MachineCase(_gaussians(X), np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0))


def numeric_case(n: int = 24) -> MachineCase:
    """Gaussian kernels of samples in the plane, with numbers that follow a curve."""
    X = _samples(n)
    rng = np.random.default_rng(1)
    return MachineCase(_gaussians(X), X[:, 1] - 0.5 * X[:, 0] ** 2 + 0.2 * rng.normal(size=n) + 1.0)


def check_machine(machine: Machine, cases: Iterable[MachineCase]) -> None:
    """Check a machine on each of the cases.

    Parameters
    ----------
    machine : Machine
    cases : MachineCase, of targets that the machine takes

    Raises
    ------
    AssertionError : with what is wrong

    Examples
    --------
    >>> from multikernel.machines import HingeMachine
    >>> from multikernel.testing.machines import check_machine, labelled_case
    >>> check_machine(HingeMachine(C=2.0), [labelled_case()])
    """
    for case in cases:
        check_solution(machine, case)
        check_certificate(machine, case)
        check_derivative(machine, case)
        check_starts(machine, case)
        check_predictor(machine, case)
        check_weights(machine, case)
        check_refusals(machine, case)
        check_units(machine, case)


def check_solution(machine: Machine, case: MachineCase) -> None:
    """Check shapes and finite numbers, that inputs do not change, and that repeated runs and other Grams agree."""
    K = case.K.copy()
    y = case.target.copy()
    solution, repeated_solution = (machine.solve(DenseGram(K), y) for _ in range(2))
    same = np.array_equal(K, case.K) and np.array_equal(y, case.target)
    require(same, "solve writes into the matrix or the target")
    require(
        solution.coef.shape == solution.factor.shape == y.shape, f"coef has shape {solution.coef.shape}, not {y.shape}"
    )
    require(np.shape(solution.intercept) == y.shape[1:], f"the intercept has shape {np.shape(solution.intercept)}")
    for name in ("coef", "intercept", "value", "upper", "factor", "gap"):
        require(np.isfinite(getattr(solution, name)).all(), f"{name} is not finite")
    require(
        solution.converged and solution.gap >= 0.0, f"the gap is {solution.gap} and converged is {solution.converged}"
    )
    require(
        solution.upper >= solution.value, f"upper is {solution.upper!r}, which is below the value {solution.value!r}"
    )
    require(np.array_equal(solution.coef, repeated_solution.coef), "the same problem has two solutions in two runs")
    values, vectors = np.linalg.eigh(case.K)
    F = vectors * np.sqrt(np.maximum(values, 0.0))
    fine = machine.with_tolerance(_FINE)
    forms = [
        fine.solve(gram, y)
        for gram in (DenseGram(K), DenseGram(np.asfortranarray(K)), FactorGram(F, np.ones(len(F)), F))
    ]
    for other in forms[1:]:
        _equal(other.value, forms[0].value, 1e-6, case, "the value depends on the form of the matrix")


def check_certificate(machine: Machine, case: MachineCase) -> None:
    """A rough value and its gap enclose the exact one; ``with_tolerance`` has an effect; tangents bound all values."""
    y = case.target
    rng = np.random.default_rng(2)
    other_matrices = [case.K + 0.5 * np.outer(v, v) for v in rng.normal(size=(2, len(y)))]
    other_matrices += [0.3 * case.K, np.eye(len(y)), 0.5 * (case.K + other_matrices[0])]
    fine = [_solve(machine, K, y, _FINE) for K in (case.K, *other_matrices)]
    for tol in (_ROUGH, _FINE):
        solution = _solve(machine, case.K, y, tol)
        scale = _scale(fine[0].value, case)
        relative_difference = (solution.upper - solution.value) / max(abs(solution.upper), abs(solution.value), scale)
        require(
            relative_difference <= solution.gap + 1e-9,
            f"the reported gap is {solution.gap:.2g}, and value and upper differ by {relative_difference:.2g}",
        )
        require(solution.gap <= tol, f"with_tolerance({tol:g}) leaves a gap of {solution.gap:.2g}")
        require(
            solution.value <= fine[0].upper + _FINE * scale, "a value is larger than the optimum of the dual problem"
        )
        require(fine[0].value <= solution.upper + _FINE * scale, "the upper value is below the optimum")
        for K, solution_there in zip(other_matrices, fine[1:], strict=True):
            tangent = solution.value - _form(K - case.K, solution.factor)
            highest = solution_there.upper + _FINE * _scale(solution_there.value, case)
            require(tangent <= highest, "a tangent is above J: factor or value is wrong")
    _below(fine[5].value, 0.5 * (fine[0].upper + fine[1].upper), case, "J is not convex in K")
    for larger in fine[1:3]:
        _below(larger.value, fine[0].upper, case, "J rises where the kernel grows")


def check_derivative(machine: Machine, case: MachineCase) -> None:
    """dJ/dK = -A A', by central differences in random directions, with weights of samples where these are taken."""
    K = case.K + 0.1 * np.eye(len(case.K))
    y = case.target
    rng = np.random.default_rng(3)
    weights: list[Array | None] = [None]
    if not _weights_refused(machine, case):
        weights.append(rng.uniform(0.5, 2.0, size=len(y)))
    for weight in weights:
        A = _solve(machine, K, y, _FINEST, weight).factor
        for _ in range(2):
            E = rng.normal(size=K.shape)
            E = E + E.T
            up, down = (_solve(machine, K + s * STEP * E, y, _FINEST, weight).value for s in (1.0, -1.0))
            expected = (up - down) / (2.0 * STEP)
            slope = -_form(E, A)
            tolerance = 1e-3 * abs(expected) + 1e-5 * float(np.vdot(A, A))
            require(abs(slope - expected) <= tolerance, f"-A A' gives the slope {slope:.6g} where J has {expected:.6g}")


def check_predictor(machine: Machine, case: MachineCase) -> None:
    """The coefficients are a multiple > 0 of the factor; -y has the opposite predictor, or y does not matter.

    With J = min c |f|^2 + loss, A is the root of c times the coefficients, for every loss. If the loss depends on
    the difference of f and y, dJ/dy = 2 c coef as well.
    """
    y = case.target
    fine = machine.with_tolerance(_FINEST)
    solution, mirrored = (fine.solve(DenseGram(case.K), sign * y) for sign in (1.0, -1.0))
    A = np.ravel(solution.factor)
    coef = np.ravel(solution.coef)
    if A.any():  # not where J does not depend on K
        factor = float(A @ coef) / float(A @ A)
        off = float(np.linalg.norm(coef - factor * A))
        require(
            factor > 0.0 and off <= 1e-6 * float(np.linalg.norm(coef)), "coef is no positive multiple of the factor"
        )
        if machine.numeric:
            _check_slope_in_target(machine, case, 2.0 * solution.coef / factor**2)
    values, mirrored_values = (case.K @ predictor.coef + predictor.intercept for predictor in (solution, mirrored))
    size = _LOOSE * float(np.abs(values).max())
    same = np.abs(values - mirrored_values).max() <= size
    require(
        same or np.abs(values + mirrored_values).max() <= size,
        "for the opposite target f is not the opposite predictor",
    )


def _check_slope_in_target(machine: Machine, case: MachineCase, slope: Array) -> None:
    """dJ/dy by central differences in a random direction of mean zero: an intercept may be the mean of y."""
    e = np.random.default_rng(5).normal(size=case.target.shape)
    e -= e.mean(axis=0)
    up, down = (_solve(machine, case.K, case.target + s * STEP * e, _FINEST).value for s in (1.0, -1.0))
    expected = (up - down) / (2.0 * STEP)
    actual = float(np.vdot(slope, e))
    tolerance = 1e-3 * (abs(expected) + float(np.linalg.norm(slope)))
    require(
        abs(actual - expected) <= tolerance,
        f"coef gives J the slope {actual:.6g} in the target where it has {expected:.6g}",
    )


def check_starts(machine: Machine, case: MachineCase) -> None:
    """A start leads to the same value, is not written into, and saves steps at the solution."""
    y = case.target
    fine = machine.with_tolerance(_FINE)
    cold = fine.solve(DenseGram(case.K), y)
    for warm in (cold.warm, fine.solve(DenseGram(0.5 * case.K), y).warm):
        start_before = warm.copy()
        solution = fine.solve(DenseGram(case.K), y, warm)
        require(np.array_equal(warm, start_before), "solve writes into the start")
        _equal(solution.value, cold.value, 1e-6, case, "a start leads to another value")
    again = fine.solve(DenseGram(case.K), y, cold.warm)
    require(again.n_iter <= cold.n_iter, f"from the solution {again.n_iter} steps are made, without {cold.n_iter}")


def check_weights(machine: Machine, case: MachineCase) -> None:
    """A sample of weight 2 counts as two samples; a machine without weights refuses them in a sentence."""
    message = _weights_refused(machine, case)
    if message is not None:
        require("weight" in message, f"the sentence does not say that it is about the weights: {message}")
        return
    counts = np.random.default_rng(4).integers(1, 4, size=len(case.target))
    copies = np.repeat(np.arange(len(counts)), counts)
    fine = machine.with_tolerance(_FINE)
    weighted = fine.solve(DenseGram(case.K), case.target, None, counts.astype(float))
    repeated = fine.solve(DenseGram(case.K[np.ix_(copies, copies)]), case.target[copies])
    _equal(weighted.value, repeated.value, 1e-6, case, "weights are not repetitions")
    must_refuse(
        lambda: machine.solve(DenseGram(case.K), case.target, None, np.ones(len(counts) - 1)), "a weight too few"
    )
    bad = np.where(np.arange(len(counts)) == 0, np.nan, 1.0)
    must_refuse(lambda: machine.solve(DenseGram(case.K), case.target, None, bad), "a weight that is NaN")


def check_refusals(machine: Machine, case: MachineCase) -> None:
    """Targets of other lengths, NaN and matrices that are not square are refused, or not reported as solved."""
    K = case.K
    y = case.target
    must_refuse(lambda: machine.solve(DenseGram(K), y[1:]), "a target that is too short")
    must_refuse(lambda: machine.solve(DenseGram(K[1:]), y), "a matrix that is not square")
    bad = y.copy()
    bad[0] = np.nan
    message = refusal(lambda: machine.solve(DenseGram(K), bad))
    require(
        message is not None or np.isfinite(machine.solve(DenseGram(K), bad).coef).all(), "a NaN leads to a solution"
    )
    unknown = K.copy()
    unknown[3] = unknown[:, 3] = np.nan
    with np.errstate(invalid="ignore"):
        try:
            solved = machine.solve(DenseGram(unknown), y).converged
        except (ValueError, np.linalg.LinAlgError):
            return
    require(not solved, "a kernel matrix with NaN leads to a solution that is called converged")


def check_units(machine: Machine, case: MachineCase) -> None:
    """``in_units`` is the same problem for K / kernel and y / target, with coefficients in the unit that it returns."""
    plain = machine.with_tolerance(_FINE).solve(DenseGram(case.K), case.target)
    for kernel, target in ((1e-3, 1.0), (1e3, 1e2 if machine.numeric else 1.0)):
        other = machine.in_units(kernel, target)
        if other is None:
            return
        unit_machine, unit = other
        solution = unit_machine.with_tolerance(_FINE).solve(DenseGram(case.K / kernel), case.target / target)
        value = unit**2 * kernel * solution.value
        _equal(value, plain.value, 1e-6, case, f"in_units({kernel:g}, {target:g}) is another problem")


def _samples(n: int) -> Array:
    return np.random.default_rng(0).normal(size=(n, 2))


def _gaussians(X: Array) -> Array:
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)) + 1e-3 * np.eye(len(X))


def _solve(machine: Machine, K: Array, y: Array, tol: float, weight: Array | None = None) -> DualSolution:
    return machine.with_tolerance(tol).solve(DenseGram(K), y, None, weight)


def _weights_refused(machine: Machine, case: MachineCase) -> str | None:
    ones = np.ones(len(case.target))
    return refusal(lambda: machine.solve(DenseGram(case.K), case.target, None, ones))


def _form(K: Array, A: Array) -> float:
    """tr A'K A."""
    return float(np.vdot(as_columns(A), K @ as_columns(A)))


def _scale(value: float, case: MachineCase) -> float:
    """The size of a value; that of a value near zero is taken from the kernel."""
    return max(abs(value), 1e-5 * float(np.diagonal(case.K).mean()))


def _equal(actual: float, expected: float, tol: float, case: MachineCase, complaint: str) -> None:
    require(abs(actual - expected) <= tol * _scale(expected, case), f"{complaint}: {actual!r} and {expected!r}")


def _below(value: float, bound: float, case: MachineCase, complaint: str) -> None:
    require(value <= bound + 1e-7 * _scale(bound, case), f"{complaint}: {value!r} > {bound!r}")
