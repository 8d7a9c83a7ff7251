"""Gates, which weight each kernel at each sample (Goenen and Alpaydin 2008), learned with a machine.

    min over v, u of  F = J(K) + ridge (|v|^2 + |u|^2),     K = sum_k diag(e_k) K_k diag(e_k),

J the machine's value, e_k the gates of kernel k at the samples, functions of heights h_ik = v_k'x_i + u_k,

    softmax  e_ik = exp(h_ik) / sum_l exp(h_il),        sigmoid  e_ik = 1 / (1 + exp(-h_ik)).

F is smooth where the machine's solution is unique, and not convex. dJ = -<A A', dK>, A the machine's factor, so with

    P_ik = -2 e_ik sum_t A_it (K_k (e_k o A_t))_i,
    dJ/dh_ik = P_ik - e_ik sum_l P_il  (softmax),       P_ik (1 - e_ik)  (sigmoid):

without division by gates, so that gates may be zero. The ridge prevents heights from growing without end where gates
separate the samples; the published problem has no ridge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._linalg import as_columns, product
from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel._workers import in_time, time_is_up
from multikernel.banks import DenseGram, KernelBank
from multikernel.banks.memberships import opened
from multikernel.certificate import FINEST_GAP, Certificate
from multikernel.machines import DualSolution, Machine
from multikernel.numerics.lbfgs import remembering
from multikernel.observer import Observer, silent
from multikernel.procedures.base import Weights
from multikernel.procedures.descent import descent, stationarity


@dataclass(frozen=True, eq=False, kw_only=True)
class GateWeights(Weights):
    """The mean of each kernel's gate, and the gates themselves.

    Parameters
    ----------
    slopes : array (m, p), v
    levels : array (m,), u
    """

    slopes: Array
    levels: Array


@dataclass(eq=False)
class Gated:
    """F over the coefficients of the gates, (v_k, u_k) one after the other; it keeps the machine's last solution.

    Parameters
    ----------
    matrices : array (m, n, n)
    features : array (n, p + 1), the last one being 1
    machine : Machine
    target : array (n,)
    weight : array (n,), by which the losses are multiplied; None where it is 1
    kind : "softmax" or "sigmoid"
    ridge : float > 0
    latest : the machine's last solution, from which the next starts; None before the first
    """

    matrices: Array
    features: Array
    machine: Machine
    target: Array
    weight: Array | None
    kind: str
    ridge: float
    latest: DualSolution | None = None

    def gates(self, x: Array) -> Array:
        """e, shape (n, m)."""
        return opened(product(self.features, np.ascontiguousarray(x.reshape(len(self.matrices), -1).T)), self.kind)

    def solved(self, e: Array) -> DualSolution:
        """The machine at these gates, from its last solution."""
        K = np.zeros(self.matrices.shape[1:])
        for matrix, gate in zip(self.matrices, e.T, strict=True):
            K += gate[:, None] * matrix * gate
        warm = None if self.latest is None else self.latest.warm
        self.latest = self.machine.solve(DenseGram(K), self.target, warm, self.weight)
        return self.latest

    def value(self, x: Array) -> tuple[float, Array]:
        """F and its gradient."""
        e = self.gates(x)
        dual = self.solved(e)
        A = as_columns(dual.factor)
        P = np.empty_like(e)
        for k, matrix in enumerate(self.matrices):
            gated = e[:, k : k + 1] * A
            P[:, k] = -2.0 * (gated * product(matrix, gated)).sum(axis=1)
        if self.kind == "softmax":
            slope = P - e * P.sum(axis=1, keepdims=True)
        else:
            slope = P * (1.0 - e)
        gradient = product(np.ascontiguousarray(slope.T), self.features).ravel()
        return float(dual.value + self.ridge * (x @ x)), gradient + 2.0 * self.ridge * x


def gated_kernels(
    bank: KernelBank,
    features: Array,
    machine: Machine,
    target: Array,
    weight: Array | None = None,
    kind: str = "softmax",
    ridge: float = 0.1,
    tol: float = 1e-3,
    max_iter: int = 500,
    n_init: int = 1,
    seed: int = 0,
    start: Array | None = None,
    observe: Observer = silent,
) -> tuple[GateWeights, DualSolution]:
    """The gates with their stationarity, and the machine's solution at them.

    Parameters
    ----------
    bank : square KernelBank of m kernels
    features : array (n, p), of which heights are functions, with entries of the order of 1
    machine : Machine
    target : array (n,)
    weight : array (n,), weights of the samples
    kind : "softmax" or "sigmoid"
    ridge : float > 0
    tol : float, the relative stationarity to reach
    max_iter : int, steps at most from each start
    n_init : int, starts; in the first all gates are equal, the others are random
    seed : of the random starts
    start : array (m (p + 1),), in place of the first start
    observe : called after each step
    """
    n = bank.shape[0]
    m = len(bank)
    check_memory(float(m) * n * n, f"the matrices of {m} kernels of {n} samples", "take fewer kernels or samples")
    inputs = np.column_stack([features, np.ones(n)])
    latest = None
    if start is None:
        latest = _with_equal_gates(bank, machine, target, weight, kind)
    matrices = _stored(bank)
    if matrices is None and latest is not None:
        equal = np.broadcast_to(opened(np.zeros(m), kind), (n, m))
        not_stationary = Certificate.stationarity(np.inf, latest.value)
        return _gate_weights(equal, np.zeros(m * inputs.shape[1]), latest.value, not_stationary, 0, []), latest
    inner = machine.with_tolerance(max(1e-6 * tol, FINEST_GAP))  # slopes err by the root of the gap
    problem = Gated(
        bank.matrices() if matrices is None else matrices, inputs, inner, target, weight, kind, ridge, latest
    )
    size = m * inputs.shape[1]
    rng = np.random.default_rng(seed)
    starts = [np.zeros(size) if start is None else start, *(rng.normal(size=size) for _ in range(n_init - 1))]
    function = remembering(problem.value)
    runs = [
        descent(function, ridge, first_point, tol, max_iter, observe)
        for first_point in in_time(starts, n_init, "starts of the gates")
    ]
    x, _, history = min(runs, key=lambda run: run[1])
    if not time_is_up():
        problem = replace(problem, machine=machine.with_tolerance(FINEST_GAP))
        function = remembering(problem.value)
    x, value, later = descent(function, ridge, x, tol, max_iter - len(history), observe)  # mostly no step
    (_, gradient) = function(x)
    history = history + later
    dual = problem.latest  # at x, which the function saw last
    assert dual is not None
    hidden = max(dual.upper - dual.value, 0.0)
    certificate = stationarity(value, gradient, ridge, hidden)
    steps = sum(len(run[2]) for run in runs) + len(later)
    gates = _gate_weights(problem.gates(x), x, value + hidden, certificate, steps, history)
    return replace(gates, converged=certificate.reached(tol)), dual


def _with_equal_gates(
    bank: KernelBank, machine: Machine, target: Array, weight: Array | None, kind: str
) -> DualSolution:
    """The machine where every height is 0, to a rough gap: one pass over the kernels, of which none is stored."""
    K = bank.combine(opened(np.zeros(len(bank)), kind) ** 2)
    return machine.with_tolerance(1e-3).solve(K, target, None, weight)


def _stored(bank: KernelBank) -> Array | None:
    """The matrices of all kernels (m, n, n); None where time is up before all are computed."""
    stack = np.empty((len(bank), *bank.shape))
    for k in range(len(bank)):
        if time_is_up():
            return None
        stack[k] = bank.matrix(k)
    return stack


def _gate_weights(
    gates: Array, x: Array, value: float, certificate: Certificate, n_iter: int, history: list[float]
) -> GateWeights:
    coefficients = x.reshape(gates.shape[1], -1)
    return GateWeights(
        values=gates.mean(axis=0),
        objective=value,
        certificate=certificate,
        converged=False,
        n_iter=n_iter,
        history=tuple(history),
        slopes=coefficients[:, :-1],
        levels=coefficients[:, -1],
    )
