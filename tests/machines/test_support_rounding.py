"""What rounding hides of a gap is told: kernel values share most of their digits, so the function values lose them."""

import numpy as np
import pytest

from multikernel import bind, kernels
from multikernel.banks import DenseGram
from multikernel.machines import EpsilonMachine, HingeMachine, OneClassMachine, SquaredHingeMachine
from multikernel.machines.support.certified import roots, solution

N = 40


@pytest.fixture
def K(rng):
    """2^40 and what samples differ by, exact in double precision."""
    F = rng.integers(-8, 9, size=(N, 4)).astype(float)
    return F @ F.T + 2.0**40


def values(K, coef, intercept, y):
    """The squared norm and the values of a predictor, its coefficients, the target: in more than double precision."""
    K, b, y = (np.asarray(x, dtype=np.longdouble) for x in (K, coef, y))
    f = K @ b
    return b @ f, f + np.longdouble(intercept), b, y


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs more than double precision")
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_hinge(K, C, rng):
    y = rng.choice([-1.0, 1.0], size=N)
    found = HingeMachine(C=C, tol=1e-8).solve(DenseGram(K), y)
    norm, f, b, y = values(K, found.coef, found.intercept, y)
    primal, dual = 0.5 * norm + C * np.maximum(1 - y * f, 0).sum(), y @ b - 0.5 * norm
    assert (primal - dual) / primal <= found.gap * (1 + 1e-9)
    assert dual - 1e-12 * primal <= found.upper >= primal * (1 - 1e-12)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs more than double precision")
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_squared_hinge(K, C, rng):
    y = rng.choice([-1.0, 1.0], size=N)
    found = SquaredHingeMachine(C=C, tol=1e-8).solve(DenseGram(K), y)
    norm, f, b, y = values(K, found.coef, found.intercept, y)
    primal = norm + C * (np.maximum(1 - y * f, 0) ** 2).sum()
    dual = 2 * y @ b - norm - b @ b / np.longdouble(C)
    assert (primal - dual) / primal <= found.gap * (1 + 1e-9)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs more than double precision")
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_epsilon(K, C, rng):
    y = 1e3 + rng.normal(size=N)
    found = EpsilonMachine(C=C, epsilon=0.1, tol=1e-8).solve(DenseGram(K), y)
    norm, f, b, y = values(K, found.coef, found.intercept, y)
    eps = np.longdouble(0.1)
    primal = 0.5 * norm + C * np.maximum(np.abs(y - f) - eps, 0).sum()
    dual = y @ b - eps * np.abs(b).sum() - 0.5 * norm
    assert (primal - dual) / primal <= found.gap * (1 + 1e-9)


def test_coefficients_that_nearly_keep_the_equality(rng):
    """What the value loses where coefficients are made to sum to zero is a part of the gap."""
    F = rng.integers(-8, 9, size=(N, 4)).astype(float)
    K, y = F @ F.T, 1e8 + 100.0 * rng.normal(size=N)
    machine = EpsilonMachine(C=1.0, epsilon=1.0, tol=1e-8)
    program, a = machine.program(y), machine.solve(DenseGram(K), y).warm
    a = np.minimum(a * (1.0 + 1e-11 * rng.random(len(a))), program.upper)
    found = solution(program, a, K @ program.coef(a), roots(np.diagonal(K)), tol=1e-8)
    excess, side = found.coef.sum(), found.coef * found.coef.sum() > 0
    assert abs(excess) > 1e-13
    change = np.where(side, -excess * np.abs(found.coef) / np.abs(found.coef[side]).sum(), 0.0)
    lost = -float((y - np.sign(found.coef) - K @ found.coef) @ change)  # to first order
    assert lost > 1e-9 * found.value
    assert lost <= found.upper - found.value


def test_a_sum_that_is_exactly_kept_may_be_so_by_rounding_only():
    """Coefficients whose sum is 0 as it is rounded may miss it by the last digits of their sizes."""
    program = EpsilonMachine(C=1.0, epsilon=0.1, tol=1e-8).program(np.repeat([1e8, 1e8 + 1.0], N // 2))
    a = np.concatenate([np.repeat([0.0, 0.5], N // 2), np.repeat([0.5, 0.0], N // 2)])
    assert program.coef(a).sum() == 0.0
    assert program._imbalance(a, np.zeros(2 * N), 1e8) >= 1e8 * np.spacing(a.sum())
    assert program._imbalance(a, np.full(2 * N, 1e8), 1.0) >= 1e8 * np.spacing(a.sum())


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("machine", [HingeMachine(), EpsilonMachine(), OneClassMachine()])
def test_a_value_that_is_not_finite_has_not_converged(machine, rng):
    X = rng.normal(size=(N, 3))
    K = X @ X.T
    K[0, 0] = np.inf
    found = machine.solve(DenseGram(K), np.where(X[:, 0] > 0.0, 1.0, -1.0))
    assert not found.converged
    assert found.gap == np.inf


@pytest.mark.parametrize("family", [kernels.RBF(0.5), kernels.Polynomial(3)])
def test_a_gap_that_rounding_hides_is_none(family):
    """With so large a C no more digits of the gap are known, and the machine has converged all the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0)
    found = HingeMachine(C=1e8, tol=1e-10).solve(bind(family, X).combine(np.ones(1)), y)
    assert found.converged
    assert found.gap < 1e-4
