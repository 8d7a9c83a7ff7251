"""Polynomial kernel learning, slow and obviously right: values from dense matrices, bounds from explicit points."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import brentq, minimize

import reference as ref
from multikernel.domains import Domain, NormBall

Array = Any


def value(K: Array, Y: Array, alpha: float, degree: int, theta: Array, strength: float = 0.0) -> float:
    """tr Y'((sum theta_k K_k)^degree + alpha I)^-1 Y + strength |theta|^2."""
    M = ref.combine(K, theta) ** degree + alpha * np.eye(K.shape[1])
    return float(np.sum(Y * np.linalg.solve(M, Y))) + strength * float(theta @ theta)


def random_points(domain: Domain, m: int, count: int, rng: np.random.Generator) -> list[Array]:
    """Feasible weights of all kinds: central, at the corners, inside, on the surface."""
    points = [domain.start(m)]
    for _ in range(count):
        raw = rng.exponential(size=m) ** rng.choice([0.3, 1.0, 4.0])
        if isinstance(domain, NormBall):
            size = domain.radius * rng.choice([1.0, 1.0, rng.random()]) / np.linalg.norm(raw, domain.norm)
            points.append(domain.offset(m) + size * raw)
        else:
            points.append(raw * 10.0 ** rng.uniform(-3, 1))
    return points


def best_of_many(K: Array, y: Array, alpha: float, degree: int, domain: Any, starts: int) -> float:
    """The lowest value that L-BFGS with differences finds from many starts; the surface of the ball by its angles."""
    rng, m = np.random.default_rng(0), len(K)

    def theta(z: Array) -> Array:
        raw = np.abs(z)
        if not isinstance(domain, NormBall):
            return raw
        return domain.offset(m) + domain.radius * raw / max(np.linalg.norm(raw, domain.norm), 1e-300)

    def f(z: Array) -> float:
        strength = 0.0 if isinstance(domain, NormBall) else domain.strength
        return value(K, y, alpha, degree, theta(z), strength)

    begins = [*np.eye(m), np.ones(m), *rng.exponential(size=(starts, m))]
    return min(minimize(f, z, method="L-BFGS-B").fun for z in begins)


def conic_sum(K: Array, y: Array, alpha: float, domain: Any) -> float:
    """Degree 1: max_a 2 a'y - alpha |a|^2 - max over the domain of sum_k theta_k a'K_k a - r(theta), by Clarabel."""
    m = len(K)
    a, t = cp.Variable(len(y)), cp.Variable(m, nonneg=True)
    conditions = [cp.sum_squares(ref.root(matrix) @ a) <= t[k] for k, matrix in enumerate(K)]
    if isinstance(domain, NormBall):
        support = domain.offset(m) @ t + domain.radius * (cp.max(t) if domain.norm == 1 else cp.norm(t, 2))
    else:
        support = cp.sum_squares(t) / (4.0 * domain.strength)
    return ref.conic(cp.Problem(cp.Maximize(2.0 * y @ a - alpha * cp.sum_squares(a) - support), conditions))


def quadratic_bound(K: Array, y: Array, alpha: float, center: Array, radius: float, a: Array) -> float:
    """(a'y)^2 / (alpha a'a + h), h = max over |theta - center|_2 <= radius of a'S(theta)^2 a, from eigenvalues.

    A trust region problem: x'Gx + 2 (G center)'x is largest where (t I - G) x = G center, |x| = radius.
    """
    G = np.array([[a @ (j * k) @ a for k in K] for j in K])
    values, vectors = np.linalg.eigh(G)
    b = vectors.T @ (G @ center)

    def size(t: float) -> float:
        return float(np.linalg.norm(b / (t - values))) - radius

    top = float(values[-1])
    if not center.any():
        h = radius**2 * top
    else:
        t = brentq(size, top * (1.0 + 1e-13), top + np.linalg.norm(b) / radius + top, xtol=1e-300, rtol=1e-14)
        x = vectors @ (b / (t - values))
        h = float((center + x) @ G @ (center + x))
    return float(a @ y) ** 2 / (alpha * float(a @ a) + h)


def penalised_bound(K: Array, y: Array, alpha: float, strength: float, a: Array) -> float:
    """2 s a'y - alpha s^2 a'a with s the best multiple for which the largest eigenvalue of G(s a) is <= strength."""
    G = np.array([[a @ (j * k) @ a for k in K] for j in K])
    s = min(float(a @ y) / (alpha * float(a @ a)), np.sqrt(strength / np.linalg.eigvalsh(G)[-1]))
    return 2.0 * s * float(a @ y) - alpha * s**2 * float(a @ a)
