"""Riemannian trust region on the sphere that bounds a ball of the 2-norm (Li, Venturi and Xu, appendix A.3, corrected).

    min F(theta),    x = theta - center,    |x| = radius

F falls as weights grow, so the optimum over the ball is on its boundary and has x >= 0. With P = I - xx' / radius^2 the
gradient and the second derivatives on the sphere are

    P g,        v -> P H v - (x'g / radius^2) v        for v with x'v = 0,

where the last term is the curvature of the sphere, which is >= 0 and makes F more convex than it is in the ball. A step
minimises the quadratic model of F within a trust region; its end is mapped back to the sphere,

    theta' = center + radius |x + v| / |x + v|        (|.| entry by entry in the numerator)

Absolute values keep the weights from becoming negative, and raise no value, since K grows with every |x_k|. The radius
of the trust region and the acceptance of a step follow the ratio of the decrease of F to that of the model; once the
model's decrease is below the rounding of F, the gradient decides.

The second derivatives of the ridge machine's value in the weights are

    J(theta) = tr Y'M^{-1}Y,    M = K(theta) + alpha D^{-1},    A = M^{-1}Y
    J_jk = 2 tr W_j'M^{-1}W_k - T_jk

with W_k = (dK/dtheta_k) A, T the second derivatives of tr A'K(theta)A at fixed A, which are zero where K is linear in
theta, and D the diagonal matrix of the samples' weights. One factorisation suffices for all W_k. Where theta has many
entries, products with J'' are computed without this matrix:

    J'' v = 2 sum_k tr W_j'M^{-1}W_k v_k - T v,        (T v)_k = p (p - 1) <AA' o P o sum_j v_j K_j, K_k>

where K is the power p of a sum of kernels, entry by entry, and P its power p - 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, blas

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.certificate import FINEST_GAP
from multikernel.combinations import HadamardPower
from multikernel.domains import NormBall
from multikernel.machines.ridge.spectrum import RidgeSpectrum
from multikernel.numerics.trust_region import descend_in_ball, minimise_in_ball
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.needs import need_power_of_sum, need_ridge, need_second_derivatives, need_sphere
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem
from multikernel.tuning import HESSIAN_WEIGHTS, HESSIAN_WEIGHTS_CUBIC


@dataclass(frozen=True)
class SphereTrustRegion(Optimizer):
    """Trust region Newton steps on a sphere: ridge regression with a sum of kernels or a power of it, 2-norm NormBall.

    Some six machines reduce the gap, or the stationarity, to 1e-12.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach, or the relative stationarity where K is not linear
    max_iter : int >= 1, how many machines at most are solved

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import HadamardPower
    >>> from multikernel.domains import NormBall
    >>> from multikernel.machines import RidgeMachine
    >>> from multikernel.optimizers.ridge.sphere import SphereTrustRegion
    >>> from multikernel.problem import Problem
    >>> X, y = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bank = bind(kernels.per_feature(kernels.RBF(1.0)), X)
    >>> problem = Problem(bank, HadamardPower(2), RidgeMachine(alpha=0.1), NormBall(2.0, center=1.0), y)
    >>> found = SphereTrustRegion(tol=1e-12).minimise(problem)
    >>> found.converged, found.theta.round(2)
    (True, array([1.95, 1.31]))
    """

    def check(self, problem: Problem) -> None:
        need_sphere(self, problem)
        need_ridge(self, problem)
        need_power_of_sum(self, problem)

    def first(self, problem: Problem, start: Array | None) -> Array:
        """The point of the sphere in the direction of the start, in absolute values."""
        ball = need_sphere(self, problem)
        theta = super().first(problem, start)
        x = np.abs(theta - ball.offset(problem.size))
        if not x.any():
            return problem.start()
        # at a weight of zero the gradient may vanish, so half of the mean is added to such a start
        return _on_sphere(ball, x if (theta > 0).all() else x + 0.5 * x.mean())

    def search(self, problem: Problem, state: State) -> Search:
        ball = need_sphere(self, problem)
        if ball.radius == 0.0:
            return
        reach = 0.25 * ball.radius
        longest = 0.5 * np.pi * ball.radius
        current = state.latest
        local = _Local.of(problem, ball, state.latest)
        while np.linalg.norm(local.slope) > 1e-10 * np.linalg.norm(current.gradient):
            step = local.step(reach)
            predicted = local.decrease(step)
            size = float(np.linalg.norm(step))
            theta = _on_sphere(ball, local.x + step)
            if not predicted > 0.0 or np.array_equal(theta, current.theta):
                return
            state = yield Proposal(theta)
            trial = state.latest
            if predicted <= FINEST_GAP * abs(current.value) + (current.upper - current.value) + (
                trial.upper - trial.value
            ):
                if not np.linalg.norm(_slope(ball, trial)) < 0.5 * np.linalg.norm(local.slope):
                    return
                ratio = 1.0
            else:
                ratio = (current.value - trial.value) / predicted
            # the thresholds are those of Conn, Gould and Toint (2000), section 6.1
            if ratio < 0.25:
                reach = 0.25 * size
            elif ratio > 0.75 and size > 0.99 * reach:
                reach = min(2.0 * reach, longest)
            if ratio > 0.1:
                current = trial
                local = _Local.of(problem, ball, trial)


@dataclass(frozen=True, eq=False)
class _Local:
    """The second-order model of F on the sphere around a point.

    Parameters
    ----------
    x : array (d,), theta - center
    slope : array (d,), the gradient on the sphere
    curvature : v -> the second derivatives on the sphere, times v
    step : radius of the trust region -> the step to the model's lowest point within it, or near that point
    """

    x: Array
    slope: Array
    curvature: Map
    step: Callable[[float], Array]

    @classmethod
    def of(cls, problem: Problem, ball: NormBall, evaluation: Evaluation) -> _Local:
        x = _x(ball, evaluation)
        slope = _slope(ball, evaluation)
        unit = x / np.linalg.norm(x)
        curved = -float(x @ evaluation.gradient) / ball.radius / ball.radius
        degree = need_power_of_sum("SphereTrustRegion", problem)
        limit = HESSIAN_WEIGHTS if degree <= 2 else HESSIAN_WEIGHTS_CUBIC
        if problem.size <= limit:
            R = _without(_without(hessian(problem, evaluation), unit).T, unit)
            R.flat[:: len(R) + 1] += curved
            return cls(x, slope, partial(np.matmul, R), partial(minimise_in_ball, R, slope))
        product = hessian_product(problem, evaluation)

        def curvature(v: Array) -> Array:
            return _without(product(_without(v, unit)), unit) + curved * v

        return cls(x, slope, curvature, partial(descend_in_ball, curvature, slope))

    def decrease(self, step: Array) -> float:
        """The decrease of the model along a step."""
        return -float(self.slope @ step + 0.5 * (step @ self.curvature(step)))


def _x(ball: NormBall, evaluation: Evaluation) -> Array:
    return evaluation.theta - ball.offset(len(evaluation.theta))


def _slope(ball: NormBall, evaluation: Evaluation) -> Array:
    """The gradient without its part along x."""
    x = _x(ball, evaluation)
    return _without(evaluation.gradient, x / np.linalg.norm(x))


def _without(V: Array, unit: Array) -> Array:
    """A vector, or every column of a matrix, without its part along a unit vector."""
    return V - np.multiply.outer(unit, unit @ V)


def _on_sphere(ball: NormBall, x: Array) -> Array:
    """The point of the sphere in the direction of |x| from the centre."""
    x = np.abs(x)
    return ball.offset(len(x)) + (ball.radius / np.linalg.norm(x)) * x


# -- second derivatives of the ridge machine's value -------------------------------------------------------------------

Map = Callable[[Array], Array]


def hessian(problem: Problem, evaluation: Evaluation) -> Array:
    """J'' at an evaluated point, shape (d, d); TypeError where machine or combination have no second derivatives."""
    A = as_columns(evaluation.dual.factor)
    combination = need_second_derivatives("the second derivative", problem)
    W, V = _images(problem, evaluation.theta, A)
    H = blas.dgemm(2.0, W.T, V.T, trans_a=1) - combination.second(problem.bank, evaluation.theta, A)
    return 0.5 * (H + H.T)


def hessian_product(problem: Problem, evaluation: Evaluation) -> Map:
    """v -> J'' v at an evaluated point; TypeError where machine or combination have no second derivatives."""
    A = as_columns(evaluation.dual.factor)
    W, V = _images(problem, evaluation.theta, A)
    second = _second_product(problem, evaluation.theta, A)

    def product(v: Array) -> Array:
        return 2.0 * (W @ (v @ V)) - second(v)

    return product


def _images(problem: Problem, theta: Array, A: Array) -> tuple[Array, Array]:
    """W_k and M^{-1}W_k, one row for each k."""
    machine = need_ridge("the second derivative", problem)
    W = need_second_derivatives("the second derivative", problem).images(problem.bank, theta, A)
    d, n, t = W.shape
    columns = W.transpose(1, 0, 2).reshape(n, d * t)
    gram = problem.combination.gram(problem.bank, theta)
    solved = _solved(machine.alpha, gram, columns, problem.sample_weight)
    return W.reshape(d, n * t), solved.reshape(n, d, t).transpose(1, 0, 2).reshape(d, n * t)


def _solved(alpha: float, gram: Gram, B: Array, sample_weight: Array | None) -> Array:
    """M^{-1}B."""
    if sample_weight is not None:
        root = np.sqrt(sample_weight)
        return root[:, None] * _solved(alpha, gram.congruent(root), root[:, None] * B, None)
    try:
        return gram.solve_shifted(alpha, B)
    except LinAlgError:
        return RidgeSpectrum.of(gram, B).solve(alpha)


def _second_product(problem: Problem, theta: Array, A: Array) -> Map:
    """v -> T v."""
    combination = problem.combination
    bank = problem.bank
    if not isinstance(combination, HadamardPower):
        T = need_second_derivatives("the second derivative", problem).second(bank, theta, A)
        return lambda v: T @ v
    degree = combination.degree
    M = degree * (degree - 1.0) * (A @ A.T)
    if degree > 2:
        M *= bank.combine(theta).dense() ** (degree - 2)

    def product(v: Array) -> Array:
        return bank.inner(M * bank.combine(v).dense())

    return product
